#!/usr/bin/env python3
"""Asks the interface everything that its description allows and much that it does not (schemathesis): no
answer may be undocumented, none a failure of the server.

    python crates/facedp-web/tests/conformance.py [--program target/release/facedp] [--examples 25] [--seed 1]
"""

import argparse
import json
import pathlib
import signal
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[3]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", default=ROOT / "target/release/facedp")
    parser.add_argument("--examples", default="25")
    parser.add_argument("--seed", default="1")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        key = pathlib.Path(folder) / "key"
        subprocess.run([options.program, "key", "new", key], check=True, stdout=subprocess.DEVNULL)
        command = [options.program, "serve", "--no-open", "--json", "--no-ledger", "--key", key]
        server = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        try:
            url = json.loads(server.stdout.readline())["url"] + "api/v1"
            schemathesis = pathlib.Path(sys.executable).with_name("schemathesis")
            # Not that wrong requests are refused: it takes any bytes but its own for a wrong file, whereas here a bad
            # photo is no bad request. Wrong settings are in router.rs.
            asked = subprocess.run([schemathesis, "run", f"{url}/openapi.json", "--url", url, "--no-color",
                                    "--exclude-checks", "negative_data_rejection",
                                    "--max-examples", options.examples, "--seed", options.seed], cwd=folder)
            alive = server.poll() is None
        finally:
            server.send_signal(signal.SIGINT)
            ended = server.wait(timeout=30)
    if not alive or ended != 0:
        sys.exit(f"the server ended with {ended}")
    sys.exit(asked.returncode)


if __name__ == "__main__":
    main()
