#!/usr/bin/env python3
"""Runs the notebook for Python users from top to bottom. Needs facedp and what bindings/python/requirements-test.txt names.

    python tools/notebook.py            # a cell that fails is a failure; so is a notebook that was saved half-run
    python tools/notebook.py --write    # keeps the outputs, too
"""

import pathlib
import sys

import nbformat
from nbclient import NotebookClient

NOTEBOOK = pathlib.Path(__file__).resolve().parent.parent / "docs" / "python.ipynb"
MAX_BYTES = 500_000


def saved(notebook):
    """Whether every cell of code was run, in order, without an error."""
    cells = [cell for cell in notebook.cells if cell.cell_type == "code"]
    counts = [cell.execution_count for cell in cells]
    errors = [output for cell in cells for output in cell.outputs if output.output_type == "error"]
    return counts == list(range(1, len(cells) + 1)) and not errors


def main():
    notebook = nbformat.read(NOTEBOOK, as_version=4)
    whole = saved(notebook)
    NotebookClient(notebook, timeout=300, kernel_name="python3",
                   resources={"metadata": {"path": NOTEBOOK.parent}}).execute()
    for cell in notebook.cells:
        cell.metadata.clear()   # when each cell ran
        for output in cell.get("outputs", []):
            if "image/jpeg" in output.get("data", {}):
                output.data.pop("image/png", None)   # Pillow gives both; one is enough
    if "--write" in sys.argv[1:]:
        nbformat.write(notebook, NOTEBOOK)
    elif not whole:
        sys.exit(f"{NOTEBOOK.name}: its outputs are not those of one whole run: tools/notebook.py --write makes them")
    size = NOTEBOOK.stat().st_size
    print(f"{NOTEBOOK.name}: {len(notebook.cells)} cells, {size:,} bytes")
    if size > MAX_BYTES:
        sys.exit(f"{NOTEBOOK.name}: over {MAX_BYTES:,} bytes")


if __name__ == "__main__":
    main()
