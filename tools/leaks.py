#!/usr/bin/env python3
"""Hides a picture of the original face in files in every way we know, has facedp treat them, and looks for it.

Each kind of hiding place is one file of the corpus. Every result, with and without --keep-metadata, is looked
through by exiftool (-a -G -ee) and for embedded JPEG, PNG, WebP and video, as bytes, base64 and hexadecimal, and for
every stretch of 16 bytes of the hidden picture's samples. Writes docs/measurements/leaks.md; exits with 1 if anything is left.

    apt install libimage-exiftool-perl libheif-examples
    pip install -r tools/requirements.txt
    python tools/leaks.py [--program target/release/facedp] [--keep FOLDER]
"""

import argparse
import base64
import io
import json
import pathlib
import re
import shutil
import struct
import subprocess
import sys
import tempfile
import zlib

from PIL import Image, ImageCms

ROOT = pathlib.Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs/measurements/leaks.md"
PORTRAIT = Image.open(ROOT / "examples/photos/collins.jpg").convert("RGB").resize((256, 256))

# The hidden picture, as JPEG and as text.
_thumbnail = io.BytesIO()
PORTRAIT.resize((48, 48)).save(_thumbnail, "JPEG", quality=70, optimize=True)
FACE = _thumbnail.getvalue()
# Its coded samples: other parts are common to many files.
SAMPLES = FACE[FACE.index(b"\xff\xda") + 14:]
TEXT = base64.b64encode(FACE).decode()
LINES = "\n".join(re.findall(".{1,76}", TEXT))
RDF = "http://www.w3.org/1999/02/22-rdf-syntax-ns#"


def saved(form, **options):
    buffer = io.BytesIO()
    PORTRAIT.save(buffer, form, **options)
    return buffer.getvalue()


JPEG, PNG, WEBP = saved("JPEG", quality=90), saved("PNG"), saved("WEBP", quality=90)


def segment(marker, *contents):
    body = b"".join(contents)
    return bytes([0xFF, marker]) + struct.pack(">H", len(body) + 2) + body


def jpeg(*segments, base=JPEG, trailer=b""):
    """A JPEG with more segments after its start, and more after its end."""
    return base[:2] + b"".join(segments) + base[2:] + trailer


def tiff(entries, ifd1=b"", sub=None):
    """A TIFF structure with one directory, and perhaps a second one and a third."""
    def directory(at, entries, following):
        values_at, rows, values = at + 2 + 12 * len(entries) + 4, b"", b""
        for tag, kind, value in sorted(entries):
            count = len(value) // {1: 1, 2: 1, 3: 2, 4: 4, 7: 1}[kind]
            where = struct.pack("<I", values_at + len(values)) if len(value) > 4 else value.ljust(4, b"\0")
            values += value + bytes(len(value) % 2) if len(value) > 4 else b""
            rows += struct.pack("<HHI", tag, kind, count) + where
        return struct.pack("<H", len(entries)) + rows + struct.pack("<I", following) + values

    def whole(sub_at, ifd1_at):
        main = entries + ([(sub[0], 4, struct.pack("<I", sub_at))] if sub else [])
        return directory(8, main, ifd1_at)

    sub_at = 8 + len(whole(0, 0))
    below = directory(sub_at, sub[1], 0) if sub else b""
    ifd1_at = sub_at + len(below)
    second = b""
    if ifd1:
        at = ifd1_at + 2 + 36 + 4
        second = directory(ifd1_at, [(0x103, 3, b"\6\0"), (0x201, 4, struct.pack("<I", at)),
                                     (0x202, 4, struct.pack("<I", len(ifd1)))], 0) + ifd1
    return b"II*\0\x08\0\0\0" + whole(sub_at, ifd1_at if ifd1 else 0) + below + second


def exif(*arguments, **options):
    return segment(0xE1, b"Exif\0\0", tiff(*arguments, **options))


def packet(inner, attributes=""):
    return (f"<?xpacket begin='\ufeff' id='W5M0MpCehiHzreSzNTczkc9d'?><x:xmpmeta xmlns:x='adobe:ns:meta/'>"
            f"<rdf:RDF xmlns:rdf='{RDF}'><rdf:Description rdf:about='' xmlns:dc='http://purl.org/dc/elements/1.1/' "
            f"xmlns:xmp='http://ns.adobe.com/xap/1.0/' {attributes}>{inner}<dc:title><rdf:Alt><rdf:li xml:lang='x-default'>"
            f"a title</rdf:li></rdf:Alt></dc:title></rdf:Description></rdf:RDF></x:xmpmeta><?xpacket end='w'?>").encode()


def xmp(inner, attributes=""):
    return segment(0xE1, b"http://ns.adobe.com/xap/1.0/\0", packet(inner, attributes))


def image_element(prefix, uri, name="Data"):
    return f"<{prefix}:{name} xmlns:{prefix}='{uri}'>{TEXT}</{prefix}:{name}>"


def profile():
    return ImageCms.ImageCmsProfile(ImageCms.createProfile("sRGB")).tobytes()


def tagged_profile(name, data, gap=b""):
    """The sRGB profile with one more tag, and bytes between tags."""
    icc = profile()
    count = struct.unpack(">I", icc[128:132])[0]
    tags = [struct.unpack(">4sII", icc[132 + 12 * n:144 + 12 * n]) for n in range(count)]
    bodies = [(tag, icc[at:at + size]) for tag, at, size in tags if tag != name] + [(name, data)]
    at, table, body = 132 + 12 * len(bodies), b"", b""
    for tag, content in bodies:
        body += gap
        table += struct.pack(">4sII", tag, at + len(body), len(content))
        body += content + bytes(-len(content) % 4)
    whole = icc[4:128] + struct.pack(">I", len(bodies)) + table + body
    return struct.pack(">I", len(whole) + 4) + whole


def profile_tag(name):
    icc = profile()
    at = icc.index(name, 132)
    start, size = struct.unpack(">II", icc[at + 4:at + 12])
    return icc[start:start + size]


def other_space(icc):
    return icc[:16] + b"CMYK" + icc[20:]


def words(length, total):
    """The picture in words that could be a person's."""
    return " ".join(re.findall(f".{{1,{length}}}", TEXT[400:]))[:total]


def letters(data):
    """The picture in words of eight letters from a to p, which could be of some language."""
    return re.findall(".{8}", "".join("abcdefghijklmnop"[half] for byte in data for half in (byte >> 4, byte & 15)))


def lines_of(words, length):
    """Words in texts of at most that length."""
    lines = [""]
    for word in words:
        if len(lines[-1]) + 1 + len(word) > length:
            lines.append("")
        lines[-1] += (" " if lines[-1] else "") + word
    return lines


def characters(data):
    """The picture in Chinese characters, twelve bits each, in words of ten."""
    bits = "".join(f"{byte:08b}" for byte in data)
    return re.findall(".{10}", "".join(chr(0x4E00 + int(part, 2)) for part in re.findall(".{12}", bits)))


def keywords(texts):
    return "<dc:subject><rdf:Bag>" + "".join(f"<rdf:li>{text}</rdf:li>" for text in texts) + "</rdf:Bag></dc:subject>"


def rising_curve(data):
    """A tone curve that never falls: each point is above the last one by half a byte of the picture."""
    points, level = [], 0
    for byte in data[:2048]:
        for half in (byte & 15, byte >> 4):
            level += half
            points.append(level)
    return b"curv\0\0\0\0" + struct.pack(f">I{len(points)}H", len(points), *points)


def rising_curves():
    whole = rising_curve(FACE)
    icc = profile()
    for name in (b"rTRC", b"gTRC", b"bTRC"):
        at = icc.index(name, 132)
        icc = icc[:at + 4] + struct.pack(">II", len(icc), len(whole)) + icc[at + 12:]
    icc += whole
    return struct.pack(">I", len(icc)) + icc[4:]


# Tags of numbers and dates in the directory of exposures.
NUMBER_TAGS = [0x829A, 0x829D, 0x8822, 0x8827, 0x9003, 0x9004, 0x9201, 0x9202, 0x9203, 0x9204, 0x9205, 0x9206, 0x9207, 0x9208,
               0x9209, 0x920A, 0xA001, 0xA20E, 0xA20F, 0xA210, 0xA217, 0xA402, 0xA403, 0xA404, 0xA405, 0xA406, 0xA408, 0xA432]


def icc(data):
    return segment(0xE2, b"ICC_PROFILE\0\1\1", data)


def chunk(name, data):
    return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))


def png(*chunks, trailer=b""):
    """A PNG with more chunks after its head."""
    return PNG[:33] + b"".join(chunks) + PNG[33:] + trailer


def webp(flags, *chunks, trailer=b""):
    """An extended WebP with more chunks; those of the profile come first."""
    def riff(name, data):
        return name + struct.pack("<I", len(data)) + data + bytes(len(data) % 2)
    size = struct.pack("<I", 255)[:3] * 2
    before = b"".join(riff(name, data) for name, data in chunks if name == b"ICCP")
    after = b"".join(riff(name, data) for name, data in chunks if name != b"ICCP")
    body = b"WEBP" + riff(b"VP8X", bytes([flags, 0, 0, 0]) + size) + before + WEBP[12:] + after
    return b"RIFF" + struct.pack("<I", len(body)) + body + trailer


def box(name, *contents):
    body = b"".join(contents)
    return struct.pack(">I", len(body) + 8) + name + body


def video():
    return box(b"ftyp", b"mp42\0\0\0\0mp42isom") + box(b"mdat", FACE)


def multi_picture():
    """Two pictures: the second, after the first, is listed in a segment MPF."""
    entries = [(0xB000, 7, b"0100"), (0xB001, 4, struct.pack("<I", 2)),
               (0xB002, 7, struct.pack("<4I", 0x20030000, len(JPEG), 0, 0) + struct.pack("<4I", 0, len(FACE), len(JPEG), 0))]
    return jpeg(segment(0xE2, b"MPF\0", tiff(entries)), trailer=FACE)


def ultra_hdr():
    """A gain map after the picture, as phones write it: MPF, Container and hdrgm in XMP."""
    about = ("<Container:Directory xmlns:Container='http://ns.google.com/photos/1.0/container/' "
             "xmlns:Item='http://ns.google.com/photos/1.0/container/item/'><rdf:Seq><rdf:li rdf:parseType='Resource'>"
             "<Container:Item Item:Semantic='Primary' Item:Mime='image/jpeg'/></rdf:li><rdf:li rdf:parseType='Resource'>"
             f"<Container:Item Item:Semantic='GainMap' Item:Mime='image/jpeg' Item:Length='{len(FACE)}'/></rdf:li></rdf:Seq>"
             "</Container:Directory>")
    version = "xmlns:hdrgm='http://ns.adobe.com/hdr-gain-map/1.0/' hdrgm:Version='1.0'"
    map_ = FACE[:2] + xmp("", version) + FACE[2:]
    return jpeg(xmp(about, version), trailer=map_)


def motion_photo():
    about = (f"GCamera:MotionPhoto='1' GCamera:MicroVideo='1' GCamera:MicroVideoOffset='{len(video())}' "
             "xmlns:GCamera='http://ns.google.com/photos/1.0/camera/'")
    return jpeg(xmp("", about), trailer=video())


def extended_xmp():
    guid = b"0123456789ABCDEF0123456789ABCDEF"
    note = ("xmlns:xmpNote='http://ns.adobe.com/xmp/note/' xmpNote:HasExtendedXMP='0123456789ABCDEF0123456789ABCDEF'")
    whole = packet(image_element("GImage", "http://ns.google.com/photos/1.0/image/"))
    extended = segment(0xE1, b"http://ns.adobe.com/xmp/extension/\0", guid, struct.pack(">II", len(whole), 0), whole)
    return jpeg(xmp("", note), extended)


def photoshop(number, data):
    block = b"8BIM" + struct.pack(">H2sI", number, b"\0\0", len(data)) + data + bytes(len(data) % 2)
    return segment(0xED, b"Photoshop 3.0\0", block)


def iptc(number, data):
    return photoshop(0x0404, struct.pack(">3BH", 0x1C, 2, number, len(data)) + data)


def between_scans():
    base = saved("JPEG", quality=90, progressive=True)
    at = base.rindex(b"\xff\xda")
    return base[:at] + segment(0xFE, FACE) + base[at:]


def tables():
    """A lookup table of colours that holds the picture as its numbers."""
    body = b"mft1\0\0\0\0" + bytes([3, 3, 9, 0]) + struct.pack(">9i", 65536, 0, 0, 0, 65536, 0, 0, 0, 65536)
    ramp = bytes(range(256)) * 3
    return tagged_profile(b"A2B0", body + ramp + (FACE * 9)[:9 ** 3 * 3] + ramp)


def heic(*options, name="portrait.png", second=False):
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        source = saved("PNG")
        if name.endswith("jpg"):
            source = jpeg(exif([(0x10F, 2, b"trace-make\0")], ifd1=FACE), xmp(image_element("u", "urn:any")))
        (folder / name).write_bytes(source)
        names = [name]
        if second:
            PORTRAIT.resize((64, 64)).save(folder / "second.png")
            names.append("second.png")
        subprocess.run(["heif-enc", "-q", "90", *options, *names, "-o", "out.heic"], cwd=folder, check=True, capture_output=True)
        return (folder / "out.heic").read_bytes()


ASCII_LINES = LINES.encode() + b"\0"
GOOGLE = "http://ns.google.com/photos"
KINDS = {
    "exif-thumbnail.jpg": lambda: jpeg(exif([(0x10F, 2, b"maker\0")], ifd1=FACE)),
    "exif-maker-note.jpg": lambda: jpeg(exif([], sub=(0x8769, [(0x927C, 7, FACE)]))),
    "exif-user-comment.jpg": lambda: jpeg(exif([], sub=(0x8769, [(0x9286, 7, b"ASCII\0\0\0" + ASCII_LINES)]))),
    "exif-description.jpg": lambda: jpeg(exif([(0x10E, 2, ASCII_LINES[:1000])])),
    "exif-artist-bytes.jpg": lambda: jpeg(exif([(0x13B, 7, FACE[:1000])])),
    "exif-version-bytes.jpg": lambda: jpeg(exif([], sub=(0x8769, [(0x9000, 7, FACE[:1000])]))),
    "exif-gps-bytes.jpg": lambda: jpeg(exif([], sub=(0x8825, [(0x1B, 7, FACE[:1000])]))),
    "exif-words.jpg": lambda: jpeg(exif([(tag, 2, text.encode() + b"\0") for tag, text in zip(
        [0x10E, 0x10F, 0x110, 0x131, 0x13B, 0x8298], re.findall("(?s).{1,300}", words(20, 1800)))])),
    "exif-pieces.jpg": lambda: jpeg(exif([], sub=(0x8769, [
        (tag, 7, SAMPLES[60 * n:60 * n + 60]) for n, tag in enumerate([0x9000, 0x9201, 0x9202, 0x9203, 0x9204, 0xA217, 0xA402])]))),
    "exif-words-in-numbers.jpg": lambda: jpeg(exif([], sub=(0x8769, [
        (tag, 2, text.encode() + b"\0") for tag, text in zip(NUMBER_TAGS, lines_of(letters(SAMPLES), 300))]))),
    "exif-letters.jpg": lambda: jpeg(exif([(tag, 2, text.encode() + b"\0") for tag, text in zip(
        [0x10E, 0x10F, 0x110, 0x131, 0x13B, 0x8298], lines_of(letters(SAMPLES), 900))])),
    "exif-fractions.jpg": lambda: jpeg(exif([], sub=(0x8769, [
        (tag, 4, SAMPLES[40 * n:40 * n + 40]) for n, tag in enumerate([0x829A, 0x829D, 0x9201, 0x9202, 0x920A, 0xA432])]))),
    "exif-preview.jpg": lambda: jpeg(exif([], sub=(0x14A, [(0x111, 7, FACE)]))),
    "exif-windows-comment.jpg": lambda: jpeg(exif([(0x9C9C, 1, FACE)])),
    "exif-print-info.jpg": lambda: jpeg(exif([(0xC4A5, 7, FACE)])),
    "exif-twice.jpg": lambda: jpeg(exif([(0x10F, 2, b"maker\0")]), exif([], ifd1=FACE)),
    "exif-after-end.jpg": lambda: jpeg(segment(0xE1, b"Exif\0\0", tiff([(0x10F, 2, b"maker\0")]), FACE)),
    "jfif-thumbnail.jpg": lambda: JPEG[:2] + segment(0xE0, b"JFIF\0\1\1\0\0\1\0\1\x10\x10", FACE[:768]) + JPEG[20:],
    "jfxx-thumbnail.jpg": lambda: jpeg(segment(0xE0, b"JFXX\0\x10", FACE)),
    "xmp-thumbnails.jpg": lambda: jpeg(xmp(
        "<xmp:Thumbnails><rdf:Alt><rdf:li rdf:parseType='Resource' xmlns:xmpGImg='http://ns.adobe.com/xap/1.0/g/img/'>"
        f"<xmpGImg:image>{TEXT}</xmpGImg:image></rdf:li></rdf:Alt></xmp:Thumbnails>")),
    "xmp-google-image.jpg": lambda: jpeg(xmp(image_element("GImage", f"{GOOGLE}/1.0/image/"))),
    "xmp-google-other-prefix.jpg": lambda: jpeg(xmp(image_element("q", f"{GOOGLE}/1.0/image/"))),
    "xmp-google-depth.jpg": lambda: jpeg(xmp(image_element("GDepth", f"{GOOGLE}/1.0/depthmap/"))),
    "xmp-dynamic-depth.jpg": lambda: jpeg(xmp(
        f"<p:Profiles xmlns:p='{GOOGLE}/dd/1.0/profile/'>{image_element('Image', f'{GOOGLE}/dd/1.0/image/')}</p:Profiles>")),
    "xmp-unnamed.jpg": lambda: jpeg(xmp(f"<a xmlns='urn:any'>{TEXT}</a>")),
    "xmp-attribute.jpg": lambda: jpeg(xmp("", f"dc:source='{TEXT}'")),
    "xmp-description.jpg": lambda: jpeg(xmp(f"<dc:description>{TEXT}</dc:description>")),
    "xmp-description-lines.jpg": lambda: jpeg(xmp(f"<dc:description>{LINES}</dc:description>")),
    "xmp-keywords.jpg": lambda: jpeg(xmp("<dc:subject><rdf:Bag>" + "".join(
        f"<rdf:li>{line}</rdf:li>" for line in LINES.split("\n")) + "</rdf:Bag></dc:subject>")),
    "xmp-keywords-short.jpg": lambda: jpeg(xmp("<dc:subject><rdf:Bag>" + "".join(
        f"<rdf:li>{word}</rdf:li>" for word in re.findall(".{1,40}", TEXT)[:100]) + "</rdf:Bag></dc:subject>")),
    "xmp-words.jpg": lambda: jpeg(xmp(f"<dc:description>{words(20, 900)}</dc:description>")),
    "xmp-divided.jpg": lambda: jpeg(xmp("".join(
        f"<dc:{name}>{text}</dc:{name}>" for name, text in zip(["description", "rights", "source", "publisher", "language"],
                                                               re.findall("(?s).{1,300}", words(20, 1500)))))),
    "xmp-numbers.jpg": lambda: jpeg(xmp(f"<dc:description>{' '.join(map(str, FACE[-240:]))}</dc:description>")),
    "xmp-letters.jpg": lambda: jpeg(xmp(keywords(lines_of(letters(SAMPLES), 900)))),
    "xmp-letters-short.jpg": lambda: jpeg(xmp(keywords(letters(SAMPLES)[:400]))),
    "xmp-characters.jpg": lambda: jpeg(xmp(keywords(lines_of(characters(SAMPLES), 300)))),
    "xmp-languages.jpg": lambda: jpeg(xmp("<dc:rights><rdf:Alt>" + "".join(
        f"<rdf:li xml:lang='{word}{word}'>a</rdf:li>" for word in letters(SAMPLES)[:90]) + "</rdf:Alt></dc:rights>")),
    "xmp-outside.jpg": lambda: jpeg(segment(0xE1, b"http://ns.adobe.com/xap/1.0/\0", packet("").replace(
        b"<rdf:RDF", f"<a>{TEXT}</a><rdf:RDF".encode()))),
    "xmp-comment.jpg": lambda: jpeg(xmp(f"<!--{TEXT}-->")),
    "xmp-instruction.jpg": lambda: jpeg(xmp(f"<?face {TEXT}?>")),
    "xmp-twice.jpg": lambda: jpeg(xmp(""), xmp(image_element("u", "urn:any"))),
    "xmp-extended.jpg": extended_xmp,
    "iptc-caption.jpg": lambda: jpeg(iptc(120, ASCII_LINES)),
    "photoshop-thumbnail.jpg": lambda: jpeg(photoshop(0x040C, struct.pack(">7I", 1, 48, 48, 144, 6912, len(FACE), 0x180001) + FACE)),
    "comment.jpg": lambda: jpeg(segment(0xFE, FACE)),
    "comment-base64.jpg": lambda: jpeg(segment(0xFE, TEXT.encode())),
    "segment-app3.jpg": lambda: jpeg(segment(0xE3, b"Meta\0\0", FACE)),
    "segment-flashpix.jpg": lambda: jpeg(segment(0xE2, b"FPXR\0\0", FACE)),
    "segment-jumbf.jpg": lambda: jpeg(segment(0xEB, b"JP\0\1\0\0\0\1", box(b"jumb", box(b"jumd", b"face"), box(b"bidb", FACE)))),
    "segment-ducky.jpg": lambda: jpeg(segment(0xEC, b"Ducky", FACE)),
    "segment-adobe.jpg": lambda: jpeg(segment(0xEE, b"Adobe\0\x64\0\0\0\0\1", FACE)),
    "segment-reserved.jpg": lambda: jpeg(segment(0xF7, FACE)),
    "between-scans.jpg": between_scans,
    "multi-picture.jpg": multi_picture,
    "ultra-hdr.jpg": ultra_hdr,
    "motion-photo.jpg": motion_photo,
    "trailer-picture.jpg": lambda: jpeg(trailer=FACE),
    "trailer-samsung.jpg": lambda: jpeg(trailer=b"\0\0\x30\x0a\x10\0\0\0MotionPhoto_Data" + video() + b"SEFHSEFT"),
    "profile-none.jpg": lambda: jpeg(icc(FACE)),
    "profile-after-end.jpg": lambda: jpeg(icc(profile() + FACE)),
    "profile-private-tag.jpg": lambda: jpeg(icc(tagged_profile(b"face", b"data\0\0\0\0" + FACE))),
    "profile-text.jpg": lambda: jpeg(icc(tagged_profile(b"cprt", b"text\0\0\0\0" + ASCII_LINES))),
    "profile-bytes-as-text.jpg": lambda: jpeg(icc(tagged_profile(b"cprt", b"text\0\0\0\0" + FACE))),
    "profile-behind-name.jpg": lambda: jpeg(icc(tagged_profile(
        b"desc", b"desc\0\0\0\0" + struct.pack(">I", 5) + b"sRGB\0" + bytes(8) + FACE))),
    "profile-behind-names.jpg": lambda: jpeg(icc(tagged_profile(
        b"desc", b"mluc\0\0\0\0" + struct.pack(">II4sII", 1, 12, b"enUS", 8, 28) + "sRGB".encode("utf-16-be") + FACE))),
    "profile-behind-white.jpg": lambda: jpeg(icc(tagged_profile(b"wtpt", profile_tag(b"wtpt") + FACE))),
    "profile-other-space.jpg": lambda: jpeg(icc(other_space(tagged_profile(b"face", b"data\0\0\0\0" + FACE)))),
    "profile-gap.jpg": lambda: jpeg(icc(tagged_profile(b"face", b"data\0\0\0\0", gap=FACE + bytes(-len(FACE) % 4)))),
    "profile-curve.jpg": lambda: jpeg(icc(tagged_profile(
        b"rTRC", b"curv\0\0\0\0" + struct.pack(">I", len(FACE) // 2) + FACE[:len(FACE) // 2 * 2]))),
    "profile-rising-curve.jpg": lambda: jpeg(icc(tagged_profile(b"rTRC", rising_curve(FACE)))),
    "profile-rising-curves.jpg": lambda: jpeg(icc(rising_curves())),
    "profile-twice.jpg": lambda: jpeg(icc(profile()), icc(FACE)),
    "profile-wrong-number.jpg": lambda: jpeg(icc(profile()), segment(0xE2, b"ICC_PROFILE\0\7\1", FACE)),
    "profile-table.jpg": lambda: jpeg(icc(tables())),
    "text.png": lambda: png(chunk(b"tEXt", b"Comment\0" + TEXT.encode())),
    "packed-text.png": lambda: png(chunk(b"zTXt", b"Comment\0\0" + zlib.compress(TEXT.encode()))),
    "international-text.png": lambda: png(chunk(b"iTXt", b"Comment\0\0\0\0\0" + TEXT.encode())),
    "raw-profile.png": lambda: png(chunk(b"zTXt", b"Raw profile type exif\0\0" + zlib.compress(b"\nexif\n   9\n" + FACE.hex().encode()))),
    "xmp.png": lambda: png(chunk(b"iTXt", b"XML:com.adobe.xmp\0\0\0\0\0" + packet(image_element("u", "urn:any")))),
    "xmp-twice.png": lambda: png(chunk(b"iTXt", b"XML:com.adobe.xmp\0\0\0\0\0" + packet("")),
                                 chunk(b"iTXt", b"XML:com.adobe.xmp\0\0\0\0\0" + packet(image_element("u", "urn:any")))),
    "exif.png": lambda: png(chunk(b"eXIf", tiff([(0x10F, 2, b"maker\0")], ifd1=FACE))),
    "private-chunk.png": lambda: png(chunk(b"faCe", FACE)),
    "odd-gamma.png": lambda: png(chunk(b"gAMA", FACE)),
    "trailer.png": lambda: png(trailer=FACE),
    "profile-none.png": lambda: png(chunk(b"iCCP", b"icc\0\0" + zlib.compress(FACE))),
    "profile-after-end.png": lambda: png(chunk(b"iCCP", b"icc\0\0" + zlib.compress(profile() + FACE))),
    "profile-twice.png": lambda: png(chunk(b"iCCP", b"icc\0\0" + zlib.compress(profile())),
                                     chunk(b"iCCP", b"icc\0\0" + zlib.compress(FACE))),
    "profile-after-packed.png": lambda: png(chunk(b"iCCP", b"icc\0\0" + zlib.compress(profile()) + FACE)),
    "profile-name.png": lambda: png(chunk(b"iCCP", TEXT[:79].encode() + b"\0\0" + zlib.compress(profile()))),
    "profile-rising-curves.png": lambda: png(chunk(b"iCCP", b"icc\0\0" + zlib.compress(rising_curves()))),
    "pixels-after-end.png": lambda: PNG[:-12] + chunk(b"IDAT", FACE) + PNG[-12:],
    "end.png": lambda: PNG[:-12] + chunk(b"IEND", FACE),
    "background.png": lambda: png(chunk(b"bKGD", FACE)),
    "depth.png": lambda: png(chunk(b"sBIT", FACE)),
    "profile-twice.webp": lambda: webp(32, (b"ICCP", profile()), (b"ICCP", FACE)),
    "exif.webp": lambda: webp(8, (b"EXIF", tiff([(0x10F, 2, b"maker\0")], ifd1=FACE))),
    "exif-twice.webp": lambda: webp(8, (b"EXIF", tiff([(0x10F, 2, b"maker\0")])), (b"EXIF", tiff([], ifd1=FACE))),
    "xmp.webp": lambda: webp(4, (b"XMP ", packet(image_element("u", "urn:any")))),
    "private-chunk.webp": lambda: webp(0, (b"FACE", FACE)),
    "profile-none.webp": lambda: webp(32, (b"ICCP", FACE)),
    "trailer.webp": lambda: webp(0, trailer=FACE),
    "thumbnail.heic": lambda: heic("--thumb", "64"),
    "exif-and-xmp.heic": lambda: heic(name="portrait.jpg"),
    "two-pictures.heic": lambda: heic(second=True),
    "trailer.heic": lambda: heic() + FACE,
    "free-box.heic": lambda: heic() + box(b"free", FACE),
}

# What exiftool may say of a result: groups, and then tags that only metadata that is kept may have.
PLAIN_GROUPS = {"ExifTool", "File", "JFIF", "ICC_Profile", "Composite", "PNG", "RIFF"}
KEPT_GROUPS = PLAIN_GROUPS | {"EXIF", "XMP"}
# Bytes of a picture that 1,000 bytes of words can hold, the most that EXIF keeps: a letter for half a byte.
MAX_HELD = 500
SIGNATURES = {"JPEG": b"\xff\xd8\xff", "PNG": b"\x89PNG\r\n", "WebP": b"WEBPVP8", "video": b"ftypmp4", "GIF": b"GIF8"}


def finds(file, keep):
    """What a result has that it should not have."""
    found = []
    said = subprocess.run(["exiftool", "-a", "-G", "-ee", "-j", file], capture_output=True, text=True, check=True)
    for name, value in json.loads(said.stdout)[0].items():
        group, _, tag = name.partition(":")
        binary = isinstance(value, str) and value.startswith("(Binary data")
        curve = group == "ICC_Profile" and tag.endswith("TRC")
        warning = tag in ("Warning", "Error", "Trailer")
        if tag and (group not in (KEPT_GROUPS if keep else PLAIN_GROUPS) or binary and not curve or warning
                      or re.search("Thumbnail|Preview|MPImage|Trailer", tag)):
            found.append(f"exiftool: {name} {str(value)[:40]}")
    data = file.read_bytes()
    places = {"": data}
    if file.suffix == ".png":
        at = data.find(b"iCCP")
        if at >= 0:
            body = data[at + 4:at + 4 + struct.unpack(">I", data[at - 4:at])[0]]
            places["in the profile: "] = zlib.decompress(body[body.index(b"\0") + 2:])
    for run in re.findall(rb"[A-Za-z0-9+/]{64,}", data):
        places["in base64: "] = base64.b64decode(run[:len(run) // 4 * 4])
    for run in re.findall(rb"[0-9a-fA-F]{64,}", data):
        places["in hexadecimal: "] = bytes.fromhex(run[:len(run) // 2 * 2].decode())
    for where, part in places.items():
        for name, signature in SIGNATURES.items():
            if part.find(signature, 16 if where == "" else 0) >= 0:
                found.append(f"{where}{name}")
        if any(SAMPLES[at:at + 16] in part for at in range(0, len(SAMPLES) - 16, 8)):
            found.append(f"{where}bytes of the hidden picture")
    if any(rising_curve(FACE)[at:at + 32] in part for part in places.values() for at in range(12, 2000, 32)):
        found.append("a curve of the hidden picture")
    only_letters = re.sub(rb"<[^<>]*>|[^A-Za-z0-9+/]", b"", data)
    if any(TEXT[at:at + 32].encode() in part for part in (data, only_letters) for at in range(0, len(TEXT) - 32, 8)):
        found.append("text of the hidden picture")
    together = re.sub(r"<[^<>]*>|\s|\0", "", data.decode("utf-8", "replace"))
    hidden = "".join(letters(SAMPLES))
    # What is kept can hold as much; SECURITY.md says so.
    held = sum(hidden[at:at + 16] in together for at in range(0, len(hidden) - 16, 16)) * 8
    held += sum(word in together for word in characters(SAMPLES)) * 15
    if held > MAX_HELD:
        found.append(f"{held} bytes of the hidden picture in words")
    if any(" ".join(map(str, SAMPLES[at:at + 16])).encode() in data for at in range(0, len(SAMPLES) - 16, 8)):
        found.append("numbers of the hidden picture")
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", default=ROOT / "target/release/facedp", type=pathlib.Path)
    parser.add_argument("--keep", type=pathlib.Path, help="where the corpus and the results stay")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        folder = options.keep or pathlib.Path(folder)
        corpus = folder / "corpus"
        shutil.rmtree(corpus, ignore_errors=True)
        corpus.mkdir(parents=True)
        for name, make in KINDS.items():
            (corpus / name).write_bytes(make())
        rows, bad = {}, 0
        for keep in [False, True]:
            out = folder / ("kept" if keep else "stripped")
            command = [options.program.resolve(), "protect", corpus, "-o", out, "--force", "--aligned", "--no-check", "--json",
                       "--no-metrics", "--method", "rdp-optimal", "--seed", "1"] + (["--keep-metadata"] if keep else [])
            run = subprocess.run(command, capture_output=True, text=True)
            for line in map(json.loads, run.stdout.splitlines()):
                if not line.get("file"):
                    continue
                name = pathlib.Path(line["file"]).name
                found = [line["error"]] if "error" in line else finds(pathlib.Path(line["output"]), keep)
                bad += bool(found)
                for text in found:
                    print(f"{'kept' if keep else 'stripped'}: {name}: {text}")
                said = line.get("stripped", []) + line.get("notes", [])
                rows.setdefault(name, []).append((found, said))
    lines = ["# Hidden pictures", "",
             "Each file hides a small JPEG of the original face in its own way. `tools/leaks.py` makes these files, has facedp",
             "treat them, and looks for the picture in the results: with `exiftool -a -G -ee`, and for embedded JPEG, PNG, WebP and",
             "video as bytes, base64 and hexadecimal. Up to 500 bytes of it in words that people could have written (letters from a to p,",
             "Chinese characters) are not counted: what is kept can hold them ([how much](../../SECURITY.md)).", "",
             f"{len(rows)} kinds, each with and without `--keep-metadata`: {bad} of {2 * len(rows)} results have anything left.", "",
             "| file | found | what is said to be left out or changed | with `--keep-metadata` |", "| --- | --- | --- | --- |"]
    for name in KINDS:
        cells = rows.get(name, [])
        found = sum(len(found) for found, _ in cells)
        said = [", ".join(said) or "nothing" for _, said in cells]
        lines.append(f"| `{name}` | {found or 'nothing'} | {' | '.join(said)} |")
    PAGE.write_text("\n".join(lines) + "\n")
    missing = set(KINDS) - set(rows)
    print(f"{len(rows)} kinds, {bad} results with something left, {len(missing)} not treated: {sorted(missing)}")
    sys.exit(bad > 0 or bool(missing))


if __name__ == "__main__":
    main()
