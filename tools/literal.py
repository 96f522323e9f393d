#!/usr/bin/env python3
"""Compares the paper's formulas as printed with our versions: writes docs/measurements/literal.md and its section of
docs/reproduction.md.

    facedp evaluate paper LFW -o LITERAL/lfw --methods rdp,rdp-na,rdp-na-literal,rdp-lmgd,rdp-lmgd-literal \\
        --epsilons 0.2,1.0 --matcher-epsilons 0.001 --images 1100 --recognition 150 --attack-images 0 --audit-runs 0 --draws 0 --amplitude 0
    facedp evaluate paper PUBFIG83 -o LITERAL/pubfig83 (the same options)
    python tools/literal.py LITERAL/lfw LITERAL/pubfig83
"""

import json
import pathlib
import re
import sys

from compare_photos import machine
from reproduction import PAPER_FNR

ROOT = pathlib.Path(__file__).resolve().parent.parent
METHODS = {"rdp": "uniform scales", "rdp-na": "NA, our version", "rdp-na-literal": "NA as printed",
           "rdp-lmgd": "LMGD, our version", "rdp-lmgd-literal": "LMGD as printed"}
BUDGETS = [0.2, 1.0]


RULES = [("dlib", "paper", "dlib at the paper's 0.975"), ("dlib", "standard", "dlib at its own 0.6"), ("sface", "standard", "SFace at its own threshold")]


def rows(name, results):
    for features in results["about"]["features"]:
        for method, words in METHODS.items():
            cells = [next(r for r in results["quality"] if (r["method"], r["features"], r["epsilon"]) == (method, features, e)
                          and r["ranking"] != "amplitude") for e in BUDGETS]
            yield [name, features, words, *(f"{c['psnr_mean_mse']:.2f} ({c['psnr_expected']:.2f})" for c in cells),
                   *(f"{c['ssim']['value']:.4f}" for c in cells), f"{cells[0]['log10_variance']['value']:.2f}", f"{cells[0]['difference_of_means']:.3f}"]


def recognition(name, results):
    """False negative rates where all draws are scaled to the same PSNR."""
    decibels = results["about"]["decibels"]
    cell = lambda found: f"{percent(found['self_fnr'])}; {percent(found['pair_fnr'])}"
    for recogniser, rule, title in RULES:
        for method, words in METHODS.items():
            of = {r["psnr"]: r for r in results["recognition"]
                  if (r["recogniser"], r["rule"]["name"], r["method"]) == (recogniser, rule, method)}
            paper = PAPER_FNR.get(method.removesuffix("-literal")) if rule == "paper" and name == "LFW" else None
            yield [name, title, words, f"{100 * paper:.1f} %" if paper else "", *(cell(of[d]) for d in decibels)]


def percent(e):
    return f"{100 * e['value']:.1f} % ({100 * e['low']:.1f}-{100 * e['high']:.1f})"


def table(header, lines):
    return "\n".join("| " + " | ".join(map(str, line)) + " |" for line in [header, ["---"] * len(header), *lines])


def main():
    reports = {name: json.loads((pathlib.Path(folder) / "results.json").read_text())
               for name, folder in zip(["LFW", "PubFig83"], sys.argv[1:])}
    header = ["", "features", "scales", *(f"PSNR at {e}" for e in BUDGETS), *(f"SSIM at {e}" for e in BUDGETS), "log variance at 0.2", "difference of means at 0.2"]
    quality = table(header, [row for name, results in reports.items() for row in rows(name, results)])
    decibels = next(iter(reports.values()))["about"]["decibels"]
    known = table(["", "recogniser", "scales", "the paper's self FNR", *(f"{d:.0f} dB" for d in decibels)],
                  [row for name, results in reports.items() for row in recognition(name, results)])
    sizes = "; ".join(f"{name}: {r['about']['images']:,} pictures for quality, {r['about']['recognition_images']:,} for recognisers"
                      for name, r in reports.items())
    text = f"""## The formulas as printed

`rdp-na-literal` takes the paper's closed form as it stands: scales are inverse to weights, so nearly all noise goes to
coefficients with weights near 0, which few draws reach. The expected squared error (its PSNR in brackets) is enormous, and a
sample of a thousand draws does not show it: most releases have next to no noise, and one in many destroys the picture. The
paper's PSNRs and log variances could have come from such samples; then its budget is spent on noise that hardly any release has.
`rdp-lmgd-literal` takes the gradient steps as they stand: with absolute values they only shrink scales, the loss never falls below
delta, and the least loss is that of the uniform scales it starts from. So neither formula, as printed, does what the paper says of
NA and LMGD (10 dB ahead of uniform scales at the same expected budget).

`tools/literal.py LITERAL/lfw LITERAL/pubfig83` (its header has the evaluations' commands); {sizes}; {machine()}

{quality}

### Recognisers

Each draw is scaled to the given PSNR, so what is compared is where a method puts its noise, not how much. Each cell has the share
of photos that no longer match their own original (*self*, as in the paper), then the share that no longer match another photo of the
person (*pair*), with 95 % intervals.

{known}
"""
    (ROOT / "docs/measurements/literal.md").write_text(text)
    page = ROOT / "docs/reproduction.md"
    old = page.read_text()
    block = f"<!-- literal -->\n{text}<!-- /literal -->\n"
    pattern = r"<!-- literal -->.*<!-- /literal -->\n"
    if re.search(pattern, old, flags=re.S):
        page.write_text(re.sub(pattern, lambda _: block, old, flags=re.S))
    else:
        page.write_text(old.replace("<!-- certified -->", block + "\n<!-- certified -->", 1))


if __name__ == "__main__":
    main()
