#!/usr/bin/env python3
"""Writes the first inputs of each target into fuzz/corpus, from the golden files of the tests.

    python3 fuzz/corpus.py
"""

import hashlib
import pathlib
import struct

ROOT = pathlib.Path(__file__).resolve().parent.parent
GOLDEN = ROOT / "crates/facedp-engine/tests/golden"


def add(target, data):
    folder = ROOT / "fuzz/corpus" / target
    folder.mkdir(parents=True, exist_ok=True)
    (folder / hashlib.sha1(data).hexdigest()).write_bytes(data)


def segments(file):
    """The segments of a JPEG before its first scan: marker and contents."""
    at = 2
    while file[at] == 0xFF and file[at + 1] != 0xDA:
        length = struct.unpack(">H", file[at + 2:at + 4])[0]
        yield file[at + 1], file[at + 4:at + 2 + length]
        at += 2 + length


def main():
    heads = [(0xE1, b"Exif\0\0"), (0xE1, b"http://ns.adobe.com/xap/1.0/\0"), (0xE2, b"ICC_PROFILE\0\x01\x01"),
             (0xED, b"Photoshop 3.0\0")]
    for path in sorted(path for path in GOLDEN.rglob("*") if path.is_file()):
        file = path.read_bytes()
        if path.suffix in (".jpg", ".png", ".webp", ".heic"):
            add("decode", file)
        if path.suffix == ".jpg":
            for marker, contents in segments(file):
                for number, (known, head) in enumerate(heads):
                    if marker == known and contents.startswith(head):
                        add("metadata", bytes([number]) + contents[len(head):])
        if path.suffix == ".json" and "receipt" in path.name:
            add("records", file)
    entry = ('{"schema":1,"photo":"' + "01" * 32 + '","epsilon":0.5,"claim":"eps-dp-features","faces":2,"noise":"n",'
             '"split":"s","when":7}\n')
    for text in [entry * 2, f"facedp-key-1:{'07' * 32}\n", '{"method": "steered", "strength": "medium"}',
                 '{"method": "certified", "epsilon": 1, "boxes": [[1, 2, 3, 4]]}']:
        add("records", text.encode())
    for name in ["eigenfaces", "prior"]:
        # Its head, and a whole file that is small enough to be changed often.
        add("models", (ROOT / f"assets/models/{name}.safetensors").read_bytes()[:20_000])
    part = '--b\r\nContent-Disposition: form-data; name="{}"; filename="a.jpg"\r\n\r\n{}\r\n'
    forms = [part.format("photo", "no picture"), part.format("original", "a") + part.format("released", "b"),
             part.format("settings", '{"method": "steered"}').replace('; filename="a.jpg"', "") + part.format("photo", "c")]
    for number, form in enumerate(forms):
        add("multipart", bytes([number]) + form.encode() + b"--b--\r\n")


if __name__ == "__main__":
    main()
