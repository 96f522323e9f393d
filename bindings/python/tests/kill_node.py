"""A Ray cluster of two nodes on this machine, one core each; one is killed in mid-run.

    python bindings/python/tests/kill_node.py LFW 200

Prints whether every photo has one row, one file, and the bytes of a single engine.
"""

from __future__ import annotations

import sys
import tempfile
import threading
import time
from pathlib import Path

import pyarrow.parquet as parquet
import ray
from ray.cluster_utils import Cluster

import facedp
import facedp.ray

KEY = bytes([7] * 32)
REQUEST = facedp.Request(method="rdp-optimal", epsilon=0.01, check="off", measure=False)


def main(data: Path, count: int) -> None:
    photos = sorted(data.rglob("*.jpg"))[:count]
    cluster = Cluster(initialize_head=True, head_node_args={"num_cpus": 1})
    victim = cluster.add_node(num_cpus=1)
    ray.init(address=cluster.address, log_to_driver=False)
    killed: list[int] = []
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "out"

        def kill() -> None:
            while len(list(out.glob("*.jpg"))) < count // 4:
                time.sleep(0.05)
            cluster.remove_node(victim, allow_graceful=False)
            killed.append(len(list(out.glob("*.jpg"))))

        thread = threading.Thread(target=kill, daemon=True)
        thread.start()
        done = facedp.ray.protect_dataset(photos, out, REQUEST, key=KEY, workers=2, batch_size=4)
        rows = parquet.read_table(out / "_facedp" / "table").to_pylist()
        engine = facedp.Engine(REQUEST, key=KEY)
        same = failed = 0
        for path in photos:
            try:
                same += (out / path.name).read_bytes() == engine.protect(path).image
            except facedp.Error:
                failed += not (out / path.name).exists()
        names = {row["name"] for row in rows}
        print(f"killed a node after {killed} of {count} photos; {done}")
        print(f"rows {len(rows)}, names {len(names)}, files {len(list(out.glob('*.jpg')))}")
        print(f"same bytes {same}, failed here too {failed}")
        print(f"left over {[str(p) for p in out.rglob('.*')]}")


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]))
