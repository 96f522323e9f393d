"""What type checkers see of facedp: `test` gives this file to mypy and to pyright. It is never run."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PIL.Image import Image
from typing_extensions import assert_type

import facedp

Array = NDArray[np.uint8]


def kinds(file: bytes, path: Path, array: Array, image: Image, engine: facedp.Engine) -> None:
    """A result holds the kind of picture that was given."""
    assert_type(facedp.protect(file).image, bytes)
    assert_type(facedp.protect(path, strength="high"), facedp.Result[bytes])
    assert_type(facedp.protect("me.jpg", seed=1).image, bytes)
    assert_type(facedp.protect(array).image, Array)
    assert_type(facedp.protect(image).image, Image)
    assert_type(engine.protect(array, threads=2), facedp.Result[Array])
    assert_type(engine.protect(path).image, bytes)


def reports(result: facedp.Result[bytes], array: Array) -> None:
    """What results and the other functions say."""
    assert_type(result.faces, list[facedp.Face])
    assert_type(result.quality, float | None)
    assert_type(result.matches, bool | None)
    assert_type(result.receipt, dict[str, Any] | None)
    assert_type(facedp.detect(array)[0], facedp.Face)
    assert_type(facedp.check("a.jpg", array).psnr, float | None)
    assert_type(facedp.plan(method="rdp-optimal", epsilon=0.2), dict[str, Any])
    assert_type(facedp.Recogniser("dlib").threshold, float)


def mistakes(array: Array) -> None:
    """Each of these lines must be an error: without one, a checker complains about the comment that expects it."""
    facedp.protect(3)  # type: ignore  # pyright: ignore
    facedp.protect(array, strength="highest")  # type: ignore  # pyright: ignore
    facedp.protect(array, strenght="high")  # type: ignore  # pyright: ignore
    facedp.Engine(key=7)  # type: ignore  # pyright: ignore
