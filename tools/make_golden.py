#!/usr/bin/env python3
"""Writes the golden vectors that crates/facedp/tests/golden.rs compares with.

All expected values come from third-party libraries, or (the geometric distribution) from the
definition in decimals of 120 digits. Inputs come from fixed seeds.

    pip install -r tools/requirements.txt
    python tools/make_golden.py            # write the files
    python tools/make_golden.py --check    # compare with the files, exit 1 on a difference
"""

import argparse
import decimal
import json
import math
import platform
import sys
from decimal import Decimal
from importlib.metadata import version
from pathlib import Path

import numpy as np
import pywt
import scipy.fft
from PIL import Image
from skimage.metrics import peak_signal_noise_ratio, structural_similarity
from sklearn.decomposition import PCA

from golden_text import text

FOLDER = Path(__file__).resolve().parent.parent / "crates" / "facedp" / "tests" / "golden"
# Relative to the largest number of the same array: a coefficient that should be 0 is a rounding
# error, and no two machines need agree on it.
TOLERANCE = 1e-12


def mixed(rng, height, width):
    """Whole grey levels and real numbers of either sign, half of each."""
    whole = rng.integers(0, 256, (height, width)).astype(float)
    real = 300 * rng.random((height, width)) - 150
    return np.where(rng.random((height, width)) < 0.5, whole, real)


def smooth(rng, height, width, modes=4):
    """A random picture of a few low frequencies, of spread 1 around 0."""
    spectrum = np.zeros((height, width))
    spectrum[:modes, :modes] = rng.standard_normal((modes, modes))
    spectrum[0, 0] = 0
    picture = scipy.fft.idctn(spectrum, norm="ortho")
    return picture / picture.std()


def grey(picture):
    return np.clip(np.rint(picture), 0, 255).astype(np.uint8)


def haar():
    rng = np.random.default_rng(1)
    cases = []
    for side, depths in [(16, [1, 2, 3, 4]), (32, [5])]:
        x = mixed(rng, side, side)
        packed = [pywt.coeffs_to_array(pywt.wavedec2(x, "haar", level=n))[0] for n in depths]
        depths = [{"levels": n, "coefficients": c} for n, c in zip(depths, packed)]
        cases.append({"side": side, "input": x, "depths": depths})
    return ["numpy", "PyWavelets"], cases


def dct():
    rng = np.random.default_rng(2)
    cases = []
    for width, height in [(16, 16), (20, 12)]:
        x = mixed(rng, height, width)
        c = scipy.fft.dctn(x, norm="ortho")
        cases.append({"width": width, "height": height, "input": x, "coefficients": c})
    return ["numpy", "scipy"], cases


def decibels(original, released, peak):
    with np.errstate(divide="ignore"):
        value = peak_signal_noise_ratio(original, released, data_range=peak)
    return float(value) if math.isfinite(value) else None


def quality():
    rng = np.random.default_rng(3)
    small = grey(120 + 50 * smooth(rng, 17, 24))
    large = grey(130 + 55 * smooth(rng, 32, 40))
    least = grey(110 + 60 * smooth(rng, 11, 11))  # the Gaussian window fits once

    def noisy(picture, spread):
        return grey(picture + spread * rng.standard_normal(picture.shape))

    pairs = [
        ("a little noise", small, noisy(small, 6)),
        ("much noise", large, noisy(large, 70)),
        ("identical", small, small),
        ("negative", large, 255 - large),
        ("darkened", large, noisy(large / 3, 2)),
        ("one window", least, noisy(least, 20)),
        ("black", least, np.zeros_like(least)),
    ]
    cases = []
    for name, a, b in pairs:
        wang = dict(gaussian_weights=True, sigma=1.5, use_sample_covariance=False)
        cases.append({
            "name": name,
            "width": a.shape[1],
            "height": a.shape[0],
            "psnr": decibels(a, b, 255),
            "psnr_paper": decibels(a, b, float(b.max())),
            "ssim": float(structural_similarity(a, b, data_range=255)),
            "ssim_wang": float(structural_similarity(a, b, data_range=255, **wang)),
            "variance": int(((a.astype(int) - b.astype(int)) ** 2).sum()),
            "original": a,
            "released": b,
        })
    return ["numpy", "scipy", "scikit-image"], cases


def eigenfaces():
    rng = np.random.default_rng(4)
    side, pictures, features = 16, 24, 6
    strengths = [30, 18, 11, 7, 4, 2.5]
    factors = np.array([smooth(rng, side, side).ravel() for _ in strengths])
    factors = side * np.linalg.qr(factors.T).Q.T  # none repeats another
    weights = rng.standard_normal((pictures, features)) * strengths
    noise = 0.5 * rng.standard_normal((pictures, side * side))
    x = grey(125 + weights @ factors + noise)
    pca = PCA(n_components=features, svd_solver="full").fit(x.astype(float))
    # Components of nearly equal strength are not unique: then the files would prove nothing.
    every = PCA(n_components=features + 1, svd_solver="full").fit(x.astype(float))
    falls = every.singular_values_[:-1] / every.singular_values_[1:]
    assert falls.min() > 1.2, falls
    return ["numpy", "scipy", "scikit-learn"], [{
        "side": side,
        "pictures": x,
        "mean": pca.mean_,
        "singular_values": pca.singular_values_,
        "components": pca.components_,
    }]


def resize():
    rng = np.random.default_rng(5)
    cases = []
    sizes = [((8, 8), (19, 19)), ((20, 12), (8, 8)), ((8, 8), (5, 13)), ((8, 8), (8, 20))]
    for (width, height), to in sizes:
        x = mixed(rng, height, width).astype(np.float32)
        y = np.asarray(Image.fromarray(x).resize(to, Image.Resampling.BILINEAR))
        assert y.dtype == np.float32 and y.shape == to[::-1]
        cases.append({
            "width": width,
            "height": height,
            "to_width": to[0],
            "to_height": to[1],
            "input": x.astype(float),
            "output": y.astype(float),
        })
    return ["numpy", "pillow"], cases


def geometric():
    """Pr[K >= k] where Pr[K = k] is proportional to (1-p)^(k-1) on 1..=n, by adding up.

    p is the exact value of the double. Values have 30 digits, in strings because doubles do not.
    """
    ranks = [1, 2, 3, 5, 16, 128, 300, 1000, 8192, 16384, 500_000]
    laws = [(p, n) for p in [0.02, 0.3, 1e-6, 0.9] for n in [16384, 5]]
    laws.append((1e-6, 1024 * 1024))  # the largest chip: ln(1 - p) must not lose digits
    cases = []
    with decimal.localcontext(prec=120):
        for p, n in laws:
            q, law = 1 - Decimal(p), [Decimal(1)]
            for _ in range(n - 1):
                law.append(law[-1] * q)
            for k in reversed(range(n - 1)):
                law[k] += law[k + 1]
            total = law[0]
            law = [tail / total for tail in law]
            # Doubles end at about 1e-308.
            kept = [k for k in range(1, n + 1) if k in ranks or k == n]
            kept = [k for k in kept if law[k - 1] > Decimal("1e-300")]
            # How many ranks get noise; unknown where rounding decides (0.1^12 for p = 0.9).
            least, margin = Decimal("1e-12"), Decimal("1e-21")
            close = any(abs(g - least) < margin for g in law)
            cases.append({
                "p": p,
                "n": n,
                "noisy_ranks": None if close else sum(g >= least for g in law),
                "k": kept,
                "survival": [f"{law[k - 1]:.29e}" for k in kept],
            })
    return [], cases


def contents():
    for make in [haar, dct, quality, eigenfaces, resize, geometric]:
        libraries, cases = make()
        made_by = {
            "script": "tools/make_golden.py",
            "python": platform.python_version(),
            "libraries": {name: version(name) for name in libraries},
        }
        yield f"{make.__name__}.json", {"made_by": made_by, "cases": cases}


def is_number(value):
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def largest(value):
    """The largest magnitude in a number or an array of any depth."""
    if isinstance(value, list):
        return max(map(largest, value), default=0.0)
    return abs(value) if is_number(value) else 0.0


def difference(old, new, where="", scale=None):
    """The first difference in words, or None."""
    if is_number(old) and is_number(new):
        scale = max(abs(old), abs(new)) if scale is None else scale
        if abs(old - new) <= TOLERANCE * scale:
            return None
        return f"{where}: {old!r} in the file, {new!r} now"
    if type(old) is not type(new):
        return f"{where}: {old!r:.60} in the file, {new!r:.60} now"
    if isinstance(old, dict):
        if list(old) != list(new):
            return f"{where}: keys {list(old)} in the file, {list(new)} now"
        pairs = ((difference(old[key], new[key], f"{where}/{key}")) for key in old)
    elif isinstance(old, list):
        if len(old) != len(new):
            return f"{where}: {len(old)} entries in the file, {len(new)} now"
        scale = max(largest(old), largest(new)) if scale is None else scale
        # Objects inside arrays have scales of their own.
        pairs = (
            difference(o, n, f"{where}[{i}]", None if isinstance(o, dict) else scale)
            for i, (o, n) in enumerate(zip(old, new))
        )
    else:
        return None if old == new else f"{where}: {old!r} in the file, {new!r} now"
    return next((found for found in pairs if found), None)


def check(path, value):
    """What is wrong with a file, or None."""
    try:
        old = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        return f"cannot be read: {error}"
    new = json.loads(text(value))
    if not isinstance(old, dict) or list(old) != list(new):
        return f"should have the keys {list(new)}"
    return difference(old["cases"], new["cases"], "cases")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--check", action="store_true", help="compare instead of writing")
    parser.add_argument("--out", type=Path, default=FOLDER, help="folder of the files")
    options = parser.parse_args()
    failed = False
    for name, value in contents():
        path = options.out / name
        if options.check:
            problem = check(path, value)
            failed |= problem is not None
            print(f"{name}: {problem or 'as generated'}")
        else:
            options.out.mkdir(parents=True, exist_ok=True)
            path.write_text(text(value) + "\n", encoding="utf-8", newline="\n")
            print(f"{name}: {path.stat().st_size} bytes")
    if failed:
        print("golden files differ from what the libraries give now", file=sys.stderr)
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
