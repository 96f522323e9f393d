#!/usr/bin/env python3
"""Writes the first inputs of each target into fuzz/corpus, from the golden files of the tests and fuzz/seeds.

    python3 fuzz/corpus.py
"""

import hashlib
import json
import pathlib
import shutil
import struct
from zlib import compress, crc32

ROOT = pathlib.Path(__file__).resolve().parent.parent
GOLDEN = ROOT / "crates/facedp-engine/tests/golden"
HEADS = [(0xE1, b"Exif\0\0"), (0xE1, b"http://ns.adobe.com/xap/1.0/\0"), (0xE2, b"ICC_PROFILE\0\x01\x01"),
         (0xED, b"Photoshop 3.0\0")]
EXIF, XMP, ICC, IPTC = range(4)


def add(target, *parts):
    data = b"".join(parts)
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


def golden():
    for path in sorted(path for path in GOLDEN.rglob("*") if path.is_file()):
        file = path.read_bytes()
        if path.suffix in (".jpg", ".png", ".webp", ".heic"):
            add("decode", file)
        if path.suffix == ".jpg":
            for marker, contents in segments(file):
                for number, (known, head) in enumerate(HEADS):
                    if marker == known and contents.startswith(head):
                        add("metadata", bytes([number]), contents[len(head):])
        if path.suffix == ".json" and "receipt" in path.name:
            add("records", file)


def small_pictures():
    """A few pixels each: changed bytes then meet structure more often than samples."""
    for path in sorted((ROOT / "fuzz/seeds").iterdir()):
        if path.is_file():
            add("decode", path.read_bytes())

    def chunk(name, data):
        return struct.pack(">I", len(data)) + name + data + struct.pack(">I", crc32(name + data))

    kinds = [(0, 1, 1), (0, 16, 2), (2, 8, 3), (3, 2, 1), (4, 8, 2), (6, 16, 8)]
    for colour, depth, size in kinds:
        for interlaced in (0, 1):
            rows = b"".join(b"\0" + bytes(8 * size) for _ in range(24))
            add("decode", b"\x89PNG\r\n\x1a\n", chunk(b"IHDR", struct.pack(">IIBBBBB", 8, 8, depth, colour, 0, 0, interlaced)),
                chunk(b"PLTE", bytes(range(12))) if colour == 3 else b"", chunk(b"tRNS", bytes(2)) if colour in (0, 3) else b"",
                chunk(b"eXIf", exif([(0x0112, 3, b"\6\0")])), chunk(b"iCCP", b"p\0\0" + compress(profile(b"GRAY" if colour in (0, 4) else b"RGB "))),
                chunk(b"iTXt", b"XML:com.adobe.xmp\0\0\0\0\0" + packet("<dc:source>here</dc:source>")),
                chunk(b"IDAT", compress(rows)), chunk(b"IEND", b""))


def exif(entries, sub=(), gps=(), little=True):
    """A TIFF structure: a directory, the one below it, and that of the position."""
    order = "<" if little else ">"

    def directory(at, entries):
        values_at, rows, values = at + 2 + 12 * len(entries) + 4, b"", b""
        for tag, kind, value in sorted(entries):
            count = len(value) // {1: 1, 2: 1, 3: 2, 4: 4, 5: 8, 7: 1, 10: 8}[kind]
            where = value.ljust(4, b"\0") if len(value) <= 4 else struct.pack(order + "I", values_at + len(values))
            values += value + bytes(len(value) % 2) if len(value) > 4 else b""
            rows += struct.pack(order + "HHI", tag, kind, count) + where
        return struct.pack(order + "H", len(entries)) + rows + bytes(4) + values

    def main(sub_at, gps_at):
        pointers = [(0x8769, 4, struct.pack(order + "I", sub_at))] if sub else []
        pointers += [(0x8825, 4, struct.pack(order + "I", gps_at))] if gps else []
        return directory(8, list(entries) + pointers)

    sub_at = 8 + len(main(0, 0))
    below = directory(sub_at, sub) if sub else b""
    position = directory(sub_at + len(below), gps) if gps else b""
    return (b"II*\0" if little else b"MM\0*") + struct.pack(order + "I", 8) + main(sub_at, sub_at + len(below)) + below + position


def packet(inner):
    return (f"<x:xmpmeta xmlns:x='adobe:ns:meta/'><rdf:RDF xmlns:rdf='http://www.w3.org/1999/02/22-rdf-syntax-ns#'>"
            f"<rdf:Description rdf:about='' xmlns:dc='http://purl.org/dc/elements/1.1/' xmlns:xmp='http://ns.adobe.com/xap/1.0/' "
            f"xmp:Rating='3'>{inner}</rdf:Description></rdf:RDF></x:xmpmeta>").encode()


def profile(space, curve=b"para\0\0\0\0\0\0\0\0\0\2\x33\x33", version=4, more=()):
    """A colour profile with one curve for all channels."""
    xyz = b"XYZ \0\0\0\0" + struct.pack(">3i", 1 << 15, 1 << 14, 1 << 12)
    wide = "grey".encode("utf-16-be")
    text = b"mluc\0\0\0\0" + struct.pack(">II4sII", 1, 12, b"enUS", len(wide), 28) + wide
    tags = [(b"desc", text), (b"cprt", b"text\0\0\0\0none\0"), (b"wtpt", xyz)]
    colour = [(name + b"XYZ", xyz) for name in (b"r", b"g", b"b")] + [(name + b"TRC", curve) for name in (b"r", b"g", b"b")]
    tags += colour if space == b"RGB " else [(b"kTRC", curve)]
    tags += more
    table, body = b"", b""
    for name, data in tags:
        table += struct.pack(">4sII", name, 132 + 12 * len(tags) + len(body), len(data))
        body += data + bytes(-len(data) % 4)
    head = bytes([0, 0, 0, 0, version, 0x20, 0, 0]) + b"mntr" + space + b"XYZ " + bytes(12) + b"acsp" + bytes(28)
    head += struct.pack(">3i", 0xF6D6, 0x10000, 0xD32D) + bytes(48)
    whole = head + struct.pack(">I", len(tags)) + table + body
    return struct.pack(">I", len(whole) + 4) + whole


def metadata():
    number = struct.pack("<2I", 1, 60)
    for little in (True, False):
        block = exif([(0x010F, 2, b"Maker\0"), (0x0112, 3, b"\1\0"), (0x8298, 2, b"me\0")],
                     [(0x829A, 5, number), (0x9003, 2, b"2026:01:01 00:00:00\0"), (0x927C, 7, b"notes")],
                     [(1, 2, b"N\0"), (2, 5, 3 * number)], little)
        add("metadata", bytes([EXIF]), block)
    alternatives = "<dc:title><rdf:Alt><rdf:li xml:lang='de'>a &amp; b</rdf:li></rdf:Alt></dc:title>"
    keywords = "<dc:subject><rdf:Bag><rdf:li>one</rdf:li><rdf:li>two</rdf:li></rdf:Bag></dc:subject>"
    add("metadata", bytes([XMP]), packet(alternatives + keywords + "<u:x xmlns:u='urn:u'>y</u:x>"))
    curves = [b"para\0\0\0\0\0\3\0\0" + struct.pack(">5i", 1 << 16, 1 << 16, 0, 1 << 12, 1 << 10),
              b"curv\0\0\0\0\0\0\0\0", b"curv\0\0\0\0\0\0\0\1\2\0", b"curv\0\0\0\0\0\0\0\4\0\0\x40\0\x80\0\xff\xff"]
    table = (b"mft1\0\0\0\0\3\3\2\0" + struct.pack(">9i", 1 << 16, 0, 0, 0, 1 << 16, 0, 0, 0, 1 << 16)
             + bytes(range(256)) * 3 + bytes(24) + bytes(range(256)) * 3)
    for space, number in ((b"RGB ", ICC), (b"GRAY", ICC | 4)):
        for curve in curves:
            for version in (2, 4):
                add("metadata", bytes([number]), profile(space, curve, version))
        add("metadata", bytes([number]), profile(space, more=[(b"A2B0", table), (b"chad", b"sf32\0\0\0\0" + bytes(36)),
                                                             (b"cicp", b"cicp\0\0\0\0\1\x0d\0\1")]))
    iptc = b"".join(struct.pack(">3BH", 0x1C, 2, kind, 4) + b"text" for kind in (5, 80, 120))
    add("metadata", bytes([IPTC]), b"8BIM\x04\x04\0\0", struct.pack(">I", len(iptc)), iptc)


def records():
    entry = ('{"schema":1,"photo":"' + "01" * 32 + '","epsilon":0.5,"claim":"eps-dp-features","faces":2,"noise":"n",'
             '"split":"s","when":7}\n')
    newer = entry.replace('"schema":1', '"schema":2,"method":"steered"').replace("eps-dp-features", "none")
    record = ('{"schema":2,"engine":"x"}\n{"file":"a.jpg","source":"' + "02" * 32 + '","result":"' + "03" * 32 + '"}\n')
    requests = [{"method": "steered", "strength": "medium", "faces": [1, 2], "steer_by": ["dlib"]},
                {"method": "certified", "epsilon": 1, "boxes": [[1, 2, 3, 4]], "features": 8},
                {"method": "rdp", "ranking": "amplitude", "basis": "haar", "levels": 5, "geometric_p": 0.1,
                 "sensitivity": "measured", "faces": "largest", "min_score": 0.5, "format": "png", "jpeg_quality": 90}]
    texts = [entry + newer, f"facedp-key-1:{'07' * 32}\n", record] + [json.dumps(request) for request in requests]
    for text in texts:
        add("records", text.encode())
    for path in sorted((ROOT / "fuzz/seeds/records").iterdir()):
        add("records", path.read_bytes())


def tensors(metadata, parts):
    """A safetensors file."""
    head, body = {"__metadata__": metadata}, b""
    for name, kind, shape, data in parts:
        head[name] = {"dtype": kind, "shape": shape, "data_offsets": [len(body), len(body) + len(data)]}
        body += data
    text = json.dumps(head).encode()
    text += b" " * (-len(text) % 8)
    return struct.pack("<Q", len(text)) + text + body


def models():
    """Small models, whose checksums the target sets right; heads of the real ones, whose tensors it fills."""
    half = lambda *values: struct.pack(f"<{len(values)}e", *values)
    single = lambda *values: struct.pack(f"<{len(values)}f", *values)
    double = lambda *values: struct.pack(f"<{len(values)}d", *values)
    origin = {"source": "s", "pictures": 3, "identities": 2}
    header = json.dumps({"version": 1, "provenance": origin, "sha256": "0" * 64})
    features = [("boxes", "F64", [2, 2], double(-1, 1, -2, 2)),
                ("eigenfaces", "F16", [2, 2, 2], half(1, 1, 1, 1, 1, -1, 1, -1)),
                ("mean", "F32", [2, 2], single(1, 2, 3, 4)), ("sensitivities", "F64", [2], double(1, 2)),
                ("singular_values", "F64", [2], double(3, 2))]
    add("models", tensors({"facedp": header}, features))
    add("models", tensors({"facedp": header}, features + [("radii", "F64", [2], double(1, 1))]))
    header = json.dumps({"version": 1, "provenance": origin})
    add("models", tensors({"facedp faces": header}, [
        ("boxes", "F32", [2, 2], single(-1, 1, -2, 2)), ("context_mean", "F32", [3], single(1, 2, 3)),
        ("directions", "F16", [2, 4], half(1, 1, 1, 1, 1, -1, 1, -1)), ("mean", "F32", [4], single(1, 2, 3, 4)),
        ("prediction", "F32", [2, 3], single(*range(6))), ("spreads", "F32", [2], single(2, 1))]))
    for name in ["eigenfaces", "faces", "prior"]:
        file = (ROOT / f"assets/models/{name}.safetensors").read_bytes()
        add("models", file[:8 + struct.unpack("<Q", file[:8])[0]])


def forms():
    part = '--b\r\nContent-Disposition: form-data; name="{}"; filename="a.jpg"\r\nContent-Type: image/jpeg\r\n\r\n{}\r\n'
    settings = ['{"method": "steered"}', '{"method": "rdp", "epsilon": 0.2, "levels": 3}', '{"faces": [1], "boxes": [[1, 2, 3, 4]]}']
    field = lambda text: part.format("settings", text).replace('; filename="a.jpg"', "")
    bodies = [(0, part.format("photo", "no picture")), (1, part.format("original", "a") + part.format("released", "b"))]
    bodies += [(2, field(text) + part.format("photo", "c")) for text in settings]
    bodies += [(2, part.format("photo", "c") + field(settings[0])), (0, part.format("photo", "x" * 12_000)),
               (0, part.format("photo", "c").replace('"a.jpg"', '"\u00e4\\".jpg"'))]
    for kind, body in bodies:
        for piece in (0, 1, 40):
            add("multipart", bytes([kind, piece]), body.encode(), b"--b--\r\n")


def main():
    shutil.rmtree(ROOT / "fuzz/corpus", ignore_errors=True)
    for part in (golden, small_pictures, metadata, records, models, forms):
        part()


if __name__ == "__main__":
    main()
