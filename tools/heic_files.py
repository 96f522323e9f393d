"""HEIC files for tests: pictures coded by libheif's heif-enc, put together as phones do it.

heif-enc writes single pictures only. Phones write a grid of tiles, a turn, a thumbnail, and auxiliary pictures (depth,
gain map). `assemble` writes such files from coded pictures, box by box (ISO/IEC 23008-12).
"""

import io
import pathlib
import struct
import subprocess
import tempfile
import zlib


def deep_png(picture):
    """A PNG of 16 bits a sample, which Pillow cannot write: of 8-bit RGB, with a little more."""
    def chunk(name, data):
        return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))
    rows = b""
    for y in range(picture.height):
        levels = [level * 257 for x in range(picture.width) for level in picture.getpixel((x, y))]
        rows += b"\0" + struct.pack(f">{len(levels)}H", *levels)
    head = struct.pack(">2I5B", *picture.size, 16, 2, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b"")


def encoded(picture, *options, deep=False):
    """A picture as heif-enc codes it."""
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        if deep:
            (folder / "picture.png").write_bytes(deep_png(picture))
        else:
            picture.save(folder / "picture.png")
        command = ["heif-enc", *options, "picture.png", "-o", "picture.heic"]
        subprocess.run(command, cwd=folder, check=True, capture_output=True)
        return (folder / "picture.heic").read_bytes()


def boxes(data):
    """The boxes in a stretch of bytes: name and body."""
    at = 0
    while at + 8 <= len(data):
        size, name = struct.unpack(">I4s", data[at:at + 8])
        size = size or len(data) - at
        yield name, data[at + 8:at + size]
        at += size


def coded(file):
    """Configuration and data of the one coded picture of a file of heif-enc without alpha or thumbnail."""
    top = dict(boxes(file))
    meta = dict(boxes(top[b"meta"][4:]))
    properties = dict(boxes(dict(boxes(meta[b"iprp"]))[b"ipco"]))
    return properties[b"hvcC"], top[b"mdat"]


def box(name, *contents):
    body = b"".join(contents)
    return struct.pack(">I4s", len(body) + 8, name) + body


def full(name, version, flags, *contents):
    return box(name, struct.pack(">I", version << 24 | flags), *contents)


def assemble(tiles, columns, tile, size, turn=0, mirror=None, icc=None, exif=None, thumbnail=None, auxiliary=(), nclx=None):
    """A file whose primary picture is a grid of coded tiles, or the only tile.

    tiles: (hvcC, data) of each; tile, size: width and height of a tile and of the whole; turn: quarters anticlockwise;
    thumbnail: (hvcC, data, size); auxiliary: (kind, hvcC, data, size) of each.
    """
    properties, items, references, data = [], [], [], []

    def use(*contents):
        whole = box(*contents)
        if whole not in properties:
            properties.append(whole)
        return properties.index(whole) + 1

    def ispe(width, height):
        return use(b"ispe", struct.pack(">3I", 0, width, height))

    def item(kind, body, associated, hidden=False):
        items.append((len(items) + 1, kind, hidden, associated))
        data.append(body)
        return len(items)

    def of_picture():
        found = []
        if icc:
            found.append(use(b"colr", b"prof", icc))
        if nclx:
            found.append(use(b"colr", b"nclx", struct.pack(">3HB", *nclx, 0x80)))
        if turn:
            found.append(use(b"irot", bytes([turn])))
        if mirror is not None:
            found.append(use(b"imir", bytes([mirror])))
        return found

    grid = len(tiles) > 1
    numbers = [item(b"hvc1", body, [use(b"hvcC", config), ispe(*tile)] + ([] if grid else of_picture()), hidden=grid)
               for config, body in tiles]
    primary = numbers[0]
    if grid:
        rows = len(tiles) // columns
        descriptor = struct.pack(">4B2H", 0, 0, rows - 1, columns - 1, *size)
        primary = item(b"grid", descriptor, [ispe(*size)] + of_picture())
        references.append((b"dimg", primary, numbers))
    if thumbnail:
        config, body, small = thumbnail
        references.append((b"thmb", item(b"hvc1", body, [use(b"hvcC", config), ispe(*small)]), [primary]))
    for kind, config, body, small in auxiliary:
        described = [use(b"hvcC", config), ispe(*small), use(b"auxC", struct.pack(">I", 0), kind.encode() + b"\0")]
        references.append((b"auxl", item(b"hvc1", body, described, hidden=True), [primary]))
    if exif:
        references.append((b"cdsc", item(b"Exif", struct.pack(">I", 0) + exif, []), [primary]))

    entries = b"".join(full(b"infe", 2, int(hidden), struct.pack(">2H4sB", number, 0, kind, 0)) for number, kind, hidden, _ in items)
    links = b"".join(box(name, struct.pack(f">2H{len(to)}H", source, len(to), *to)) for name, source, to in references)
    associations = b"".join(struct.pack(">HB", number, len(used)) + bytes(0x80 | index for index in used)
                            for number, _, _, used in items if used)
    count = sum(1 for *_, used in items if used)
    head = box(b"ftyp", b"heic", bytes(4), b"mif1heic")

    def meta(start):
        places, at = b"", start
        for (number, *_), body in zip(items, data):
            places += struct.pack(">3H2I", number, 0, 1, at, len(body))
            at += len(body)
        return full(b"meta", 0, 0, full(b"hdlr", 0, 0, bytes(4), b"pict", bytes(13)),
                    full(b"pitm", 0, 0, struct.pack(">H", primary)),
                    full(b"iinf", 0, 0, struct.pack(">H", len(items)), entries),
                    full(b"iref", 0, 0, links) if links else b"",
                    box(b"iprp", box(b"ipco", *properties), full(b"ipma", 0, 0, struct.pack(">I", count), associations)),
                    full(b"iloc", 0, 0, struct.pack(">2BH", 0x44, 0, len(items)), places))

    start = len(head) + len(meta(0)) + 8
    return head + meta(start) + box(b"mdat", *data)


def reference(file):
    """The picture as libheif decodes it."""
    from PIL import Image
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        (folder / "a.heic").write_bytes(file)
        subprocess.run(["heif-convert", "a.heic", "a.png"], cwd=folder, check=True, capture_output=True)
        return Image.open(io.BytesIO((folder / "a.png").read_bytes()))
