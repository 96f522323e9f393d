#!/usr/bin/env python3
"""Measures the price of a real guarantee, and writes docs/measurements/certified.md, docs/images/certified.png and
the section of docs/reproduction.md.

    python tools/certified.py WORK --lfw PATH

PATH is a folder of people, NAME/*.jpg. WORK keeps a model of 256 features, photos and results: run the same command again
to continue after an interruption.
"""

import argparse
import importlib.machinery
import importlib.util
import json
import pathlib
import re
import subprocess
import tempfile

from PIL import Image

ROOT = pathlib.Path(__file__).resolve().parent.parent
EPSILONS = ["0.2", "1", "4", "16", "64"]
FEATURES = ["16", "64", "256"]
RULES = {"dlib": "standard", "sface": "far-1e-3"}
PAGE = ROOT / "docs/reproduction.md"


def figures():
    """Loads tools/figures as a module; its name has no extension."""
    loader = importlib.machinery.SourceFileLoader("figures", str(ROOT / "tools/figures"))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader("figures", loader))
    loader.exec_module(module)
    return module


def measured(program, work, lfw, people):
    """Results for every budget and number of features, from an earlier run if there is one."""
    model, kept = work / "model-256.safetensors", work / "certified.json"
    if not model.exists():
        subprocess.run([program, "train", lfw, "-o", model, "--features", "256", "--identities", "even"], check=True)
    if not kept.exists():
        command = [program, "evaluate", "certified", lfw, "-o", work / "certified", "--epsilons", ",".join(EPSILONS),
                   "--features", ",".join(FEATURES), "--people", str(people), "--attacks", "none", "--model", model,
                   "--resume", "--json"]
        kept.write_text(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
    return json.loads(kept.read_text())


def table(results):
    lines = []
    for row in results["rows"]:
        method = row["terms"]["method"]
        cells = [f"{method['epsilon']:g}", method["features"], f"{row['psnr']['value']:.2f}", f"{row['ssim']['value']:.3f}"]
        for recogniser, rule in RULES.items():
            judge = next(j for j in row["judges"] if j["recogniser"] == recogniser and j["rule"]["name"] == rule)
            for kind in ("self_fnr", "pair_fnr"):
                rate = judge["attacks"][0][kind]
                cells.append(f"{rate['value']:.3f} ({rate['low']:.3f}-{rate['high']:.3f})")
        lines.append(cells)
    header = ["epsilon", "features", "PSNR (dB)", "SSIM", "dlib, original", "dlib, other photo", "SFace, original",
              "SFace, other photo"]
    rows = [header, ["---"] * len(header), *lines]
    return "\n".join("| " + " | ".join(map(str, row)) + " |" for row in rows)


def picture(program, panel):
    """A portrait at every budget, with the embedded model of 64 features."""
    source = ROOT / "examples/photos/collins.jpg"
    box = (130, 20, 330, 220)
    shown = [("original", Image.open(source).convert("RGB").crop(box))]
    with tempfile.TemporaryDirectory() as folder:
        for epsilon in [*EPSILONS, "1000"]:
            subprocess.run([program, "protect", source, "-o", f"{folder}/{epsilon}", "--method", "certified", "--epsilon", epsilon,
                            "--seed", "1", "--no-check", "--quiet"], check=True)
            image = Image.open(f"{folder}/{epsilon}/collins.jpg").convert("RGB").crop(box)
            shown.append((f"epsilon {epsilon}", image))
    panel(shown).save(ROOT / "docs/images/certified.png", optimize=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("work")
    parser.add_argument("--lfw", required=True)
    parser.add_argument("--people", type=int, default=120)
    parser.add_argument("--program", default=ROOT / "target/release/facedp")
    options = parser.parse_args()
    work = pathlib.Path(options.work)
    work.mkdir(parents=True, exist_ok=True)
    results = measured(options.program, work, options.lfw, options.people)
    helper = figures()
    picture(options.program, helper.panel)
    row = results["rows"][0]
    text = f"""## The price of a real guarantee

`certified` replaces the features of a face by noisy ones. The draw is epsilon-differentially private among pictures that
are otherwise equal ([proofs](../proofs/README.md)). The table gives the share of photos that no longer match their original,
or another photo of the person: {row['people']} people of LFW, one photo each; dlib at 0.6, SFace at a false accept rate of 1e-3; 95 %
intervals (Wilson). The model has 256 features and was fitted on the other half of the people.

`tools/certified.py WORK --lfw LFW`; {helper.machine()}

{table(results)}

![A portrait, and the output of certified at six budgets](images/certified.png)

*Eileen Collins (NASA, public domain), 64 features: `facedp protect examples/photos/collins.jpg -o DIR --method certified
--epsilon EPS --seed 1`. At budgets that count as strong privacy, nearly all features are
replaced by those of the mean face, and the rest of the face can still show who it is.*
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
