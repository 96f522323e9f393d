"""Whole files on any file system, and where results go."""

from __future__ import annotations

import hashlib
import os
import posixpath
import uuid
from typing import Any

from pyarrow import fs


def located(path: str | os.PathLike[str], filesystem: Any = None) -> tuple[fs.FileSystem, str]:
    """The file system and the path on it: local, by URL (s3://...), or on one that is given (pyarrow's or fsspec's)."""
    if filesystem is not None:
        if not isinstance(filesystem, fs.FileSystem):
            filesystem = fs.PyFileSystem(fs.FSSpecHandler(filesystem))
        return filesystem, os.fspath(path)
    text = os.fspath(path)
    if "://" in text:
        system, place = fs.FileSystem.from_uri(text)
        return system, place
    return fs.LocalFileSystem(), os.path.abspath(text)


def safe_name(name: str) -> str:
    """A relative name that stays inside the output folder."""
    text = name.split("://", 1)[-1].replace("\\", "/")
    parts = [part for part in text.split("/") if part not in ("", ".")]
    if not parts or ".." in parts or "\0" in text or parts[0].startswith("_facedp"):
        raise ValueError(f"{name!r} is no name for a result")
    return "/".join(parts)


def read(system: fs.FileSystem, path: str) -> bytes | None:
    """A file's bytes; None if there is none."""
    try:
        with system.open_input_stream(path) as stream:
            data: bytes = stream.read()
            return data
    except FileNotFoundError:
        return None


def write(system: fs.FileSystem, path: str, data: bytes) -> None:
    """A whole file or nothing. Object stores show a file only when it is complete; others get it by renaming."""
    folder = posixpath.dirname(path)
    # fsspec's own local files are known by their name only.
    local = isinstance(system, fs.PyFileSystem) and "local" in system.type_name
    renames = local or isinstance(system, (fs.LocalFileSystem, fs.SubTreeFileSystem, fs.HadoopFileSystem))
    if renames or isinstance(system, fs.PyFileSystem):
        system.create_dir(folder, recursive=True)
    target = posixpath.join(folder, f".{posixpath.basename(path)}.{uuid.uuid4().hex}") if renames else path
    with system.open_output_stream(target) as stream:
        stream.write(data)
    if renames:
        system.move(target, path)


def sha256(data: bytes) -> str:
    """The hash that the table holds."""
    return hashlib.sha256(data).hexdigest()
