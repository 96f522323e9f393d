"""Exceptions. Each has the facts of the library's error: what was wrong, with which value."""

from __future__ import annotations

import json
from typing import Any


class Error(Exception):
    """The base of all errors of facedp.

    `kind` is the name of the error and `facts` its values, the same in every front end:

    >>> import facedp
    >>> try:
    ...     facedp.protect(b"no picture", seed=1)
    ... except facedp.PhotoError as error:
    ...     print(error, error.kind, error.facts)
    not a picture: facedp reads JPEG, PNG, WebP and HEIC format {'found': 'not a picture'}
    """

    kind: str
    facts: dict[str, Any]

    def __init__(self, message: str, kind: str = "", facts: dict[str, Any] | None = None) -> None:
        super().__init__(message)
        self.kind = kind
        self.facts = facts or {}

    def __reduce__(self) -> tuple[Any, ...]:
        return (type(self), (str(self), self.kind, self.facts))


class PhotoError(Error, ValueError):
    """The picture cannot be read, or not written as asked for."""


class NoFaceError(Error, ValueError):
    """There is no face to treat: none was found, none is large enough, or not the one that was asked for."""


class RequestError(Error, ValueError):
    """The settings ask for something that is not possible."""


class KeyFileError(Error, OSError):
    """The key or the ledger cannot be used."""


class FileError(Error, OSError):
    """A file cannot be read or written."""


_CLASSES: dict[str, type[Error]] = {
    **dict.fromkeys(
        ["format", "animated", "floating-point", "damaged", "too-many-pixels", "too-many-bytes", "pixels"], PhotoError
    ),
    **dict.fromkeys(["too-large-for", "encoding", "result-size"], PhotoError),
    **dict.fromkeys(["no-face", "too-small", "face-number"], NoFaceError),
    **dict.fromkeys(["request", "unknown-method", "unknown-recogniser", "setting", "no-plan"], RequestError),
    **dict.fromkeys(["certified-metadata", "min-quality", "margin", "tuning", "mechanism"], RequestError),
    **dict.fromkeys(["crop", "box", "not-written"], RequestError),
    **dict.fromkeys(["key", "ledger", "not-own", "no-home"], KeyFileError),
    **dict.fromkeys(["io", "exists", "not-a-file"], FileError),
}


def exception(kind: str, message: str, facts: str) -> Error:
    """The exception for an error of the library."""
    return _CLASSES.get(kind, Error)(message, kind, json.loads(facts))
