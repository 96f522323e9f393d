"""What to do with photos, as plain data: the same value as on the command line, in JSON and over HTTP."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Literal, TypedDict

from . import _native

if TYPE_CHECKING:
    from typing_extensions import Unpack

Method = Literal[
    "steered",
    "certified",
    "pixel-dp",
    "dct-dp",
    "rdp",
    "rdp-na",
    "rdp-lmgd",
    "rdp-optimal",
    "rdp-na-literal",
    "rdp-lmgd-literal",
    "none",
]


class Settings(TypedDict, total=False):
    """The settings of a request. One that is left out, or None, has its default."""

    method: Method
    # steered
    strength: Literal["low", "medium", "high"] | None
    goal: Literal["away", "draw", "both"] | None
    min_quality: float | None
    shape: bool | None
    steer_by: Sequence[str]
    # methods that draw noise
    epsilon: float | None
    features: int | None
    mechanism: str | None
    geometric_p: float | None
    basis: Literal["pixel", "dct", "haar"] | None
    levels: int | None
    ranking: str | None
    sensitivity: str | None
    significance: float | None
    eta: float | None
    experiment: dict[str, Any] | None
    # faces
    faces: Literal["all", "largest"] | Sequence[int]
    boxes: Sequence[Sequence[float]]
    min_score: float | None
    aligned: bool
    crop: int | None
    # results
    format: Literal["jpeg", "png", "webp"] | None
    jpeg_quality: int | None
    keep_metadata: bool
    copy_faceless: bool
    receipt: bool
    check: Literal["off", "default", "degraded"]
    measure: bool


class Request:
    """What to do with photos. It holds no secrets and no paths, cannot be changed, and can be compared.

    >>> request = Request(method="steered", strength="high", faces=[1, 3])
    >>> request.strength
    'high'
    >>> Request.from_json(request.to_json()) == request
    True
    >>> Request(strength="highest")
    Traceback (most recent call last):
    ...
    facedp.RequestError: unknown variant `highest`, expected one of `low`, `medium`, `high` at line 1 column 22
    """

    __slots__ = ("_settings",)
    _settings: dict[str, Any]

    def __init__(self, **settings: Unpack[Settings]) -> None:
        given = {name: value for name, value in settings.items() if value is not None}
        self._read(json.dumps(given, default=_plain))

    def _read(self, text: str) -> None:
        known = json.loads(_native.request(text))
        object.__setattr__(self, "_settings", known)

    @classmethod
    def from_json(cls, text: str) -> Request:
        """Reads a JSON object, as the HTTP interface takes it."""
        request = cls.__new__(cls)
        request._read(text)
        return request

    def to_json(self) -> str:
        """All settings but those that are not set, as JSON."""
        return json.dumps(self.settings())

    def settings(self) -> dict[str, Any]:
        """All settings but those that are not set."""
        return {name: value for name, value in self._settings.items() if value is not None}

    def replace(self, **settings: Unpack[Settings]) -> Request:
        """The same request with other settings; None unsets one."""
        given: dict[str, Any] = {**settings}
        return Request(**{**self.settings(), **given})

    def __getattr__(self, name: str) -> Any:
        try:
            return object.__getattribute__(self, "_settings")[name]
        except KeyError:
            raise AttributeError(f"a request has no setting `{name}`") from None

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError("a request cannot be changed: use `replace`")

    def __dir__(self) -> list[str]:
        return [*super().__dir__(), *self._settings]

    def __eq__(self, other: object) -> bool:
        return self._settings == other._settings if isinstance(other, Request) else NotImplemented

    def __hash__(self) -> int:
        return hash(self.to_json())

    def __reduce__(self) -> tuple[Any, ...]:
        return (Request.from_json, (self.to_json(),))

    def __repr__(self) -> str:
        defaults = json.loads(_native.request("{}"))
        given = [(name, value) for name, value in self.settings().items() if value != defaults[name]]
        return f"Request({', '.join(f'{name}={value!r}' for name, value in given)})"


def _plain(value: Any) -> Any:
    """Numbers and arrays of NumPy as JSON takes them."""
    return value.tolist()
