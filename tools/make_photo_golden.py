#!/usr/bin/env python3
"""Writes the pictures in crates/facedp-engine/tests/golden, and photos.json, which describes them.

The pictures are written by another program (Pillow): JPEG, PNG and WebP of many kinds, with and
without metadata. All show one portrait in the public domain (Grace Hopper, U.S. Navy, from
Matplotlib). What Pillow cannot write is written here byte by byte: EXIF with a thumbnail, IPTC, the
PNG of 16-bit colours, and the beginning of a HEIC file.

photos.json says what a reader must find: sizes and means from Pillow; segments, chunks, sampling
and quantization tables read from the bytes of the files, in the order of the files.

    pip install -r tools/requirements.txt
    python tools/make_photo_golden.py            # write the files
    python tools/make_photo_golden.py --check    # compare with the files, exit 1 on a difference

The check requires JPEG files to be equal byte for byte. PNG and WebP encoders may differ between
machines: for these formats, equal pixels and equal metadata suffice.
"""

import argparse
import io
import itertools
import json
import platform
import struct
import sys
import zlib
from importlib.metadata import version
from pathlib import Path

import matplotlib
import numpy as np
from PIL import Image, ImageCms, ImageFilter, ImageOps, ImageSequence, PngImagePlugin, features

from golden_text import text

FOLDER = (
    Path(__file__).resolve().parent.parent / "crates" / "facedp-engine" / "tests" / "golden"
)
LARGEST = 400_000  # bytes, all files together
TOLERANCE = 1e-6  # means are rounded to 6 digits

# Name: size, and the part of the portrait (512x600) that is scaled to it.
CUTS = {
    "wide": ((199, 241), (88, 22, 431, 437)),
    "close": ((123, 151), (160, 66, 372, 326)),
    "small": ((93, 109), (118, 34, 402, 367)),
    "square": ((64, 64), (172, 128, 362, 318)),
    "thumbnail": ((40, 48), (172, 110, 362, 338)),
}
COARSE = ["close", "square"]  # the parts that lossless files show
# Eyes, nose, mouth corners in the portrait, left to right; and about where the face is.
LANDMARKS = [(227.1, 193.3), (307.8, 195.4), (266.5, 240.0), (228.5, 267.9), (302.2, 269.6)]
FACE = [(184, 133), (347, 315)]

# What turns the upright picture into the one that is stored with an orientation.
TURNS = {
    1: None,
    2: Image.Transpose.FLIP_LEFT_RIGHT,
    3: Image.Transpose.ROTATE_180,
    4: Image.Transpose.FLIP_TOP_BOTTOM,
    5: Image.Transpose.TRANSPOSE,
    6: Image.Transpose.ROTATE_90,
    7: Image.Transpose.TRANSVERSE,
    8: Image.Transpose.ROTATE_270,
}

XMP = (
    '<?xpacket begin="\ufeff" id="W5M0MpCehiHzreSzNTczkc9d"?>'
    '<x:xmpmeta xmlns:x="adobe:ns:meta/">'
    '<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#">'
    '<rdf:Description xmlns:dc="http://purl.org/dc/elements/1.1/" rdf:about="">'
    "<dc:creator><rdf:Seq><rdf:li>trace-xmp</rdf:li></rdf:Seq></dc:creator>"
    "</rdf:Description></rdf:RDF></x:xmpmeta>"
    '<?xpacket end="w"?>'
).encode()
EXIF_TRACES = ["trace-make", "trace-model", "trace-makernote", "2001:02:03 04:05:06"]


def cut(name):
    """A part of the portrait, without its metadata, and without its grain: files stay small."""
    path = Path(matplotlib.get_data_path()) / "sample_data" / "grace_hopper.jpg"
    size, box = CUTS[name]
    with Image.open(path) as portrait:
        soft = portrait.convert("RGB").filter(ImageFilter.GaussianBlur(1.25))
    part = soft.resize(size, Image.Resampling.BICUBIC, box)
    return coarse(part) if name in COARSE else Image.fromarray(np.asarray(part))


def coarse(picture):
    """Every fourth level only: lossless files of it are two thirds as large."""
    return Image.fromarray(np.asarray(picture) & 0xFC | 2)


def places(name):
    (width, height), (left, top, right, bottom) = CUTS[name]
    scale = np.array([width / (right - left), height / (bottom - top)])
    moved = [np.round((np.array(p) - [left, top]) * scale, 1).tolist() for p in LANDMARKS + FACE]
    return {
        "width": width,
        "height": height,
        "landmarks": moved[:5],
        "face": moved[5] + moved[6],
    }


def saved(picture, form, **options):
    buffer = io.BytesIO()
    picture.save(buffer, form, **options)
    return buffer.getvalue()


# Metadata


def profile():
    """Pillow's sRGB profile, with the date and the platform of no machine."""
    data = bytearray(ImageCms.ImageCmsProfile(ImageCms.createProfile("sRGB")).tobytes())
    data[24:36] = struct.pack(">6H", 2001, 2, 3, 4, 5, 6)
    data[40:44] = bytes(4)
    return bytes(data)


def directory(order, start, entries, following=0):
    """A directory of a TIFF file that lies at start, and the values that do not fit into it."""
    values_at = start + 2 + 12 * len(entries) + 4
    rows, values = struct.pack(order + "H", len(entries)), b""
    for tag, kind, value in sorted(entries):
        if kind in "HI":  # one number of 2 or 4 bytes
            type_, count, data = {"H": 3, "I": 4}[kind], 1, struct.pack(order + kind, value)
        elif kind == "text":
            type_, count, data = 2, len(value) + 1, value.encode() + b"\0"
        elif kind == "bytes":
            type_, count, data = 7, len(value), value
        else:  # "ratios"
            type_, count = 5, len(value)
            data = b"".join(struct.pack(order + "2I", *ratio) for ratio in value)
        if len(data) > 4:
            where = struct.pack(order + "I", values_at + len(values))
            values += data + bytes(len(data) % 2)
        else:
            where = data.ljust(4, b"\0")
        rows += struct.pack(order + "2HI", tag, type_, count) + where
    return rows + struct.pack(order + "I", following) + values


def exif(order, thumbnail=None):
    """EXIF by hand: camera, dates, maker note, position, and a thumbnail in IFD1.

    Pillow can write neither IFD1 nor the bytes of a maker note exactly as given.
    """
    date = ("text", "2001:02:03 04:05:06")
    # A maker note of a form that nobody knows, with bytes that are no text.
    details = [(0x9000, "bytes", b"0232"), (0x9003, *date)]
    details.append((0x927C, "bytes", b"trace-makernote\0" + bytes(range(48))))
    position = [
        (0x0001, "text", "N"),
        (0x0002, "ratios", [(38, 1), (53, 1), (2312, 100)]),
        (0x0003, "text", "W"),
        (0x0004, "ratios", [(77, 1), (0, 1), (3250, 100)]),
    ]

    def main(details_at, position_at, second_at):
        entries = [(0x010F, "text", "trace-make"), (0x0110, "text", "trace-model")]
        entries += [(0x0112, "H", 1), (0x0132, *date)]
        entries += [(0x8769, "I", details_at), (0x8825, "I", position_at)]
        return directory(order, 8, entries, second_at)

    details_at = 8 + len(main(0, 0, 0))
    details = directory(order, details_at, details)
    position_at = details_at + len(details)
    position = directory(order, position_at, position)
    second_at, second = 0, b""
    if thumbnail:
        second_at = position_at + len(position)
        picture_at = second_at + 2 + 3 * 12 + 4
        entries = [(0x0103, "H", 6), (0x0201, "I", picture_at), (0x0202, "I", len(thumbnail))]
        second = directory(order, second_at, entries) + thumbnail
    head = {"<": b"II", ">": b"MM"}[order] + struct.pack(order + "HI", 42, 8)
    return head + main(details_at, position_at, second_at) + details + position + second


def photoshop():
    """A segment APP13 with IPTC: by-line, city, keyword, caption."""
    fields = {80: "trace-byline", 90: "trace-city", 25: "trace-keyword", 120: "trace-caption"}
    iptc = b"".join(
        struct.pack(">3BH", 0x1C, 2, number, len(value)) + value.encode()
        for number, value in fields.items()
    )
    block = b"8BIM" + struct.pack(">H2sI", 0x0404, b"\0\0", len(iptc)) + iptc
    block = b"Photoshop 3.0\0" + block + bytes(len(iptc) % 2)
    return b"\xff\xed" + struct.pack(">H", 2 + len(block)) + block


# Pictures. Each maker yields: file, cut, bytes, facts that the bytes do not tell.


def turned_jpegs():
    upright = cut("small")
    yield "upright.png", "small", saved(upright, "PNG", optimize=True), {}
    for orientation, turn in TURNS.items():
        stored = upright if turn is None else upright.transpose(turn)
        tags = Image.Exif()
        tags.endian = ">" if orientation % 2 == 0 else "<"
        tags[0x0112] = orientation
        data = saved(stored, "JPEG", quality=92, subsampling="4:4:4", exif=tags)
        back = ImageOps.exif_transpose(Image.open(io.BytesIO(data)))
        assert back.size == upright.size
        away = np.abs(np.asarray(back, int) - np.asarray(upright, int))
        facts = {
            "quality": 92,
            "orientation": orientation,
            "byte_order": "MM" if orientation % 2 == 0 else "II",
            "largest_difference_to_upright": int(away.max()),
            "mean_difference_to_upright": round(float(away.mean()), 6),
        }
        yield f"orientation_{orientation}.jpg", "small", data, facts


def cmyk(picture):
    """CMYK with some black in it: Pillow's own conversion leaves black empty."""
    rgb = np.asarray(picture, float)
    black = np.floor((255 - rgb.max(axis=2)) / 2)
    inks = 255 - 255 * rgb / (255 - black[..., None])
    inks = np.dstack([inks, black])
    return Image.frombytes("CMYK", picture.size, np.rint(inks).astype(np.uint8).tobytes())


def jpegs():
    wide, close = cut("wide"), cut("close")
    plain = {
        "base_420_q85.jpg": dict(quality=85, subsampling="4:2:0"),
        "444_q95.jpg": dict(quality=95, subsampling="4:4:4"),
        "422_progressive_q70.jpg": dict(quality=70, subsampling="4:2:2", progressive=True),
        "restart.jpg": dict(quality=85, subsampling="4:2:0", restart_marker_blocks=3),
    }
    for name, options in plain.items():
        yield name, "wide", saved(wide, "JPEG", **options), {"quality": options["quality"]}
    grey = saved(wide.convert("L"), "JPEG", quality=80)
    yield "grey_q80.jpg", "wide", grey, {"quality": 80}
    yield "cmyk.jpg", "close", saved(cmyk(close), "JPEG", quality=80), {"quality": 80}
    # Row by row, and far from symmetric: the orders of tables cannot be mistaken for one another.
    row, column = np.mgrid[:8, :8]
    tables = [(4 + 2 * column + 5 * row).ravel(), (6 + 7 * column + 3 * row).ravel()]
    data = saved(wide, "JPEG", qtables=[t.tolist() for t in tables], subsampling="4:2:0")
    read = jpeg_facts(data)["tables"]
    assert [unzigzag(read[str(i)]) for i in range(2)] == [t.tolist() for t in tables]
    yield "custom_tables.jpg", "wide", data, {"quality": None}

    thumbnail = saved(cut("thumbnail"), "JPEG", quality=60)
    data = saved(
        wide,
        "JPEG",
        quality=85,
        subsampling="4:2:0",
        dpi=(300, 300),
        icc_profile=profile(),
        exif=b"Exif\0\0" + exif("<", thumbnail),
        xmp=XMP,
        extra=photoshop(),
        comment="trace-comment",
    )
    assert thumbnail in data
    iptc = ["trace-byline", "trace-city", "trace-keyword", "trace-caption"]
    yield "tagged.jpg", "wide", data, {
        "quality": 85,
        "orientation": 1,
        "byte_order": "II",
        "dpi": 300,
        "position": [38.88975556, -77.00902778],
        "thumbnail": {"width": 40, "height": 48, "bytes": len(thumbnail)},
        "traces": EXIF_TRACES + ["trace-xmp", "trace-comment"] + iptc,
    }


def with_ramp(picture):
    """Transparent at the upper left corner, opaque at the lower right one."""
    width, height = picture.size
    ramp = np.add.outer(np.arange(height), np.arange(width)) * 255 / (width + height - 2)
    picture = picture.copy()
    picture.putalpha(Image.fromarray(np.rint(ramp).astype(np.uint8)))
    return picture


def deep(samples):
    """16 bits: the upper byte is the sample, the lower byte is the number of the column."""
    columns = np.arange(samples.shape[1]).reshape(-1, *[1] * (samples.ndim - 2))
    return (256 * samples.astype(np.uint16) + columns).astype(np.uint16)


def png_chunk(name, data):
    checksum = zlib.crc32(name + data)
    return struct.pack(">I", len(data)) + name + data + struct.pack(">I", checksum)


def deep_png(samples):
    """A PNG of 16-bit colours; each row has the filter of the least sum."""
    height, width, _ = samples.shape
    pixel = 6
    rows = np.frombuffer(samples.astype(">u2").tobytes(), np.uint8).reshape(height, -1).astype(int)
    padded = np.pad(rows, ((1, 0), (pixel, 0)))
    left, up, corner = padded[1:, :-pixel], padded[:-1, pixel:], padded[:-1, :-pixel]
    # Paeth: the neighbour nearest to left + up - corner; the first of equals.
    far = np.abs(np.stack([up - corner, left - corner, left + up - 2 * corner]))
    nearest = np.choose(far.argmin(axis=0), [left, up, corner])
    guesses = np.stack([np.zeros_like(rows), left, up, (left + up) // 2, nearest])
    filtered = ((rows - guesses) % 256).astype(np.uint8)
    best = np.abs(filtered.view(np.int8).astype(int)).sum(axis=2).argmin(axis=0)
    lines = b"".join(bytes([f]) + filtered[f, y].tobytes() for y, f in enumerate(best))
    header = struct.pack(">2I5B", width, height, 16, 2, 0, 0, 0)
    chunks = [(b"IHDR", header), (b"IDAT", zlib.compress(lines, 9)), (b"IEND", b"")]
    return b"\x89PNG\r\n\x1a\n" + b"".join(png_chunk(*chunk) for chunk in chunks)


def pngs():
    close = cut("close")
    grey, few = coarse(close.convert("L")), close.quantize(64)
    half = b"\x00\x80"  # the first colour is transparent, the second by half
    made = {
        "palette.png": saved(few, "PNG", optimize=True),
        "palette_transparent.png": saved(few, "PNG", optimize=True, transparency=half),
        "alpha.png": saved(with_ramp(close), "PNG", optimize=True),
        "grey_alpha.png": saved(with_ramp(grey), "PNG", optimize=True),
        "bilevel.png": saved(close.convert("1"), "PNG", optimize=True),
    }
    for name, data in made.items():
        yield name, "close", data, {}

    info = PngImagePlugin.PngInfo()
    info.add(b"gAMA", struct.pack(">I", 45455))
    info.add(b"tIME", struct.pack(">H5B", 2001, 2, 3, 4, 5, 6))
    info.add_text("Author", "trace-text")
    info.add_text("Comment", "trace-compressed", zip=True)
    info.add_itxt("XML:com.adobe.xmp", XMP.decode())
    options = dict(optimize=True, pnginfo=info, dpi=(300, 300), exif=exif(">"))
    yield "text.png", "close", saved(close, "PNG", **options), {
        "orientation": 1,
        "byte_order": "MM",
        "dpi": 300,
        "position": [38.88975556, -77.00902778],
        "traces": EXIF_TRACES + ["trace-xmp", "trace-text"],
    }

    square = cut("square")
    later = [ImageOps.mirror(square)]
    moving = saved(square, "PNG", save_all=True, append_images=later, duration=200, optimize=True)
    yield "moving.png", "square", moving, {}

    grey, colours = np.asarray(grey), np.asarray(close)
    data = saved(Image.fromarray(deep(grey)), "PNG", optimize=True)
    assert (np.asarray(Image.open(io.BytesIO(data))) == deep(grey)).all()
    yield "deep_grey.png", "close", data, deep_facts(deep(grey)[..., None].repeat(3, axis=2))
    data = deep_png(deep(colours))
    # Pillow keeps the upper bytes.
    assert (np.asarray(Image.open(io.BytesIO(data))) == colours).all()
    yield "deep_rgb.png", "close", data, deep_facts(deep(colours))


def deep_facts(samples):
    """Pillow cannot bring 16 bits to RGB without loss, so the mean comes from the samples."""
    mean = samples.mean(axis=(0, 1))
    return {
        "mean": np.round(mean / 257, 6).tolist(),
        "mean_16": np.round(mean, 6).tolist(),
        "quarters": quarters(samples / 257),
    }


def quarters(samples):
    """Means of the four quarters, from the left and from the top: they tell turned and mirrored pictures apart."""
    y, x = samples.shape[0] // 2, samples.shape[1] // 2
    parts = [samples[:y, :x], samples[:y, x:], samples[y:, :x], samples[y:, x:]]
    return [np.round(part.mean(axis=(0, 1)), 6).tolist() for part in parts]


def webps():
    wide, close, square = cut("wide"), cut("close"), cut("square")
    for quality in [60, 80, 95]:
        data = saved(wide, "WEBP", quality=quality)
        yield f"lossy_q{quality}.webp", "wide", data, {"quality": quality}
    data = saved(with_ramp(wide), "WEBP", quality=80)
    yield "lossy_alpha.webp", "wide", data, {"quality": 80}
    yield "lossless.webp", "close", saved(close, "WEBP", lossless=True, method=6), {"quality": None}
    thumbnail = saved(cut("thumbnail"), "JPEG", quality=60)
    tags = exif("<", thumbnail)
    data = saved(wide, "WEBP", quality=80, icc_profile=profile(), exif=tags, xmp=XMP)
    yield "tagged.webp", "wide", data, {
        "quality": 80,
        "orientation": 1,
        "byte_order": "II",
        "position": [38.88975556, -77.00902778],
        "thumbnail": {"width": 40, "height": 48, "bytes": len(thumbnail)},
        "traces": EXIF_TRACES + ["trace-xmp"],
    }
    later = [ImageOps.mirror(square)]
    data = saved(square, "WEBP", save_all=True, append_images=later, duration=200, quality=80)
    yield "moving.webp", "square", data, {"quality": 80}


def heic_header():
    """The file type box, and a meta box that ends too early."""
    brands = struct.pack(">I4s4sI4s4s", 24, b"ftyp", b"heic", 0, b"mif1", b"heic")
    handler = struct.pack(">I4sII4s12xB", 33, b"hdlr", 0, 0, b"pict", 0)
    return brands + struct.pack(">I4sI", 4096, b"meta", 0) + handler


# What the bytes of a file say


def jpeg_segments(data):
    """Marker and body of each segment up to the first scan."""
    at = 2
    while data[at + 1] != 0xDA:
        assert data[at] == 0xFF
        (length,) = struct.unpack_from(">H", data, at + 2)
        yield data[at + 1], data[at + 4 : at + 2 + length]
        at += 2 + length


def unzigzag(table):
    """From the order of the file to rows."""
    order = sorted(
        itertools.product(range(8), range(8)),
        key=lambda p: (sum(p), p[0] if sum(p) % 2 else p[1]),
    )
    rows = [0] * 64
    for value, (row, column) in zip(table, order):
        rows[8 * row + column] = value
    return rows


def jpeg_facts(data):
    known = {
        b"JFIF\0": "JFIF",
        b"Exif\0\0": "Exif",
        b"http://ns.adobe.com/xap/1.0/\0": "XMP",
        b"ICC_PROFILE\0": "ICC",
        b"Photoshop 3.0\0": "Photoshop",
        b"Adobe": "Adobe",
    }
    blocks, facts = [], {"tables": {}, "restart_interval": 0}
    for marker, body in jpeg_segments(data):
        if marker == 0xFE:
            blocks.append("COM")
        elif 0xE0 <= marker <= 0xEF:
            name = next(name for start, name in known.items() if body.startswith(start))
            blocks.append(f"APP{marker - 0xE0} {name}")
            if name == "Adobe":
                facts["adobe_transform"] = body[11]
        elif marker == 0xDB:
            while body:
                assert body[0] < 16, "tables of 16 bits"
                facts["tables"][str(body[0])] = list(body[1:65])
                body = body[65:]
        elif marker == 0xDD:
            (facts["restart_interval"],) = struct.unpack(">H", body)
        elif marker in (0xC0, 0xC1, 0xC2):
            facts["progressive"] = marker == 0xC2
            height, width, count = struct.unpack_from(">2HB", body, 1)
            facts["stored"] = [width, height]
            facts["components"] = [
                {"id": c, "h": hv >> 4, "v": hv & 15, "table": t}
                for c, hv, t in struct.iter_unpack("3B", body[6 : 6 + 3 * count])
            ]
    # Pillow gives the tables row by row, the file in zigzag order.
    with Image.open(io.BytesIO(data)) as picture:
        read = {int(key): unzigzag(table) for key, table in facts["tables"].items()}
        assert picture.quantization == read
    return {"blocks": blocks, **facts}


def png_chunks(data):
    """Name and body of each chunk; parts of one stream joined, and what is compressed inflated."""
    chunks, at = [], 8
    while at < len(data):
        (length,) = struct.unpack_from(">I", data, at)
        name, body = data[at + 4 : at + 8].decode(), data[at + 8 : at + 8 + length]
        body = body[4:] if name == "fdAT" else body  # its number
        if chunks and name in ("IDAT", "fdAT") and chunks[-1][0] == name:
            chunks[-1][1] += body
        else:
            chunks.append([name, body])
        at += 12 + length
    for chunk in chunks:
        if chunk[0] in ("IDAT", "fdAT"):
            chunk[1] = zlib.decompress(chunk[1])
        elif chunk[0] == "zTXt":
            key, value = chunk[1].split(b"\0\0", 1)
            chunk[1] = key + zlib.decompress(value)
    return chunks


def png_facts(data):
    chunks = png_chunks(data)
    width, height, depth, colour = struct.unpack_from(">2I2B", chunks[0][1])
    names = [name for name, _ in chunks]
    facts = {"blocks": names, "stored": [width, height], "depth": depth, "colour_type": colour}
    for name, body in chunks:
        if name == "PLTE":
            facts["colours"] = len(body) // 3
        if name == "tRNS":
            facts["transparency"] = list(body)
    return facts


def webp_chunks(data):
    at = 12
    while at < len(data):
        name, length = struct.unpack_from("<4sI", data, at)
        yield name.decode().strip(), data[at + 8 : at + 8 + length]
        at += 8 + length + length % 2


def webp_facts(data):
    names = [name for name, _ in webp_chunks(data)]
    with Image.open(io.BytesIO(data)) as picture:
        return {"blocks": names, "stored": list(picture.size), "lossless": "VP8L" in names}


def frames(data):
    with Image.open(io.BytesIO(data)) as picture:
        return [np.asarray(f.convert("RGBA")) for f in ImageSequence.Iterator(picture)]


def described(name, part, data, facts):
    """The entry of a picture in photos.json."""
    with Image.open(io.BytesIO(data)) as picture:
        form, mode = picture.format, picture.mode
        icc, count = "icc_profile" in picture.info, getattr(picture, "n_frames", 1)
        see_through = picture.has_transparency_data
        upright = ImageOps.exif_transpose(picture)
    entry = {
        "file": name,
        "format": form,
        "mode": mode,
        "cut": part,
        "width": upright.width,
        "height": upright.height,
        "frames": count,
        "icc": icc,
    }
    if mode != "I;16":  # else the mean is among the facts
        opaque = upright.convert("RGBA") if see_through else upright
        samples = np.asarray(opaque.convert("RGB"))
        entry["mean"] = np.round(samples.mean(axis=(0, 1)), 6).tolist()
        entry["quarters"] = quarters(samples)
    if see_through:
        alpha = np.asarray(upright.convert("RGBA"))[..., 3]
        entry["alpha_mean"] = round(float(alpha.mean()), 6)
    entry |= {"JPEG": jpeg_facts, "PNG": png_facts, "WEBP": webp_facts}[form](data)
    for trace in facts.get("traces", []):
        assert trace.encode() in data, trace
    return entry | facts


def contents():
    """Every file by name: bytes, or for photos.json its value."""
    files, cases = {}, []
    for maker in [turned_jpegs, jpegs, pngs, webps]:
        for name, part, data, facts in maker():
            files[name] = data
            cases.append(described(name, part, data, facts))
    files["heic_header.heic"] = heic_header()
    made_by = {
        "script": "tools/make_photo_golden.py",
        "python": platform.python_version(),
        "libraries": {name: version(name) for name in ["numpy", "pillow", "matplotlib"]},
        "inside_pillow": {
            "libjpeg-turbo": features.version("libjpeg_turbo"),
            "libwebp": features.version("webp"),
            "littlecms2": features.version("littlecms2"),
            "zlib-ng": features.version("zlib_ng"),
        },
    }
    about = {
        "tables": "by table id, in the zigzag order of the file's DQT segments",
        "mean": "red, green, blue of the upright first frame from 0 to 255; alpha left out; CMYK "
        "is brought to RGB by Pillow: (255 - ink) (255 - black) / 255",
        "quarters": "the same of the quarters: upper left, upper right, lower left, lower right",
        "mean_16": "of the samples of 16-bit pictures; mean is this divided by 257. A sample's "
        "upper byte is that of the 8-bit picture, its lower byte is the number of its column",
        "width, height": "after orientation; stored is [width, height] before it",
        "blocks": "in the order of the file; parts of one stream named once",
        "cuts": "landmarks are eyes, nose, mouth corners; face is roughly left, top, right, bottom",
        "traces": "text that stands uncompressed in the file's metadata",
    }
    cuts = {name: places(name) for name in CUTS}
    heic = {"file": "heic_header.heic", "bytes": len(heic_header()), "brand": "heic"}
    files["photos.json"] = {
        "made_by": made_by,
        "about": about,
        "cuts": cuts,
        "cases": cases,
        "headers": [heic],
    }
    return files


# Writing and comparing


def difference(old, new, where=""):
    """The first difference in words, or None."""
    if isinstance(old, float) and isinstance(new, float) and abs(old - new) <= TOLERANCE:
        return None
    if isinstance(old, dict) and isinstance(new, dict):
        if list(old) != list(new):
            return f"{where}: keys {list(old)} in the file, {list(new)} now"
        pairs = (difference(old[key], new[key], f"{where}/{key}") for key in old)
    elif isinstance(old, list) and isinstance(new, list):
        if len(old) != len(new):
            return f"{where}: {len(old)} entries in the file, {len(new)} now"
        pairs = (difference(o, n, f"{where}[{i}]") for i, (o, n) in enumerate(zip(old, new)))
    else:
        return None if old == new else f"{where}: {old!r:.60} in the file, {new!r:.60} now"
    return next((found for found in pairs if found), None)


def metadata(name, data):
    if name.endswith(".png"):
        return [chunk for chunk in png_chunks(data) if chunk[0] not in ("IDAT", "fdAT")]
    return [chunk for chunk in webp_chunks(data) if chunk[0] in ("ICCP", "EXIF", "XMP")]


def same_pixels(name, old, new):
    """In PNG equal rows after inflating; else, for Pillow has 8 bits, equal pixels of 8 bits."""
    if name.endswith(".png"):
        if png_chunks(old) == png_chunks(new):
            return True
        if png_facts(new)["depth"] > 8:
            return False
    pairs = itertools.zip_longest(frames(old), frames(new))
    return all(np.array_equal(o, n) for o, n in pairs)


def compare(name, old, new):
    """What is wrong with the bytes of a picture, or None; and whether the bytes are equal."""
    if old == new:
        return None, True
    if not name.endswith((".png", ".webp")):
        return f"other bytes than made now ({len(old)} in the file, {len(new)} now)", False
    try:
        if metadata(name, old) != metadata(name, new):
            return "other metadata than made now", False
        if not same_pixels(name, old, new):
            return "other pixels than made now", False
    except Exception as error:  # a broken file can fail in any way
        return f"cannot be read: {error!r}", False
    return None, False


def check(path, value):
    """What is wrong with a file, or None; and whether its bytes are equal."""
    try:
        if not isinstance(value, dict):
            return compare(path.name, path.read_bytes(), value)
        old = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        return f"cannot be read: {error}", False
    new = json.loads(text(value))
    if not isinstance(old, dict) or list(old) != list(new):
        return f"should have the keys {list(new)}", False
    # Who made it may differ.
    return difference(old | {"made_by": None}, new | {"made_by": None}), True


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--check", action="store_true", help="compare instead of writing")
    parser.add_argument("--out", type=Path, default=FOLDER, help="folder of the files")
    options = parser.parse_args()
    failed, total = False, 0
    for name, value in contents().items():
        path = options.out / name
        if options.check:
            problem, equal = check(path, value)
            failed |= problem is not None
            good = "as generated" if equal else "as generated, compressed otherwise"
            print(f"{name}: {problem or good}")
        else:
            options.out.mkdir(parents=True, exist_ok=True)
            path.write_bytes((text(value) + "\n").encode() if isinstance(value, dict) else value)
            total += path.stat().st_size
            print(f"{name}: {path.stat().st_size} bytes")
    if failed:
        print("pictures differ from what the libraries give now", file=sys.stderr)
    if not options.check:
        print(f"together: {total} bytes")
        if total > LARGEST:
            print(f"that is more than {LARGEST} bytes", file=sys.stderr)
            failed = True
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
