"""Kinds of pictures in and out; the same bytes as the program's."""

from __future__ import annotations

import io
import json
import pickle
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

import facedp
from conftest import KEY, PHOTOS, program

COLLINS = PHOTOS / "collins.jpg"
QUICK: dict[str, object] = {"method": "rdp-optimal", "epsilon": 0.01, "check": "off"}


@pytest.fixture(scope="module")
def noise() -> facedp.Engine:
    return facedp.Engine(facedp.Request(method="rdp-optimal", epsilon=0.01, check="off"), key=KEY)


@pytest.mark.parametrize(
    ("settings", "options"),
    [
        ({"steer_by": ["dlib"], "strength": "low"}, ["--steer-by", "dlib", "--strength", "low"]),
        ({"method": "rdp-optimal", "epsilon": 0.01}, ["--method", "rdp-optimal", "--epsilon", "0.01"]),
        ({"method": "certified", "epsilon": 1.0}, ["--method", "certified", "--epsilon", "1", "--key", "{key}"]),
        ({"method": "none", "format": "png"}, ["--method", "none", "--format", "png"]),
    ],
)
def test_same_bytes_as_the_program(tmp_path: Path, home: Path, settings: dict, options: list[str]) -> None:
    options = [option.format(key=home / "facedp" / "key") for option in options]
    # `none` treats no face, so there is no key to give.
    key = None if settings.get("method") == "none" else KEY
    program("protect", COLLINS, "-o", tmp_path / "out", "--no-ledger", "--quiet", *options)
    (written,) = (tmp_path / "out").iterdir()
    assert facedp.protect(COLLINS, key=key, **settings).image == written.read_bytes()


def test_own_key_is_the_programs(noise: facedp.Engine) -> None:
    assert facedp.protect(COLLINS, **QUICK).image == noise.protect(COLLINS).image


def test_kinds(noise: facedp.Engine) -> None:
    file = COLLINS.read_bytes()
    results = [noise.protect(kind).image for kind in (file, bytearray(file), COLLINS, str(COLLINS))]
    assert isinstance(results[0], bytes) and len(set(results)) == 1
    picture = Image.open(COLLINS)
    array = np.asarray(picture)
    before = array.copy()
    result = noise.protect(array)
    assert isinstance(result.image, np.ndarray)
    assert result.image.dtype == np.uint8 and result.image.shape == array.shape
    assert (array == before).all() and (result.image != array).any()
    assert result.image.flags.writeable and result.image.flags.c_contiguous
    treated = noise.protect(picture)
    assert isinstance(treated.image, Image.Image) and treated.image.mode == "RGB"
    assert (np.asarray(treated.image) == result.image).all()
    # A PNG file of the same pixels gives the same pixels.
    png = io.BytesIO()
    picture.save(png, "PNG")
    decoded = Image.open(io.BytesIO(noise.protect(png.getvalue()).image))
    assert (np.asarray(decoded) == result.image).all()


def test_layouts(noise: facedp.Engine) -> None:
    picture = Image.open(COLLINS)
    array = np.asarray(picture)
    padded = np.zeros((array.shape[0], array.shape[1] + 5, 3), np.uint8)
    padded[:, :-5] = array
    expected = noise.protect(array).image
    assert (noise.protect(padded[:, :-5]).image == expected).all()
    assert (noise.protect(np.asfortranarray(array)).image == expected).all()
    for mode, shape in [("L", 2), ("RGBA", 3)]:
        result = noise.protect(np.asarray(picture.convert(mode))).image
        assert result.ndim == shape
        assert noise.protect(picture.convert(mode)).image.mode == mode


def test_pillow_images_are_turned_upright(noise: facedp.Engine) -> None:
    file = io.BytesIO()
    picture = Image.open(COLLINS).transpose(Image.Transpose.ROTATE_90)
    exif = Image.Exif()
    exif[0x0112] = 6  # turn it right by 90 degrees
    picture.save(file, "PNG", exif=exif)
    turned = Image.open(file)
    result = noise.protect(turned).image
    assert result.size == Image.open(COLLINS).size
    assert not result.getexif()


def test_result(tmp_path: Path) -> None:
    result = facedp.protect(COLLINS, key=KEY, steer_by=["dlib"], receipt=True)
    (face,) = result.faces
    assert result.matches is not None and result.quality is not None
    assert result.quality >= 75 - 0.5 and face.matches is not None
    assert result.receipt is not None and result.receipt["public"]["claim"] == "none"
    assert result.media_type == "image/jpeg"
    assert result._repr_jpeg_().startswith(b"\xff\xd8")
    result.save(tmp_path / "a.jpg")
    assert (tmp_path / "a.jpg").read_bytes() == result.image
    copy = tmp_path / "b.jpg"
    copy.write_bytes(COLLINS.read_bytes())
    with pytest.raises(facedp.FileError, match="overwrite"):
        facedp.protect(copy, key=KEY, **QUICK).save(copy)
    array = facedp.protect(np.asarray(Image.open(COLLINS)), key=KEY, **QUICK)
    array.save(tmp_path / "c.png")
    assert (np.asarray(Image.open(tmp_path / "c.png")) == array.image).all()


def test_threads_share_an_engine(noise: facedp.Engine) -> None:
    array = np.asarray(Image.open(COLLINS))
    expected = noise.protect(array).image
    with ThreadPoolExecutor(4) as pool:
        for result in pool.map(noise.protect, [array] * 8):
            assert (result.image == expected).all()


def test_request() -> None:
    request = facedp.Request(strength="high", faces=[1], boxes=np.array([[1, 2, 3, 4]]))
    assert request.method == "steered" and request.boxes == [[1.0, 2.0, 3.0, 4.0]]
    assert pickle.loads(pickle.dumps(request)) == request == facedp.Request.from_json(request.to_json())
    assert request.replace(strength="low").strength == "low"
    assert hash(request) == hash(request.replace())
    with pytest.raises(AttributeError):
        request.strength = "low"
    assert json.loads(request.to_json())["strength"] == "high"


def test_ledger(tmp_path: Path) -> None:
    ledger = tmp_path / "ledger.jsonl"
    # The same result again is no further release; another one is.
    for epsilon, releases in ((0.01, 1), (0.01, 1), (0.02, 2)):
        result = facedp.protect(COLLINS, key=KEY, ledger=ledger, **{**QUICK, "epsilon": epsilon})
        assert result.report["total"]["releases"] == releases
    assert "total" not in facedp.protect(COLLINS, key=KEY, **QUICK).report
