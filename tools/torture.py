#!/usr/bin/env python3
"""Tests `facedp protect` under failures: damaged files, kills, a full disk.

    damaged     damaged files and decompression bombs among good pictures
    kill        killed many times and resumed: the same bytes as an undisturbed run
    interrupt   Ctrl-C: only complete files, and resumed to the same bytes
    disk-full   a disk that fills up; needs root to mount a small tmpfs
    jobs        the same bytes with one thread and with two

    pip install -r tools/requirements.txt
    cargo build --release
    sudo python tools/torture.py
    python tools/torture.py --parts kill,jobs --count 200

All pictures are made in a temporary folder from portraits in the public domain (Grace Hopper, U.S.
Navy, from Matplotlib; Eileen Collins, NASA, from scikit-image if that is installed). Each
expectation is printed on its own line; the exit code is 1 if one fails or cannot be tested.
"""

import argparse
import io
import json
import os
import random
import shutil
import signal
import statistics
import struct
import subprocess
import sys
import tempfile
import time
import zlib
from collections import namedtuple
from pathlib import Path

import matplotlib
from PIL import Image, ImageEnhance, ImageOps

ROOT = Path(__file__).resolve().parent.parent
PROGRAM = ROOT / "target" / "release" / "facedp"
FORMATS = {"jpg": "JPEG", "png": "PNG", "webp": "WebP"}
MEMORY = 400e6  # bytes: the limit for any small file
UNFINISHED = ".facedp-"  # prefix of temporary files and of the record of a run
PAGE = 4096  # the allocation unit of a tmpfs

# Runs a command from a small process: a new process inherits the peak memory of its parent. Writes
# exit code, wall seconds, CPU seconds, peak memory in bytes.
MEASURE = """
import resource, subprocess, sys, time
start = time.perf_counter()
code = subprocess.call(sys.argv[2:])
seconds = time.perf_counter() - start
used = resource.getrusage(resource.RUSAGE_CHILDREN)
with open(sys.argv[1], "w") as file:
    print(code, seconds, used.ru_utime + used.ru_stime, used.ru_maxrss * 1024, file=file)
"""

Ended = namedtuple("Ended", "code out err seconds busy memory")


def measured(command, environment=None):
    """Runs a command to its end; returns its output, times and peak memory."""
    with tempfile.NamedTemporaryFile("r") as numbers:
        helper = [sys.executable, "-S", "-E", "-c", MEASURE, numbers.name]
        ran = subprocess.run(
            helper + [str(word) for word in command],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            env=environment,
        )
        found = numbers.read().split()
    if len(found) != 4:
        raise SystemExit(f"cannot run {command[0]}: {ran.stderr.strip().splitlines()[-1:]}")
    code, seconds, busy, memory = found
    return Ended(int(code), ran.stdout, ran.stderr, float(seconds), float(busy), int(memory))


# Pictures.


def hopper():
    """The portrait of Grace Hopper, 512x600, and the box of the face in it."""
    path = Path(matplotlib.get_data_path()) / "sample_data" / "grace_hopper.jpg"
    return Image.open(path).convert("RGB"), (184, 133, 347, 315)


def portraits():
    """Pictures in the public domain, and the box of the face in each."""
    found = [hopper()]
    try:
        from skimage.data import astronaut
    except ImportError:
        return found
    return found + [(Image.fromarray(astronaut()), (176, 60, 272, 190))]


def vary(rng, portrait, face):
    """Another crop, size and brightness; all of the face stays inside."""
    left, top, right, bottom = face
    side = rng.uniform(1.4, 1.9) * (bottom - top)
    side = min(side, *portrait.size)
    width, height = side * rng.uniform(0.92, 1), side
    x = (left + right - width) / 2 + rng.uniform(-0.08, 0.08) * width
    y = (top + bottom - height) / 2 + rng.uniform(-0.08, 0.08) * height
    x = min(max(x, 0), portrait.width - width)
    y = min(max(y, 0), portrait.height - height)
    size = rng.randint(110, 190)
    size = round(size * width / height), size
    picture = portrait.resize(size, Image.Resampling.BICUBIC, box=(x, y, x + width, y + height))
    picture = ImageEnhance.Brightness(picture).enhance(rng.uniform(0.75, 1.25))
    if rng.random() < 0.5:
        picture = ImageOps.mirror(picture)
    return picture.convert("L") if rng.random() < 0.1 else picture


def encode(rng, picture, ending):
    out = io.BytesIO()
    options = {}
    if ending == "jpg":
        options = {"quality": rng.randint(70, 95), "progressive": rng.random() < 0.3}
    elif ending == "webp":
        options = {"quality": rng.randint(70, 95), "lossless": rng.random() < 0.3}
    picture.save(out, FORMATS[ending], **options)
    return out.getvalue()


class Pictures:
    """Small pictures, each different, from a seed."""

    def __init__(self, seed):
        self.rng = random.Random(seed)
        self.portraits = portraits()

    def file(self, ending):
        return encode(self.rng, vary(self.rng, *self.rng.choice(self.portraits)), ending)

    def write(self, folder, count):
        """Good pictures in subfolders of a hundred; returns their paths from the folder."""
        names = []
        for number in range(count):
            ending = self.rng.choices(list(FORMATS), [6, 2, 2])[0]
            names.append(Path(f"{number // 100:02}") / f"{number:05}.{ending}")
            path = folder / names[-1]
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(self.file(ending))
        return names


# Damage.


def cut(pictures, ending):
    file = pictures.file(ending)
    return file[: int(len(file) * pictures.rng.uniform(0.3, 0.9))]


def flipped(file, at, bit):
    return file[:at] + bytes([file[at] ^ 1 << bit]) + file[at + 1 :]


def frame_header(jpeg):
    """Where the frame header of a JPEG file begins."""
    at = 2
    while jpeg[at + 1] not in (0xC0, 0xC1, 0xC2):
        at += 2 + struct.unpack(">H", jpeg[at + 2 : at + 4])[0]
    return at


def flip_jpeg(pictures):
    """One flipped bit where every decoder must notice."""
    picture = vary(pictures.rng, *pictures.portraits[0]).convert("RGB")
    file = encode(pictures.rng, picture, "jpg")
    frame = frame_header(file)
    # In the first marker, the bits per sample, or the number of components.
    at, bit = pictures.rng.choice([(1, 3), (frame + 4, 0), (frame + 9, 2)])
    return flipped(file, at, bit)


def flip_png(pictures):
    """One flipped bit somewhere in the compressed samples."""
    file = pictures.file("png")
    first = file.index(b"IDAT") + 4
    length = struct.unpack(">I", file[first - 8 : first - 4])[0]
    return flipped(file, first + pictures.rng.randrange(length), pictures.rng.randrange(8))


def lossy_webp(pictures):
    """A lossy file, and where its frame begins: 3 bytes, the start code, width, height."""
    out = io.BytesIO()
    vary(pictures.rng, *pictures.portraits[0]).save(out, "WebP", quality=80)
    return out.getvalue(), out.getvalue().index(b"VP8 ") + 8


def flip_webp(pictures):
    """One flipped bit in a chunk name or in the start code of the frame."""
    file, frame = lossy_webp(pictures)
    at = pictures.rng.choice([0, 8, frame + 3, frame + 4, frame + 5])
    return flipped(file, at, pictures.rng.randrange(6))


def chunk(name, data):
    return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))


def png(width, height, depth, colour, data):
    header = struct.pack(">IIBBBBB", width, height, depth, colour, 0, 0, 0)
    parts = chunk(b"IHDR", header) + chunk(b"IDAT", data) + chunk(b"IEND", b"")
    return b"\x89PNG\r\n\x1a\n" + parts


def zeros(count):
    """`count` zero bytes, compressed."""
    work, block = zlib.compressobj(9), bytes(1 << 20)
    parts = [work.compress(block) for _ in range(count >> 20)]
    return b"".join(parts + [work.compress(bytes(count % (1 << 20))), work.flush()])


def says_huge_png(_):
    return png(60_000, 60_000, 8, 2, zlib.compress(bytes(1000)))


def says_huge_jpeg(pictures):
    file = pictures.file("jpg")
    size = frame_header(file) + 5
    return file[:size] + struct.pack(">HH", 65_500, 65_500) + file[size + 4 :]


def says_huge_webp(pictures):
    file, frame = lossy_webp(pictures)
    return file[: frame + 6] + struct.pack("<HH", 16_383, 16_383) + file[frame + 10 :]


made = {}


def bomb(width, height, depth, colour, bytes_per_pixel):
    """A picture of zeros, fully compressed; made once, because that takes seconds."""
    key = width, height, depth, colour
    if key not in made:
        made[key] = png(*key, zeros(height * (1 + width * bytes_per_pixel)))
    return made[key]


def with_chunk(pictures, name, before):
    """A small PNG with a chunk in front of its samples that unpacks to a gigabyte."""
    file = pictures.file("png")
    samples = file.index(b"IDAT") - 4
    return file[:samples] + chunk(name, before + zeros(1 << 30)) + file[samples:]


def head(pictures, ending, length):
    return pictures.file(ending)[:length]


# Name, ending, and what makes the bytes.
DAMAGE = [
    ("cut JPEG", "jpg", lambda p: cut(p, "jpg")),
    ("cut PNG", "png", lambda p: cut(p, "png")),
    ("cut WebP", "webp", lambda p: cut(p, "webp")),
    ("wrong bit in the header of a JPEG", "jpg", flip_jpeg),
    ("wrong bit in the samples of a PNG", "png", flip_png),
    ("wrong bit in the header of a WebP", "webp", flip_webp),
    ("PNG that says 60000x60000", "png", says_huge_png),
    ("JPEG that says 65500x65500", "jpg", says_huge_jpeg),
    ("WebP that says 16383x16383", "webp", says_huge_webp),
    ("PNG of 30000x30000 zeros", "png", lambda _: bomb(30_000, 30_000, 8, 0, 1)),
    ("PNG of 9000x9000 zeros, 4 x 16 bit", "png", lambda _: bomb(9000, 9000, 16, 6, 8)),
    ("head of a JPEG", "jpg", lambda p: head(p, "jpg", 20)),
    ("head of a PNG", "png", lambda p: head(p, "png", 33)),
    ("head of a WebP", "webp", lambda p: head(p, "webp", 30)),
    ("empty file", "jpg", lambda _: b""),
    ("text named .jpg", "jpg", lambda _: b"This is no picture.\n" * 50),
]


# Folders.


def files(folder):
    """Relative paths of all files in a folder, including hidden ones."""
    return {path.relative_to(folder) for path in folder.rglob("*") if path.is_file()}


def receipts(folder):
    return folder.with_name(folder.name + ".receipts")


def unfinished(folder):
    """Temporary files and records of runs, in results and receipts."""
    found = [*folder.rglob("*"), *receipts(folder).rglob("*")]
    return sorted(path.name for path in found if path.name.startswith(UNFINISHED))


def results(folder):
    return {name for name in files(folder) if not name.name.startswith(UNFINISHED)}


def differences(one, other):
    """Describes the differences between two runs; empty if they are equal."""
    found = []
    for what, a, b in [("result", one, other), ("receipt", receipts(one), receipts(other))]:
        in_a, in_b = files(a), files(b)
        found += [f"{what} {name} is missing" for name in sorted(in_a - in_b)]
        found += [f"{what} {name} is too many" for name in sorted(in_b - in_a)]
        both = sorted(in_a & in_b)
        differ = [name for name in both if (a / name).read_bytes() != (b / name).read_bytes()]
        found += [f"{what} {name} differs" for name in differ]
    return found


def not_whole(folder, whole):
    """Results and receipts in a folder that differ from the undisturbed run."""
    found = []
    for name in sorted(results(folder)):
        try:
            with Image.open(folder / name) as picture:
                picture.load()
        except (OSError, SyntaxError, ValueError) as error:
            found.append(f"{name} cannot be decoded: {error}")
            continue
        if (folder / name).read_bytes() != (whole / name).read_bytes():
            found.append(f"{name} differs")
        if not (receipts(folder) / f"{name}.json").is_file():
            found.append(f"{name} has no receipt")
    for name in sorted(results(receipts(folder))):
        if (receipts(folder) / name).read_bytes() != (receipts(whole) / name).read_bytes():
            found.append(f"receipt {name} differs")
    return found


def first(found):
    """A short summary of a list."""
    if not found:
        return "none"
    return f"{len(found)}: " + ", ".join(map(str, found[:3])) + (", ..." if found[3:] else "")


# The parts.


class Torture:
    """A program, its temporary folder, and the findings so far."""

    def __init__(self, options, folder):
        self.options, self.folder = options, folder
        self.checks, self.figures = [], {}
        self.environment = os.environ | {"XDG_CONFIG_HOME": str(folder / "config")}
        self.key = folder / "key"
        self.whole = None
        subprocess.run(
            [options.program, "key", "new", self.key],
            check=True,
            stdout=subprocess.DEVNULL,
            env=self.environment,
        )

    def say(self, text):
        if not self.options.json:
            print(text, flush=True)

    def note(self, part, name, value, text):
        """Records a figure without an expectation."""
        self.figures.setdefault(part, {})[name] = value
        self.say(f"      {part}: {' '.join(text.split())}")

    def expect(self, part, what, expected, found):
        good = expected == found
        check = {"part": part, "what": what, "expected": expected, "found": found, "held": good}
        self.checks.append(check)
        verdict = "ok  " if good else "FAIL"
        self.say(f"{verdict}  {part}: {what}: expected {expected}, found {found}")
        return good

    def command(self, source, output, *more, jobs=None):
        look = [] if self.options.faces else ["--aligned"]
        jobs = jobs or self.options.jobs
        number = ["--jobs", jobs] if jobs else []
        command = [self.options.program, "protect", source, "-o", output, "--key", self.key]
        command += ["--method", "rdp-optimal", *look, "--no-check", "--no-metrics", *number, *more]
        return [str(word) for word in command]

    def run(self, *arguments, **options):
        return measured(self.command(*arguments, **options), self.environment)

    def start(self, *arguments):
        """Starts a run that the caller will end."""
        return subprocess.Popen(
            self.command(*arguments),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
            env=self.environment,
        )

    def undisturbed(self):
        """Good pictures, their results, and the seconds of a run; made once."""
        if self.whole is None:
            source, output = self.folder / "good", self.folder / "whole"
            names = Pictures(self.options.seed).write(source, self.options.count)
            one = [self.run(source / names[0], self.folder / f"one{n}") for n in range(3)]
            startup = statistics.median(ended.seconds for ended in one)
            ended = self.run(source, output, "--receipt")
            text = f"{len(names)} pictures in {ended.seconds:.2f} s, {startup:.2f} s of it to start"
            self.note("undisturbed", "seconds", ended.seconds, text)
            self.expect("undisturbed", "exit code", 0, ended.code)
            self.expect("undisturbed", "results", len(names), len(files(output)))
            self.expect("undisturbed", "receipts", len(names), len(files(receipts(output))))
            self.whole = source, output, startup, ended.seconds
        return self.whole

    def resume(self, part, output):
        """The last run must end by itself and leave what the undisturbed run left."""
        source, whole, _, _ = self.undisturbed()
        ended = self.run(source, output, "--receipt", "--resume")
        self.expect(part, "exit code of the last --resume", 0, ended.code)
        self.expect(part, "differences from the undisturbed run", "none",
                    first(differences(whole, output)))
        self.expect(part, "temporary files after it", "none", first(unfinished(output)))

    def damaged(self):
        part, count = "damaged", self.options.count
        pictures = Pictures(self.options.seed + 1)
        source, output = self.folder / "mixed", self.folder / "mixed-results"
        broken = max(len(DAMAGE), count // 20)
        good = pictures.write(source, count - broken)
        bad = {}
        for number in range(broken):
            kind, ending, make = DAMAGE[number % len(DAMAGE)]
            name = Path(f"{number % 7:02}") / f"bad{number:03}.{ending}"
            bad[str(source / name)] = kind
            (source / name).parent.mkdir(exist_ok=True)
            (source / name).write_bytes(make(pictures))
        made.clear()
        ended = self.run(source, output, "--json")

        lines = [json.loads(line) for line in ended.out.splitlines()]
        failed = {line["file"]: line["error"] for line in lines if line.get("result") == "failed"}
        complaints = [line for line in ended.err.splitlines() if line.startswith("failed: ")]
        named = [path for path in bad if any(f"failed: {path}: " in line for line in complaints)]
        other = [repr(line) for line in ended.err.splitlines() if line not in complaints]
        missed = sorted(kind for path, kind in bad.items() if path not in failed)
        self.expect(part, f"exit code ({broken} of {count} files are damaged)", 1, ended.code)
        self.expect(part, "results", len(good), len(files(output)))
        self.expect(part, "good pictures without a result", "none",
                    first(sorted(set(good) - files(output))))
        self.expect(part, "damaged files that were taken as pictures", "none", first(missed))
        self.expect(part, "JSON lines of failed files", broken, len(failed))
        self.expect(part, "good pictures called failed", "none",
                    first(sorted(set(failed) - set(bad))))
        self.expect(part, "damaged files named on standard error", broken, len(named))
        self.expect(part, "complaints on standard error", broken, len(complaints))
        self.expect(part, "other lines on standard error", "none", first(other))
        internal = [kind for path, kind in bad.items() if "internal error" in failed.get(path, "")]
        self.expect(part, "failures called internal errors", "none", first(internal))
        self.expect(part, "temporary files", "none", first(unfinished(output)))
        self.note(part, "peak_bytes", ended.memory, f"peak memory {ended.memory / 1e6:.0f} MB")
        words = {}
        for path, kind in bad.items():
            words.setdefault(kind, failed.get(path, "(taken as a picture)"))
        for kind, text in words.items():
            self.note(part, kind, text, f"{kind}: {text}")
        self.packed_chunks(part, pictures)

    def packed_chunks(self, part, pictures):
        """Good pictures with a bomb outside the samples: may fail, must need little memory."""
        for name, before in [(b"zTXt", b"Comment\0\0"), (b"iCCP", b"profile\0\0")]:
            kind = f"PNG with a {name.decode()} chunk of a packed gigabyte"
            path = self.folder / f"{name.decode()}.png"
            path.write_bytes(with_chunk(pictures, name, before))
            ended = self.run(path, self.folder / "packed")
            self.note(part, kind, ended.memory, f"{kind}: {path.stat().st_size / 1e6:.1f} MB, exit "
                      f"code {ended.code}, {ended.seconds:.1f} s, {ended.memory / 1e6:.0f} MB")
            self.expect(part, f"{kind} ends with exit code 0 or 1", True, ended.code in (0, 1))
            self.expect(part, f"{kind} takes at most {MEMORY / 1e6:.0f} MB", True,
                        ended.memory <= MEMORY)

    def kill(self):
        part, kills = "kill", self.options.kills
        source, whole, startup, seconds = self.undisturbed()
        output = self.folder / "killed"
        rng = random.Random(self.options.seed + 2)
        # The shares add up to less than a whole run, so every kill comes before the end.
        share = (seconds - startup) / kills
        counts, leftover, early, broken = [], 0, 0, []
        for number in range(kills):
            resume = ["--resume"] if number else []
            run = self.start(source, output, "--receipt", *resume)
            time.sleep(startup + share * rng.uniform(0.05, 0.95))
            run.kill()
            early += run.wait() != -signal.SIGKILL
            run.stderr.close()
            counts.append(len(results(output)))
            leftover += any(name.endswith(".part") for name in unfinished(output))
            broken += not_whole(output, whole)
        self.note(part, "results_after_kills", counts,
                  f"results after each kill: {', '.join(map(str, counts))}; "
                  f"{leftover} kills left a half-written temporary file")
        self.expect(part, f"runs of {kills} that ended before they were killed", 0, early)
        self.expect(part, "results after a kill that are not whole", "none", first(broken))
        if counts[-1] in (0, len(results(whole))):
            self.expect(part, "kills in the middle of the work", "some", "none")
        self.resume(part, output)

    def interrupt(self):
        part, output = "interrupt", self.folder / "interrupted"
        source, whole, _, seconds = self.undisturbed()
        names = len(results(whole))
        run = self.start(source, output, "--receipt")
        end = time.monotonic() + 10 * seconds + 10
        while run.poll() is None and time.monotonic() < end:
            if output.is_dir() and len(results(output)) >= names / 3:
                run.send_signal(signal.SIGINT)
                break
            time.sleep(0.01)
        text = run.communicate()[1]
        there = len(results(output))
        self.expect(part, "exit code after Ctrl-C", 130, run.returncode)
        self.expect(part, "--resume is named on standard error", True, "--resume" in text)
        self.expect(part, f"some but not all of {names} results are there", True, 0 < there < names)
        last = text.strip().splitlines()[-1:]
        self.note(part, "results", there, f"{there} results; said: {' '.join(last)}")
        self.expect(part, "results that are not whole", "none", first(not_whole(output, whole)))
        halves = [name for name in unfinished(output) if name.endswith(".part")]
        self.expect(part, "temporary files", "none", first(halves))
        self.resume(part, output)

    def disk_full(self):
        part, disk = "disk-full", self.folder / "disk"
        if sys.platform != "linux" or os.geteuid() != 0 or not shutil.which("mount"):
            self.expect(part, "can be tried", True, "SKIPPED: needs Linux, root and mount")
            return
        source, whole, _, _ = self.undisturbed()
        written = [*whole.rglob("*.*"), *receipts(whole).rglob("*.*")]
        pages = sum(-(-path.stat().st_size // PAGE) for path in written)
        disk.mkdir()
        mount = ["mount", "-t", "tmpfs", "-o", f"size={pages // 2 * PAGE}", "tmpfs", str(disk)]
        mounted = subprocess.run(mount, capture_output=True, text=True)
        if mounted.returncode:
            self.expect(part, "can be tried", True, f"SKIPPED: {mounted.stderr.splitlines()[:1]}")
            return
        try:
            self.fill(part, source, whole, disk, pages)
        finally:
            subprocess.run(["umount", str(disk)], capture_output=True)
            if os.path.ismount(disk):
                subprocess.run(["umount", "--lazy", str(disk)], check=True)

    def fill(self, part, source, whole, disk, pages):
        names, output = len(results(whole)), disk / "results"
        for turn, more in [("full disk", []), ("--resume on the full disk", ["--resume"])]:
            ended = self.run(source, output, "--receipt", *more)
            there = len(results(output))
            last = " / ".join(ended.err.strip().splitlines()[-3:])
            self.note(part, turn, there, f"{turn}: {there} of {names} results; said: {last}")
            self.expect(part, f"{turn}: exit code", 1, ended.code)
            self.expect(part, f"{turn}: standard error says that there is no space", True,
                        "No space left" in ended.err)
            self.expect(part, f"{turn}: standard error names --resume", True,
                        "--resume" in ended.err)
            self.expect(part, f"{turn}: some but not all results are there", True,
                        0 < there < names)
            self.expect(part, f"{turn}: results that are not whole", "none",
                        first(not_whole(output, whole)))
            halves = [name for name in unfinished(output) if name.endswith(".part")]
            self.expect(part, f"{turn}: temporary files", "none", first(halves))
            alone = files(receipts(output)) - {Path(f"{name}.json") for name in results(output)}
            self.expect(part, f"{turn}: receipts without a result", "none", first(sorted(alone)))
        larger = ["mount", "-o", f"remount,size={4 * pages * PAGE}", str(disk)]
        subprocess.run(larger, check=True)
        self.resume(part, output)

    def jobs(self):
        part, outputs = "jobs", []
        source, _, _, _ = self.undisturbed()
        for jobs in (1, 2):
            outputs.append(self.folder / f"jobs{jobs}")
            ended = self.run(source, outputs[-1], "--receipt", jobs=jobs)
            self.expect(part, f"exit code with --jobs {jobs}", 0, ended.code)
        self.expect(part, "differences between --jobs 1 and --jobs 2", "none",
                    first(differences(*outputs)))


PARTS = {
    "damaged": Torture.damaged,
    "kill": Torture.kill,
    "interrupt": Torture.interrupt,
    "disk-full": Torture.disk_full,
    "jobs": Torture.jobs,
}


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--parts", default=",".join(PARTS), help="parts to run, separated by commas [default: all]")
    parser.add_argument("--count", type=int, default=1000, help="pictures per run [default: 1000]")
    parser.add_argument("--kills", type=int, default=10, help="number of kills [default: 10]")
    parser.add_argument("--faces", action="store_true", help="detect faces instead of --aligned")
    parser.add_argument("--jobs", type=int, help="--jobs for the program [default: its own]")
    parser.add_argument("--seed", type=int, default=1, help="seed for pictures and kill times [default: 1]")
    parser.add_argument("--program", type=Path, default=PROGRAM, help="the program to test")
    parser.add_argument("--keep", action="store_true", help="keep the temporary folder")
    parser.add_argument("--json", action="store_true", help="print JSON at the end")
    options = parser.parse_args()
    parts = options.parts.split(",")
    if unknown := set(parts) - set(PARTS):
        parser.error(f"unknown parts {', '.join(sorted(unknown))}; known: {', '.join(PARTS)}")
    if options.count < 2 * len(DAMAGE) or options.kills < 1:
        parser.error(f"at least {2 * len(DAMAGE)} pictures and one kill")
    if not options.program.is_file():
        parser.error(f"{options.program} is missing: cargo build --release, or --program")
    options.program = options.program.resolve()

    folder = Path(tempfile.mkdtemp(prefix="facedp-torture-"))
    try:
        torture = Torture(options, folder)
        for part in parts:
            PARTS[part](torture)
    finally:
        if options.keep:
            print(f"kept {folder}", file=sys.stderr)
        else:
            shutil.rmtree(folder)
    broken = [check for check in torture.checks if not check["held"]]
    if options.json:
        about = {"count": options.count, "seed": options.seed, "faces": options.faces}
        print(json.dumps(about | {"checks": torture.checks, "figures": torture.figures}, indent=2))
    torture.say(f"\n{len(torture.checks) - len(broken)} of {len(torture.checks)} hold")
    return int(bool(broken))


if __name__ == "__main__":
    sys.exit(main())
