"""What the READMEs and the docs show, as a new user would paste it."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import warnings
from pathlib import Path

import pytest
from conftest import PHOTOS, ROOT

# A namespace of its own without any network; where the system forbids it, the lines run with one, and pytest says so.
OFFLINE = ["unshare", "--map-root-user", "--net"]


def offline() -> list[str]:
    if shutil.which("unshare") is None or subprocess.run([*OFFLINE, "true"], check=False).returncode != 0:
        warnings.warn("no network namespaces here: the lines run with a network", stacklevel=2)
        return []
    code = "import socket; assert [name for _, name in socket.if_nameindex()] == ['lo']"
    subprocess.run([*OFFLINE, sys.executable, "-c", code], check=True)
    return OFFLINE


def snippet(document: Path) -> str:
    """The document's first block of Python."""
    found = re.search(r"```python\n(.*?)```", document.read_text(), re.DOTALL)
    assert found is not None
    return found[1]


@pytest.mark.parametrize("document", [ROOT / "README.md", ROOT / "bindings/python/README.md"])
def test_five_lines_without_a_network(tmp_path: Path, document: Path) -> None:
    code = snippet(document)
    assert len([line for line in code.splitlines() if line and "print(" not in line]) <= 5
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    (tmp_path / "me.jpg").write_bytes((PHOTOS / "collins.jpg").read_bytes())
    # No screen: what `show` would open is written.
    shown = "import PIL.Image\nPIL.Image.Image.show = lambda image: image.save('shown.png')\n"
    done = subprocess.run([*offline(), sys.executable, "-c", shown + code], cwd=tmp_path, capture_output=True, text=True,
                          check=False)
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "shown.png").stat().st_size > 100_000
    (written,) = [path for path in tmp_path.glob("*.jpg") if path.name != "me.jpg"]
    assert written.read_bytes() != (PHOTOS / "collins.jpg").read_bytes()
