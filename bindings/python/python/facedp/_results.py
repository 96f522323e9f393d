"""What was found and what was done."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic, TypeVar, cast

from . import _native
from ._errors import FileError
from ._images import Picture, side_by_side

if TYPE_CHECKING:
    from PIL.Image import Image

T = TypeVar("T")


@dataclass(frozen=True)
class Face:
    """A face of a picture. Positions are in pixels of the upright picture."""

    box: tuple[float, float, float, float] | None
    """Left, top, width and height; None for a face crop."""
    landmarks: list[tuple[float, float]]
    """Eyes, nose, corners of the mouth."""
    score: float | None
    """The detector's, 0 to 1; None for a box that you drew."""
    quality: float | None = None
    """SSIMULACRA2 of the face as written: 90 and more, nobody sees a change; 70, high quality."""
    matches: tuple[str, ...] | None = None
    """Recognisers that still match the face with its original; None if they were not asked."""
    report: dict[str, Any] = field(default_factory=dict, repr=False, compare=False)
    """All that is known of it, as in the program's JSON."""

    @classmethod
    def of(cls, report: dict[str, Any]) -> Face:
        """A face from its JSON."""
        box, verdicts = report.get("box"), report.get("recognisers")
        return cls(
            box=(box[0], box[1], box[2], box[3]) if box else None,
            landmarks=[(x, y) for x, y in report.get("landmarks", [])],
            score=report.get("score"),
            quality=report.get("ssimulacra2"),
            matches=tuple(v["name"] for v in verdicts if v["match"]) if verdicts else None,
            report=report,
        )


@dataclass(frozen=True)
class Faces:
    """The faces of a picture, highest score first, and places that may be faces."""

    faces: list[Face]
    doubts: list[Face]

    def __iter__(self) -> Iterator[Face]:
        return iter(self.faces)

    def __len__(self) -> int:
        return len(self.faces)

    def __getitem__(self, number: int) -> Face:
        return self.faces[number]


@dataclass(frozen=True, repr=False)
class Result(Generic[T]):
    """A picture to publish, and what was done to it."""

    image: T
    """The kind that was given: bytes for bytes, an array for an array, a Pillow image for one; for a path, the
    bytes of the file to write."""
    report: dict[str, Any]
    """All that is known, as in the program's JSON."""
    receipt: dict[str, Any] | None
    """What was done and may be claimed, if `receipt=True` asked for it. Not all of it may be published."""
    original: Picture = field(compare=False)

    @property
    def faces(self) -> list[Face]:
        """Faces that were treated."""
        return [Face.of(face) for face in self.report["faces"]]

    @property
    def untreated(self) -> list[Face]:
        """Faces that were left as they are: too small, or only perhaps faces, or seen only in the result."""
        names = ("skipped", "doubts", "untreated")
        return [Face.of(face) for name in names for face in self.report.get(name, [])]

    @property
    def quality(self) -> float | None:
        """The lowest quality of its faces."""
        return min((face.quality for face in self.faces if face.quality is not None), default=None)

    @property
    def matches(self) -> bool | None:
        """Whether a recogniser still matches a face with its original; None if none was asked."""
        asked = [face.matches for face in self.faces if face.matches is not None]
        return any(asked) if asked else None

    @property
    def media_type(self) -> str:
        """The media type of a file."""
        return f"image/{self.report['format']}"

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes the picture: a file as it is, pixels in the format of the path's name, lossless unless it is
        a .jpg. The original is never overwritten."""
        target = Path(path)
        if isinstance(self.original, (str, os.PathLike)) and target.exists() and target.samefile(self.original):
            facts = {"target": str(target)}
            raise FileError(f"the result would overwrite the original {target}", "over-original", facts)
        if isinstance(self.image, bytes):
            _native.write(target, self.image, False)
            return
        import io

        from ._images import opened

        file = io.BytesIO()
        image = opened(cast(Picture, self.image))
        suffix = target.suffix.lower()
        if suffix in (".jpg", ".jpeg"):
            image.convert("RGB").save(file, "JPEG", quality=92)
        elif suffix == ".webp":
            image.save(file, "WEBP", lossless=True)
        else:
            image.save(file, "PNG")
        _native.write(target, file.getvalue(), False)

    def side_by_side(self) -> Image:
        """Before and after, as a Pillow image."""
        return side_by_side(self.original, cast(Picture, self.image))

    def _repr_jpeg_(self) -> bytes:
        """Notebooks show before and after, at a size that can be stored in them."""
        import io

        file = io.BytesIO()
        sheet = self.side_by_side()
        sheet.thumbnail((1600, 1600))
        sheet.save(file, "JPEG", quality=90, subsampling=0)
        return file.getvalue()

    def __repr__(self) -> str:
        quality = "" if self.quality is None else f", quality {self.quality:.1f}"
        matches = {None: "", True: ", still matches", False: ", no longer matches"}[self.matches]
        faces = f"{len(self.faces)} face{'' if len(self.faces) == 1 else 's'}"
        return f"<facedp.Result: {faces}{quality}{matches}>"


@dataclass(frozen=True, repr=False)
class Check:
    """A picture compared with its original."""

    report: dict[str, Any]

    @property
    def faces(self) -> list[Face]:
        """Faces of the original. Their quality counts moved pixels as damage."""
        return [Face.of(face) for face in self.report["faces"]]

    @property
    def psnr(self) -> float | None:
        """Of luma, in dB; None if the pictures are equal."""
        value: float | None = self.report["psnr"]
        return value

    @property
    def ssim(self) -> float | None:
        """Of luma, as scikit-image computes it by default."""
        value: float | None = self.report["ssim"]
        return value

    @property
    def matches(self) -> bool:
        """Whether a recogniser still matches a face."""
        return any(face.matches for face in self.faces)

    def __repr__(self) -> str:
        return f"<facedp.Check: psnr {self.psnr}, {len(self.faces)} faces, matches {self.matches}>"


def faces_json(faces: list[Face]) -> str:
    """Faces as the library reads them."""
    return json.dumps([{"box": f.box, "landmarks": f.landmarks, "score": f.score} for f in faces])
