"""Many photos on a cluster: `pip install facedp[ray]`.

>>> import facedp.ray                                                   # doctest: +SKIP
>>> request = facedp.Request(strength="medium", receipt=True)           # doctest: +SKIP
>>> facedp.ray.protect_dataset("photos/", "out/", request)              # doctest: +SKIP
Summary(written=1998, existing=0, failed=2, seconds=...)
"""

from __future__ import annotations

import hashlib
import io
import json
import os
import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as parquet
import ray
import ray.data
from pyarrow import fs
from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

from . import _native
from ._engine import Engine, Path
from ._errors import Error
from ._files import located, read, safe_name, sha256, write
from ._request import Request

_TABLE = "_facedp/table"
_RECEIPTS = "_facedp/receipts"
_PICTURES = (".jpg", ".jpeg", ".png", ".webp", ".heic", ".heif")
_SUFFIXES = {"jpeg": ".jpg", "png": ".png", "webp": ".webp"}
# Photos of a block, and blocks of a run at most.
_BLOCK = 16
_MAX_BLOCKS = 4096
_SCHEMA = pa.schema(
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


@dataclass(frozen=True)
class Summary:
    """What became of the photos of a run."""

    written: int
    """Treated now."""
    existing: int
    """Taken over from an earlier run: neither the photo, the request, the key nor the result has changed."""
    failed: int
    """Rows of the table with an error; no result was written."""
    seconds: float
    table: str
    """The folder of the Parquet table."""


class _KeyKeeper:
    """Holds the key in memory while the run lasts.

    The key is an argument and a result of actor calls of a few bytes, which go from process to process and never
    to the object store. It is no argument of an actor's constructor: those are kept by the cluster for restarts."""

    def __init__(self) -> None:
        self._secret: dict[str, Any] = {}

    def put(self, secret: dict[str, Any]) -> None:
        self._secret = secret

    def get(self) -> dict[str, Any]:
        return self._secret


class _Worker:
    """One engine for all photos that a worker gets."""

    def __init__(self, keeper: Any, plan: dict[str, Any], earlier: ray.ObjectRef) -> None:
        secret = ray.get(keeper.get.remote())
        self._earlier: dict[str, str] = ray.get(earlier)
        self._engine = Engine(Request.from_json(plan["request"]), model=plan["model"], **secret)
        self._fingerprint = _fingerprint(self._engine)
        self._source, self._output = plan["source"], plan["output"]
        self._target, self._columns = plan["target"], plan["columns"]

    def __call__(self, batch: pa.Table) -> pa.Table:
        rows = [self._row(row) for row in batch.to_pylist()]
        return pa.Table.from_pylist(rows, schema=_SCHEMA)

    def _row(self, row: dict[str, Any]) -> dict[str, Any]:
        done: dict[str, Any] = dict.fromkeys(_SCHEMA.names)
        done |= {"name": str(row[self._columns[0]]), "engine": self._fingerprint, "faces": 0, "untreated": 0}
        start = time.monotonic()
        try:
            self._treat(row, done)
        except Error as error:
            done |= {"status": "failed", "error": str(error), "kind": error.kind}
        except Exception as error:  # a bad photo never ends the job
            done |= {"status": "failed", "error": f"{type(error).__name__}: {error}", "kind": "other"}
        return done | {"seconds": time.monotonic() - start}

    def _treat(self, row: dict[str, Any], done: dict[str, Any]) -> None:
        name = safe_name(row.get("_relative") or done["name"])
        file = row.get(self._columns[1])
        if file is None:
            file = read(self._source, done["name"])
            if file is None:
                raise FileNotFoundError(done["name"])
        done["source_sha256"] = sha256(file)
        if self._taken_over(row, done):
            return
        result = self._engine.protect(bytes(file))
        suffix = _SUFFIXES[result.report["format"]]
        known = {".jpeg": ".jpg"}.get(os.path.splitext(name)[1].lower(), os.path.splitext(name)[1].lower())
        output = name if known == suffix else os.path.splitext(name)[0] + suffix
        if result.receipt is not None:
            text = json.dumps(result.receipt, indent=2).encode()
            write(self._output, f"{self._target}/{_RECEIPTS}/{output}.json", text)
        write(self._output, f"{self._target}/{output}", result.image)
        done |= {
            "status": "written",
            "output": output,
            "output_sha256": sha256(result.image),
            "faces": len(result.faces),
            "untreated": len(result.untreated),
            "quality": result.quality,
            "matches": result.matches,
            "report": json.dumps(result.report),
        }

    def _taken_over(self, row: dict[str, Any], done: dict[str, Any]) -> bool:
        """Whether the result of an earlier run is there and would be the same."""
        text = row.get("_before") or self._earlier.get(done["name"])
        before = json.loads(text) if text else None
        if before is None or before["source_sha256"] != done["source_sha256"]:
            return False
        if before["engine"] != self._fingerprint:
            return False
        there = read(self._output, f"{self._target}/{before['output']}")
        if there is None or sha256(there) != before["output_sha256"]:
            return False
        done |= {**before, "status": "existing"}
        return True


def protect_dataset(
    source: Path | Iterable[Path] | ray.data.Dataset,
    output: Path,
    request: Request | None = None,
    *,
    key: bytes | Path | None = None,
    seed: int | None = None,
    model: Path | None = None,
    filesystem: Any = None,
    name_column: str = "path",
    bytes_column: str = "bytes",
    workers: int | None = None,
    batch_size: int = 8,
) -> Summary:
    """Treats many photos on a Ray cluster, one engine for each worker.

    source        a folder, files, a Parquet file or folder of them (*.parquet) with the columns `name_column` and
                  `bytes_column`, or a dataset that has these columns, such as `ray.data.read_binary_files(...,
                  include_paths=True)`. Names must differ.
    output        a folder, or a URL such as s3://bucket/out, that all nodes reach. It gets the results under the
                  names of their sources, receipts, and the table `_facedp/table` (Parquet), a row for each photo.
    request       what to do
    key, seed     as for `Engine`. The path of a key file is read here, on this machine only.
    filesystem    pyarrow's or fsspec's, with your own settings, for source and output
    workers       engines at work, one core each; by default on all cores of the cluster, but one if the source is
                  Parquet or a dataset, whose reading needs it: these need a cluster of two cores

    A photo that cannot be treated is a row with an error. Run it again to go on after anything: photos whose row,
    source, request, key and result have not changed are taken over.
    """
    start = time.monotonic()
    system, target = located(output, filesystem)
    engine, secret = _prepared(request, key, seed, model)
    before = {name: json.dumps(row) for name, row in _known(system, target)}
    rows, input_system, earlier = _rows(source, filesystem, before, (name_column, bytes_column))
    # On the driver's node: if that one dies, the run does anyway.
    here = NodeAffinitySchedulingStrategy(ray.get_runtime_context().get_node_id(), soft=False)
    keeper: Any = ray.remote(num_cpus=0, max_restarts=0, scheduling_strategy=here)(_KeyKeeper).remote()
    ray.get(keeper.put.remote(secret))
    plan = {
        "request": engine.request.to_json(),
        "model": None if model is None else os.path.abspath(model),
        "source": input_system,
        "output": system,
        "target": target,
        "columns": (name_column, bytes_column),
    }
    if workers is None:
        # Reading tables and the tasks of a dataset of your own need a core, too.
        spare = input_system is None
        workers = max(1, int(ray.cluster_resources().get("CPU", 1)) - spare)
    try:
        done = rows.map_batches(
            _Worker,
            batch_size=batch_size,
            batch_format="pyarrow",
            fn_constructor_args=(keeper, plan, ray.put(earlier)),
            compute=ray.data.ActorPoolStrategy(min_size=1, max_size=workers, initial_size=workers),
            num_cpus=1,
            max_restarts=-1,
            max_task_retries=-1,
        )
        counts = _recorded(done, system, target)
    finally:
        ray.kill(keeper)
    seconds = time.monotonic() - start
    return Summary(**counts, seconds=seconds, table=f"{target}/{_TABLE}")


def _prepared(
    request: Request | None, key: bytes | Path | None, seed: int | None, model: Path | None
) -> tuple[Engine, dict[str, Any]]:
    """An engine, to fail before any photo, and the secret that workers need."""
    base = request if request is not None else Request()
    engine = Engine(base, key=key, seed=seed, model=model)
    if seed is not None or isinstance(key, bytes):
        return engine, {"key": key, "seed": seed}
    if key is None and base.method in ("certified", "none"):
        return engine, {}
    path = _native.key_path() if key is None else key
    text = open(path, encoding="ascii").read().strip()
    return engine, {"key": bytes.fromhex(text.removeprefix("facedp-key-1:"))}


def _fingerprint(engine: Engine) -> str:
    """Everything that a row depends on."""
    text = f"{engine.fingerprint()} {engine.request.to_json()}"
    return hashlib.sha256(text.encode()).hexdigest()


def _known(system: fs.FileSystem, target: str) -> Iterator[tuple[str, dict[str, Any]]]:
    """The rows of earlier runs whose results may still be there, the newest last."""
    selector = fs.FileSelector(f"{target}/{_TABLE}", allow_not_found=True)
    parts = sorted(info.path for info in system.get_file_info(selector) if info.path.endswith(".parquet"))
    for part in parts:
        with system.open_input_file(part) as file:
            for row in parquet.read_table(file, schema=_SCHEMA).to_pylist():
                if row["status"] in ("written", "existing"):
                    yield row["name"], row


def _rows(
    source: Path | Iterable[Path] | ray.data.Dataset,
    filesystem: Any,
    before: dict[str, str],
    columns: tuple[str, str],
) -> tuple[ray.data.Dataset, fs.FileSystem | None, dict[str, str]]:
    """A dataset of photos, and those rows of earlier runs that it does not hold itself.

    Of a list of files, nothing but workers needs a core: on a cluster of one, nothing else would get it."""
    name, data = columns
    if isinstance(source, ray.data.Dataset):
        return source, None, before
    sources = [source] if isinstance(source, (str, os.PathLike)) else list(source)
    files = [item for one in sources for item in _listed(one, filesystem)]
    system = located(os.fspath(sources[0]), filesystem)[0]
    if any(path.endswith(".parquet") for _, path in files):
        paths = [path for _, path in files if path.endswith(".parquet")]
        return ray.data.read_parquet(paths, filesystem=system, columns=[name, data]), None, before
    photos = [(relative, path) for relative, path in files if path.lower().endswith(_PICTURES)]
    if not photos:
        raise FileNotFoundError(f"no pictures in {sources}")
    relatives = [relative for relative, _ in photos]
    if len(set(relatives)) < len(relatives):
        raise ValueError("two sources have the same name: their results would overwrite each other")
    # Small blocks, so that a node that dies has little to lose, and workers end at about the same time.
    size = max(_BLOCK, -(-len(photos) // _MAX_BLOCKS))
    blocks = [photos[first : first + size] for first in range(0, len(photos), size)]
    tables = [
        _table(
            {
                name: [path for _, path in block],
                "_relative": [relative for relative, _ in block],
                "_before": [before.get(path) for _, path in block],
            }
        )
        for block in blocks
    ]
    return ray.data.from_arrow(tables), system, {}


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


def _recorded(done: ray.data.Dataset, system: fs.FileSystem, target: str) -> dict[str, int]:
    """Writes the table: part by part while the run goes on, so that a rerun knows them, then as one."""
    counts = {"written": 0, "existing": 0, "failed": 0}
    all_rows: list[pa.Table] = []
    pending: list[pa.Table] = []
    stamp = f"{time.time_ns():020d}"

    def flush(name: str, tables: list[pa.Table]) -> None:
        file = io.BytesIO()
        parquet.write_table(pa.concat_tables(tables), file)
        write(system, f"{target}/{_TABLE}/{name}.parquet", file.getvalue())

    parts = 0
    flushed = time.monotonic()
    for batch in done.iter_batches(batch_size=None, batch_format="pyarrow"):
        table = batch.cast(_SCHEMA)
        for status, number in zip(*np.unique(table["status"].to_numpy(zero_copy_only=False), return_counts=True)):
            counts[str(status)] += int(number)
        pending.append(table)
        if time.monotonic() - flushed > 10:
            flush(f"{stamp}-{parts:06d}", pending)
            all_rows, pending, parts = all_rows + pending, [], parts + 1
            flushed = time.monotonic()
    all_rows += pending
    old = [info.path for info in system.get_file_info(fs.FileSelector(f"{target}/{_TABLE}", allow_not_found=True))]
    flush(f"{stamp}-all", all_rows)
    for path in old:
        if path.endswith(".parquet"):
            system.delete_file(path)
    return counts
