#!/usr/bin/env python3
"""Measures what certified is worth, and writes docs/measurements/certified.md, docs/images/certified.png and the section of
docs/reproduction.md.

    cargo build --release --features onnx && cargo build --release -p facedp-eval --example somebody_else
    python tools/certified.py WORK --lfw PATH --deface DEFACE

PATH is a folder of people, NAME/*.jpg. DEFACE is the program of deface 1.5. WORK keeps results: run the same command again to
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
import re
import statistics
import subprocess

from PIL import Image

ROOT = pathlib.Path(__file__).resolve().parent.parent
EPSILONS = ["0.2", "1", "8", "64"]
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


def deface(program, kind, source, target):
    extra = ["--replacewith", kind] + (["--mosaicsize", "10"] if kind == "mosaic" else [])
    subprocess.run([program, str(source), "-o", str(target), *extra], check=True, capture_output=True)


def quality(program, work, photos, deface_program):
    """SSIMULACRA2 of faces and matches with the original, beside what deface does."""
    kept = work / f"quality-{len(photos)}.json"
    if kept.exists():
        return json.loads(kept.read_text())
    environment = os.environ | {"XDG_CONFIG_HOME": str(work / "config")}
    results = {}
    for name in [*(f"certified, epsilon {e}" for e in EPSILONS), "deface blur", "deface mosaic"]:
        folder = work / re.sub(r"\W+", "-", name)
        folder.mkdir(exist_ok=True)
        for photo in photos:
            target = folder / photo.name
            if target.exists():
                continue
            if name.startswith("certified"):
                subprocess.run([program, "protect", photo, "-o", folder, "--method", "certified", "--epsilon", name.split()[-1], "--seed", "1",
                                "--faces", "largest", "--no-check", "--no-metrics", "--no-ledger", "--quiet", "--force", "--accept-doubts"],
                               env=environment)
            else:
                deface(deface_program, name.split()[1], photo, target)
        scores, matches, seen = [], 0, 0
        for photo in photos:
            found = subprocess.run([program, "check", photo, folder / photo.name, "--json"], capture_output=True, text=True, env=environment)
            if found.returncode != 0 or not found.stdout.strip():
                continue
            faces = json.loads(found.stdout.splitlines()[0])["faces"]
            if not faces:
                continue
            seen += 1
            scores.append(faces[0].get("ssimulacra2"))
            matches += any(v["match"] for v in faces[0]["recognisers"])
        results[name] = {"score": statistics.median(s for s in scores if s is not None), "matches": matches, "photos": seen}
    kept.write_text(json.dumps(results))
    return results


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
    for kind in ("blur", "mosaic"):
        target = work / f"portrait-{kind}.jpg"
        deface(deface_program, kind, source, target)
        shown.append((f"deface {kind}", Image.open(target).convert("RGB").crop(box)))
    panel(shown).save(ROOT / "docs/images/certified.png", optimize=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("work")
    parser.add_argument("--lfw", required=True)
    parser.add_argument("--deface", required=True)
    parser.add_argument("--people", type=int, default=120)
    parser.add_argument("--photos", type=int, default=40)
    parser.add_argument("--program", default=ROOT / "target/release/facedp")
    parser.add_argument("--example", default=ROOT / "target/release/examples/somebody_else")
    options = parser.parse_args()
    work = pathlib.Path(options.work)
    work.mkdir(parents=True, exist_ok=True)
    helper = figures()
    picture(options.program, helper.panel, options.deface, work)
    rows = rates(work, options.lfw, options.people, options.example)
    measured = quality(options.program, work, test_photos(options.lfw, options.photos), options.deface)
    scores = {r["epsilon"]: r["ssimulacra2"] for r in rows}
    lines = [[name, f"{m['score']:.1f}", f"{m['matches']} of {m['photos']}"] for name, m in measured.items()]
    text = f"""## What a guarantee for the face is worth

`certified` puts a face made from public and differentially private numbers where a face was ([proof](../proofs/face.md)). The
claim: *a result matches its own person at most e^epsilon times as often as it would had somebody else been in the photo.*
Both rates are below: {rows[0]['people']} people of the test half of LFW; the first picture of each is treated as it is, and once more with the
next person's face inside the outline, at the same landmarks (a neighbour). Recognisers compare the result with the person's
original and with a second picture, at their own thresholds, faces found afresh; 95 % intervals (Wilson). Matches that
remain at small budgets come from what is outside the outline: they are as frequent with somebody else's face.

`tools/certified.py WORK --lfw LFW --deface DEFACE --photos {options.photos}`; {helper.machine()}

{rates_table(rows)}

Quality of the face against its original (SSIMULACRA2, median; the measure punishes every other face, however natural) and photos
that any of the five recognisers still matches with their original, beside deface 1.5 (blur, and a mosaic of 10 pixels):

{table(["result", "SSIMULACRA2", "matched by any"], lines)}

![A portrait, certified at four budgets, and blurred and pixelated by deface](images/certified.png)

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
