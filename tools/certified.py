#!/usr/bin/env python3
"""Measures what certified is worth, and writes docs/measurements/certified.md, docs/images/certified.png and the section of
docs/reproduction.md.

    cargo build --release --features onnx && cargo build --release -p facedp-eval --example somebody_else
    python tools/certified.py WORK --lfw PATH --deface DEFACE [--portraits PHOTOS]

PATH is a folder of people, NAME/*.jpg, PHOTOS one of portraits. DEFACE is the program of deface 1.5 in an environment of its own. WORK keeps results: run the same command again to
continue after an interruption.
"""

import argparse
import hashlib
import importlib.machinery
import importlib.util
import json
import math
import os
import pathlib
import random
import re
import shutil
import statistics
import subprocess

from PIL import Image, ImageOps

ROOT = pathlib.Path(__file__).resolve().parent.parent
EPSILONS = ["0.2", "1", "8", "64"]
# What is compared with deface, and what deface is swept over, for photos of LFW and for larger portraits.
SWEEPS = {"lfw": {"epsilons": EPSILONS, "scales": ["1.3", "1.1", "1.08", "1.06", "1.04", "1.02", "1.0"],
                  "mosaics": ["8", "9", "10", "11", "12", "20"]},
          "portraits": {"epsilons": ["1", "64"], "scales": ["1.3", "1.1", "1.05", "1.0"], "mosaics": ["30", "40", "60", "80"]}}
# Not of one person, or a second photo of one.
LEFT_OUT = r"apollo11|solvay1927|composite|_smiling"
PAGE = ROOT / "docs/reproduction.md"
RECOGNISERS = {"dlib": "dlib", "sface": "SFace", "intel": "Intel", "mobilefacenet": "MobileFaceNet", "facexzoo": "FaceX-Zoo"}


def figures():
    """Loads tools/figures as a module; its name has no extension."""
    loader = importlib.machinery.SourceFileLoader("figures", str(ROOT / "tools/figures"))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader("figures", loader))
    loader.exec_module(module)
    return module


def rates(work, lfw, people, example):
    """Both rates of the claim at every budget."""
    kept = work / f"rates-{people}.jsonl"
    if not kept.exists():
        done = subprocess.run([example, lfw, str(people), *EPSILONS], check=True, capture_output=True, text=True)
        kept.write_text(done.stdout)
    return [json.loads(line) for line in kept.read_text().splitlines()]


def interval(share, n):
    """95 %, Wilson."""
    z = 1.96
    centre = (share + z * z / (2 * n)) / (1 + z * z / n)
    half = z / (1 + z * z / n) * math.sqrt(share * (1 - share) / n + z * z / (4 * n * n))
    return f"{share:.3f} ({max(0, centre - half):.3f}-{min(1, centre + half):.3f})"


def rates_table(rows):
    header = ["epsilon", "e^epsilon", "recogniser", "own original", "somebody else, the original", "own other photo",
              "somebody else, the other photo"]
    lines = []
    for r in rows:
        cells = [interval(r[key], r["people"]) for key in ("original", "else_original", "other_photo", "else_other_photo")]
        lines.append([r["epsilon"], f"{math.exp(float(r['epsilon'])):.3g}", RECOGNISERS[r["recogniser"]], *cells])
    return table(header, lines)


def table(header, lines):
    return "\n".join("| " + " | ".join(map(str, line)) + " |" for line in [header, ["---"] * len(header), *lines])


def test_photos(lfw, count):
    """The first picture of test people, as the program splits them."""
    odd = lambda name: hashlib.sha256(name.encode()).digest()[-1] & 1
    people = sorted(p for p in pathlib.Path(lfw).iterdir() if p.is_dir() and odd(p.name))
    people = [p for p in people if len(list(p.glob("*.jpg"))) > 1]
    return [sorted(p.glob("*.jpg"))[0] for p in people[:count]]


def deface(program, options, folder):
    """Results of deface for all pictures of a folder, in place of its own names."""
    subprocess.run([program, str(folder), *options], check=True, capture_output=True)
    for made in folder.glob("*_anonymized.png"):
        made.replace(folder / made.name.replace("_anonymized", ""))


# Does deface's own detector, which is none of ours, take the face for one, and does it see eyes, nose and mouth where they were?
# And how much of the picture around the face is left? Run by the Python of deface's environment.
SEEN = """
import json, sys
import imageio.v2 as iio
import numpy as np
from deface.centerface import CenterFace
from skimage.metrics import structural_similarity
finder, found = CenterFace(), {}
def best(picture, x, y, width, height):
    rows, points = finder(picture, threshold=0.02)
    inside = lambda r: abs((r[0] + r[2]) / 2 - x - width / 2) < width / 2 and abs((r[1] + r[3]) / 2 - y - height / 2) < height / 2
    faces = [(float(r[4]), np.reshape(p, (5, 2))) for r, p in zip(rows, points) if inside(r)]
    return max(faces, key=lambda f: f[0], default=(0.0, None))
for file, original, x, y, width, height in json.load(sys.stdin):
    after, before = iio.imread(file)[..., :3], iio.imread(original)[..., :3]
    (score, now), (_, then) = best(after, x, y, width, height), best(before, x, y, width, height)
    seen = now is not None and then is not None
    off = float(np.linalg.norm(now - then, axis=1).mean() / np.linalg.norm(then[0] - then[1])) if seen else None
    _, alike = structural_similarity(before, after, channel_axis=2, full=True)
    ring = np.zeros(alike.shape[:2], bool)
    rows, columns = np.ogrid[:ring.shape[0], :ring.shape[1]]
    share = ((columns - x - width / 2) / width) ** 2 + ((rows - y - height / 2) / height) ** 2
    ring = (share > 0.6 ** 2) & (share < 0.9 ** 2)
    found[file] = [score, off, float(alike[ring].mean())]
json.dump(found, sys.stdout)
"""


def settings(epsilons, scales, mosaics):
    """Every result that is compared: a name, and what makes it."""
    made = {f"certified, epsilon {e}": ("certified", e) for e in epsilons}
    made |= {f"deface blur, `--mask-scale {m}`": ("deface", ["--replacewith", "blur", "--mask-scale", m]) for m in scales}
    return made | {f"deface mosaic, `--mosaicsize {m}`": ("deface", ["--replacewith", "mosaic", "--mosaicsize", m]) for m in mosaics}


def results(program, work, photos, made, deface_program):
    """What was made of each photo in each way: its score, who matches, who finds a face."""
    environment = os.environ | {"XDG_CONFIG_HOME": str(work / "config")}
    originals = work / "originals"
    originals.mkdir(parents=True, exist_ok=True)
    names = []
    for photo in photos:
        names.append(f"{photo.stem}.png")
        if not (originals / names[-1]).exists():
            # PNG, so that nobody's compression counts.
            ImageOps.exif_transpose(Image.open(photo)).convert("RGB").save(originals / names[-1])
    found = {}
    for title, (kind, value) in made.items():
        kept = work / f"{re.sub(r'[^a-z0-9.]+', '-', title)}.json"
        folder = work / kept.stem
        if not kept.exists():
            folder.mkdir(exist_ok=True)
            if kind == "certified":
                subprocess.run([program, "protect", originals, "-o", folder, "--method", "certified", "--epsilon", value, "--seed", "1",
                                "--faces", "largest", "--no-check", "--no-metrics", "--no-ledger", "--quiet", "--force", "--accept-doubts",
                                "--jobs", "1"], env=environment)
            else:
                for name in names:
                    shutil.copyfile(originals / name, folder / name)
                deface(deface_program, value, folder)
            kept.write_text(json.dumps([checked(program, originals / name, folder / name, environment) for name in names]))
        found[title] = json.loads(kept.read_text())
        seen = work / f"seen-{kept.name}"
        if not seen.exists():
            asked = [[str(folder / n), str(originals / n), *r["box"]] for n, r in zip(names, found[title]) if r and (folder / n).exists()]
            python = pathlib.Path(deface_program).parent / "python"
            ended = subprocess.run([python, "-c", SEEN], input=json.dumps(asked), check=True, capture_output=True, text=True)
            seen.write_text(ended.stdout[ended.stdout.index("{"):])
        scores = json.loads(seen.read_text())
        for name, r in zip(names, found[title]):
            if r:
                r["centerface"], r["off"], r["around"] = scores.get(str(folder / name), [0.0, None, None])
    return found


def checked(program, original, released, environment):
    """What `facedp check` says of the largest face; None without one."""
    if not released.exists():
        return None
    ended = subprocess.run([program, "check", original, released, "--json"], capture_output=True, text=True, env=environment)
    faces = json.loads(ended.stdout.splitlines()[0])["faces"] if ended.stdout.strip() else []
    if not faces:
        return None
    face = max(faces, key=lambda f: f["box"][2] * f["box"][3])
    return {"score": face["ssimulacra2"], "found": face["found_again"], "box": face["box"],
            "matches": [v["name"] for v in face["recognisers"] if v["match"]]}


def share(ones):
    """Of all verdicts on these results, how many are a match."""
    return sum(len(r["matches"]) for r in ones) / (len(RECOGNISERS) * len(ones))


def difference(ones, others):
    """How much more often the first match than the others, with a 95 % interval: photos are drawn anew, since the verdicts on one
    photo go together."""
    pairs = [(len(a["matches"]) - len(b["matches"])) / len(RECOGNISERS) for a, b in zip(ones, others)]
    drawn = random.Random(1)
    means = sorted(statistics.fmean(drawn.choices(pairs, k=len(pairs))) for _ in range(10_000))
    return means[250], statistics.fmean(pairs), means[9749]


def compared(found, reference="certified, epsilon 1"):
    """A row for each way; ways that match as often as `certified`, as far as these photos can tell, are marked."""
    known = [n for n in range(len(found[reference])) if all(ones[n] for ones in found.values())]
    found = {title: [ones[n] for n in known] for title, ones in found.items()}
    median = lambda values: statistics.median(values) if values else None
    rows = []
    for title, ones in found.items():
        low, _, high = difference(ones, found[reference])
        equal = " =" if "deface" in title and low <= 0 <= high else ""
        against = "" if title == reference else f"{100 * low:+.1f} to {100 * high:+.1f}{equal}"
        off = median([r["off"] for r in ones if r["off"] is not None])
        rows.append([title, f"{100 * share(ones):.1f} %", against, f"{sum(bool(r['matches']) for r in ones)} of {len(ones)}",
                     f"{median([r['score'] for r in ones]):.1f}", f"{sum(r['found'] for r in ones)} of {len(ones)}",
                     f"{sum(r['centerface'] >= 0.5 for r in ones)} of {len(ones)}",
                     "-" if off is None else f"{100 * off:.0f} %", f"{median([r['around'] for r in ones]):.3f}"])
    header = ["result", "matched", "more than certified, epsilon 1", "matched by any", "SSIMULACRA2", "face found (facedp)",
              "face found (CenterFace)", "landmarks off", "SSIM around it"]
    return table(header, rows), len(known)


def picture(program, panel, deface_program, work):
    """A portrait at every budget, and what deface makes of it."""
    source = ROOT / "examples/photos/collins.jpg"
    box = (130, 20, 330, 220)
    shown = [("original", Image.open(source).convert("RGB").crop(box))]
    for epsilon in EPSILONS:
        folder = work / f"portrait-{epsilon}"
        subprocess.run([program, "protect", source, "-o", folder, "--method", "certified", "--epsilon", epsilon, "--seed", "1", "--no-check",
                        "--no-ledger", "--force", "--quiet"], check=True, env=os.environ | {"XDG_CONFIG_HOME": str(work / "config")})
        shown.append((f"epsilon {epsilon}", Image.open(folder / "collins.jpg").convert("RGB").crop(box)))
    for kind, more in (("blur", []), ("mosaic", ["--mosaicsize", "10"])):
        target = work / f"portrait-{kind}.jpg"
        subprocess.run([deface_program, str(source), "-o", str(target), "--replacewith", kind, *more], check=True, capture_output=True)
        shown.append((f"deface {kind}", Image.open(target).convert("RGB").crop(box)))
    panel(shown).save(ROOT / "docs/images/certified.png", optimize=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("work")
    parser.add_argument("--lfw", required=True)
    parser.add_argument("--deface", required=True)
    parser.add_argument("--people", type=int, default=120)
    parser.add_argument("--photos", type=int, default=120, help="photos of LFW beside deface")
    parser.add_argument("--portraits", help="folder with larger portraits, JPEG or PNG, to compare too")
    parser.add_argument("--program", default=ROOT / "target/release/facedp")
    parser.add_argument("--example", default=ROOT / "target/release/examples/somebody_else")
    options = parser.parse_args()
    work = pathlib.Path(options.work)
    work.mkdir(parents=True, exist_ok=True)
    helper = figures()
    picture(options.program, helper.panel, options.deface, work)
    rows = rates(work, options.lfw, options.people, options.example)
    beside = lambda name, photos: compared(results(options.program, work / name, photos, settings(**SWEEPS[name]), options.deface))
    lfw_table, lfw_count = beside("lfw", test_photos(options.lfw, options.photos))
    larger = ""
    if options.portraits:
        portraits = [p for p in sorted(pathlib.Path(options.portraits).rglob("*.*g")) if not re.search(LEFT_OUT, p.stem)]
        portraits_table, count = beside("portraits", portraits)
        larger = f"{count} free portraits (the Face Research Lab London Set, Collins, Hopper and others):\n\n{portraits_table}\n\n"
    text = f"""## What a guarantee for the face is worth

`certified` puts a face made from public and differentially private numbers where a face was ([proof](../proofs/face.md)). The
claim: *a result matches its own person at most e^epsilon times as often as it would had somebody else been in the photo.*
Both rates are below: {rows[0]['people']} people of the test half of LFW; the first picture of each is treated as it is, and once more with the
next person's face inside the outline, at the same landmarks (a neighbour). Recognisers compare the result with the person's
original and with a second picture, at their own thresholds, faces found afresh; 95 % intervals (Wilson). Matches that
remain at small budgets come from what is outside the outline: they are as frequent with somebody else's face.

`tools/certified.py WORK --lfw LFW --deface DEFACE`; {helper.machine()}

{rates_table(rows)}

### Beside deface, at equal non-match

deface 1.5 has two knobs: the size of mosaic cells in pixels, and the size of the mask, of which the blur's window is half. Both were
swept. *Matched*: the share of all verdicts (faces times five recognisers, with the own original, by `facedp check`) that are a
match; beside it, how much more that is than for `certified` at epsilon 1 (95 %, photos drawn anew), and `=` where the two cannot be told
apart. Quality: SSIMULACRA2 of the face against its original (median), which punishes every other face, however natural it looks;
whether facedp's detector, and CenterFace, the detector of deface, still find a face; how far CenterFace sees eyes, nose and mouth
from where they were (median, share of the distance of the eyes); and SSIM in a ring around the face (0.6 to 0.9 of its box). All
pictures were PNG, so no compression counts; the largest face of each photo is compared.

{lfw_count} photos of LFW test people (250x250 pixels, faces about 100):

{lfw_table}

21 results were looked at (epsilon 1; 13 photos of LFW, 8 portraits at 320 pixels, two of these in their own size of 1350). At 250 and 320 pixels
none has a hard seam, but a soft halo shows wherever the outline covers some background (a face turned to the side, a hat, a narrow
face): clearly in 5 of the 13, and in Hopper's portrait. In their own size, the faces of large portraits are plainly blurred, a halo
of a tenth of their width lies on either side, and strands of hair end at the outline. Fading colours out within a narrower band where
they differ from the face's was tried: it hardly shows, and was not kept.

{larger}![A portrait, certified at four budgets, and blurred and pixelated by deface](images/certified.png)

*Eileen Collins (NASA, public domain): `facedp protect examples/photos/collins.jpg -o DIR --method certified --epsilon EPS --seed
1`. At budgets that count as strong privacy, the face is an average that fits the photo.*
"""
    inside = text.replace("](../proofs", "](../../proofs").replace("](images", "](../images")
    (ROOT / "docs/measurements/certified.md").write_text(inside)
    page = PAGE.read_text()
    block = f"<!-- certified -->\n{text}<!-- /certified -->\n"
    pattern = r"<!-- certified -->.*<!-- /certified -->\n"
    known = re.search(pattern, page, flags=re.S)
    PAGE.write_text(re.sub(pattern, lambda _: block, page, flags=re.S) if known else f"{page.rstrip()}\n\n{block}")


if __name__ == "__main__":
    main()
