"""An object store as source and target, with settings of the user's own: a server on this machine that speaks S3."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

pytest.importorskip("ray", reason="needs facedp[ray]")
s3fs = pytest.importorskip("s3fs", reason="needs s3fs")
server = pytest.importorskip("moto.server", reason="needs moto[server]")

import pyarrow as pa  # noqa: E402
import pyarrow.parquet as parquet  # noqa: E402
import ray  # noqa: E402

import facedp  # noqa: E402
import facedp.ray  # noqa: E402
from conftest import KEY, PHOTOS  # noqa: E402

REQUEST = facedp.Request(method="rdp-optimal", epsilon=0.01, check="off", receipt=True)


@pytest.fixture(scope="module")
def bucket(tmp_path_factory: pytest.TempPathFactory) -> Iterator[s3fs.S3FileSystem]:
    """A store with a bucket, and a cluster."""
    store = server.ThreadedMotoServer("127.0.0.1", port=0)
    store.start()
    host, port = store.get_host_and_port()
    # Not in the environment: workers know the store from what the driver gives them only.
    system = s3fs.S3FileSystem(key="own", secret="own", client_kwargs={"endpoint_url": f"http://{host}:{port}"})
    system.mkdir("bucket")
    for number, path in enumerate([*sorted(PHOTOS.glob("*.jpg"))] * 2):
        system.put_file(str(path), f"bucket/in/folder {number % 2}/{number}.jpg")
    system.pipe_file("bucket/in/bad.jpg", b"\xff\xd8\xff\xe0 damaged")
    ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False)
    yield system
    ray.shutdown()
    store.stop()


def run(system: s3fs.S3FileSystem, source: str, target: str, **options: str) -> tuple[int, int, int]:
    done = facedp.ray.protect_dataset(source, target, REQUEST, key=KEY, filesystem=system, **options)
    return done.written, done.existing, done.failed


def test_a_folder_to_a_folder(bucket: s3fs.S3FileSystem, tmp_path: Path) -> None:
    photos = [name for name in bucket.find("bucket/in") if not name.endswith("bad.jpg")]
    assert run(bucket, "bucket/in", "bucket/out") == (len(photos), 0, 1)
    assert run(bucket, "bucket/in", "bucket/out") == (0, len(photos), 1)
    bucket.rm_file("bucket/out/folder 0/0.jpg")
    assert run(bucket, "bucket/in", "bucket/out") == (1, len(photos) - 1, 1)
    engine = facedp.Engine(REQUEST, key=KEY)
    for name in photos:
        expected = engine.protect(bucket.cat_file(name)).image
        assert bucket.cat_file(name.replace("/in/", "/out/")) == expected
        assert bucket.exists(name.replace("/in/", "/out/_facedp/receipts/") + ".json")
    (part,) = bucket.glob("bucket/out/_facedp/table/*.parquet")
    with bucket.open(part) as file:
        rows = parquet.read_table(file).to_pylist()
    assert len(rows) == len(photos) + 1
    assert [row["kind"] for row in rows if row["status"] == "failed"] == ["damaged"]
    written = set(bucket.find("bucket/out"))
    assert len(written) == 2 * len(photos) + 1, "photos, receipts, one table, and nothing left over"
    assert not any(KEY.hex().encode() in bucket.cat_file(name) for name in written)


def test_parquet_to_a_folder(bucket: s3fs.S3FileSystem) -> None:
    photo = (PHOTOS / "collins.jpg").read_bytes()
    with bucket.open("bucket/photos.parquet", "wb") as file:
        parquet.write_table(pa.table({"path": ["a.jpg", "b/c.jpg"], "bytes": [photo, photo]}), file)
    assert run(bucket, "bucket/photos.parquet", "bucket/tables") == (2, 0, 0)
    expected = facedp.Engine(REQUEST, key=KEY).protect(photo).image
    assert [bucket.cat_file(f"bucket/tables/{name}") for name in ("a.jpg", "b/c.jpg")] == [expected] * 2
