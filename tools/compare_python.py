#!/usr/bin/env python3
"""Times the stages of facedp against the same work in Python, on one thread each.

The Python side is idiomatic NumPy, PyWavelets, SciPy, Pillow, scikit-image and scikit-learn. Both
sides use the same chips, eigenfaces, rankings and scales, and their results are compared before
anything is timed. They alternate, so that a busy machine slows both. Python draws continuous
Laplace noise from NumPy's default generator (PCG64), facedp exact discrete noise from ChaCha20.
"""

import argparse
import datetime
import importlib.metadata
import itertools
import json
import math
import os
import platform
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[name] = "1"  # read when NumPy is imported

import numpy as np
import pywt
import scipy.fft
from PIL import Image
from skimage.metrics import peak_signal_noise_ratio, structural_similarity
from sklearn.decomposition import PCA

ROOT = Path(__file__).resolve().parent.parent
LIBRARIES = ("numpy", "scipy", "PyWavelets", "pillow", "scikit-image", "scikit-learn")
PICTURES = 100  # of the stage `file`
STAGES = (
    "protect_haar",
    "protect_dct",
    "protect_haar_features",
    "haar_inverse",
    "dct_inverse",
    "plan_uniform",
    "plan_lmgd",
    "plan_optimal",
    "psnr",
    "ssim",
    "ssim_wang",
    "file",
    "fit",
)
# Stage, limit, and its description.
LIMITS = [
    ("protect_haar", lambda ours, ratio: ours <= 40e-6 and ratio >= 10, "<= 40 us and >= 10x"),
    ("protect_dct", lambda ours, ratio: ours <= 250e-6, "<= 250 us"),
    ("plan_optimal", lambda ours, ratio: ours <= 0.3, "<= 0.3 s"),
    ("plan_lmgd", lambda ours, ratio: ours <= 2, "<= 2 s"),
    ("fit", lambda ours, ratio: ratio >= 1, ">= 1x"),
]


class Haar:
    """The full multi-level Haar transform, packed into one array."""

    def __init__(self, side):
        coefficients = pywt.wavedec2(np.zeros((side, side)), "haar")
        self.slices = pywt.coeffs_to_array(coefficients)[1]

    def forward_all(self, planes):
        coefficients = pywt.wavedec2(planes, "haar", axes=(1, 2))
        return pywt.coeffs_to_array(coefficients, axes=(1, 2))[0]

    def inverse(self, packed):
        coefficients = pywt.array_to_coeffs(packed, self.slices, output_format="wavedec2")
        return pywt.waverec2(coefficients, "haar")


def dct_inverse(coefficients):
    return scipy.fft.idctn(coefficients, norm="ortho")


class Python:
    """One method per stage, under the same name."""

    def __init__(self, folder, count):
        inputs = json.loads((folder / "inputs.json").read_text())
        self.side, self.features = inputs["side"], inputs["features"]
        shape = (self.side, self.side)
        self.epsilon, self.p = inputs["epsilon"], inputs["geometric_p"]
        self.survivals = np.array(inputs["survivals"])
        delta = np.array(inputs["sensitivities"])
        self.delta = delta / delta.sum()
        self.ranked = {
            basis: (np.array(inputs[basis]["order"]), np.array(inputs[basis]["scales"]))
            for basis in ("haar", "dct")
        }
        self.mean = np.fromfile(folder / "mean.f64")
        self.eigenfaces = np.fromfile(folder / "eigenfaces.f64").reshape(self.features, -1)
        chips = np.fromfile(folder / "chips.u8", dtype=np.uint8).reshape(count, -1)
        self.first, self.second = (chip.reshape(shape).astype(float) for chip in chips[:2])
        self.chips = chips.astype(float)
        self.optimal, self.lmgd = inputs["optimal"], inputs["lmgd"]
        self.expected = inputs["results"]
        self.pictures, self.results = folder / "pictures", folder / "python"
        self.pictures.mkdir()
        for n, chip in enumerate(chips[:PICTURES]):
            Image.fromarray(chip.reshape(shape)).save(self.pictures / f"{n}.png")
        self.haar = Haar(self.side)
        self.random = np.random.default_rng(1)

    # Protecting one chip with a ready plan.

    def protect(self, basis, inverse):
        order, scales = self.ranked[basis]
        k = min(self.random.geometric(self.p), len(order))
        noise = np.zeros(self.side * self.side)
        noise[order[:k]] = self.random.laplace(scale=scales[:k])
        return self.first + inverse(noise.reshape(self.side, self.side))

    def protect_haar(self):
        return self.protect("haar", self.haar.inverse)

    def protect_dct(self):
        return self.protect("dct", dct_inverse)

    def protect_haar_features(self):
        plane = self.protect_haar()
        return plane, self.eigenfaces @ (plane.ravel() - self.mean)

    def haar_inverse(self):
        return self.haar.inverse(self.first)

    def dct_inverse(self):
        return dct_inverse(self.first)

    # Planning, from the eigenfaces to the scales.

    def weights(self):
        """Squared weights, coefficients x features."""
        faces = self.eigenfaces.reshape(-1, self.side, self.side)
        packed = self.haar.forward_all(faces).reshape(self.features, -1)
        return np.ascontiguousarray(np.square(packed).T)

    def spend(self, weights, x, order):
        """Scales by rank that spend the budget, and half the expected energy of the noise."""
        factor = (self.delta / np.sqrt(weights.T @ x)).sum() / self.epsilon
        scales = factor * np.sqrt(x / self.survivals[: len(x)])
        return order, scales, factor**2 * x.sum()

    def by_influence(self):
        weights = self.weights()
        order = np.argsort(-weights.sum(axis=1), kind="stable")[: len(self.survivals)]
        return order, weights[order]

    def plan_uniform(self):
        order, weights = self.by_influence()
        return self.spend(weights, self.survivals, order)

    def plan_optimal(self):
        weights = self.weights()
        order, x = np.arange(len(weights)), np.ones(len(weights))
        for step in itertools.count(1):
            variances = weights.T @ x
            root = np.sqrt(variances)
            cost, spent = x.sum(), (self.delta / root).sum()
            pull = weights @ (self.delta / (variances * root))
            if cost * pull.max() / spent - 1 <= 0.9 * self.optimal["max_gap"]:
                break
            x *= pull * (cost / spent)
            if step % 20 == 0:  # most coefficients soon get nothing
                alive = x > 1e-15 * cost
                order, x, weights = order[alive], x[alive], weights[alive]
        best = np.argsort(-x, kind="stable")[: len(self.survivals)]
        best = best[x[best] >= 1e-5 * cost]
        return self.spend(weights[best], x[best], order[best])

    def plan_lmgd(self):
        eta, delta = self.lmgd["eta"], self.lmgd["delta"]
        order, weights = self.by_influence()
        start = 1.02 * (self.delta / np.sqrt(weights.T @ self.survivals)).sum() / self.epsilon
        x = start**2 * self.survivals
        best, multiplier = (np.inf, x), None
        for _ in range(self.lmgd["max_iterations"] + 1):
            variances = weights.T @ x
            root = np.sqrt(variances)
            cost, spent = x.sum(), (self.delta / root).sum()
            if cost * spent**2 < best[0]:
                best = (cost * spent**2, x.copy())
            pull = weights @ (self.delta / (variances * root))
            if multiplier is None:
                multiplier = 2 * cost / spent
            r1, r2 = spent / self.epsilon - 1, 0.5 * multiplier * pull - 1
            residual = abs(r1) + x @ np.abs(r2) / cost
            if residual < delta and cost * pull.max() / spent - 1 < delta:
                break
            mean = x @ r2 / cost
            x *= np.exp(2 * eta * (r2.clip(-1, 5) + min(max(r1, -1), 1)))
            multiplier *= math.exp(-eta * min(max(mean, -1), 1))
        x = best[1]
        x[x < 1e-5 * x.sum()] = 0
        return self.spend(weights, x, order)

    # Quality and training.

    def psnr(self):
        return peak_signal_noise_ratio(self.first, self.second, data_range=255)

    def ssim(self):
        return structural_similarity(self.first, self.second, data_range=255)

    def ssim_wang(self):
        return structural_similarity(
            self.first,
            self.second,
            data_range=255,
            gaussian_weights=True,
            sigma=1.5,
            use_sample_covariance=False,
        )

    def fit(self):
        pca = PCA(self.features, svd_solver="randomized", random_state=0)
        return pca.fit(self.chips)

    def file(self):
        """A folder of PNG files: decode, add noise, round, compare, encode."""
        self.results.mkdir(exist_ok=True)
        kept = self.first, self.second
        for path in self.pictures.iterdir():
            self.first = np.asarray(Image.open(path)).astype(float)
            self.second = self.protect_haar().round().clip(0, 255)
            with np.errstate(divide="ignore"):  # some releases equal their original
                self.psnr(), self.ssim(), self.ssim_wang()
            Image.fromarray(self.second.astype(np.uint8)).save(self.results / path.name)
        self.first, self.second = kept

    def check(self):
        """Fails unless both sides compute the same."""
        for stage in ("psnr", "ssim", "ssim_wang"):
            assert np.isclose(getattr(self, stage)(), self.expected[stage], rtol=1e-9), stage
        for stage in ("plan_uniform", "plan_lmgd", "plan_optimal"):
            cost = getattr(self, stage)()[2]
            assert np.isclose(cost, self.expected[stage], rtol=1e-4), stage
        order, scales, _ = self.plan_uniform()
        ours = self.ranked["haar"]
        assert np.array_equal(order[:50], ours[0][:50]) and np.allclose(scales, ours[1]), "haar"


def time_python(work, seconds):
    """The median over batches of the mean time per call, as in `timings`."""
    start = time.perf_counter()
    work()
    once = time.perf_counter() - start
    calls = int(min(max(0.001 / once, 1), 1e5))
    batches = [once] if once > seconds else []
    while not batches or time.perf_counter() - start < seconds:
        batch = time.perf_counter()
        for _ in range(calls):
            work()
        batches.append((time.perf_counter() - batch) / calls)
    return statistics.median(batches)


def build():
    """Builds the `timings` example and the program; returns their paths."""
    command = ["cargo", "build", "--release", "--example", "timings", "--bin", "facedp"]
    command += ["--message-format", "json-render-diagnostics"]
    out = subprocess.run(command, cwd=ROOT, check=True, stdout=subprocess.PIPE, text=True).stdout
    built = [m for m in map(json.loads, out.splitlines()) if m.get("executable")]
    paths = {m["target"]["name"]: m["executable"] for m in built}
    return paths["timings"], paths["facedp"]


def progress(text):
    """Overwrites one status line on a terminal."""
    if sys.stderr.isatty():
        print(f"\r{text:60}\r", end="", file=sys.stderr, flush=True)


def compare(quick):
    """Median times (ours, Python) by stage, and how many chips were fitted."""
    rounds, fit_rounds, count, seconds = (3, 1, 500, 0.15) if quick else (7, 5, 2000, 0.5)
    timings, facedp = build()
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([timings, "--write", folder, "--count", str(count)], check=True)
        python = Python(Path(folder), count)
        python.check()
        chips = ["--chips", f"{folder}/chips.u8", "--count", str(count), "--side", "128"]

        def time_ours(stage):
            if stage == "file":
                command = [facedp, "protect", f"{folder}/pictures", "-o", f"{folder}/ours"]
                command += ["--aligned", "--method", "rdp", "--seed", "1", "--no-check", "--jobs", "1", "--force", "--quiet"]
                start = time.perf_counter()
                subprocess.run(command, check=True)
                return {stage: (time.perf_counter() - start) / PICTURES}
            command = [timings, "--stages", stage, "--seconds", str(seconds)] + chips
            return json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout)

        times = {stage: ([], []) for stage in STAGES}
        for turn in range(rounds):
            for stage, (ours, theirs) in times.items():
                if stage == "fit" and turn >= fit_rounds:
                    continue
                progress(f"round {turn + 1} of {rounds}: {stage}")
                ours.append(time_ours(stage)[stage])
                calls = PICTURES if stage == "file" else 1
                theirs.append(time_python(getattr(python, stage), seconds) / calls)
    progress("")
    return {stage: tuple(map(statistics.median, both)) for stage, both in times.items()}, count


def cpu_model():
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
        return next(line.split(":")[1].strip() for line in lines if line.startswith("model name"))
    except (OSError, StopIteration):
        return platform.processor()


def human(seconds):
    for unit, size in (("s ", 1), ("ms", 1e-3)):
        if seconds >= size:
            return f"{seconds / size:.3g} {unit}"
    return f"{seconds / 1e-6:.3g} us"


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--json", action="store_true", help="print JSON instead of a table")
    parser.add_argument("--quick", action="store_true", help="fewer rounds and 500 chips to fit")
    options = parser.parse_args()
    times, count = compare(options.quick)

    limits = []
    for stage, met, words in LIMITS:
        ours, theirs = times[stage]
        limits.append({"stage": stage, "limit": words, "met": met(ours, theirs / ours)})
    about = {
        "date": datetime.date.today().isoformat(),
        "cpu": cpu_model(),
        "versions": {"Python": platform.python_version()}
        | {name: importlib.metadata.version(name) for name in LIBRARIES},
        "chips_to_fit": count,
    }
    if options.json:
        stages = {
            stage: {"ours": ours, "python": theirs, "ratio": theirs / ours}
            for stage, (ours, theirs) in times.items()
        }
        print(json.dumps(about | {"seconds": stages, "limits": limits}, indent=2))
        return
    versions = ", ".join(f"{name} {version}" for name, version in about["versions"].items())
    print(f"{about['date']}, {about['cpu']}, one thread each; {count} chips to fit")
    print(f"{versions}\n")
    print(f"{'stage':22} {'ours':>9} {'Python':>9} {'Python/ours':>12}")
    for stage, (ours, theirs) in times.items():
        print(f"{stage:22} {human(ours):>9} {human(theirs):>9} {theirs / ours:>11.1f}x")
    print()
    for limit in limits:
        verdict = "met" if limit["met"] else "NOT MET"
        print(f"{limit['stage']} {limit['limit']}: {verdict}")


if __name__ == "__main__":
    main()
