"""Datasets of photos: of folders and lists of files, of Parquet, or Ray's own."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from typing import Any, TypeVar

import pyarrow as pa
import ray.data
from pyarrow import fs

from .._engine import Path
from .._files import located

T = TypeVar("T")

_PICTURES = (".jpg", ".jpeg", ".png", ".webp", ".heic", ".heif")
# Photos of a block: the last ones, and the first ones, but for runs of more than so many blocks.
_SMALLEST, _LARGEST = 4, 64
_MAX_BLOCKS = 4096


def rows(
    source: Path | Iterable[Path] | ray.data.Dataset,
    filesystem: Any,
    before: dict[str, str],
    columns: tuple[str, str],
    workers: int,
) -> tuple[ray.data.Dataset, fs.FileSystem | None, dict[str, str]]:
    """A dataset of photos, and those rows of earlier runs that it does not hold itself.

    Of a list of files, nothing but workers needs a core: on a cluster of one, nothing else would get it."""
    name, data = columns
    if isinstance(source, ray.data.Dataset):
        return source, None, before
    sources: list[Any] = [source] if isinstance(source, (str, os.PathLike)) else list(source)
    files = [item for one in sources for item in _listed(one, filesystem)]
    system = located(os.fspath(sources[0]), filesystem)[0]
    if any(path.endswith(".parquet") for _, path in files):
        paths = [path for _, path in files if path.endswith(".parquet")]
        return ray.data.read_parquet(paths, filesystem=system).select_columns([name, data]), None, before
    photos = [(relative, path) for relative, path in files if path.lower().endswith(_PICTURES)]
    if not photos:
        raise FileNotFoundError(f"no pictures in {sources}")
    relatives = [relative for relative, _ in photos]
    if len(set(relatives)) < len(relatives):
        raise ValueError("two sources have the same name: their results would overwrite each other")
    tables = [
        _table(
            {
                name: [path for _, path in block],
                "_relative": [relative for relative, _ in block],
                "_before": [before.get(path) for _, path in block],
            }
        )
        for block in blocks(photos, workers)
    ]
    return ray.data.from_arrow(tables), system, {}


def blocks(items: list[T], workers: int) -> Iterator[list[T]]:
    """Large blocks first, since each costs the driver some time; small ones at the end, so that workers end at about
    the same time. Not too large ones, since the rows of a block are lost with its node."""
    most = max(_LARGEST, -(-len(items) // _MAX_BLOCKS))
    least = min(_SMALLEST, -(-len(items) // (2 * workers)))
    first = 0
    while first < len(items):
        size = max(least, min(most, (len(items) - first) // (3 * workers)))
        yield items[first : first + size]
        first += size


def _table(columns: dict[str, list[Any]]) -> pa.Table:
    return pa.table({key: pa.array(values, pa.string()) for key, values in columns.items()})


def _listed(source: Path, filesystem: Any) -> Iterator[tuple[str, str]]:
    """Files with their names relative to the folder that was given."""
    system, path = located(source, filesystem)
    if system.get_file_info(path).type != fs.FileType.Directory:
        yield os.path.basename(path), path
        return
    for info in system.get_file_info(fs.FileSelector(path, recursive=True)):
        if info.type == fs.FileType.File:
            yield os.path.relpath(info.path, path), info.path
