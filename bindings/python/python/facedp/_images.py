"""Pictures as people hold them, and back."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from . import _native

if TYPE_CHECKING:
    from PIL.Image import Image

Array: TypeAlias = NDArray[np.uint8]
Picture: TypeAlias = "bytes | str | os.PathLike[str] | Array | Image"

_MODES = {"L": "L", "LA": "LA", "RGB": "RGB", "RGBA": "RGBA", "1": "L", "CMYK": "RGB", "YCbCr": "RGB"}


def native(picture: Picture) -> bytes | Array:
    """A file's bytes, or a contiguous array of 8-bit samples."""
    if isinstance(picture, bytes):
        return picture
    if isinstance(picture, (bytearray, memoryview)):
        return bytes(picture)
    if isinstance(picture, (str, os.PathLike)):
        return _native.read(Path(picture))
    if isinstance(picture, np.ndarray):
        return _array(picture)
    if hasattr(picture, "convert") and hasattr(picture, "mode"):
        return _from_pil(picture)
    raise TypeError(
        f"a picture is bytes of a file, a path, an array of uint8 or a Pillow image, not {type(picture).__name__}"
    )


def _array(array: NDArray[Any]) -> Array:
    if array.dtype != np.uint8:
        raise TypeError(f"an array of uint8 is needed, not of {array.dtype}")
    if not (array.ndim == 2 or (array.ndim == 3 and array.shape[2] in (3, 4))):
        shape = "x".join(map(str, array.shape))
        raise ValueError(f"an array of height x width, or height x width x 3 or 4, is needed, not {shape}")
    return np.ascontiguousarray(array)


def _from_pil(image: Image) -> Array:
    from PIL import ImageOps

    image = ImageOps.exif_transpose(image)
    if image.mode in ("P", "PA"):
        image = image.convert("RGBA" if "transparency" in image.info or image.mode == "PA" else "RGB")
    if image.mode not in _MODES:
        raise TypeError(f"Pillow images of mode {image.mode} are not supported: convert it to RGB")
    return np.ascontiguousarray(image.convert(_MODES[image.mode]))


def like(picture: Picture, array: Array) -> Any:
    """An array as the kind of picture that was given."""
    if isinstance(picture, np.ndarray):
        return array
    from PIL import Image as images

    return images.fromarray(array)


def opened(picture: Picture) -> Image:
    """Any picture as an upright Pillow image, to be looked at."""
    import io

    from PIL import Image as images
    from PIL import ImageOps

    given = native(picture)
    if isinstance(given, bytes):
        image: Image = images.open(io.BytesIO(given))
        return ImageOps.exif_transpose(image)
    return images.fromarray(given)


def side_by_side(before: Picture, after: Picture) -> Image:
    """Two pictures beside each other, as a Pillow image.

    >>> import facedp, numpy as np
    >>> facedp.side_by_side(np.zeros((40, 30, 3), np.uint8), np.ones((40, 30, 3), np.uint8)).size
    (68, 40)
    """
    from PIL import Image as images

    gap = 8
    left, right = opened(before).convert("RGB"), opened(after).convert("RGB")
    size = (left.width + gap + right.width, max(left.height, right.height))
    sheet = images.new("RGB", size, "white")
    sheet.paste(left, (0, 0))
    sheet.paste(right, (left.width + gap, 0))
    return sheet
