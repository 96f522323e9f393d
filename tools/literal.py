#!/usr/bin/env python3
"""Compares the paper's formulas as printed with our versions: writes docs/measurements/literal.md and its section of
docs/reproduction.md.

    facedp evaluate paper LFW -o REPORTS/lfw --images 1100 --recognition 0 --audit-runs 0 --draws 0 --amplitude 0
    facedp evaluate paper PUBFIG83 -o REPORTS/pubfig83 (the same options)
    python tools/literal.py REPORTS/lfw REPORTS/pubfig83
"""

import json
import pathlib
import re
import sys

from compare_photos import machine

ROOT = pathlib.Path(__file__).resolve().parent.parent
METHODS = {"rdp": "uniform scales", "rdp-na": "NA, our version", "rdp-na-literal": "NA as printed",
           "rdp-lmgd": "LMGD, our version", "rdp-lmgd-literal": "LMGD as printed"}
BUDGETS = [0.2, 1.0]


def rows(name, folder):
    results = json.loads((pathlib.Path(folder) / "results.json").read_text())
    for features in results["about"]["features"]:
        for method, words in METHODS.items():
            cells = [next(r for r in results["quality"] if (r["method"], r["features"], r["epsilon"]) == (method, features, e)
                          and r["ranking"] != "amplitude") for e in BUDGETS]
            yield [name, features, words, *(f"{c['psnr_mean_mse']:.2f} ({c['psnr_expected']:.2f})" for c in cells),
                   *(f"{c['ssim']['value']:.4f}" for c in cells), f"{cells[0]['log10_variance']['value']:.2f}"]


def main():
    header = ["", "features", "scales", *(f"PSNR at {e}" for e in BUDGETS), *(f"SSIM at {e}" for e in BUDGETS), "log variance at 0.2"]
    lines = [header, ["---"] * len(header)]
    for name, folder in zip(["LFW", "PubFig83"], sys.argv[1:]):
        lines += list(rows(name, folder))
    table = "\n".join("| " + " | ".join(map(str, line)) + " |" for line in lines)
    text = f"""## The formulas as printed

`rdp-na-literal` takes the paper's closed form as it stands: scales are inverse to weights, so nearly all noise goes to
coefficients with weights near 0, which few draws reach. The expected squared error (its PSNR in brackets) is enormous, and a
sample of a thousand draws does not show it: most releases have next to no noise, and one in many destroys the picture. The
paper's PSNRs and log variances could have come from such samples; then its budget is spent on noise that hardly any release has.
`rdp-lmgd-literal` takes the gradient steps as they stand: with absolute values they only shrink scales, the loss never falls below
delta, and the least loss is that of the uniform scales it starts from. So neither formula, as printed, does what the paper says of
NA and LMGD (10 dB ahead of uniform scales at the same expected budget).

`tools/literal.py REPORTS/lfw REPORTS/pubfig83`; {machine()}

{table}
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
