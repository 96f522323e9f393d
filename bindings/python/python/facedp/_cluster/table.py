"""The table of what was done: a row for each photo, in Parquet."""

from __future__ import annotations

import hashlib
import io
import time
from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as parquet
from pyarrow import fs

from .._engine import Engine
from .._files import write

FOLDER = "_facedp/table"
# How often rows are written while a run goes on.
_SECONDS = 10
SCHEMA = pa.schema(
    [
        ("name", pa.string()),
        ("output", pa.string()),
        ("status", pa.string()),
        ("error", pa.string()),
        ("kind", pa.string()),
        ("faces", pa.int32()),
        ("untreated", pa.int32()),
        ("quality", pa.float64()),
        ("matches", pa.bool_()),
        ("seconds", pa.float64()),
        ("source_sha256", pa.string()),
        ("output_sha256", pa.string()),
        ("engine", pa.string()),
        ("report", pa.string()),
    ]
)


def fingerprint(engine: Engine) -> str:
    """Everything that a row depends on, but for the photo."""
    text = f"{engine.fingerprint()} {engine.request.to_json()}"
    return hashlib.sha256(text.encode()).hexdigest()


def known(system: fs.FileSystem, target: str) -> Iterator[tuple[str, dict[str, Any]]]:
    """The rows of earlier runs whose results may still be there, the newest last."""
    for part in sorted(_parts(system, target)):
        with system.open_input_file(part) as file:
            for row in parquet.read_table(file, schema=SCHEMA).to_pylist():
                if row["status"] in ("written", "existing"):
                    yield row["name"], row


def record(batches: Iterable[Any], system: fs.FileSystem, target: str) -> dict[str, int]:
    """Writes the table: part by part while the run goes on, so that a rerun knows them, then as one.
    Returns how many rows have each status."""
    counts = {"written": 0, "existing": 0, "failed": 0}
    all_rows: list[pa.Table] = []
    pending: list[pa.Table] = []
    stamp = f"{time.time_ns():020d}"

    def flush(name: str, tables: list[pa.Table]) -> None:
        file = io.BytesIO()
        parquet.write_table(pa.concat_tables(tables), file)
        write(system, f"{target}/{FOLDER}/{name}.parquet", file.getvalue())

    parts = 0
    flushed = time.monotonic()
    for batch in batches:
        table = batch.cast(SCHEMA)
        for status, number in zip(*np.unique(table["status"].to_numpy(zero_copy_only=False), return_counts=True)):
            counts[str(status)] += int(number)
        pending.append(table)
        if time.monotonic() - flushed > _SECONDS:
            flush(f"{stamp}-{parts:06d}", pending)
            all_rows, pending, parts = all_rows + pending, [], parts + 1
            flushed = time.monotonic()
    old = _parts(system, target)
    flush(f"{stamp}-all", all_rows + pending)
    for path in old:
        system.delete_file(path)
    return counts


def _parts(system: fs.FileSystem, target: str) -> list[str]:
    selector = fs.FileSelector(f"{target}/{FOLDER}", allow_not_found=True)
    return [info.path for info in system.get_file_info(selector) if info.path.endswith(".parquet")]
