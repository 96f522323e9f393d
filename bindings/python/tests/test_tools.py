"""The other functions, against the program."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

import facedp
from conftest import PHOTOS, ROOT, program

COLLINS, HOPPER = PHOTOS / "collins.jpg", PHOTOS / "hopper.jpg"


def test_detect_finds_what_inspect_does() -> None:
    seen = json.loads(program("inspect", COLLINS, "--json"))
    (ours,), (theirs,) = facedp.detect(COLLINS), seen["faces"]
    # Single precision, which the program prints with more digits.
    for name in ("box", "landmarks", "score"):
        assert (np.float32(ours.report[name]) == np.float32(theirs[name])).all()
    with Image.open(COLLINS) as picture:
        assert len(facedp.detect(np.asarray(picture))) == 1
        assert len(facedp.detect(picture)) == 1


def test_check_says_what_the_program_says(tmp_path: Path) -> None:
    result = facedp.protect(COLLINS, seed=1, method="rdp-optimal", epsilon=0.01)
    result.save(tmp_path / "out.jpg")
    found = facedp.check(COLLINS, tmp_path / "out.jpg")
    assert found.report == json.loads(program("check", COLLINS, tmp_path / "out.jpg", "--json"))
    assert found.matches and found.psnr is not None and found.psnr > 20
    arrays = [np.asarray(Image.open(path)) for path in (COLLINS, tmp_path / "out.jpg")]
    assert facedp.check(*arrays).psnr == pytest.approx(found.psnr, abs=0.1)
    with pytest.raises(facedp.Error):
        facedp.check(arrays[0], arrays[0][:-1])


def test_plan_says_what_the_program_says() -> None:
    for method in ("rdp-lmgd", "certified"):
        ours = facedp.plan(method=method, epsilon=0.5, features=16)
        theirs = json.loads(program("plan", "--method", method, "--epsilon", "0.5", "--features", "16", "--json"))
        assert {**ours, "seconds": 0} == {**theirs, "seconds": 0}
    with pytest.raises(facedp.RequestError) as caught:
        facedp.plan(method="steered")
    assert caught.value.kind == "no-plan"


def test_audit_says_what_the_program_says() -> None:
    options = ["--method", "rdp-optimal", "--features", "4", "--runs", "400", "--seed", "3"]
    theirs = json.loads(program("audit", *options, "--json"))
    assert facedp.audit(method="rdp-optimal", features=4, runs=400, seed=3) == theirs
    with pytest.raises(facedp.RequestError, match="1 runs"):
        facedp.audit(runs=1)


def test_recognisers() -> None:
    assert facedp.Recogniser.names() == ["dlib", "sface", "intel", "mobilefacenet", "facexzoo"]
    for name in facedp.Recogniser.names():
        recogniser = facedp.Recogniser(name)
        (one,), (other,) = recogniser.embed(COLLINS), recogniser.embed(HOPPER)
        assert one.dtype == np.float32 and one.shape == other.shape
        assert recogniser.distance(one, one) < 1e-3
        assert not recogniser.matches(one, other)
    with pytest.raises(facedp.RequestError, match="dlib, sface"):
        facedp.Recogniser("eigenface")


def test_recogniser_from_a_file() -> None:
    models = sorted((ROOT / "crates/facedp-onnx/tests").rglob("*.onnx"))
    with_rule = [model for model in models if model.with_suffix(".toml").exists()]
    for model in with_rule[:1]:
        (embedding,) = facedp.Recogniser(model).embed(COLLINS)
        assert np.isfinite(embedding).all()
    with pytest.raises(facedp.RequestError, match="missing"):
        facedp.Recogniser("missing.onnx")


def test_the_program() -> None:
    assert program("--version").strip() == f"facedp {facedp.__version__}"
    program("protect", "x", "-o", "y", "--method", "blur", code=2)
    program("inspect", "missing.jpg", code=1)
