#!/usr/bin/env python3
"""Sends requests to the API that its description allows, and many that it does not (schemathesis). Every answer
must be documented, and none may be a failure of the server.

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
# No description says which bytes are a photo: who waits for the result of others is told so (422). And schemathesis
# combines settings that `dependentSchemas` excludes. So requests that are described may be refused there; router.rs has
# a test of each refusal.
CONFIG = """
[[operations]]
include-name = "POST /protect"
checks.positive_data_acceptance.expected-statuses = ["2xx", 400, 422]
"""


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", default=ROOT / "target/release/facedp")
    parser.add_argument("--examples", default="25")
    parser.add_argument("--seed", default="1")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        # A fixed key, so that results are the same every time.
        key = pathlib.Path(folder) / "key"
        key.touch(mode=0o600)
        key.write_text(f"facedp-key-1:{'07' * 32}\n")
        command = [options.program, "serve", "--no-open", "--json", "--no-ledger", "--key", key]
        server = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        try:
            said = json.loads(server.stdout.readline())
            url, token = said["api"], said["token"]
            (pathlib.Path(folder) / "schemathesis.toml").write_text(CONFIG)
            schemathesis = pathlib.Path(sys.executable).with_name("schemathesis")
            # Without the check that wrong requests are refused: it counts a bad photo as a wrong request, and this API
            # does not. router.rs tests wrong settings.
            asked = subprocess.run([schemathesis, "run", f"{url}/openapi.json", "--url", url, "--no-color",
                                    "--header", f"Authorization: Bearer {token}",
                                    "--exclude-checks", "negative_data_rejection",
                                    "--request-timeout", "300",  # only for a hang: events last as long as the work
                                    "--max-examples", options.examples, "--seed", options.seed], cwd=folder)
            alive = server.poll() is None
        finally:
            server.send_signal(signal.SIGINT)
            ended = server.wait(timeout=300)  # only for a hang
    if not alive or ended != 0:
        sys.exit(f"the server ended with {ended}")
    sys.exit(asked.returncode)


if __name__ == "__main__":
    main()
