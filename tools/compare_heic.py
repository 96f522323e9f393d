#!/usr/bin/env python3
"""Compares our decoding of HEIC with libheif's, on files that libheif's encoder codes. Writes docs/measurements/heic.md.

    apt install libheif-examples
    python tools/compare_heic.py [--program target/release/facedp]
    python tools/compare_heic.py --golden     # also writes the golden files of the tests

--golden writes crates/facedp-engine/tests/golden/heic, with the means of quarters as libheif decodes them.
"""

import argparse
import json
import pathlib
import subprocess
import sys
import tempfile

import numpy as np
from PIL import Image, ImageCms

from heic_files import assemble, coded, encoded, reference

ROOT = pathlib.Path(__file__).resolve().parent.parent
GOLDEN = ROOT / "crates/facedp-engine/tests/golden/heic"
PAGE = ROOT / "docs/measurements/heic.md"
PORTRAIT = Image.open(ROOT / "examples/photos/collins.jpg").convert("RGB")


def cut(width, height):
    return PORTRAIT.resize((256, 256)).crop((20, 20, 20 + width, 20 + height))


def grid(width, height, **more):
    """A grid of tiles of 64x64, as phones have them of 512x512."""
    whole = Image.new("RGB", (-(-width // 64) * 64, -(-height // 64) * 64))
    whole.paste(cut(width, height))
    columns = whole.width // 64
    tiles = [coded(encoded(whole.crop((x, y, x + 64, y + 64)), "-q", "80"))
             for y in range(0, whole.height, 64) for x in range(0, whole.width, 64)]
    return assemble(tiles, columns, (64, 64), (width, height), **more)


def single(width, height, **more):
    config, data = coded(encoded(cut(width, height), "-q", "80"))
    return assemble([(config, data)], 1, (width, height), (width, height), **more)


def with_alpha():
    picture = cut(128, 160).convert("RGBA")
    ramp = np.tile(np.linspace(0, 255, 128).astype(np.uint8), (160, 1))
    picture.putalpha(Image.fromarray(ramp))
    return encoded(picture, "-q", "80")


def auxiliary(kind):
    config, data = coded(encoded(cut(64, 64).convert("L").convert("RGB"), "-q", "80"))
    return (kind, config, data, (64, 64))


def profile():
    return ImageCms.ImageCmsProfile(ImageCms.createProfile("sRGB")).tobytes()


def thumbnail():
    return (*coded(encoded(cut(64, 64), "-q", "80")), (64, 64))


KINDS = {
    "plain": lambda: encoded(cut(160, 192), "-q", "80"),
    "low": lambda: encoded(cut(160, 192), "-q", "20"),
    "high": lambda: encoded(cut(160, 192), "-q", "95"),
    "lossless": lambda: encoded(cut(128, 128), "-L"),
    "odd": lambda: encoded(cut(151, 173), "-q", "80"),
    "chroma-444": lambda: encoded(cut(160, 192), "-q", "80", "-p", "chroma=444"),
    "chroma-422": lambda: encoded(cut(160, 192), "-q", "80", "-p", "chroma=422"),
    "deep": lambda: encoded(cut(160, 192), "-q", "80", "-b", "10", deep=True),
    "grey": lambda: encoded(cut(160, 192).convert("L"), "-q", "80"),
    "alpha": with_alpha,
    "grid": lambda: grid(192, 200),
    "grid-odd": lambda: grid(151, 173),
    **{f"turn-{turn}": lambda turn=turn: grid(192, 128, turn=turn) for turn in (1, 2, 3)},
    "mirror-0": lambda: single(160, 192, mirror=0),
    "mirror-1": lambda: single(160, 192, mirror=1),
    "profile": lambda: single(160, 192, icc=profile()),
    "phone": lambda: grid(192, 200, turn=3, icc=profile(), thumbnail=thumbnail(), auxiliary=[
        auxiliary("urn:mpeg:mpegB:cicp:systems:auxiliary:depth"), auxiliary("urn:com:apple:photo:2020:aux:hdrgainmap")]),
}
# Small files that the tests read, and that the fuzzer starts from.
IN_TESTS = ["plain", "odd", "deep", "alpha", "turn-1", "phone", "grey", "mirror-0"]


def samples(picture):
    """Eight-bit RGB over white, as numbers."""
    if picture.mode.startswith("I;16") or picture.mode == "I":
        picture = Image.fromarray((np.asarray(picture) / 257 + 0.5).astype(np.uint8))
    if picture.mode in ("RGBA", "LA"):
        return np.asarray(picture.convert("RGBA"))[..., :3].astype(float)
    return np.asarray(picture.convert("RGB")).astype(float)


def quarters(values):
    y, x = values.shape[0] // 2, values.shape[1] // 2
    return [[round(float(part[..., c].mean()), 3) for c in range(3)]
            for part in (values[:y, :x], values[:y, x:], values[y:, :x], values[y:, x:])]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", default=ROOT / "target/release/facedp", type=pathlib.Path)
    parser.add_argument("--golden", action="store_true")
    options = parser.parse_args()
    files = {name: make() for name, make in KINDS.items()}
    decoded = {name: samples(reference(file)) for name, file in files.items()}
    if options.golden:
        GOLDEN.mkdir(parents=True, exist_ok=True)
        facts = {}
        for name in IN_TESTS:
            (GOLDEN / f"{name}.heic").write_bytes(files[name])
            height, width = decoded[name].shape[:2]
            facts[name] = {"width": width, "height": height, "quarters": quarters(decoded[name])}
        (GOLDEN / "heic.json").write_text(json.dumps(facts, indent=1) + "\n")
    if not options.program.exists():
        sys.exit(0)
    rows, bad = [], 0
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        (folder / "in").mkdir()
        for name, file in files.items():
            (folder / "in" / f"{name}.heic").write_bytes(file)
        subprocess.run([options.program.resolve(), "protect", folder / "in", "-o", folder / "out", "--method", "none",
                        "--format", "png", "--quiet"], check=False)
        for name in files:
            path, theirs = folder / "out" / f"{name}.png", decoded[name]
            if not path.exists():
                rows.append((name, f"{theirs.shape[1]}x{theirs.shape[0]}", "not read", ""))
                bad += 1
                continue
            ours = samples(Image.open(path))
            if ours.shape != theirs.shape:
                rows.append((name, f"{theirs.shape[1]}x{theirs.shape[0]}", f"size {ours.shape[1]}x{ours.shape[0]}", ""))
                bad += 1
                continue
            difference = np.abs(ours - theirs)
            rows.append((name, f"{ours.shape[1]}x{ours.shape[0]}", f"{difference.mean():.2f}", f"{difference.max():.0f}"))
            bad += int(difference.mean() > 1.5)
    version = subprocess.run(["heif-enc", "--help"], capture_output=True, text=True)
    version = (version.stdout + version.stderr).split("libheif version:")[-1].split()[0]
    lines = ["# HEIC beside libheif", "",
             "The same files decoded by facedp (heic-decoder 0.1.1) and by libheif "
             f"{version}, which also coded them; tiles, turns, thumbnails,", "depth and gain maps are put together by `tools/heic_files.py`. "
             "Differences are of 8-bit RGB levels. There are none where", "chroma has full resolution or there is no colour; elsewhere the decoders enlarge chroma in different ways.", "",
             "    .venv/bin/python tools/compare_heic.py", "", "| file | size | mean difference | largest |", "| --- | --- | --- | --- |"]
    lines += ["| " + " | ".join(row) + " |" for row in rows]
    PAGE.write_text("\n".join(lines) + "\n")
    print("\n".join(" ".join(row) for row in rows))
    sys.exit(bad > 0)


if __name__ == "__main__":
    main()
