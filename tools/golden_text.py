"""How golden files are written."""

import json

import numpy as np


def text(value, pad=""):
    """JSON with a line for each row of numbers."""
    inner = pad + " "
    if isinstance(value, np.ndarray):
        value = value.tolist()
    if isinstance(value, dict) and value:
        lines = [f"{inner}{json.dumps(key)}: {text(v, inner)}" for key, v in value.items()]
        return "{\n" + ",\n".join(lines) + f"\n{pad}}}"
    if isinstance(value, list) and any(isinstance(v, (list, dict)) for v in value):
        return "[\n" + ",\n".join(inner + text(v, inner) for v in value) + f"\n{pad}]"
    return json.dumps(value, separators=(",", ":"), allow_nan=False)
