#!/usr/bin/env python3
"""Puts photos side by side, before and after steering, as docs/images/before-after.jpg.

    python tools/sheet.py PHOTO... [-o FILE] [--strengths medium,high] [--side 320] [--program PROGRAM]

Each column is a photo's largest face: above the original, below one row for each strength. Needs Pillow.
"""

import argparse
import json
import os
import pathlib
import subprocess
import tempfile

from PIL import Image

ROOT = pathlib.Path(__file__).resolve().parent.parent


def facedp(program, folder, *args):
    environment = os.environ | {"XDG_CONFIG_HOME": folder}
    command = [str(word) for word in (program, *args, "--json")]
    out = subprocess.run(command, capture_output=True, text=True, check=True, env=environment).stdout
    return [json.loads(line) for line in out.splitlines()]


def face(photo, box, side):
    """The square around a face, at most `side` pixels wide."""
    left, top, width, height = box
    half = 0.75 * max(width, height)
    x, y = left + width / 2, top + height / 2
    return photo.convert("RGB").crop(tuple(map(round, (x - half, y - half, x + half, y + half)))).resize(
        (side, side), Image.Resampling.LANCZOS)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("photos", nargs="+")
    parser.add_argument("-o", "--output", default=ROOT / "docs/images/before-after.jpg")
    parser.add_argument("--strengths", default="medium,high")
    parser.add_argument("--side", type=int, default=320)
    parser.add_argument("--program", default=ROOT / "target/release/facedp")
    options = parser.parse_args()
    strengths = options.strengths.split(",")
    sheet = Image.new("RGB", (options.side * len(options.photos), options.side * (1 + len(strengths))), "white")
    with tempfile.TemporaryDirectory() as folder:
        for column, photo in enumerate(options.photos):
            box = max(facedp(options.program, folder, "inspect", photo)[0]["faces"], key=lambda f: f["box"][2])["box"]
            rows = [Image.open(photo)]
            for strength in strengths:
                lines = facedp(options.program, folder, "protect", photo, "-o", f"{folder}/{strength}", "--faces", "largest",
                               "--strength", strength, "--format", "png", "--seed", "1")
                rows.append(Image.open(lines[0]["output"]))
                found = lines[0]["faces"][0]
                still = [r["name"] for r in found["recognisers"] if r["match"]]
                print(photo, strength, f"quality {found['ssimulacra2']:.1f}", "still matched by", ", ".join(still) or "none")
            for row, image in enumerate(rows):
                sheet.paste(face(image, box, options.side), (column * options.side, row * options.side))
    sheet.save(options.output, quality=88)


if __name__ == "__main__":
    main()
