#!/usr/bin/env python3
"""Writes the small networks of crates/facedp-onnx/tests, and their outputs by ONNX Runtime.

`tiny.onnx` has the layers of face recognisers, `rare.onnx` those that our runtime lacks, and attributes
left out; the others are not recognisers.

    pip install -r tools/requirements.txt -r tools/requirements-networks.txt
    python tools/make_onnx_golden.py            # write the files
    python tools/make_onnx_golden.py --check    # compare with the files, exit 1 on a difference
"""

import argparse
import json
import platform
import sys
from importlib.metadata import version
from pathlib import Path

import numpy as np
import onnx
import onnxruntime
from onnx import TensorProto, helper, numpy_helper

from golden_text import text

FOLDER = Path(__file__).resolve().parent.parent / "crates" / "facedp-onnx" / "tests" / "golden"
TOLERANCE = 1e-5
SIDE, WIDTH, NUMBERS = 16, 8, 12
# The order of colours that a network takes, the mean of red, green and blue, the factor.
RULES = [("rgb", [120.5, 110.25, 99.0], 0.0078125), ("bgr", [127.5, 110.0, 100.0], 0.01)]


def model(nodes, outputs, weights=(), size=("N", 3, SIDE, SIDE), kind=TensorProto.FLOAT):
    """A network with the input `face`; outputs by name and shape."""
    values = [helper.make_tensor_value_info(n, kind, s) for n, s in outputs.items()]
    face = helper.make_tensor_value_info("face", kind, size)
    arrays = [numpy_helper.from_array(np.float32(a), n) for n, a in dict(weights).items()]
    graph = helper.make_graph(nodes, "golden", [face], values, arrays)
    opset = [helper.make_opsetid("", 13)]
    made = helper.make_model(graph, opset_imports=opset, ir_version=8, producer_name="facedp")
    onnx.checker.check_model(made, full_check=True)
    return made.SerializeToString()


def tiny():
    """Convolutions with normalisation and activations, a shortcut, a dense layer."""
    draw = np.random.default_rng(1)
    cells = WIDTH * (SIDE // 4) ** 2
    shapes = {"first.w": (WIDTH, 3, 3, 3), "first.b": (WIDTH,), "slope": (WIDTH, 1, 1)}
    shapes |= {name: (WIDTH,) for name in ("gamma", "beta", "mean")}
    shapes |= {"second.w": (WIDTH, WIDTH, 3, 3), "third.w": (WIDTH, WIDTH, 3, 3)}
    shapes |= {"dense.w": (NUMBERS, cells), "dense.b": (NUMBERS,)}
    weights = {n: draw.normal(size=s) / np.sqrt(np.prod(s[1:])) for n, s in shapes.items()}
    weights["variance"] = draw.uniform(0.5, 2, WIDTH)
    node = helper.make_node
    halve, keep = {"strides": [2, 2], "pads": [1] * 4}, {"pads": [1] * 4}
    nodes = [
        node("Conv", ["face", "first.w", "first.b"], ["a"], **halve),
        node("BatchNormalization", ["a", "gamma", "beta", "mean", "variance"], ["b"], epsilon=2e-5),
        node("PRelu", ["b", "slope"], ["c"]),
        node("Conv", ["c", "second.w"], ["d"], **halve),
        node("Relu", ["d"], ["e"]),
        node("Conv", ["e", "third.w"], ["f"], **keep),
        node("Add", ["e", "f"], ["g"]),
        node("Flatten", ["g"], ["h"]),
        node("Gemm", ["h", "dense.w", "dense.b"], ["embedding"], transB=1),
    ]
    return model(nodes, {"embedding": ("N", NUMBERS)}, weights)


def rare():
    """Operations that crates/facedp-onnx/src/gaps.rs rewrites, and sizes that it fills in."""
    draw = np.random.default_rng(3)
    shapes = {"first.w": (6, 3, 3, 3), "second.w": (6, 4, 2, 2), "dense.w": (54, NUMBERS)}
    weights = {n: draw.normal(size=s) / np.sqrt(np.prod(s[1:])) for n, s in shapes.items()}
    node = helper.make_node
    lower = {"strides": [2, 2], "auto_pad": "SAME_LOWER"}
    nodes = [
        node("Conv", ["face", "first.w"], ["a"], **lower),
        node("LRN", ["a"], ["b"], size=5, alpha=0.5, beta=0.75, bias=1.5),
        node("Selu", ["b"], ["c"]),
        node("ConvTranspose", ["c", "second.w"], ["d"]),
        node("ThresholdedRelu", ["d"], ["e"], alpha=0.1),
        node("MaxPool", ["e"], ["f"], kernel_shape=[2, 2]),
        node("SpaceToDepth", ["f"], ["g"], blocksize=2),
        node("AveragePool", ["g"], ["h"], kernel_shape=[2, 2]),
        node("Dropout", ["h"], ["i"]),
        node("GlobalAveragePool", ["i"], ["j"]),
        node("MaxPool", ["a"], ["k"], kernel_shape=[3, 3], **lower),
        node("Slice", ["k", "one", "four", "rows"], ["l"]),
        node("Flatten", ["l"], ["m"]),
        node("MatMul", ["m", "dense.w"], ["n"]),
        node("Flatten", ["j"], ["o"]),
        node("Concat", ["n", "o"], ["embedding"], axis=1),
    ]
    for name, numbers in {"one": [1, 1], "four": [4, 4], "rows": [2, 3]}.items():
        nodes.insert(0, node("Constant", [], [name], value_ints=numbers))
    return model(nodes, {"embedding": ("N", NUMBERS + 16)}, weights)


def no_recognisers():
    """Networks that must be refused, by file name."""
    node = helper.make_node
    mean = [node("GlobalAveragePool", ["face"], ["mean"]), node("Flatten", ["mean"], ["vector"])]
    relu = node("Relu", ["face"], ["map"])
    nan = [node("Sub", ["vector", "large"], ["less"]), node("Sqrt", ["less"], ["root"])]
    flat = [node("Flatten", ["face"], ["vector"])]
    numbers = {"vector": (1, 3 * SIDE**2)}
    return {
        "map.onnx": model([relu], {"map": ("N", 3, SIDE, SIDE)}),
        "two.onnx": model([*mean, relu], {"vector": ("N", 3), "map": ("N", 3, SIDE, SIDE)}),
        "nan.onnx": model([*mean, *nan], {"root": ("N", 3)}, {"large": [1e6]}),
        "last.onnx": model(flat, numbers, size=(1, SIDE, SIDE, 3)),
        "double.onnx": model(flat, numbers, size=(1, 3, SIDE, SIDE), kind=TensorProto.DOUBLE),
    }


def cases(name, network):
    session = onnxruntime.InferenceSession(network, providers=["CPUExecutionProvider"])
    pixels = np.random.default_rng(2).integers(0, 256, (3, SIDE, SIDE))
    for channels, mean, factor in RULES:
        values = (pixels.astype(np.float32) - np.float32(mean)[:, None, None]) * np.float32(factor)
        if channels == "bgr":
            values = values[::-1]
        (found,) = session.run(None, {"face": np.ascontiguousarray(values[None])})
        yield {
            "network": name,
            "channels": channels,
            "mean": mean,
            "factor": factor,
            "pixels": pixels.reshape(3 * SIDE, SIDE).tolist(),
            "embedding": [float(str(v)) for v in found[0]],
        }


def contents():
    recognisers = {"tiny.onnx": tiny(), "rare.onnx": rare()}
    made_by = {
        "script": "tools/make_onnx_golden.py",
        "python": platform.python_version(),
        "libraries": {name: version(name) for name in ("numpy", "onnx", "onnxruntime")},
    }
    return {**recognisers, **no_recognisers()}, {
        "made_by": made_by,
        "cases": [case for name, network in recognisers.items() for case in cases(name, network)],
    }


def same(old, new):
    """Whether cases agree."""
    def rest(case):
        return {key: value for key, value in case.items() if key != "embedding"}

    def near(a, b):
        return np.shape(a) == np.shape(b) and np.allclose(a, b, rtol=0, atol=TOLERANCE)

    return len(old) == len(new) and all(
        rest(a) == rest(b) and near(a["embedding"], b["embedding"]) for a, b in zip(old, new)
    )


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--check", action="store_true", help="compare instead of writing")
    parser.add_argument("--out", type=Path, default=FOLDER, help="folder of the files")
    options = parser.parse_args()
    networks, golden = contents()
    path, failed = options.out / "tiny.json", False
    if options.check:
        verdicts = {name: (options.out / name).read_bytes() == n for name, n in networks.items()}
        old = json.loads(path.read_text(encoding="utf-8"))
        verdicts[path.name] = same(old["cases"], golden["cases"])
        for name, agrees in verdicts.items():
            failed |= not agrees
            print(f"{name}: {'as generated' if agrees else 'differs'}")
        return int(failed)
    options.out.mkdir(parents=True, exist_ok=True)
    path.write_text(text(golden) + "\n", encoding="utf-8", newline="\n")
    for name, network in networks.items():
        (options.out / name).write_bytes(network)
    for file in [path, *(options.out / name for name in networks)]:
        print(f"{file.name}: {file.stat().st_size} bytes")
    return 0


if __name__ == "__main__":
    sys.exit(main())
