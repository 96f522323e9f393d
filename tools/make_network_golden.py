#!/usr/bin/env python3
"""Writes the golden files that crates/facedp-nets/tests/networks.rs compares with.

Inputs are two portraits in the public domain (Grace Hopper, U.S. Navy, from Matplotlib; Eileen
Collins, NASA, from scikit-image), stored as PNG. Outputs come from dlib, ONNX Runtime and OpenCV with
the original weights, in single precision: ours are rounded to half precision.

    pip install -r tools/requirements.txt -r tools/requirements-networks.txt
    python tools/make_network_golden.py MODELS            # write the files
    python tools/make_network_golden.py MODELS --check    # compare with the files, exit 1 on a difference

MODELS is the folder of ONNX files that tools/convert_networks.py takes.
"""

import argparse
import json
import platform
import sys
import tempfile
from importlib.metadata import version
from pathlib import Path

import cv2
import dlib
import matplotlib
import numpy as np
import onnx
import onnxruntime
import skimage.data
from PIL import Image

from convert_networks import DEVIATIONS, GIVEN, SOURCES, fetch
from golden_text import text

FOLDER = Path(__file__).resolve().parent.parent / "crates" / "facedp-nets" / "tests" / "golden"
# Absolute below 1, relative above: single precision, summed in any order.
TOLERANCE = 1e-4
# Decoders of JPEG and scalers may round differently.
GREY_LEVELS = 2

# Eyes, nose, mouth corners, left to right in the picture.
LANDMARKS = {
    "hopper": [(227.1, 193.3), (307.8, 195.4), (266.5, 240.0), (228.5, 267.9), (302.2, 269.6)],
    "astronaut": [(200.1, 101.8), (247.1, 102.6), (220.4, 124.5), (198.6, 142.8), (239.7, 143.6)],
}
ARCFACE = [
    (38.2946, 51.6963), (73.5318, 51.5014), (56.0252, 71.7366),
    (41.5493, 92.3655), (70.7299, 92.2041),
]
TEMPLATES = {
    "dlib": (150, [(47.2, 45.3), (102.8, 45.6), (74.6, 77.5), (52.1, 102.1), (99.2, 102.2)]),
    "sface": (112, ARCFACE),
    "intel": (128, [(x * 128 / 112, y * 128 / 112) for x, y in ARCFACE]),
}
# Networks that see the chips of another one.
CHIPS = {"mobilefacenet": "sface", "facexzoo": "sface"}
SCORE, NMS, TOP = 0.7, 0.3, 5000


def portraits():
    hopper = Path(matplotlib.get_data_path()) / "sample_data" / "grace_hopper.jpg"
    return {
        "hopper": Image.open(hopper).convert("RGB"),
        "astronaut": Image.fromarray(skimage.data.astronaut()),
    }


def chip(picture, landmarks, side, template):
    """The face, moved to the template by the similarity of least squares."""
    # As complex numbers a similarity is z -> a z + b. This one goes from the chip to the picture.
    there, here = (np.array(points) @ [1, 1j] for points in (landmarks, template))
    centred = here - here.mean()
    a = np.vdot(centred, there) / np.vdot(centred, centred)
    b = there.mean() - a * here.mean()
    rows = (a.real, -a.imag, b.real, a.imag, a.real, b.imag)
    return picture.transform((side, side), Image.Transform.AFFINE, rows, Image.Resampling.BILINEAR)


def pictures():
    """Every input by file name."""
    people = portraits()
    hopper, astronaut = people.values()
    found = {
        f"{network}_{name}.png": chip(picture, LANDMARKS[name], *template)
        for network, template in TEMPLATES.items()
        for name, picture in people.items()
    }
    bilinear = Image.Resampling.BILINEAR
    found["yunet_hopper.png"] = hopper.crop((0, 0, 512, 576)).resize((256, 288), bilinear)
    found["yunet_astronaut.png"] = astronaut.resize((320, 320), bilinear)
    # Two faces, and sides that are no multiples of 32.
    both = Image.new("RGB", (390, 200))
    both.paste(hopper.crop((0, 60, 512, 572)).resize((190, 190), bilinear), (0, 10))
    both.paste(astronaut.resize((200, 200), bilinear), (190, 0))
    found["yunet_both.png"] = both
    return found


def of(network, inputs):
    prefix = f"{CHIPS.get(network, network)}_"
    return {n: np.array(p) for n, p in inputs.items() if n.startswith(prefix)}


def runtime(model):
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    options.log_severity_level = 3  # errors: the files' declared shapes cause many warnings
    return onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])


def blob(picture):
    """Rows of pixels to planes of floats, 0..255."""
    return np.ascontiguousarray(picture.transpose(2, 0, 1)[None], np.float32)


def dlib_cases(path, inputs):
    network = dlib.face_recognition_model_v1(str(path))
    cases = [
        {"picture": name, "descriptor": list(network.compute_face_descriptor(picture))}
        for name, picture in inputs.items()
    ]
    return ["dlib-bin"], cases


def sface_cases(path, inputs):
    network = runtime(path.read_bytes())
    cases = [
        {"picture": name, "descriptor": network.run(None, {"data": blob(picture)})[0][0]}
        for name, picture in inputs.items()
    ]
    return ["onnxruntime"], cases


# What the ONNX files of these networks take, from planes of red, green and blue.
PREPARE = {
    "intel": lambda rgb: rgb[:, ::-1],
    "mobilefacenet": lambda rgb: (
        (rgb / 255 - np.reshape([0.485, 0.456, 0.406], (3, 1, 1))) / DEVIATIONS[:, None, None]
    ),
    "facexzoo": lambda rgb: (rgb[:, ::-1] - 127.5) / 128,
}


def embedding(network, name, picture):
    """What a network of PREPARE gives a chip."""
    values = PREPARE[name](blob(picture).astype(float))
    values = np.ascontiguousarray(values, np.float32)
    return network.run(None, {network.get_inputs()[0].name: values})[0][0]


def given_cases(name):
    def cases(path, inputs):
        network = runtime(path.read_bytes())
        return ["onnxruntime"], [
            {"picture": picture, "descriptor": embedding(network, name, pixels)}
            for picture, pixels in inputs.items()
        ]

    return cases


def padded(picture):
    """Black rows and columns at the bottom and the right, up to multiples of 32."""
    height, width, _ = picture.shape
    return np.pad(picture, ((0, -height % 32), (0, -width % 32), (0, 0)))


def heads(path, picture):
    """The detector's twelve outputs, by name; blue, green, red in."""
    model = onnx.load(path)
    # The file says 640x640; nothing in the graph depends on it.
    _, _, height, width = model.graph.input[0].type.tensor_type.shape.dim
    height.dim_value, width.dim_value = picture.shape[:2]
    del model.graph.value_info[:]
    for output in model.graph.output:
        output.type.tensor_type.ClearField("shape")
    network = runtime(model.SerializeToString())
    names = [output.name for output in model.graph.output]
    return dict(zip(names, network.run(None, {"input": blob(picture)})))


def scale(outputs, stride, rows, cols):
    """One stride: the corners, the cell of the best score, and the mean of each channel."""
    kinds = ["cls", "obj", "bbox", "kps"]
    values = np.concatenate([outputs[f"{kind}_{stride}"][0] for kind in kinds], axis=1)
    best = divmod(int(np.argmax(values[:, 0] * values[:, 1])), cols)
    places = [(0, 0), (0, cols - 1), (rows - 1, 0), (rows - 1, cols - 1), best]
    return {
        "stride": stride,
        "rows": rows,
        "cols": cols,
        "cells": [{"row": r, "col": c, "values": values[r * cols + c]} for r, c in places],
        "mean": values.mean(axis=0, dtype=float),
    }


def faces(path, picture):
    height, width, _ = picture.shape
    detector = cv2.FaceDetectorYN.create(str(path), "", (width, height), SCORE, NMS, TOP)
    found = detector.detect(picture)[1]
    return [
        {"box": face[:4], "landmarks": face[4:14].reshape(5, 2), "score": float(face[14])}
        for face in ([] if found is None else found)
    ]


def yunet_cases(path, inputs):
    cases = []
    for name, picture in inputs.items():
        picture = np.ascontiguousarray(picture[:, :, ::-1])
        full = padded(picture)
        rows, cols, _ = full.shape
        outputs = heads(path, full)
        scales = [scale(outputs, s, rows // s, cols // s) for s in (8, 16, 32)]
        cases.append({"picture": name, "faces": faces(path, picture), "scales": scales})
    return ["opencv-python-headless", "onnxruntime"], cases


def contents(inputs, models):
    cv2.setNumThreads(1)
    cv2.utils.logging.setLogLevel(cv2.utils.logging.LOG_LEVEL_ERROR)
    makers = {"dlib": dlib_cases, "sface": sface_cases, "yunet": yunet_cases}
    makers |= {name: given_cases(name) for name in PREPARE}
    with tempfile.TemporaryDirectory() as folder:
        paths = fetch(folder, models)
        for network, make in makers.items():
            libraries, cases = make(paths[network], of(network, inputs))
            made_by = {
                "script": "tools/make_network_golden.py",
                "python": platform.python_version(),
                "libraries": {name: version(name) for name in libraries},
                "weights": (SOURCES | GIVEN)[network].sha256,
            }
            yield f"{network}.json", {"made_by": made_by, "cases": cases}


def plain(value):
    """As JSON has it; single-precision numbers become the shortest text that means them."""
    if isinstance(value, dict):
        return {key: plain(v) for key, v in value.items()}
    if isinstance(value, (list, np.ndarray)):
        return [plain(v) for v in value]
    return float(str(np.float32(value))) if isinstance(value, (float, np.floating)) else value


def difference(old, new, where="cases"):
    """The first difference in words, or None."""
    if isinstance(old, dict) and isinstance(new, dict) and list(old) == list(new):
        pairs = ((old[key], new[key], f"{where}/{key}") for key in old)
    elif isinstance(old, list) and isinstance(new, list) and len(old) == len(new):
        pairs = ((o, n, f"{where}[{i}]") for i, (o, n) in enumerate(zip(old, new)))
    elif isinstance(old, float) and isinstance(new, float):
        same = abs(old - new) <= TOLERANCE * max(1, abs(old))
        return None if same else f"{where}: {old} in the file, {new} now"
    else:
        return None if old == new else f"{where}: {old!r:.60} in the file, {new!r:.60} now"
    found = (difference(*pair) for pair in pairs)
    return next((problem for problem in found if problem), None)


def stored(folder, inputs):
    """The stored inputs and how far they are from those made now, in grey levels."""
    old = {name: Image.open(folder / name).convert("RGB") for name in inputs}
    assert all(old[name].size == inputs[name].size for name in inputs), "a picture's size differs"
    pairs = ((np.array(old[name], int), np.array(inputs[name], int)) for name in inputs)
    return old, max(int(abs(a - b).max()) for a, b in pairs)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("models", type=Path, help="folder of the ONNX files in assets/networks.md")
    parser.add_argument("--check", action="store_true", help="compare instead of writing")
    parser.add_argument("--out", type=Path, default=FOLDER, help="folder of the files")
    options = parser.parse_args()
    inputs, failed = pictures(), False
    if options.check:
        inputs, apart = stored(options.out, inputs)
        failed = apart > GREY_LEVELS
        print(f"pictures: {apart} grey levels apart")
    else:
        options.out.mkdir(parents=True, exist_ok=True)
        for name, picture in inputs.items():
            picture.save(options.out / name, optimize=True)
            print(f"{name}: {(options.out / name).stat().st_size} bytes")
    for name, value in contents(inputs, options.models):
        path, value = options.out / name, plain(value)
        if options.check:
            old = json.loads(path.read_text(encoding="utf-8"))
            problem = difference(old["cases"], value["cases"])
            failed |= problem is not None
            print(f"{name}: {problem or 'as generated'}")
        else:
            path.write_text(text(value) + "\n", encoding="utf-8", newline="\n")
            print(f"{name}: {path.stat().st_size} bytes")
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
