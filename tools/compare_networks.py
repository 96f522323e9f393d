#!/usr/bin/env python3
"""Times the networks against onnxruntime, on one thread each, in one run.

    pip install -r tools/requirements.txt -r tools/requirements-networks.txt
    python tools/compare_networks.py [--json]

onnxruntime runs the original files of SFace and YuNet. dlib's network has no such file and is built
for it from our weights. Both sides alternate, so that a busy machine slows both.
"""

import argparse
import json
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import onnx
import onnxruntime
from safetensors.numpy import load_file

sys.path.insert(0, str(Path(__file__).resolve().parent))
from convert_networks import fetch  # noqa: E402

ROOT = Path(__file__).resolve().parent.parent
ROUNDS = 5
SHAPES = {"dlib": (1, 3, 150, 150), "sface": (1, 3, 112, 112), "yunet": (1, 3, 640, 640)}
# Limits in milliseconds.
LIMITS = {
    "dlib_forward": 16,
    "dlib_forward_and_gradient": 28,
    "sface_forward": 40,
    "sface_forward_and_gradient": 75,
    "yunet_640": 40,
}
PEERS = {"dlib_forward": "dlib", "sface_forward": "sface", "yunet_640": "yunet"}


def session(path):
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    return onnxruntime.InferenceSession(path, options)


def milliseconds(network, values):
    """The median over a second."""
    name = network.get_inputs()[0].name
    times, start = [], time.perf_counter()
    while len(times) < 5 or time.perf_counter() - start < 1:
        once = time.perf_counter()
        network.run(None, {name: values})
        times.append(1e3 * (time.perf_counter() - once))
    return statistics.median(times)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    command = ["cargo", "build", "--release", "-p", "facedp-nets", "--example", "network_timings"]
    subprocess.run(command, cwd=ROOT, check=True)
    ours, theirs = {}, {}
    with tempfile.TemporaryDirectory() as folder:
        files = fetch(folder)
        random = np.random.default_rng(1)
        peers = {}
        for name, shape in SHAPES.items():
            model = dlib_graph() if name == "dlib" else flexible(files[name], shape)
            peers[name] = session(model), random.uniform(0, 255, shape)
        for _ in range(ROUNDS):
            program = ROOT / "target/release/examples/network_timings"
            times = json.loads(subprocess.run([program], check=True, stdout=subprocess.PIPE).stdout)
            for stage, value in times.items():
                ours.setdefault(stage, []).append(value)
            for name, (network, values) in peers.items():
                value = milliseconds(network, values.astype(np.float32))
                theirs.setdefault(name, []).append(value)
    rows = []
    for stage, limit in LIMITS.items():
        own = statistics.median(ours[stage])
        peer = statistics.median(theirs[PEERS[stage]]) if stage in PEERS else None
        rows.append({"stage": stage, "ms": own, "limit_ms": limit, "onnxruntime_ms": peer})
    if options.json:
        print(json.dumps({"onnxruntime": onnxruntime.__version__, "stages": rows}, indent=1))
        return
    print(f"{'stage':28} {'ours ms':>8} {'limit':>6} {'onnxruntime ' + onnxruntime.__version__:>20}")
    for row in rows:
        peer = "" if row["onnxruntime_ms"] is None else f"{row['onnxruntime_ms']:.1f}"
        print(f"{row['stage']:28} {row['ms']:>8.1f} {row['limit_ms']:>6} {peer:>20}")


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
    weights = {k: v.astype(np.float32) for k, v in load_file(ROOT / "assets/dlib.safetensors").items()}
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
