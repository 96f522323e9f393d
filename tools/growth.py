#!/usr/bin/env python3
"""Measures how time and memory of `facedp protect` grow with photos, faces and pixels.

    cargo build --release
    python tools/growth.py --lfw LFW --photos PHOTOS
    python tools/growth.py --lfw LFW --parts steered --steered 300

LFW is a folder of identities, NAME/NAME_NNNN.jpg. PHOTOS holds the group photos collins.png, apollo11.jpg and
solvay1927.jpg, with 1, 3 and 29 faces. The method is rdp-optimal with the default check; `steered` is the
program's default, at strength medium. For Linux.
"""

import argparse
import json
import shutil
import subprocess
import tempfile
import threading
import time
from pathlib import Path

from compare_photos import enlarged, machine, marked
from torture import PROGRAM, measured

MEGA = 1e6
GROUPS = ["collins.png", "apollo11.jpg", "solvay1927.jpg"]
# Width and height of the enlarged portrait: 0.1 to 48 megapixels.
SIZES = [(274, 365), (866, 1155), (1732, 2309), (3000, 4000), (6000, 8000)]


class Growth:
    def __init__(self, options, folder):
        self.options, self.folder, self.key = options, folder, folder / "key"
        subprocess.run([options.program, "key", "new", self.key], check=True, capture_output=True)
        self.rows = []

    def command(self, source, *more):
        return [self.options.program, "protect", source, "-o", self.folder / "out", "--json", "--no-ledger", *more]

    def row(self, what, source, *more):
        """Processor and wall time of one run, and its peak memory."""
        shutil.rmtree(self.folder / "out", ignore_errors=True)
        ended = measured(self.command(source, "--method", "rdp-optimal", "--key", self.key, *more))
        if ended.code not in (0, 1):
            raise SystemExit(ended.err.strip()[-2000:])
        found = json.loads(ended.out.splitlines()[-1])["summary"]
        photos, faces = found["written"] + found["no_face"], found["faces"]
        cells = {"run": what, "photos": photos, "faces": faces, "s": ended.seconds, "processor s": ended.busy}
        cells |= {"processor s per photo": ended.busy / max(photos, 1), "peak MB": ended.memory / MEGA}
        self.rows.append(cells)
        print(json.dumps(cells), flush=True)

    def copied(self, count):
        """The first `count` pictures of LFW in one folder."""
        pictures = sorted(self.options.lfw.rglob("*.jpg"))
        folder = self.folder / f"first-{count}"
        folder.mkdir()
        for path in pictures[:count]:
            shutil.copyfile(path, folder / path.name)
        return folder

    def count(self):
        for count in self.options.counts:
            self.row("photos of LFW", self.copied(count))

    def faces(self):
        for name in GROUPS:
            self.row(name, self.options.photos / name)

    def pixels(self):
        for width, height in SIZES:
            path = self.folder / "portrait.jpg"
            enlarged(path, width, height, grain=False)
            self.row(f"{width * height / MEGA:.1f} megapixels", path)

    def steered(self):
        """Photos a second at medium, and resident memory at each tenth of the run."""
        source, out = self.copied(self.options.steered), self.folder / "out"
        shutil.rmtree(out, ignore_errors=True)
        start = time.perf_counter()
        more = ["--strength", "medium", "--key", self.key]
        run = subprocess.Popen(self.command(source, *more), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        tenths = {}
        while run.poll() is None:
            done = len(list(out.glob("*.jpg"))) if out.is_dir() else 0
            status = Path(f"/proc/{run.pid}/status").read_text().splitlines()
            resident = [int(line.split()[1]) for line in status if line.startswith("VmRSS")]
            if resident and done:
                tenths.setdefault(10 * done // self.options.steered, resident[0] * 1024 / MEGA)
            time.sleep(1)
        seconds = time.perf_counter() - start
        memory = ", ".join(f"{megabytes:.0f}" for _, megabytes in sorted(tenths.items()))
        print(f"\n{self.options.steered} photos at medium: {self.options.steered / seconds:.2f} photos a second")
        print(f"Resident MB at each tenth: {memory}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--lfw", type=Path, help="folder of LFW")
    parser.add_argument("--photos", type=Path, help="folder of the group photos")
    parser.add_argument("--program", type=Path, default=PROGRAM, help="the program facedp")
    parser.add_argument("--parts", default="count,faces,pixels,steered", help="parts to run [default: all]")
    counts = lambda text: [int(n) for n in text.split(",")]
    parser.add_argument("--counts", type=counts, default=[1, 10, 100, 1000, 7701], help="numbers of photos")
    parser.add_argument("--steered", type=int, default=1000, help="photos to steer")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="facedp-growth-") as folder:
        growth = Growth(options, Path(folder))
        for part in options.parts.split(","):
            getattr(growth, part)()
    if growth.rows:
        print("\n" + machine() + "\n")
        print(marked(growth.rows))


if __name__ == "__main__":
    main()
