#!/usr/bin/env python3
"""Measures attackers who adapt to steering, and writes docs/measurements/adaptive.md.

    pip install numpy pillow scipy scikit-image onnxruntime
    python tools/adaptive.py WORK --lfw LFW --recogniser A.onnx --recogniser B.onnx

WORK keeps steered photos and embeddings: run the same command again to continue after an interruption. LFW is a folder
of people, NAME/*.jpg. Beside each recogniser lies a TOML file with its side, template, mean, factor and channels; its
distance is the cosine distance. Attackers learn from people of the even half and are judged on people of the odd half.
Takes about an hour on one core.
"""

import argparse
import datetime
import hashlib
import io
import json
import os
import pathlib
import platform
import random
import subprocess
import sys
import tomllib

import numpy as np
import onnxruntime
from PIL import Image, ImageFilter
from scipy import ndimage
from skimage.restoration import denoise_nl_means

ROOT = pathlib.Path(__file__).resolve().parent.parent
FAR = 1e-3
LEARN, PEOPLE = 500, 100
VERSIONS = 16
# For photos to learn from, to save time.
FEWER = 8
CHUNK = 20
FOLDS = 5
STRENGTHS = 10.0 ** np.arange(-3, 3.5, 0.5)
SHARES = [0.01, 0.03, 0.1, 0.2, 0.3, 0.5, 0.7, 0.9]


def machine():
    cpu = platform.processor() or platform.machine()
    for line in pathlib.Path("/proc/cpuinfo").read_text().splitlines() if sys.platform == "linux" else []:
        if line.startswith("model name"):
            cpu = line.split(":")[1].strip()
            break
    return f"{cpu}, {os.cpu_count()} shared cores, {platform.system()}; {datetime.date.today()}"


def table(header, rows):
    lines = [header, ["---"] * len(header), *rows]
    return "\n".join("| " + " | ".join(map(str, line)) + " |" for line in lines)


def wilson(hits):
    """The share of true values, with its 95 % interval."""
    n, p, z = len(hits), float(np.mean(hits)), 1.959964
    middle, reach = p + z * z / (2 * n), z * np.sqrt(p * (1 - p) / n + z * z / (4 * n * n))
    low, high = ((middle + sign * reach) / (1 + z * z / n) for sign in (-1, 1))
    return f"{p:.3f} ({max(low, 0):.3f}-{min(high, 1):.3f})"


def unit(rows):
    return rows / np.linalg.norm(rows, axis=-1, keepdims=True)


# Photos.


def choose(lfw, learning, testing, strangers):
    """Photos to learn from (one of each person), pairs to test with, and more untouched photos for thresholds."""
    people = sorted(p for p in pathlib.Path(lfw).iterdir() if p.is_dir())
    random.Random(1).shuffle(people)
    odd = lambda p: hashlib.sha256(p.name.encode()).digest()[-1] & 1
    photos = {p: sorted(p.glob("*.jpg")) for p in people}
    pairs = [p for p in people if odd(p) and len(photos[p]) > 1][:testing]
    others = [p for p in people if odd(p) and photos[p] and p not in pairs][:strangers]
    train = [photos[p][0] for p in people if not odd(p) and photos[p]][:learning]
    return train, [photos[p][:2] for p in pairs], [photos[p][0] for p in others]


def steer(program, files, work):
    """Writes steered photos to WORK/steered, as PNG."""
    folder = work / "steered"
    target = lambda file: folder / f"{file.stem}.png"
    environment = os.environ | {"XDG_CONFIG_HOME": str(work)}
    missing = [file for file in files if not target(file).exists()]
    for at in range(0, len(missing), CHUNK):
        command = [program, "protect", *missing[at:at + CHUNK], "-o", folder, "--seed", "1", "--faces", "largest",
                   "--no-check", "--no-metrics", "--jobs", "1", "--format", "png", "--resume", "--quiet"]
        ended = subprocess.run([str(c) for c in command], capture_output=True, text=True, env=environment)
        if ended.returncode not in (0, 1):
            raise SystemExit(ended.stderr[-2000:])
    return {file: target(file) for file in files if target(file).exists()}


class Finder:
    """Landmarks of the most central face, and whether it is the largest."""

    def __init__(self, program, work):
        self.program, self.file = program, work / "faces.json"
        self.known = json.loads(self.file.read_text()) if self.file.exists() else {}

    def __call__(self, photo):
        key = f"{photo.stem}{photo.suffix}"
        if key not in self.known:
            for score in ("0.7", "0.3"):
                command = [self.program, "inspect", photo, "--json", "--min-score", score]
                out = subprocess.run([str(c) for c in command], capture_output=True, text=True).stdout
                found = json.loads(out) if out.strip() else {"faces": []}
                if found["faces"]:
                    break
            off = lambda f: np.hypot(f["box"][0] + f["box"][2] / 2 - found["width"] / 2,
                                     f["box"][1] + f["box"][3] / 2 - found["height"] / 2)
            area = lambda f: f["box"][2] * f["box"][3]
            face = min(found["faces"], key=off) if found["faces"] else None
            self.known[key] = face and {"points": face["landmarks"], "score": face["score"],
                                        "largest": face is max(found["faces"], key=area)}
        return self.known[key]

    def keep(self):
        self.file.write_text(json.dumps(self.known))


# Recognisers.


class Recogniser:
    def __init__(self, path):
        path = pathlib.Path(path)
        self.name = path.stem
        self.terms = tomllib.loads(path.with_suffix(".toml").read_text())
        if self.terms["metric"] != "cosine":
            raise SystemExit(f"{self.name}: only the cosine distance is supported")
        self.template = np.array(self.terms["template"])
        self.geometry = self.terms["side"], str(self.terms["template"])
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = options.inter_op_num_threads = 1
        self.network = onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
        self.input = self.network.get_inputs()[0].name

    def embed(self, chip):
        chip = (chip - np.array(self.terms["mean"])) * self.terms["factor"]
        chip = chip[:, :, ::-1] if self.terms["channels"] == "bgr" else chip
        values = np.ascontiguousarray(chip.transpose(2, 0, 1)[None], dtype=np.float32)
        return unit(self.network.run(None, {self.input: values})[0].reshape(-1).astype(np.float64))

    def chip(self, pixels, points, draw=None):
        """The face, moved onto the template; with a random generator, slightly turned, scaled and warped."""
        side = self.terms["side"]
        # Least squares over complex numbers: photo = a * template + b, without a reflection.
        to, of = (p[:, 0] + 1j * p[:, 1] for p in (np.array(points), self.template))
        a = np.vdot(of - of.mean(), to - to.mean()) / np.vdot(of - of.mean(), of - of.mean())
        y, x = np.mgrid[:side, :side].astype(float)
        at = x + 1j * y
        if draw is not None:
            centre = (side - 1) * (1 + 1j) / 2
            turn = np.exp(draw.normal(0, 0.02) + 1j * draw.normal(0, np.radians(2)))
            at = centre + turn * (at - centre)
            field = [ndimage.zoom(draw.normal(size=(7, 7)), side / 7, order=3) for _ in range(2)]
            field = field[0] + 1j * field[1]
            eyes = abs(of[1] - of[0])
            at = at + field * (0.02 * eyes / np.sqrt(np.mean(abs(field) ** 2)))
        at = to.mean() + a * (at - of.mean())
        return bilinear(pixels, at.real, at.imag)


def bilinear(pixels, x, y):
    """Samples pixels; black outside."""
    height, width = pixels.shape[:2]
    inside = (x > -1) & (x < width) & (y > -1) & (y < height)
    padded = np.pad(pixels, ((1, 1), (1, 1), (0, 0)))
    x, y = np.clip(x + 1, 0, width + 0.999), np.clip(y + 1, 0, height + 0.999)
    column, row = x.astype(int), y.astype(int)
    u, v = (x - column)[..., None], (y - row)[..., None]
    mix = (padded[row, column] * (1 - u) + padded[row, column + 1] * u) * (1 - v)
    mix += (padded[row + 1, column] * (1 - u) + padded[row + 1, column + 1] * u) * v
    return mix * inside[..., None]


def jpeg(quality):
    def apply(photo, _):
        kept = io.BytesIO()
        photo.save(kept, "JPEG", quality=quality)
        return Image.open(kept).convert("RGB")
    return apply


def half(photo, _):
    small = photo.resize(((photo.width + 1) // 2, (photo.height + 1) // 2), Image.Resampling.LANCZOS)
    return small.resize(photo.size, Image.Resampling.BICUBIC)


def denoise(photo, points):
    """Non-local means around the face."""
    centre, eyes = np.mean(points, axis=0), np.hypot(*np.subtract(points[1], points[0]))
    left, top = (max(0, int(c - 2.2 * max(eyes, 12))) for c in centre)
    right, bottom = (min(s, int(c + 2.2 * max(eyes, 12))) for c, s in zip(centre, photo.size))
    pixels = np.asarray(photo) / 255
    part = denoise_nl_means(pixels[top:bottom, left:right], patch_size=5, patch_distance=5, h=0.04, channel_axis=-1)
    whole = pixels.copy()
    whole[top:bottom, left:right] = part
    return Image.fromarray(np.uint8(np.clip(np.round(255 * whole), 0, 255)))


FILTERS = {
    "none": lambda photo, _: photo,
    "JPEG 75": jpeg(75),
    "half size": half,
    "median 3x3": lambda photo, _: photo.filter(ImageFilter.MedianFilter(3)),
    "blur, sigma 1": lambda photo, _: Image.fromarray(ndimage.gaussian_filter(np.asarray(photo), (1, 1, 0))),
    "non-local means": denoise,
    "JPEG 60": jpeg(60),
}
ALONE = ["JPEG 75", "half size", "median 3x3", "blur, sigma 1", "non-local means"]
MIXED = ["none", "JPEG 60", "half size", "median 3x3", "blur, sigma 1", "non-local means"]


def embeddings(photo, points, recognisers, folder, kind):
    """Embeddings of a photo by each recogniser.

    "plain": one row; "mean": the mean over random versions; "all": one row for each filter, then that mean.
    """
    files = {r.name: folder / r.name / f"{kind}-{photo.name}.npy" for r in recognisers}
    missing = [r for r in recognisers if not files[r.name].exists()]
    if missing:
        alone, count = {"plain": (["none"], 0), "mean": ([], FEWER), "all": (ALONE, VERSIONS)}[kind]
        picture, chips = Image.open(photo).convert("RGB"), {}
        pixels = {name: np.asarray(FILTERS[name](picture, points), dtype=np.float64)
                  for name in dict.fromkeys([*alone, *(MIXED if count else [])])}
        for recogniser in missing:
            if recogniser.geometry not in chips:
                draw = np.random.default_rng(list(hashlib.sha256(photo.name.encode()).digest()[:8]))
                fixed = [recogniser.chip(pixels[name], points) for name in alone]
                drawn = [recogniser.chip(pixels[draw.choice(MIXED)], points, draw) for _ in range(count)]
                chips[recogniser.geometry] = fixed, drawn
            fixed, drawn = chips[recogniser.geometry]
            rows = [recogniser.embed(chip) for chip in fixed]
            if drawn:
                rows.append(unit(np.mean([recogniser.embed(chip) for chip in drawn], axis=0)))
            files[recogniser.name].parent.mkdir(parents=True, exist_ok=True)
            np.save(files[recogniser.name], np.array(rows))
    return {name: np.load(file) for name, file in files.items()}


# What attackers learn.


def separation(probes, gallery):
    """How far own similarities lie above those of strangers, in standard deviations of the latter."""
    cosines = unit(probes) @ unit(gallery).T
    other = cosines[~np.eye(len(cosines), dtype=bool)]
    return (np.diag(cosines).mean() - other.mean()) / other.std()


def validated(fit, x, y, both=False):
    """The setting that separates people best in cross-validation, and what it learns from all."""
    folds = np.random.default_rng(1).permutation(len(x)) % FOLDS
    scores = {}
    for fold in range(FOLDS):
        learn, judge = folds != fold, folds == fold
        for setting, apply in fit(x[learn], y[learn]):
            score = separation(apply(x[judge]), apply(y[judge]) if both else y[judge])
            scores.setdefault(setting, []).append(score)
    best = max(scores, key=lambda setting: np.mean(scores[setting]))
    return best, next(apply for setting, apply in fit(x, y) if setting == best)


def ridge(x, y):
    """Linear maps from x to y with an intercept, shrunk towards zero or towards leaving x as it is."""
    left, right = x.mean(axis=0), y.mean(axis=0)
    a, b = x - left, y - right
    u, values, vectors = np.linalg.svd(a, full_matrices=False)
    for start in ("no change", "zero"):
        turned = u.T @ (b - a if start == "no change" else b)
        for strength in STRENGTHS:
            weights = (values / (values ** 2 + strength))[:, None] * turned

            def apply(rows, start=start, weights=weights):
                rows = rows - left
                return unit(rows @ vectors.T @ weights + right + (rows if start == "no change" else 0))

            yield (start, float(strength)), apply


def whitening(x, y):
    """Maps in which directions along which steering moves embeddings count less."""
    moves = x - y
    values, vectors = np.linalg.eigh(moves.T @ moves / len(moves))
    for share in SHARES:
        root = (vectors / np.sqrt((1 - share) * np.maximum(values, 0) + share * values.mean())) @ vectors.T
        yield share, lambda rows, root=root: unit(rows @ root)


def control(x, y):
    """Whitening by originals alone: what it gains without knowing steering."""
    middle = y.mean(axis=0)
    values, vectors = np.linalg.eigh(np.cov(y.T))
    for share in SHARES:
        root = (vectors / np.sqrt((1 - share) * np.maximum(values, 0) + share * values.mean())) @ vectors.T
        yield share, lambda rows, root=root: unit((rows - middle) @ root)


def network(x, y, hidden=256, rounds=400, patience=30, batch=50, rate=1e-3, decay=1e-4):
    """One hidden layer beside a direct connection, trained with Adam for the cosine, with early stopping."""
    draw = np.random.default_rng(1)
    size = x.shape[1]
    order = draw.permutation(len(x))
    kept, learn = order[:len(x) // 10], order[len(x) // 10:]
    scale = np.sqrt(size)
    p = [draw.normal(0, np.sqrt(2 / size), (size, hidden)), np.zeros(hidden), np.zeros((hidden, size)), np.zeros(size)]
    m, v, step = [np.zeros_like(q) for q in p], [np.zeros_like(q) for q in p], 0

    def forward(rows):
        inner = scale * rows @ p[0] + p[1]
        return inner, scale * rows + np.maximum(inner, 0) @ p[2] + p[3]

    best, since, chosen = -np.inf, 0, [q.copy() for q in p]
    for _ in range(rounds):
        score = np.mean(np.sum(unit(forward(x[kept])[1]) * y[kept], axis=1))
        if score > best:
            best, since, chosen = score, 0, [q.copy() for q in p]
        elif (since := since + 1) >= patience:
            break
        draw.shuffle(learn)
        for at in range(0, len(learn), batch):
            rows, wanted = x[learn[at:at + batch]], y[learn[at:at + batch]]
            inner, out = forward(rows)
            norm = np.linalg.norm(out, axis=1, keepdims=True)
            towards = out / norm
            # The gradient of minus the mean cosine.
            slope = -(wanted - towards * np.sum(towards * wanted, axis=1, keepdims=True)) / norm / len(rows)
            back = (slope @ p[2].T) * (inner > 0)
            slopes = [scale * rows.T @ back, back.sum(axis=0), np.maximum(inner, 0).T @ slope, slope.sum(axis=0)]
            step += 1
            for n, g in enumerate(slopes):
                m[n] = 0.9 * m[n] + 0.1 * g
                v[n] = 0.999 * v[n] + 0.001 * g * g
                p[n] -= rate * (m[n] / (1 - 0.9 ** step) / (np.sqrt(v[n] / (1 - 0.999 ** step)) + 1e-8) + decay * p[n])
    p = chosen
    return lambda rows: unit(forward(rows)[1])


# Judging.


class Trial:
    """Test people in pairs of photos; strangers' untouched photos for thresholds."""

    def __init__(self, people, gallery_people):
        self.people, self.gallery_people = people, gallery_people

    def threshold(self, probes, gallery):
        """The similarity above which a share FAR of pairs of different people lies."""
        cosines = probes @ gallery.T
        cosines = np.sort(cosines[self.people[:, None] != self.gallery_people[None]])
        return cosines[-1 - int(FAR * len(cosines))]

    def judge(self, probes, untouched, gallery):
        """Probes: steered photos; untouched: the same photos before; the gallery starts with untouched plain photos.

        All are as the attacker represents them. Photos 2k and 2k + 1 are of one person.
        """
        own = gallery[:len(probes)]
        other = own.reshape(-1, 2, own.shape[1])[:, ::-1].reshape(own.shape)
        limit = self.threshold(untouched, gallery)
        adapted = self.threshold(probes, gallery)
        pair, itself = np.sum(probes * other, axis=1), np.sum(probes * own, axis=1)
        cosines = probes @ other.T
        # A probe is looked for among the other photos: those at its own place in each pair.
        place = np.arange(len(probes)) % 2
        cosines[place[:, None] != place[None]] = -np.inf
        first = cosines.argmax(axis=1) == np.arange(len(probes))
        return {"pair": wilson(pair <= limit), "self": wilson(itself <= limit), "adapted": wilson(pair <= adapted),
                "rank": wilson(first), "value": float(np.mean(pair <= limit)), "first": float(np.mean(first)),
                "adapted_value": float(np.mean(pair <= adapted))}


def attack(name, train, test, strangers):
    """Results of the attackers whose embeddings are there: group, attacker, result.

    `train` and `test` hold (steered, original) of each photo, each a dictionary from kinds to embeddings.
    """
    get = lambda rows, side, kind: np.array([row[side][kind][name] for row in rows])
    people = np.repeat(np.arange(len(test) // 2), 2)
    trial = Trial(people, np.concatenate([people, len(people) + np.arange(len(strangers))]))
    plain, clean, y = get(test, 0, "plain")[:, 0], get(test, 1, "plain")[:, 0], get(train, 1, "plain")[:, 0]
    gallery = np.concatenate([clean, np.array([row["plain"][name] for row in strangers])[:, 0]])
    lines = [("none", "untouched", trial.judge(clean, clean, gallery)),
             ("none", "steered", trial.judge(plain, clean, gallery))]

    def learned(group, prefix, x, probes, clean):
        strength, linear = validated(ridge, x, y)
        share, white = validated(whitening, x, y, both=True)
        print(f"{name}: {prefix}{strength}, {share}", file=sys.stderr)
        for label, apply, whole in (("linear map", linear, gallery), ("network", network(x, y), gallery),
                                    ("whitening, both sides", white, white(gallery))):
            lines.append((group, prefix + label, trial.judge(apply(probes), apply(clean), whole)))

    x = get(train, 0, "plain")[:, 0]
    learned("map", "", x, plain, clean)
    _, white = validated(control, x, y, both=True)
    lines.append(("map", "whitening by originals alone", trial.judge(white(plain), white(clean), white(gallery))))
    for count in (len(x) // 4, len(x) // 2, len(x)):
        _, white = validated(whitening, x[:count], y[:count], both=True)
        lines.append(("count", f"{count}", trial.judge(white(plain), white(clean), white(gallery))))
    if "all" in test[0][0]:
        after, before = get(test, 0, "all"), get(test, 1, "all")
        for n, label in enumerate([*ALONE, f"mean of {VERSIONS} versions"]):
            lines.append(("filter", label, trial.judge(after[:, n], before[:, n], gallery)))
        if "mean" in train[0][0]:
            learned("both", "mean, then ", get(train, 0, "mean")[:, 0], after[:, -1], before[:, -1])
    return lines


def write(found, options, counts):
    learning, testing, strangers, left, lost = counts
    get = lambda group: [(name, label, r) for name, lines in found.items() for g, label, r in lines if g == group]
    plain = {name: r for name, label, r in get("none") if label == "steered"}
    header = ["attacker", "recogniser", "pair FNR before", "pair FNR after", "after, threshold on steered", "self FNR",
              "rank 1 before", "rank 1 after"]

    def rows(group):
        labels = dict.fromkeys(label for _, label, _ in get(group))
        return [[label, name, plain[name]["pair"], r["pair"], r["adapted"], r["self"], plain[name]["rank"], r["rank"]]
                for wanted in labels for name, label, r in get(group) if label == wanted]

    start = table(["probe", "recogniser", "pair FNR", "threshold on steered", "self FNR", "rank 1"],
                  [[label, name, r["pair"], *([r["adapted"], r["self"]] if label == "steered" else ["", ""]), r["rank"]]
                   for name, label, r in get("none")])
    every = [(name, label, r) for group in ("map", "filter", "both") for name, label, r in get(group)]
    strongest = lambda key, sign: [(name, *min(((sign * r[key], label, r) for n, label, r in every if n == name),
                                               key=lambda t: t[0])[1:]) for name in found]
    say = lambda key, sign: "; ".join(f"{name}: {label}, from {plain[name][key]:.3f} to {r[key]:.3f}"
                                      for name, label, r in strongest(key, sign))
    findings = f"""1. Pair FNR falls most with these attackers: {say('value', 1)}.
2. The same with a threshold set on steered photos: {say('adapted_value', 1)}.
3. Rank 1 among {testing} people rises most with these: {say('first', -1)}.

The attackers named here were picked by these results."""
    dropped = (f"Photos left out, with the other photo of their pair: {left} (the most central face is not the largest, or\n"
               f"  none was found before steering) and {lost} (none was found after it).")
    defaults = (("learn", options.learn, LEARN), ("people", options.people, PEOPLE))
    asked = "".join(f" --{key} {value}" for key, value, default in defaults if value != default)
    text = f"""# Attackers who adapt

How many steered photos match again if the attacker knows about steering: learns from pairs of photos before and after
it, or works on photos before comparing them. Both recognisers are held out: steering does not know them.

- Pair FNR: the share of steered photos that do not match *another*, untouched photo of the same person. Self FNR: that do
  not match their own original. 95 % intervals (Wilson); both photos of a person count, so they are a little too narrow.
- Rank 1: the share of steered photos whose nearest face, among one other untouched photo of each test person, is of the
  right person.
- Attackers learn from {learning} people of the even half of LFW, one photo each, and are judged on {testing} people of the
  odd half, two photos each. Medium strength, default goal, PNG, one seed for all; draws differ from photo to photo.
- Thresholds: false accept rate 1e-3, set anew for each attacker on *untouched* photos of different people, as that
  attacker represents them: {2 * testing} probes against {2 * testing + strangers} photos of the odd half.
  "Threshold on steered": the same, but with steered probes, for an attacker who expects nothing else.
- The attacker finds the face afresh in the steered photo. Filters keep the landmarks found there.
- {dropped}
- These attackers are lower bounds: more pairs, or a recogniser trained on steered photos, may do better.

`tools/adaptive.py WORK --lfw LFW --recogniser A.onnx --recogniser B.onnx{asked}`; {options.machine or machine()}

{findings}

## Without an attack

{start}

## Learned maps

Linear map: ridge regression from steered embeddings to those of the originals, applied to probes; its strength, and
whether it shrinks towards zero or towards no change, by 5-fold cross-validation on the training pairs. Network: one
hidden layer of 256 beside a direct connection, trained for the cosine, with early stopping on 10 % of the pairs.
Whitening: probe and gallery are whitened by the scatter of steered minus original, with shrinkage by cross-validation.
The last attacker is a control: the same, but whitened by the scatter of the originals.

{table(header, rows("map"))}

## Number of pairs

Whitening, learned from fewer pairs.

{table(["pairs", *header[1:]], rows("count"))}
"""
    if get("filter"):
        text += f"""
## Filters, resampling and small warps

Mean of {VERSIONS} versions: each has a random smooth warp (7x7 grid, 2 % of the distance of the eyes), a little scale and
rotation, and one of: nothing, JPEG 60, half size and back, median, blur, non-local means.

{table(header, rows("filter"))}
"""
    if get("both"):
        text += f"""
## Both

The maps of the first table, learned from means of {FEWER} versions and applied to means of {VERSIONS}.

{table(header, rows("both"))}
"""
    (ROOT / "docs/measurements/adaptive.md").write_text(text)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("work", type=pathlib.Path)
    parser.add_argument("--lfw", required=True)
    parser.add_argument("--recogniser", action="append", required=True)
    parser.add_argument("--program", default=ROOT / "target/release/facedp")
    parser.add_argument("--learn", type=int, default=LEARN, help="people to learn from")
    parser.add_argument("--people", type=int, default=PEOPLE, help="people to test with")
    parser.add_argument("--strangers", type=int, default=400, help="more untouched people for thresholds")
    parser.add_argument("--kinds", default="plain,all,mean", help="plain: maps; all: also filters; mean: also both")
    parser.add_argument("--machine", help="words for the machine")
    options = parser.parse_args()
    options.work.mkdir(parents=True, exist_ok=True)
    train, test, strangers = choose(options.lfw, options.learn, options.people, options.strangers)
    steered = steer(options.program, [*train, *(file for pair in test for file in pair)], options.work)
    recognisers = [Recogniser(path) for path in options.recogniser]
    finder = Finder(options.program, options.work)
    left, lost = [], []

    def points(file):
        """Landmarks in the steered photo and in the original."""
        face = finder(file)
        if file not in steered or not face or not face["largest"]:
            return left.append(file)
        found = finder(steered[file])
        return (found["points"], face["points"]) if found else lost.append(file)

    def embed(file, points, kind):
        return embeddings(file, points, recognisers, options.work / "embeddings", kind)

    places = {file: points(file) for file in [*(file for pair in test for file in pair), *train]}
    others = [(file, face["points"]) for file in strangers if (face := finder(file))]
    finder.keep()
    judged = [file for pair in test if all(places[f] for f in pair) for file in pair]
    learning = [file for file in train if places[file]]
    results = {file: ({}, {}) for file in [*judged, *learning]}
    untouched = [{"plain": embed(file, place, "plain")} for file, place in others]
    # Attackers in the order of what they take; the page is written after each.
    for kind, files, sides in (("plain", [*judged, *learning], (0, 1)), ("all", judged, (0, 1)), ("mean", learning, (0,))):
        if kind not in options.kinds.split(","):
            continue
        for file in files:
            for side in sides:
                results[file][side][kind] = embed((steered[file], file)[side], places[file][side], kind)
        found = {r.name: attack(r.name, [results[f] for f in learning], [results[f] for f in judged], untouched)
                 for r in recognisers}
        (options.work / "results.json").write_text(json.dumps(found, indent=1))
        write(found, options, (len(learning), len(judged) // 2, len(others), len(left), len(lost)))


if __name__ == "__main__":
    main()
