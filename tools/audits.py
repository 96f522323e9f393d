#!/usr/bin/env python3
"""Runs `facedp audit` on every method and writes docs/measurements/audit.md. Takes two minutes on two cores.

    python tools/audits.py [--program target/release/facedp] [--data LFW]
"""

import argparse
import json
import pathlib
import subprocess
import time

from compare_photos import machine

ROOT = pathlib.Path(__file__).resolve().parent.parent
PAPER = ["pixel-dp", "dct-dp", "rdp", "rdp-na", "rdp-lmgd", "rdp-optimal"]
CERTIFIED = ["0.2", "1", "8"]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", default=ROOT / "target/release/facedp")
    parser.add_argument("--data", help="folder of people, for pairs of real faces")
    options = parser.parse_args()
    program = options.program
    people = ["--data", options.data] if options.data else []

    def audit(*options):
        start = time.monotonic()
        out = subprocess.run([program, "audit", *options, *people, "--json"], check=True, capture_output=True, text=True).stdout
        return json.loads(out), time.monotonic() - start

    def real(found):
        bounds = [pair["epsilon_lower_bound"] for pair in found["pairs"] if pair["name"].startswith("two people")]
        return f"{max(bounds):.3f}" if bounds else "not measured"

    lines = []
    for method in PAPER:
        found, seconds = audit("--method", method)
        needed = min(pair["runs_needed"] for pair in found["pairs"] if pair["refuted"] and pair["claimed"] >= found["epsilon"])
        holds = sum(fit["distance"] <= fit["critical"] for fit in found["theorem_1"])
        lines.append([f"`--method {method}`", found["epsilon"], f"{found['epsilon_lower_bound']:.3f}", real(found), f"{found['expected_bound']:.3f}",
                      f"{found['structural']['delta_floor']:.3f}", f"refuted; {needed} runs suffice", f"{holds} of 64", f"{seconds:.0f}"])
    files = []
    for epsilon in CERTIFIED:
        found, seconds = audit("--method", "certified", "--epsilon", epsilon, "--runs", "10000", "--confidence", "0.999")
        best = lambda kind: max(p["epsilon_lower_bound"] for p in found["pairs"]
                                if p["claimed"] <= found["epsilon"] and p["name"].startswith("files") == kind)
        files.append([epsilon, f"{found['runs']:,}", f"{best(False):.3f}", f"{best(True):.3f}", f"{found['expected_bound']:.3f}",
                      "**refuted**" if found["refuted"] else "not refuted", f"{seconds / 60:.1f}"])
    header = ["facedp audit", "claimed", "epsilon, lower bound", "two people", "expected", "delta, lower bound", "verdict", "Theorem 1 holds", "seconds"]
    rows = "\n".join("| " + " | ".join(map(str, line)) + " |" for line in [header, ["---"] * len(header), *lines])
    header = ["epsilon", "runs per neighbour", "lower bound, mechanism", "lower bound, files", "expected", "verdict", "minutes"]
    certified = "\n".join("| " + " | ".join(map(str, line)) + " |" for line in [header, ["---"] * len(header), *files])
    (ROOT / "docs/measurements/audit.md").write_text(f"""# Audits

`facedp audit` on every method: 64 features, 100,000 runs per neighbour, 95 % confidence unless the command says otherwise,
seed 1. An audit can refute a claim but not prove one; the proofs are in [proofs](../../proofs/README.md).

- *Epsilon, lower bound*: the largest epsilon that an event demonstrates.
- *Two people*: the same bound, over pairs of faces from LFW.
- *Expected*: the bound that the Laplace mechanism of the claimed epsilon is expected to show; by chance, a correct mechanism can show more.
- *Delta, lower bound*: the probability that some direction of feature space gets no noise.

`tools/audits.py --data LFW`; {machine()}

{rows}

## Certified, from file to file

Besides the mechanism, these audits run the whole program on written files: two photos of 64x64 pixels that are black and white
inside the outline (written as PNG) or lit from left and right (JPEG), a fresh key for each run; what is observed are the bytes.
One run takes about 4 ms. Planted bugs (a row of the face is left, a fiftieth of it shines through, a comment is kept) are found
with 400 runs (`bugs_in_files_are_found`).

{certified}
""")


if __name__ == "__main__":
    main()
