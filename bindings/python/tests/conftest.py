"""A key, photos, and the program to compare with: that of the same wheel."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
PHOTOS = ROOT / "examples" / "photos"
KEY = bytes([7] * 32)


@pytest.fixture(autouse=True, scope="session")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A configuration folder with a key: nobody's own is used."""
    folder = tmp_path_factory.mktemp("config")
    (folder / "facedp").mkdir()
    key = folder / "facedp" / "key"
    key.write_text(f"facedp-key-1:{KEY.hex()}\n")
    key.chmod(0o600)
    os.environ["XDG_CONFIG_HOME"] = str(folder)
    os.chdir(ROOT)  # the examples in docstrings name files from here
    return folder


def program(*args: str | Path, code: int = 0) -> str:
    """Runs the program; returns what it prints."""
    command = [sys.executable, "-m", "facedp", *map(str, args)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == code, done.stderr
    return done.stdout
