#!/usr/bin/env python3
"""Times whole runs of `facedp protect` against decoding and encoding alone, and against deface.

    floor       noise on face crops against --method none: the cost of the noise
    deface      detecting and treating faces in 1,000 pictures, against deface 1.5.0
    memory      peak memory for 1,000 pictures and for all
    portrait    portraits of 12 and 48 megapixels on one core
    sizes       bytes of results over bytes of originals

The method is rdp-optimal where no other is named, not the program's default.

    pip install -r tools/requirements.txt
    python -m venv DEFACE && DEFACE/bin/pip install -r tools/requirements-deface.txt
    cargo build --release
    python tools/compare_photos.py --lfw LFW --deface DEFACE/bin/deface
    python tools/compare_photos.py --lfw LFW --deface DEFACE/bin/deface --markdown > PAGE
    python tools/compare_photos.py --parts portrait

LFW is a folder of identities, NAME/NAME_NNNN.jpg. Runs that are compared alternate, so that a busy
machine slows both. facedp flushes each result to disk; `floor` is measured both on the disk of the
temporary folder and in RAM, where no I/O wait hides the work. For Linux.
"""

import argparse
import datetime
import json
import math
import os
import platform
import random
import shlex
import shutil
import statistics
import subprocess
import sys
import tempfile
import textwrap
import time
from importlib.metadata import version
from pathlib import Path

from PIL import Image, ImageChops

from torture import PROGRAM, hopper, measured

RAM = Path("/dev/shm")
MEGA = 1e6
NAMES = {
    "floor": "Cost of the noise over decoding and encoding",
    "deface": "Comparison with deface",
    "memory": "Peak memory",
    "portrait": "Large portraits",
    "sizes": "File sizes",
}


def progress(text):
    """Overwrites one status line on a terminal."""
    if sys.stderr.isatty():
        print(f"\r{text:60}\r", end="", file=sys.stderr, flush=True)


def machine():
    cpu = platform.processor() or platform.machine()
    for line in Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("model name"):
            cpu = line.split(":")[1].strip()
            break
    rustc = subprocess.run(["rustc", "--version"], capture_output=True, text=True).stdout.split()[1]
    return f"{cpu}, {cores()}, {platform.system()}, Rust {rustc}; {datetime.date.today()}"


def cores():
    count = len(os.sched_getaffinity(0))
    return "1 core" if count == 1 else f"{count} cores"


def enlarged(path, width, height, grain):
    """Hopper's portrait as a large JPEG; with grain it has the fine detail of a camera's photo.

    The face is a third of the width.
    """
    portrait, face = hopper()
    part = portrait.height * width / height
    left = (face[0] + face[2] - part) / 2
    box = (left, 0, left + part, portrait.height)
    picture = portrait.resize((width, height), Image.Resampling.BICUBIC, box=box)
    if grain:
        tile = Image.frombytes("L", (512, 512), random.Random(1).randbytes(512 * 512))
        tile = tile.point(lambda level: 128 + round((level - 127.5) / 12))
        noise = Image.new("L", picture.size)
        for x in range(0, width, 512):
            for y in range(0, height, 512):
                noise.paste(tile, (x, y))
        picture = ImageChops.add(picture, Image.merge("RGB", [noise] * 3), offset=-128)
    picture.save(path, quality=90)


class Comparison:
    """A program, its pictures, and the measurements."""

    def __init__(self, options, folder):
        self.options, self.folder = options, folder
        self.environment = os.environ | {"XDG_CONFIG_HOME": str(folder / "config")}
        self.key, self.tables, self.limits, self.notes = folder / "key", {}, [], {}
        self.everything = None
        self.checked([options.program, "key", "new", self.key])
        if options.lfw:
            self.pictures = sorted(options.lfw.rglob("*.jpg"))
            if not self.pictures:
                raise SystemExit(f"{options.lfw}: no pictures (NAME/NAME_NNNN.jpg) in this folder")
            self.many = 60 if options.quick else 1000
            self.pictures = self.pictures[:300] if options.quick else self.pictures

    # Running.

    def checked(self, command, codes=(0,)):
        ended = measured(command, self.environment)
        if ended.code not in codes:
            words = " ".join(map(str, command))
            raise SystemExit(f"exit code {ended.code} of {words}:\n{ended.err.strip()[-2000:]}")
        return ended

    def protect(self, source, output, *more, jobs=None, before=()):
        """One run into a new folder; a picture without a face makes its exit code 1."""
        shutil.rmtree(output, ignore_errors=True)
        jobs = jobs or self.options.jobs
        threads = ["--jobs", jobs] if jobs else []
        command = [*before, self.options.program, "protect", source, "-o", output, "--json"]
        method = [] if "--method" in more else ["--method", "rdp-optimal"]
        ended = self.checked([*command, *threads, *method, *more], codes=(0, 1))
        summary = json.loads(ended.out.splitlines()[-1])["summary"]
        if summary["failed"] or summary["stopped"]:
            raise SystemExit(f"failures in {source}:\n{ended.err.strip()[-2000:]}")
        return ended, summary

    def all(self):
        """A folder with all pictures: LFW itself, except in a quick run."""
        return self.copied("all", len(self.pictures)) if self.options.quick else self.options.lfw

    def copied(self, name, count):
        """The first `count` pictures, copied into one folder once."""
        folder = self.folder / name
        if not folder.is_dir():
            folder.mkdir()
            for path in self.pictures[:count]:
                shutil.copyfile(path, folder / path.name)
        return folder

    # Saying.

    def row(self, part, **cells):
        self.tables.setdefault(part, []).append(cells)

    def limit(self, part, what, found, words, met):
        limit = {"part": part, "what": what, "found": found, "limit": words, "met": bool(met)}
        self.limits.append(limit)

    def note(self, part, text):
        self.notes.setdefault(part, []).append(text)

    # The parts.

    def floor(self):
        common = ["--aligned", "--no-check", "--no-metrics"]
        rounds = 1 if self.options.quick else 3
        self.note("floor", f"{len(self.pictures):,} pictures of 250x250, `{' '.join(common)}`, "
                  f"median of {rounds}. A run over one picture (median of 5) counts as start-up, "
                  "which is mostly planning; it is subtracted before the rate is computed.")
        self.floor_in("disk", self.folder / "floor", common, rounds)
        if RAM.is_dir():
            with tempfile.TemporaryDirectory(prefix="facedp-photos-", dir=RAM) as folder:
                self.floor_in("RAM", Path(folder) / "floor", common, rounds)

    def floor_in(self, place, output, common, rounds):
        part, count = "floor", len(self.pictures)
        methods = {
            "rdp-lmgd": ["--method", "rdp-lmgd", "--key", self.key],
            "none": ["--method", "none"],
        }
        startup, seconds, rates = {}, {method: [] for method in methods}, {}
        for method, more in methods.items():
            one = [self.protect(self.pictures[0], output, *common, *more)[0] for _ in range(5)]
            startup[method] = statistics.median(ended.seconds for ended in one)
        for turn in range(rounds):
            for method, more in methods.items():
                progress(f"{part}, {place}, round {turn + 1} of {rounds}: {method}")
                ended, summary = self.protect(self.all(), output, *common, *more)
                assert summary["written"] == count, summary
                seconds[method].append(ended.seconds)
        shutil.rmtree(output)
        for method in methods:
            whole = statistics.median(seconds[method])
            rates[method] = (count - 1) / (whole - startup[method])
            self.row(part, **{
                "results": place,
                "method": method,
                "start-up s": startup[method],
                "whole run s": whole,
                "pictures/s": rates[method],
            })
        ratio = rates["rdp-lmgd"] / rates["none"]
        where = "on disk" if place == "disk" else "in RAM"
        what = f"pictures/s with noise over pictures/s without, results {where}"
        self.limit(part, what, ratio, ">= 0.8", ratio >= 0.8)

    def deface(self):
        part = "deface"
        source, rounds = self.copied("first", self.many), 1 if self.options.quick else 2
        ended = {"facedp": [], "deface": []}
        threads = self.deface_threads()
        for turn in range(rounds):
            progress(f"{part}, round {turn + 1} of {rounds}: facedp")
            output = self.folder / "ours"
            ours, summary = self.protect(source, output, "--no-check", "--key", self.key)
            ended["facedp"].append(ours)
            progress(f"{part}, round {turn + 1} of {rounds}: deface")
            # It writes NAME_anonymized.jpg beside each picture.
            folder = self.folder / "theirs"
            shutil.copytree(source, folder)
            ended["deface"].append(self.checked([self.options.deface, folder]))
            written = len(list(folder.glob("*_anonymized.jpg")))
            shutil.rmtree(folder)
            if written != self.many:
                raise SystemExit(f"deface wrote {written} pictures of {self.many}")
        said = ended["deface"][0].out.splitlines()
        ran_on = [line for line in said if line.startswith("Running on ")]
        backend = f'onnxruntime (it says "{ran_on[0]}")' if ran_on else "OpenCV"
        seconds = {}
        for name, runs in ended.items():
            seconds[name] = statistics.median(run.seconds for run in runs)
            self.row(part, **{
                "program": name,
                "s": seconds[name],
                "pictures/s": self.many / seconds[name],
                "cores busy": statistics.median(run.busy / run.seconds for run in runs),
                "peak MB": max(run.memory for run in runs) / MEGA,
            })
        self.note(part, f"The first {self.many:,} pictures, wall time with start-up, medians of "
                  f"{rounds}. facedp: `--method rdp-optimal --no-check`, otherwise defaults; "
                  f"{summary['faces']:,} faces, {summary['no_face']} pictures without one. deface: "
                  f"defaults, backend {backend}; {threads} threads in total on {cores()}.")
        ratio = seconds["deface"] / seconds["facedp"]
        self.limit(part, "time of deface over facedp", ratio, ">= 2", ratio >= 2)

    def deface_threads(self):
        """The max number of threads of deface, observed in a separate run over 20 pictures."""
        folder = self.copied("few", 20)
        run = subprocess.Popen(
            [self.options.deface, folder],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            env=self.environment,
        )
        tasks, most = Path(f"/proc/{run.pid}/task"), 0
        while run.poll() is None:
            most = max(most, len(list(tasks.glob("*"))))
            time.sleep(0.02)
        return most

    def run_all(self):
        """All pictures without the check, which changes no result; run once."""
        if self.everything is None:
            output, source = self.folder / "all-results", self.all()
            progress(f"all {len(self.pictures)} pictures")
            ended, summary = self.protect(source, output, "--no-check", "--key", self.key)
            names = [path.relative_to(output) for path in output.rglob("*.jpg")]
            sizes = [(f.stat().st_size for f in (source / n, output / n)) for n in names]
            self.everything = ended, summary, [tuple(pair) for pair in sizes]
            shutil.rmtree(output)
        return self.everything

    def memory(self):
        part, source, output = "memory", self.copied("first", self.many), self.folder / "some"
        runs = []
        for check, more in [("no", ["--no-check"]), ("yes", [])]:
            progress(f"{part}, {self.many} pictures, check: {check}")
            ended = self.protect(source, output, "--key", self.key, *more)[0]
            runs.append((self.many, check, ended))
        runs.append((len(self.pictures), "no", self.run_all()[0]))
        shutil.rmtree(output)
        for count, check, ended in runs:
            peak = ended.memory / MEGA
            self.row(part, pictures=count, check=check, **{"peak MB": peak, "s": ended.seconds})
            what = f"peak MB of {count:,} pictures, check: {check}"
            self.limit(part, what, peak, "<= 400", peak <= 400)
        growth = runs[2][2].memory / runs[0][2].memory
        what = f"peak of {len(self.pictures):,} pictures over peak of {self.many:,}"
        self.limit(part, what, growth, "<= 1.1", growth <= 1.1)
        self.note(part, "Peak resident memory; `--method rdp-optimal`, otherwise defaults except for the check.")

    def portrait(self):
        part, rounds = "portrait", 1 if self.options.quick else 5
        core = ["taskset", "-c", str(min(os.sched_getaffinity(0)))]
        output, inspect = self.folder / "large", [self.options.program, "inspect", "--json"]

        def protect(*more):
            return lambda path: self.protect(path, output, *more, jobs=1, before=core)[0]

        noise = ["--no-check", "--key", self.key]
        work = {
            "protect": protect(*noise),
            "protect --no-metrics": protect(*noise, "--no-metrics"),
            "protect --no-metrics --aligned": protect(*noise, "--no-metrics", "--aligned"),
            "protect --method none": protect("--no-check", "--method", "none"),
            "inspect": lambda path: self.checked([*core, *inspect, path]),
            "protect, with the check": protect("--key", self.key),
        }
        for width, height, grain in [(3000, 4000, False), (3000, 4000, True), (6000, 8000, True)]:
            path = self.folder / "portrait.jpg"
            enlarged(path, width, height, grain)
            name = f"{width}x{height}{', grain' if grain else ''}"
            ended = {title: [] for title in work}
            for turn in range(rounds):
                for title, do in work.items():
                    progress(f"{part} {name}, round {turn + 1} of {rounds}: {title}")
                    ended[title].append(do(path))
            for title, runs in ended.items():
                self.row(part, **{
                    "photo": name,
                    "file MB": path.stat().st_size / MEGA,
                    "work": f"`{title}`" if "," not in title else title,
                    "s": statistics.median(run.seconds for run in runs),
                    "peak MB": max(run.memory for run in runs) / MEGA,
                })
            if width < 6000:
                seconds = statistics.median(run.seconds for run in ended["protect"])
                self.limit(part, f"{name}: seconds of protect", seconds, "<= 1.5", seconds <= 1.5)
        self.note(part, "Hopper's portrait enlarged, JPEG of quality 90; the face is a third of the "
                  f"width. One core (`taskset`, `--jobs 1`), median of {rounds}; every row but the "
                  "last of each photo with `--no-check`. *grain*: noise was added so that the file "
                  "has as much detail as a camera's.")

    def sizes(self):
        ended, summary, sizes = self.run_all()
        before, after = (sum(column) for column in zip(*sizes))
        ratios = sorted(b / a for a, b in sizes)
        self.row("sizes", **{
            "photos": len(sizes),
            "without a face": summary["no_face"],
            "originals MB": before / MEGA,
            "results MB": after / MEGA,
            "ratio": after / before,
            "smallest ratio": ratios[0],
            "largest ratio": ratios[-1],
        })
        self.note("sizes", "`--method rdp-optimal --no-check`, otherwise defaults; the check changes no result.")


# Output.


def shown(value):
    """At least three digits, never an exponent."""
    if isinstance(value, float):
        digits = max(0, 2 - math.floor(math.log10(value))) if value > 0 else 2
        return f"{value:,.{digits}f}"
    return f"{value:,}" if isinstance(value, int) else value


def plain(rows):
    lines = [list(rows[0])] + [[shown(cell) for cell in row.values()] for row in rows]
    widths = [max(map(len, column)) for column in zip(*lines)]
    padded = [[cell.ljust(width) for cell, width in zip(line, widths)] for line in lines]
    return "\n".join("  ".join(line).rstrip() for line in padded)


def marked(rows):
    lines = [list(rows[0]), ["---"] * len(rows[0])]
    lines += [[shown(cell) for cell in row.values()] for row in rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def show(comparison, about, markdown):
    versions = ", ".join(f"{name} {number}" for name, number in about["versions"].items())
    if markdown:
        print("# Photos\n")
        print("Whole runs of `facedp protect`, with `--method rdp-optimal` where no other method is named. The\n"
              "default method, `steered`, is timed in [steered.md](steered.md). The machine is shared, so ratios\n"
              "say more than times.\n")
        print(f"`{about['command']}`; {about['machine']}; {versions}\n")
    else:
        print(f"{about['machine']}\n{versions}\n")
    for part, rows in comparison.tables.items():
        print(f"{'## ' if markdown else ''}{NAMES[part]}\n")
        for note in comparison.notes.get(part, []):
            print(textwrap.fill(note, 110, break_on_hyphens=False), end="\n\n")
        print((marked if markdown else plain)(rows), end="\n\n")
        limits = [limit for limit in comparison.limits if limit["part"] == part]
        for limit in limits:
            verdict = "met" if limit["met"] else "NOT met"
            found = f"{limit['what']}: {shown(limit['found'])}, required {limit['limit']}: {verdict}"
            print(f"{'- ' if markdown else ''}{found}")
        if limits:
            print()


def versions_used(options, parts):
    def first_line(*command):
        ran = subprocess.run(command, capture_output=True, text=True)
        return (ran.stdout + ran.stderr).strip().splitlines()[0].split()[-1]

    found = {"facedp": first_line(options.program, "--version")}
    if "deface" in parts:
        found["deface"] = first_line(options.deface, "--version")
        # Its libraries live in an environment of their own.
        python = Path(options.deface).parent / "python"
        for name in ("onnxruntime", "opencv-python"):
            asked = f"import importlib.metadata as m; print(m.version('{name}'))"
            found[name] = first_line(python, "-c", asked) if python.exists() else "unknown"
    return found | {"Python": platform.python_version(), "pillow": version("pillow")}


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--lfw", type=Path, help="folder of LFW; only `portrait` works without it")
    parser.add_argument("--parts", default=",".join(NAMES), help="parts to run, separated by commas [default: all]")
    parser.add_argument("--deface", default=shutil.which("deface"), help="the program deface")
    parser.add_argument("--program", type=Path, default=PROGRAM, help="the program facedp")
    parser.add_argument("--jobs", type=int, help="--jobs for facedp [default: its own]")
    parser.add_argument("--quick", action="store_true", help="few pictures, one round")
    parser.add_argument("--json", action="store_true", help="print JSON instead of tables")
    parser.add_argument("--markdown", action="store_true", help="print a page for the docs")
    options = parser.parse_args()
    parts = options.parts.split(",")
    if unknown := set(parts) - set(NAMES):
        parser.error(f"unknown parts {', '.join(sorted(unknown))}; known: {', '.join(NAMES)}")
    if parts != ["portrait"] and not (options.lfw and options.lfw.is_dir()):
        parser.error("--lfw must name the folder of LFW")
    if "deface" in parts and not (options.deface and Path(options.deface).is_file()):
        parser.error("--deface must name the program deface (tools/requirements-deface.txt)")
    if not options.program.is_file():
        parser.error(f"{options.program} is missing: cargo build --release, or --program")
    options.program = options.program.resolve()

    switches = ["--quick"] * options.quick + (["--jobs", str(options.jobs)] if options.jobs else [])
    given = ["tools/compare_photos.py"]
    given += ["--lfw", "LFW"] if options.lfw else []
    given += ["--deface", "DEFACE"] if "deface" in parts else []
    given += ["--parts", options.parts] if parts != list(NAMES) else []
    about = {
        "command": shlex.join(given + switches),
        "machine": machine(),
        "versions": versions_used(options, parts),
    }
    with tempfile.TemporaryDirectory(prefix="facedp-photos-") as folder:
        comparison = Comparison(options, Path(folder))
        for part in parts:
            getattr(comparison, part)()
    progress("")
    if options.json:
        about |= {"notes": comparison.notes, "limits": comparison.limits}
        print(json.dumps(about | {"tables": comparison.tables}, indent=2))
    else:
        show(comparison, about, options.markdown)
    return 0


if __name__ == "__main__":
    sys.exit(main())
