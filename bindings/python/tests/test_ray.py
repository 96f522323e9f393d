"""A cluster of one machine: damaged files are rows, a rerun treats what is missing or changed, bytes are the engine's."""

from __future__ import annotations

from pathlib import Path

import pytest

pytest.importorskip("ray", reason="needs facedp[ray]")

import pyarrow.parquet as parquet  # noqa: E402
import ray  # noqa: E402

import facedp  # noqa: E402
import facedp.ray  # noqa: E402
from conftest import KEY, PHOTOS  # noqa: E402

from facedp._cluster.sources import blocks  # noqa: E402

REQUEST = facedp.Request(method="rdp-optimal", epsilon=0.01, check="off", receipt=True)


@pytest.mark.parametrize(("photos", "workers"), [(1, 1), (2, 2), (9, 4), (200, 2), (2000, 2), (2000, 300), (300_000, 2)])
def test_blocks(photos: int, workers: int) -> None:
    """Every photo once; no worker without one; few blocks, and small ones at the end."""
    parts = list(blocks(list(range(photos)), workers))
    assert [photo for part in parts for photo in part] == list(range(photos))
    assert len(parts) >= min(photos, workers) and len(parts) < 5000
    assert len(parts[-1]) <= 4
    assert [len(part) for part in parts[:-1]] == sorted([len(part) for part in parts[:-1]], reverse=True)


def test_a_run_and_its_reruns(tmp_path: Path) -> None:
    source, out = tmp_path / "in", tmp_path / "out"
    (source / "sub").mkdir(parents=True)
    photos = [path.read_bytes() for path in sorted(PHOTOS.glob("*.jpg"))] * 4
    for number, photo in enumerate(photos):
        (source / f"{number}.jpg").write_bytes(photo)
    (source / "sub" / "bad.jpg").write_bytes(b"\xff\xd8\xff\xe0 damaged")
    ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False)
    try:
        def run() -> tuple[int, int, int]:
            done = facedp.ray.protect_dataset(source, out, REQUEST, key=KEY)
            return done.written, done.existing, done.failed

        assert run() == (len(photos), 0, 1)
        assert run() == (0, len(photos), 1)
        (source / "0.jpg").write_bytes(photos[1])
        (out / "3.jpg").unlink()
        assert run() == (2, len(photos) - 2, 1)
        dataset = ray.data.read_binary_files(str(source / "1.jpg"), include_paths=True)
        done = facedp.ray.protect_dataset(dataset, tmp_path / "other", REQUEST, key=KEY)
        assert (done.written, done.failed) == (1, 0)
    finally:
        ray.shutdown()
    rows = parquet.read_table(out / "_facedp" / "table").to_pylist()
    assert len(rows) == len(photos) + 1
    (bad,) = [row for row in rows if row["status"] == "failed"]
    assert bad["kind"] == "damaged" and bad["error"]
    engine = facedp.Engine(REQUEST, key=KEY)
    for number in range(len(photos)):
        expected = engine.protect(source / f"{number}.jpg").image
        assert (out / f"{number}.jpg").read_bytes() == expected
        assert (out / "_facedp" / "receipts" / f"{number}.jpg.json").exists()
    (other,) = [path for path in (tmp_path / "other").rglob("1.jpg")]
    assert other.read_bytes() == (out / "1.jpg").read_bytes()


def test_tables_and_foreign_file_systems(tmp_path: Path) -> None:
    """Parquet with bytes, on a file system of fsspec's; a rerun takes all over."""
    import fsspec
    import pyarrow as pa

    photo = (PHOTOS / "collins.jpg").read_bytes()
    names = [f"{number}.jpg" for number in range(3)]
    table = pa.table({"name": [*names, "bad.jpg"], "file": [photo, photo, photo, b"damaged"]})
    parquet.write_table(table, tmp_path / "photos.parquet")
    system = fsspec.filesystem("file")
    ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False)
    try:
        for written, existing in [(3, 0), (0, 3)]:
            done = facedp.ray.protect_dataset(
                str(tmp_path / "photos.parquet"), str(tmp_path / "out"), REQUEST, key=KEY, filesystem=system,
                name_column="name", bytes_column="file",
            )
            assert (done.written, done.existing, done.failed) == (written, existing, 1)
    finally:
        ray.shutdown()
    expected = facedp.Engine(REQUEST, key=KEY).protect(photo).image
    assert [(tmp_path / "out" / name).read_bytes() for name in names] == [expected] * 3
