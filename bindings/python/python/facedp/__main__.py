"""The program: `python -m facedp protect photos/ -o out/`."""

import signal
import sys

from . import _native


def main() -> int:
    """Runs the program with this process's command line."""
    # The program has its own way with Ctrl-C: it finishes the photos in work.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    return _native.main(["facedp", *sys.argv[1:]])


if __name__ == "__main__":
    sys.exit(main())
