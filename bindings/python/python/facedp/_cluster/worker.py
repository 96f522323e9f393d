"""What a worker does with its photos."""

from __future__ import annotations

import json
import os
import time
from typing import Any

import pyarrow as pa
import ray

from .._engine import Engine
from .._errors import Error
from .._files import read, safe_name, sha256, write
from .._request import Request
from .table import SCHEMA, fingerprint

RECEIPTS = "_facedp/receipts"
_SUFFIXES = {"jpeg": ".jpg", "png": ".png", "webp": ".webp"}


class Worker:
    """One engine for all photos that a worker gets."""

    def __init__(self, keeper: Any, plan: dict[str, Any]) -> None:
        secret, (earlier,) = ray.get(keeper.get.remote())
        self._earlier: dict[str, str] = ray.get(earlier)
        self._engine = Engine(Request.from_json(plan["request"]), model=plan["model"], **secret)
        self._fingerprint = fingerprint(self._engine)
        self._source, self._output = plan["source"], plan["output"]
        self._target, self._columns = plan["target"], plan["columns"]

    def __call__(self, batch: pa.Table) -> pa.Table:
        rows = [self._row(row) for row in batch.to_pylist()]
        return pa.Table.from_pylist(rows, schema=SCHEMA)

    def _row(self, row: dict[str, Any]) -> dict[str, Any]:
        done: dict[str, Any] = dict.fromkeys(SCHEMA.names)
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
            write(self._output, f"{self._target}/{RECEIPTS}/{output}.json", text)
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
