#!/usr/bin/env python3
"""Compares the networks with onnxruntime: times, on one thread each, in one run; or embeddings.

    pip install -r tools/requirements.txt -r tools/requirements-networks.txt
    python tools/compare_networks.py MODELS [--json]        # times
    python tools/compare_networks.py MODELS --faces LFW     # cosines of embeddings of 50 faces

MODELS is the folder of ONNX files that tools/convert_networks.py takes. onnxruntime runs the original
files. dlib's network has no such file and is built for it from our weights. Both sides alternate, network by network, and
the best of all rounds counts, so that a busy machine slows neither.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import cv2
import numpy as np
import onnx
import onnxruntime
from PIL import Image
from safetensors.numpy import load_file

sys.path.insert(0, str(Path(__file__).resolve().parent))
from convert_networks import fetch  # noqa: E402

FACES = 50
ROOT = Path(__file__).resolve().parent.parent
ROUNDS = 5
SHAPES = {
    "dlib": (1, 3, 150, 150),
    "sface": (1, 3, 112, 112),
    "intel": (1, 3, 128, 128),
    "mobilefacenet": (1, 3, 112, 112),
    "facexzoo": (1, 3, 112, 112),
    "yunet": (1, 3, 640, 640),
}
# Limits in milliseconds.
LIMITS = {
    "dlib_forward": 16,
    "dlib_forward_and_gradient": 28,
    "sface_forward": 40,
    "sface_forward_and_gradient": 75,
    "intel_forward": 30,
    "intel_forward_and_gradient": 60,
    "mobilefacenet_forward": 20,
    "mobilefacenet_forward_and_gradient": 40,
    "facexzoo_forward": 20,
    "facexzoo_forward_and_gradient": 40,
    "yunet_640": 40,
}
PEERS = {f"{name}_forward": name for name in SHAPES} | {"yunet_640": "yunet"}


def session(path):
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    return onnxruntime.InferenceSession(path, options)


def milliseconds(network, values):
    """Processor time, as examples/network_timings.rs measures it: the least mean of ten runs of a tenth of a second."""
    name = network.get_inputs()[0].name
    network.run(None, {name: values})
    means = []
    for _ in range(10):
        start, before, count = time.perf_counter(), time.thread_time(), 0
        while count < 5 or time.perf_counter() - start < 0.1:
            network.run(None, {name: values})
            count += 1
        means.append(1e3 * (time.thread_time() - before) / count)
    return min(means)


def build(example):
    """Builds an example of facedp-nets; its path."""
    command = ["cargo", "build", "--release", "-p", "facedp-nets", "--example", example]
    subprocess.run(command, cwd=ROOT, check=True)
    return Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target")) / "release/examples" / example


def portraits(detector, folder):
    """The first faces that YuNet finds, each with its landmarks, in pictures of different people."""
    detector = cv2.FaceDetectorYN.create(str(detector), "", (250, 250), 0.7)
    people = sorted(path for path in folder.iterdir() if path.is_dir())
    for person in people[:: len(people) // FACES][:FACES]:
        picture = Image.open(min(person.glob("*.jpg"))).convert("RGB")
        detector.setInputSize(picture.size)
        found = detector.detect(np.ascontiguousarray(np.array(picture)[:, :, ::-1]))[1]
        if found is not None:
            yield picture, found[0][4:14].reshape(5, 2)


def agreement(models, lfw):
    """The smallest cosine between an embedding of ours and that of onnxruntime."""
    import make_network_golden as golden

    program = build("embeddings")
    with tempfile.TemporaryDirectory() as folder:
        files = fetch(folder, models)
        faces = list(portraits(files["yunet"], lfw))
        for name in golden.PREPARE:
            template = golden.TEMPLATES[golden.CHIPS.get(name, name)]
            chips = [np.array(golden.chip(*face, *template)) for face in faces]
            (Path(folder) / "chips").write_bytes(b"".join(chip.tobytes() for chip in chips))
            command = [program, name, Path(folder) / "chips"]
            lines = subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout.splitlines()
            ours = [np.array(json.loads(line)) for line in lines]
            network = session(files[name])
            theirs = [golden.embedding(network, name, chip) for chip in chips]
            cosines = [a @ b / np.sqrt((a @ a) * (b @ b)) for a, b in zip(ours, theirs)]
            print(f"{name:14} {len(cosines)} faces, 1 - cosine at most {1 - min(cosines):.1e}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("models", type=Path, help="folder of the ONNX files in assets/networks.md")
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    parser.add_argument("--faces", type=Path, metavar="LFW", help="compare embeddings, not times")
    options = parser.parse_args()
    if options.faces:
        return agreement(options.models, options.faces)
    program = build("network_timings")
    ours, theirs = {}, {}
    with tempfile.TemporaryDirectory() as folder:
        files = fetch(folder, options.models)
        random = np.random.default_rng(1)
        peers = {}
        for name, shape in SHAPES.items():
            model = dlib_graph() if name == "dlib" else flexible(files[name], shape)
            peers[name] = session(model), random.uniform(0, 255, shape)
        for _ in range(options.rounds):
            for name, (network, values) in peers.items():
                times = subprocess.run([program, name], check=True, stdout=subprocess.PIPE).stdout
                for stage, value in json.loads(times).items():
                    ours.setdefault(stage, []).append(value)
                value = milliseconds(network, values.astype(np.float32))
                theirs.setdefault(name, []).append(value)
    rows = []
    for stage, limit in LIMITS.items():
        own = min(ours[stage])
        row = {"stage": stage, "ms": own, "limit_ms": limit, "onnxruntime_ms": None, "ratio": None}
        if stage in PEERS:
            peer = min(theirs[PEERS[stage]])
            row |= {"onnxruntime_ms": peer, "ratio": own / peer}
        if stage.endswith("_and_gradient"):
            forward = min(ours[stage.removesuffix("_and_gradient")])
            row["ratio"] = (own - forward) / forward
        rows.append(row)
    if options.json:
        print(json.dumps({"onnxruntime": onnxruntime.__version__, "stages": rows}, indent=1))
        return
    print(f"{'stage':36} {'ours ms':>8} {'limit':>6} {'onnxruntime ' + onnxruntime.__version__:>20} {'ratio':>6}")
    for row in rows:
        peer = "" if row["onnxruntime_ms"] is None else f"{row['onnxruntime_ms']:.1f}"
        print(f"{row['stage']:36} {row['ms']:>8.1f} {row['limit_ms']:>6} {peer:>20} {row['ratio']:>6.2f}")
    print("Ratios: forward, over onnxruntime; gradients, what they take on top over forward.")


def flexible(path, shape):
    """The bytes of a model whose input has the given shape and whose weights are constants."""
    model = onnx.load(path)
    weights = {weight.name for weight in model.graph.initializer}
    for value in [value for value in model.graph.input if value.name in weights]:
        model.graph.input.remove(value)  # or onnxruntime would not fold them
    dimensions = model.graph.input[0].type.tensor_type.shape.dim
    for dimension, size in zip(dimensions, shape):
        dimension.dim_value = size
    for output in model.graph.output:
        output.type.tensor_type.ClearField("shape")
    return model.SerializeToString()


def dlib_graph():
    """dlib's network as an ONNX model, layer by layer as crates/facedp-nets/src/networks/dlib.rs."""
    weights = {k: v.astype(np.float32) for k, v in load_file(ROOT / "assets/dlib/dlib.safetensors").items()}
    nodes, constants = [], dict(weights)

    def node(op, *inputs, **attributes):
        output = f"t{len(nodes)}"
        nodes.append(onnx.helper.make_node(op, inputs, [output], **attributes))
        return output

    def conv(x, name, stride, padding):
        kernel = weights[f"{name}.weight"].shape[2:]
        parts = x, f"{name}.weight", f"{name}.bias"
        return node("Conv", *parts, kernel_shape=kernel, strides=[stride] * 2, pads=[padding] * 4)

    def filled(x, shape, to):
        if shape == to:
            return x
        constants[f"pad{len(nodes)}"] = np.array([0] * 5 + [t - s for s, t in zip(shape, to)])
        return node("Pad", x, f"pad{len(nodes)}")

    x = node("Relu", conv("x", "conv", 2, 0))
    x = node("MaxPool", x, kernel_shape=[3, 3], strides=[2, 2])
    shape = (32, 35, 35)
    for number in range(1, 15):
        halves = number in (4, 8, 11, 14)
        channels, side = weights[f"block{number}.conv2.bias"].size, shape[1]
        y = node("Relu", conv(x, f"block{number}.conv1", *((2, 0) if halves else (1, 1))))
        y = conv(y, f"block{number}.conv2", 1, 1)
        deep = (channels, (side - 3) // 2 + 1, (side - 3) // 2 + 1) if halves else shape
        if halves:
            x = node("AveragePool", x, kernel_shape=[2, 2], strides=[2, 2])
            shape = (shape[0], side // 2, side // 2)
        to = tuple(map(max, deep, shape))
        x = node("Relu", node("Add", filled(y, deep, to), filled(x, shape, to)))
        shape = to
    x = node("Flatten", node("GlobalAveragePool", x))
    x = node("Gemm", x, "fc.weight", transB=1)
    value = onnx.helper.make_tensor_value_info
    graph = onnx.helper.make_graph(
        nodes,
        "dlib",
        [value("x", onnx.TensorProto.FLOAT, SHAPES["dlib"])],
        [value(x, onnx.TensorProto.FLOAT, (1, 128))],
        [onnx.numpy_helper.from_array(v, name) for name, v in constants.items()],
    )
    opset = [onnx.helper.make_opsetid("", 17)]
    return onnx.helper.make_model(graph, opset_imports=opset, ir_version=8).SerializeToString()


if __name__ == "__main__":
    main()
