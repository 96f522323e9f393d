"""Engines: a request, ready for any photo."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, Any, TypeVar, overload

from . import _native
from ._images import Array, Picture, like, native
from ._request import Request, Settings
from ._results import Check, Face, Faces, Result, faces_json

if TYPE_CHECKING:
    from PIL.Image import Image
    from typing_extensions import Unpack

P = TypeVar("P", bound="Array | Image")
Path = str | os.PathLike[str]


class Engine:
    """Treats many photos in the same way. Everything that does not depend on a photo is prepared once.

    An engine can be used by many threads at once: it lets go of Python's lock while it works.

    >>> from concurrent.futures import ThreadPoolExecutor
    >>> engine = Engine(method="rdp-optimal", seed=1)
    >>> with ThreadPoolExecutor(2) as pool:
    ...     results = list(pool.map(engine.protect, ["examples/photos/collins.jpg"] * 2))
    >>> results[0].image == results[1].image
    True

    request    what to do; or its settings as keyword arguments
    key        32 secret bytes or the path of a key file; by default your own, as the program uses it (made on
               first use). The same key, photo and request give the same result.
    seed       instead of a key, for experiments: whoever knows it can repeat the change
    ledger     True, or the path of a ledger, to record releases as the program does
    model      a feature model that `facedp train` made
    """

    def __init__(
        self,
        request: Request | None = None,
        *,
        key: bytes | Path | None = None,
        seed: int | None = None,
        ledger: bool | Path = False,
        model: Path | None = None,
        **settings: Unpack[Settings],
    ) -> None:
        if key is not None and seed is not None:
            raise TypeError("a key or a seed, not both")
        if isinstance(key, bytes) and len(key) != 32:
            raise ValueError(f"a key has 32 bytes, not {len(key)}")
        base = request if request is not None else Request()
        self.request = base.replace(**settings) if settings else base
        self._engine = _native.Engine(self.request.to_json(), key, seed, ledger, model)

    @overload
    def protect(self, image: P, *, threads: int = 1) -> Result[P]: ...
    @overload
    def protect(self, image: bytes | Path, *, threads: int = 1) -> Result[bytes]: ...
    def protect(self, image: Any, *, threads: int = 1) -> Result[Any]:
        """Changes the faces of a photo. `threads` work on its faces at once."""
        given = native(image)
        if isinstance(given, bytes):
            file, (report, receipt) = self._engine.protect_file(given, threads)
            return _result(file, report, receipt, image)
        array, (report, receipt) = self._engine.protect_pixels(given, threads)
        return _result(like(image, array), report, receipt, image)

    def fingerprint(self) -> str:
        """A hash of everything that determines results: request, version, and the key, which it does not
        reveal."""
        return self._engine.fingerprint()

    def terms(self) -> dict[str, Any] | None:
        """What may be claimed of results; None if faces are not changed."""
        terms = self._engine.terms()
        return None if terms is None else _object(terms)

    def __repr__(self) -> str:
        return f"Engine({self.request!r})"


def _result(image: Any, report: str, receipt: str | None, original: Picture) -> Result[Any]:
    return Result(image, _object(report), None if receipt is None else _object(receipt), original)


def _object(text: str) -> dict[str, Any]:
    value: dict[str, Any] = json.loads(text)
    return value


@overload
def protect(
    image: P,
    request: Request | None = None,
    *,
    key: bytes | Path | None = None,
    seed: int | None = None,
    ledger: bool | Path = False,
    model: Path | None = None,
    **settings: Unpack[Settings],
) -> Result[P]: ...
@overload
def protect(
    image: bytes | Path,
    request: Request | None = None,
    *,
    key: bytes | Path | None = None,
    seed: int | None = None,
    ledger: bool | Path = False,
    model: Path | None = None,
    **settings: Unpack[Settings],
) -> Result[bytes]: ...
def protect(
    image: Any,
    request: Request | None = None,
    *,
    key: bytes | Path | None = None,
    seed: int | None = None,
    ledger: bool | Path = False,
    model: Path | None = None,
    **settings: Unpack[Settings],
) -> Result[Any]:
    """Changes the faces of one photo, as little as it can, until recognisers no longer match them.

    `image` is a file's bytes, a path, an array (uint8, height x width x 3) or a Pillow image; `image` of the
    result is the same kind. The other arguments are those of `Engine`, which is faster for many photos.

    >>> result = protect("examples/photos/collins.jpg", seed=1, steer_by=["dlib"])
    >>> result
    <facedp.Result: 1 face, quality 75...>
    >>> result.save("/tmp/collins.jpg")
    """
    engine = Engine(request, key=key, seed=seed, ledger=ledger, model=model, **settings)
    result: Result[Any] = engine.protect(image)
    return result


def detect(image: Picture, min_score: float = 0.7) -> Faces:
    """Finds the faces of a picture.

    >>> face = detect("examples/photos/collins.jpg")[0]
    >>> face.score > 0.9
    True
    """
    faces, doubts = json.loads(_native.detect(native(image), min_score))
    return Faces([Face.of(face) for face in faces], [Face.of(face) for face in doubts])


def check(original: Picture, released: Picture) -> Check:
    """Compares a picture with its original: how much changed, and who still recognises it.

    >>> check("examples/photos/collins.jpg", "examples/photos/collins.jpg").matches
    True
    """
    return Check(_object(_native.check(native(original), native(released))))


def plan(request: Request | None = None, **settings: Unpack[Settings]) -> dict[str, Any]:
    """What one of the methods with a plan will do, before any photo.

    >>> plan(method="rdp-optimal", epsilon=0.2)["claim"]
    'paper-accounting'
    """
    base = request if request is not None else Request(method="rdp-optimal")
    return _object(_native.plan(base.replace(**settings).to_json()))


def audit(
    request: Request | None = None,
    *,
    data: Path | None = None,
    runs: int = 20_000,
    confidence: float = 0.95,
    seed: int = 1,
    **settings: Unpack[Settings],
) -> dict[str, Any]:
    """Tries to refute what is claimed of a method. Finding nothing proves nothing.

    >>> audit(method="rdp-optimal", features=4, runs=400)["refuted"]
    True
    """
    base = request if request is not None else Request(method="rdp-optimal")
    found, verdict = _native.audit(base.replace(**settings).to_json(), data, runs, confidence, seed)
    return {**_object(found), "verdict": verdict}


class Recogniser:
    """A network that turns faces into embeddings: one of those inside by name, or an ONNX file of your own, with
    a TOML file beside it (README, "The paper, checked").

    >>> dlib = Recogniser("dlib")
    >>> embedding, = dlib.embed("examples/photos/collins.jpg")
    >>> embedding.shape, dlib.matches(embedding, embedding)
    ((128,), True)
    """

    def __init__(self, name: Path) -> None:
        own = isinstance(name, str) and not name.endswith(".onnx")
        self._native = _native.Recogniser.named(str(name)) if own else _native.Recogniser.open(name)

    @staticmethod
    def names() -> list[str]:
        """The recognisers inside."""
        return _native.Recogniser.names()

    @property
    def name(self) -> str:
        """Its name in reports."""
        return self._native.name

    @property
    def threshold(self) -> float:
        """The largest distance at which two faces match."""
        return self._native.threshold

    def embed(self, image: Picture, faces: list[Face] | None = None) -> list[Any]:
        """One embedding (float32) for each face; by default for all that `detect` finds.

        For a picture and its result, pass the faces of the original twice: otherwise their landmarks differ."""
        import numpy as np

        given = native(image)
        known = detect(given).faces if faces is None else faces
        embeddings = self._native.embed(given, faces_json(known))
        return [np.array(embedding, np.float32) for embedding in embeddings]

    def distance(self, a: Any, b: Any) -> float:
        """The distance of two embeddings, in the recogniser's own metric."""
        return self._native.distance(list(map(float, a)), list(map(float, b)))

    def matches(self, a: Any, b: Any) -> bool:
        """Whether two embeddings count as one person."""
        return self.distance(a, b) <= self.threshold

    def __repr__(self) -> str:
        return f"Recogniser({self.name!r})"
