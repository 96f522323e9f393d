"""Errors are exceptions with the library's facts."""

from __future__ import annotations

import pickle
from pathlib import Path

import numpy as np
import pytest

import facedp
from conftest import PHOTOS

GREY = np.full((64, 64, 3), 128, np.uint8)


@pytest.mark.parametrize(
    ("image", "settings", "error", "kind"),
    [
        (b"", {}, facedp.PhotoError, "format"),
        (b"\x89PNG\r\n\x1a\n", {}, facedp.PhotoError, "damaged"),
        (GREY, {}, facedp.NoFaceError, "no-face"),
        (PHOTOS / "collins.jpg", {"faces": [9]}, facedp.NoFaceError, "face-number"),
        (PHOTOS / "missing.jpg", {}, facedp.FileError, "io"),
        (GREY, {"method": "blur"}, facedp.RequestError, "request"),
        (GREY, {"eta": 0.1}, facedp.RequestError, "setting"),
        (GREY, {"format": "jpeg"}, facedp.RequestError, "setting"),
        (GREY, {"min_quality": 120}, facedp.RequestError, "min-quality"),
        (GREY, {"method": "rdp-optimal", "epsilon": -1}, facedp.RequestError, "request"),
        (GREY, {"steer_by": ["eigenface"]}, facedp.RequestError, "unknown-recogniser"),
        (GREY[:0], {}, facedp.PhotoError, "pixels"),
    ],
)
def test_errors(image: object, settings: dict, error: type[facedp.Error], kind: str) -> None:
    with pytest.raises(error) as caught:
        facedp.protect(image, seed=1, **settings)
    assert caught.value.kind == kind
    copy = pickle.loads(pickle.dumps(caught.value))
    assert (str(copy), copy.kind, copy.facts) == (str(caught.value), kind, caught.value.facts)


def test_facts() -> None:
    with pytest.raises(facedp.NoFaceError) as caught:
        facedp.protect(PHOTOS / "collins.jpg", seed=1, faces=[9])
    assert caught.value.facts == {"number": 9, "found": 1}


@pytest.mark.parametrize("array", [GREY.astype(float), GREY[..., :2], GREY[None], GREY[0, 0], [[1]], None])
def test_what_is_no_picture(array: object) -> None:
    with pytest.raises((TypeError, ValueError)):
        facedp.protect(array, seed=1)


def test_keys(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="32 bytes"):
        facedp.Engine(key=b"short")
    with pytest.raises(TypeError, match="not both"):
        facedp.Engine(key=bytes(32), seed=1)
    readable = tmp_path / "key"
    readable.write_text("facedp-key-1:" + "07" * 32)
    readable.chmod(0o644)
    with pytest.raises(facedp.KeyFileError) as caught:
        facedp.Engine(key=readable)
    assert caught.value.kind == "key"
    assert "07" * 32 not in repr(facedp.Engine(key=bytes([7] * 32)))
