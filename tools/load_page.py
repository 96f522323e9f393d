#!/usr/bin/env python3
"""Load-tests the page's server, and writes docs/measurements/page.md. Linux; takes about two minutes.

    python tools/load_page.py [--program target/release/facedp]
"""

import argparse
import collections
import concurrent.futures
import http.client
import io
import json
import pathlib
import signal
import socket
import subprocess
import tempfile
import time
import zlib

from PIL import Image

from compare_photos import machine

ROOT = pathlib.Path(__file__).resolve().parent.parent
PHOTO = (ROOT / "examples/photos/hopper.jpg").read_bytes()
BOUNDARY = "no-photo-holds-this"
KIND = {"Content-Type": f"multipart/form-data; boundary={BOUNDARY}"}


def form(photo, settings=None):
    parts = [("settings", "", settings.encode())] if settings else []
    parts.append(("photo", '; filename="photo.jpg"', photo))
    head = b"".join(b"--%s\r\nContent-Disposition: form-data; name=\"%s\"%s\r\n\r\n%s\r\n"
                    % (BOUNDARY.encode(), name.encode(), more.encode(), value) for name, more, value in parts)
    return head + f"--{BOUNDARY}--\r\n".encode()


def bomb(width, height):
    """A PNG of zeros: a small file, large once unpacked."""
    def chunk(kind, data):
        return len(data).to_bytes(4, "big") + kind + data + zlib.crc32(kind + data).to_bytes(4, "big")
    deflate = zlib.compressobj(9)
    rows = b"".join(deflate.compress(bytes(width * 3 + 1)) for _ in range(height)) + deflate.flush()
    head = width.to_bytes(4, "big") + height.to_bytes(4, "big") + bytes([8, 2, 0, 0, 0])
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", rows) + chunk(b"IEND", b"")


class Server:
    def __init__(self, program, folder):
        # A fixed key, so that results are the same every time.
        key = pathlib.Path(folder) / "key"
        key.touch(mode=0o600)
        key.write_text(f"facedp-key-1:{'07' * 32}\n")
        command = [program, "serve", "--no-open", "--json", "--no-ledger", "--key", key]
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        said = json.loads(self.process.stdout.readline())
        self.port, self.token = int(said["api"].split(":")[-1].split("/")[0]), said["token"]

    def memory(self, field):
        status = pathlib.Path(f"/proc/{self.process.pid}/status").read_text()
        return int(status.split(f"{field}:")[1].split()[0]) / 1e3

    def forget_peak(self):
        pathlib.Path(f"/proc/{self.process.pid}/clear_refs").write_text("5")

    def ask(self, method, path, body=None, headers=None, timeout=300):
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=timeout)
        try:
            headers = {"Authorization": f"Bearer {self.token}", **(headers or {})}
            connection.request(method, f"/api/v1{path}", body, headers)
            answer = connection.getresponse()
            return answer.status, answer.read()
        finally:
            connection.close()

    def said(self, method, path, body=None, headers=None):
        """The status with the photo's state or the error code; or the name of the connection error."""
        try:
            status, text = self.ask(method, path, body, headers)
            answer = json.loads(text or b"{}")
            return f"{status} {answer.get('state') or answer.get('error', {}).get('code') or ''}".strip()
        except (ConnectionError, http.client.HTTPException) as error:
            return type(error).__name__

    def whole(self, settings):
        """Does what the page does: retries while the server is busy, waits, fetches, deletes."""
        while True:
            status, text = self.ask("POST", "/protect", form(PHOTO, settings), KIND)
            if status != 429:
                break
            time.sleep(1)
        place = f"/protect/{json.loads(text)['id']}"
        # Streams are few and end after a while: ask for the status where there is none.
        while json.loads(self.ask("GET", place)[1])["state"] in ("waiting", "working"):
            if self.ask("GET", f"{place}/events")[0] == 429:
                time.sleep(1)
        status, photo = self.ask("GET", f"{place}/photo")
        self.ask("DELETE", place)
        kind = "a photo" if photo.startswith(PHOTO[:2]) else "no photo"
        return f"{status} with {kind}"

    def begun_and_stopped(self, settings):
        status, text = self.ask("POST", "/protect", form(PHOTO, settings), KIND)
        if status != 202:
            return f"{status}"
        time.sleep(2)
        place = f"/protect/{json.loads(text)['id']}"
        return f"202, stopped after 2 s with {self.ask('DELETE', place)[0]}"


def many(count, task):
    with concurrent.futures.ThreadPoolExecutor(count) as pool:
        return collections.Counter(pool.map(task, range(count)))


def partial(server, count, seconds):
    """Opens slow clients that send a byte now and then; returns the max time of an answer to others."""
    sockets = []
    for _ in range(count):
        client = socket.create_connection(("127.0.0.1", server.port))
        client.sendall(f"POST /api/v1/detect HTTP/1.1\r\nHost: 127.0.0.1:{server.port}\r\nContent-Type: {KIND['Content-Type']}\r\n"
                       f"Authorization: Bearer {server.token}\r\n"
                       f"Content-Length: 50000000\r\n\r\n".encode() + form(PHOTO)[:500])
        sockets.append(client)
    worst, end = 0, time.monotonic() + seconds
    while time.monotonic() < end:
        for client in sockets:
            try:
                client.sendall(b"x")
            except OSError:
                pass
        start = time.monotonic()
        server.ask("GET", "/methods")
        worst = max(worst, time.monotonic() - start)
        time.sleep(0.5)
    for client in sockets:
        client.close()
    return worst


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", default=ROOT / "target/release/facedp")
    options = parser.parse_args()
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        server = Server(options.program, folder)
        server.ask("POST", "/detect", form(PHOTO), KIND)
        rest = server.memory("VmRSS")

        def measure(name, task):
            server.forget_peak()
            start = time.monotonic()
            said = task()
            seconds, peak = time.monotonic() - start, server.memory("VmHWM")
            start = time.monotonic()
            assert server.ask("GET", "/methods")[0] == 200
            after = time.monotonic() - start
            words = ", ".join(f"{n} x {what}" for what, n in sorted(said.items())) if isinstance(said, dict) else said
            rows.append([name, words, f"{seconds:.1f}", f"{peak:.0f}", f"{server.memory('VmRSS'):.0f}", f"{1e3 * after:.0f}"])
            print(" | ".join(rows[-1]), flush=True)

        noise, steered = '{"method":"rdp-optimal"}', "{}"
        large = io.BytesIO()
        Image.effect_noise((6000, 5000), 60).convert("RGB").save(large, "JPEG", quality=90)
        within, beyond = bomb(8000, 8000), bomb(30000, 30000)
        half = bytes(70_000_000)
        measure("200 requests at once: detect", lambda: many(200, lambda _: server.said("POST", "/detect", form(PHOTO), KIND)))
        measure("200 at once: protect (rdp-optimal), until done", lambda: many(200, lambda _: server.whole(noise)))
        measure("200 at once: protect (steered), 64 accepted", lambda: many(200, lambda _: server.begun_and_stopped(steered)))
        # The largest plans, no two of them alike.
        distinct = lambda n: f'{{"method":"rdp","ranking":"amplitude","faces":[1],"boxes":[[{n},0,50,50]]}}'
        measure("200 at once: protect (rdp by amplitude), all with different settings", lambda: many(200, lambda n: server.begun_and_stopped(distinct(n))))
        measure(f"30 photos of 30 megapixels ({len(large.getvalue()) / 1e6:.0f} MB) at once: detect",
                lambda: many(30, lambda _: server.said("POST", "/detect", form(large.getvalue()), KIND)))
        measure("200 requests of random bytes", lambda: many(200, lambda n: server.said("POST", "/detect", form(bytes([n]) * 5000), KIND)))
        measure("200 requests of the wrong type", lambda: many(200, lambda _: server.said("POST", "/detect", b"{}", {"Content-Type": "application/json"})))
        measure("a photo of 70 MB", lambda: server.said("POST", "/detect", form(half), KIND))
        measure("a body of 1 GB, with its length", lambda: server.said("POST", "/detect", (bytes(1 << 20) for _ in range(1000)), {**KIND, "Content-Length": str(1000 << 20)}))
        measure("a body of 1 GB, in chunks", lambda: server.said(
            "POST", "/detect", (part for part in [form(PHOTO).split(PHOTO)[0], *[bytes(1 << 20)] * 1000]), KIND))
        endless = [f'--{BOUNDARY}\r\nContent-Disposition: form-data; name="photo'.encode(), *[b"x" * (1 << 16)] * 1000]
        measure("50 forms whose first field never begins, 64 MB each", lambda: many(
            50, lambda _: server.said("POST", "/detect", (part for part in endless), KIND)))
        boxes = ",".join(f"[{100 + 120 * (n % 60)},{100 + 120 * (n // 60)},90,90]" for n in range(60))
        large_job = json.loads(server.ask("POST", "/protect", form(within, f'{{"faces":[],"boxes":[{boxes}]}}'), KIND)[1])["id"]
        time.sleep(5)
        measure("detect while 60 faces of a 64-megapixel photo are steered", lambda: server.said("POST", "/detect", form(PHOTO), KIND))
        server.ask("DELETE", f"/protect/{large_job}")
        measure(f"a PNG of {len(beyond) / 1e6:.1f} MB with 900 megapixels", lambda: server.said("POST", "/detect", form(beyond), KIND))
        measure("8 PNGs of 0.2 MB with 64 megapixels at once: detect", lambda: many(8, lambda _: server.said("POST", "/detect", form(within), KIND)))
        measure("200 slow clients for 20 s (max time of an answer to others)", lambda: f"{1e3 * partial(server, 200, 20):.0f} ms")
        alive = server.process.poll() is None
        server.process.send_signal(signal.SIGINT)
        ended = server.process.wait(timeout=30)
    assert alive and ended == 0
    header = ["requests", "answers", "seconds", "peak MB", "MB afterwards", "ms to the next answer"]
    table = "\n".join("| " + " | ".join(row) + " |" for row in [header, ["---"] * len(header), *rows])
    target = ROOT / "docs/measurements/page.md"
    # The page's own figures come from its tests.
    _, _, page = target.read_text().partition("## The page itself")
    target.write_text(f"""# The page's server under load

The rows ran one after the other against one server. `429` means "try again in a moment", which the page does by itself. Memory
is resident: {rest:.0f} MB after the first photo (networks and their working memory); *afterwards* includes what the allocator keeps for
the next request.

`tools/load_page.py`; {machine()}

{table}

## The page itself{page}""")


if __name__ == "__main__":
    main()
