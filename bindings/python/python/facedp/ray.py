"""Many photos on a cluster: `pip install facedp[ray]`.

>>> import facedp.ray                                                   # doctest: +SKIP
>>> request = facedp.Request(strength="medium", receipt=True)           # doctest: +SKIP
>>> facedp.ray.protect_dataset("photos/", "out/", request)              # doctest: +SKIP
Summary(written=1998, existing=0, failed=2, seconds=...)
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import ray
import ray.data
from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

from . import _native
from ._cluster import table
from ._cluster.keeper import KeyKeeper
from ._cluster.sources import rows
from ._cluster.worker import Worker
from ._engine import Engine, Path
from ._files import located
from ._request import Request


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
    keeper = _keeper()
    cores = max(1, int(ray.cluster_resources().get("CPU", 1)))
    before = {name: json.dumps(row) for name, row in table.known(system, target)}
    photos, input_system, earlier = rows(source, filesystem, before, (name_column, bytes_column), workers or cores)
    if workers is None:
        # Reading tables and the tasks of a dataset of your own need a core, too.
        workers = max(1, cores - (input_system is None))
    plan = {
        "request": engine.request.to_json(),
        "model": None if model is None else os.path.abspath(model),
        "source": input_system,
        "output": system,
        "target": target,
        "columns": (name_column, bytes_column),
    }
    try:
        ray.get(keeper.put.remote(secret, [ray.put(earlier)]))
        # Ray starts an actor again whose node died, and gives others its photos.
        done = photos.map_batches(
            Worker,
            batch_size=batch_size,
            batch_format="pyarrow",
            fn_constructor_args=(keeper, plan),
            compute=ray.data.ActorPoolStrategy(min_size=1, max_size=workers, initial_size=workers),
            num_cpus=1,
        )
        counts = table.record(done.iter_batches(batch_size=None, batch_format="pyarrow"), system, target)
    finally:
        ray.kill(keeper)
    seconds = time.monotonic() - start
    return Summary(**counts, seconds=seconds, table=f"{target}/{table.FOLDER}")


def _keeper() -> Any:
    """On the driver's node: if that one dies, the run does anyway."""
    here: Any = NodeAffinitySchedulingStrategy(ray.get_runtime_context().get_node_id(), soft=False)
    return ray.remote(num_cpus=0, max_restarts=0, scheduling_strategy=here)(KeyKeeper).remote()


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
