"""Change the faces in photos before they are published, so that recognisers no longer match them.

>>> import facedp
>>> result = facedp.protect("examples/photos/collins.jpg", strength="medium", seed=1, steer_by=["dlib"])
>>> result.save("/tmp/collins.jpg")

Nothing is downloaded and nothing leaves the machine. `Engine` is for many photos; `facedp.ray` for a cluster;
`python -m facedp` is the program.
"""

from . import _native
from ._engine import Engine, Recogniser, audit, check, detect, plan, protect
from ._errors import Error, FileError, KeyFileError, NoFaceError, PhotoError, RequestError
from ._images import side_by_side
from ._request import Request
from ._results import Check, Face, Faces, Result

__version__ = _native.VERSION
__all__ = [
    "Check",
    "Engine",
    "Error",
    "Face",
    "Faces",
    "FileError",
    "KeyFileError",
    "NoFaceError",
    "PhotoError",
    "Recogniser",
    "Request",
    "RequestError",
    "Result",
    "audit",
    "check",
    "detect",
    "plan",
    "protect",
    "side_by_side",
]

for _error in (Error, FileError, KeyFileError, NoFaceError, PhotoError, RequestError):
    _error.__module__ = "facedp"
del _error
