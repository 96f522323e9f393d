//! Places in a file where a picture of the original face can hide. Nothing of them may be in a result.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod support;

use facedp_engine::{Format, Protected, Request, Workspace};
use support::mutate::png_chunk;
use support::{decode, golden, noisy, recoding};

/// The bytes of the smuggled picture, and its text in base64.
const SECRET: &[u8] = b"\xff\xd8\xff\xe0\x00\x10JFIF\0the face as it was";
const SECRET_TEXT: &str =
    "/9j/4AAQSkZJRgB0aGUgZmFjZSBhcyBpdCB3YXMgYW5kIHdpbGwgYmUgaW4gdGhlIG5leHQgZmlsZXMgdG9v";

fn recoded(file: &[u8], keep_metadata: bool) -> Protected {
    let request = Request { keep_metadata, ..Request::default() };
    recoding(request).protect(file, &mut Workspace::default()).unwrap()
}

fn contains(file: &[u8], part: &[u8]) -> bool {
    file.windows(part.len()).any(|window| window == part)
}

/// Neither the smuggled bytes, nor a second JPEG, nor its text.
fn assert_clean(name: &str, result: &Protected) {
    let file = &result.file;
    assert!(!contains(file, b"the face as it was"), "{name}");
    assert!(!contains(file, &SECRET_TEXT.as_bytes()[..40]), "{name}");
    let starts = file.windows(3).filter(|w| *w == [0xff, 0xd8, 0xff]).count();
    assert_eq!(starts, usize::from(result.format == Format::Jpeg), "{name}");
}

fn segment(marker: u8, contents: &[&[u8]]) -> Vec<u8> {
    let contents = contents.concat();
    let length = (contents.len() as u16 + 2).to_be_bytes();
    [&[0xff, marker], &length[..], &contents].concat()
}

/// A golden JPEG with segments after its start.
fn jpeg(segments: &[Vec<u8>]) -> Vec<u8> {
    let file = golden("base_420_q85.jpg");
    [&file[..2], &segments.concat(), &file[2..]].concat()
}

fn xmp(inner: &str) -> Vec<u8> {
    let packet = format!(
        "<x:xmpmeta xmlns:x='adobe:ns:meta/'><rdf:RDF \
         xmlns:rdf='http://www.w3.org/1999/02/22-rdf-syntax-ns#'><rdf:Description rdf:about='' \
         xmlns:dc='http://purl.org/dc/elements/1.1/'>{inner}<dc:title><rdf:Alt>\
         <rdf:li xml:lang='x-default'>a title</rdf:li></rdf:Alt></dc:title></rdf:Description></rdf:RDF>\
         </x:xmpmeta>"
    );
    segment(0xe1, &[b"http://ns.adobe.com/xap/1.0/\0", packet.as_bytes()])
}

#[test]
fn xmp_keeps_known_text_only() {
    let long = SECRET_TEXT.repeat(3);
    for (name, inner) in [
        (
            "XDM",
            format!(
                "<p:Profiles xmlns:p='http://ns.google.com/photos/dd/1.0/profile/'><i:Data \
                 xmlns:i='http://ns.google.com/photos/dd/1.0/image/'>{long}</i:Data></p:Profiles>"
            ),
        ),
        (
            "another prefix",
            format!("<q:Data xmlns:q='http://ns.google.com/photos/1.0/image/'>{long}</q:Data>"),
        ),
        ("unnamed", format!("<a xmlns='urn:any'>{long}</a>")),
        ("a known name", format!("<dc:description>{long}</dc:description>")),
        ("a comment", format!("<!-- {long} -->")),
    ] {
        let file = jpeg(&[xmp(&inner)]);
        let kept = recoded(&file, true);
        assert_clean(name, &kept);
        assert!(contains(&kept.file, b"a title"), "{name}");
        let listed = kept.stripped.iter().any(|kind| kind.starts_with("XMP ("));
        assert!(listed, "{name}: {:?}", kept.stripped);
        let stripped = recoded(&file, false);
        assert_clean(name, &stripped);
        assert!(!contains(&stripped.file, b"a title") && stripped.stripped == ["XMP"], "{name}");
    }
}

#[test]
fn exif_keeps_short_plain_values_only() {
    // A description in base64, and a picture in the version field.
    let text = SECRET_TEXT.repeat(3);
    let entries: [(u16, u16, &[u8]); 2] = [(0x010e, 2, text.as_bytes()), (0x013b, 7, SECRET)];
    let mut block = b"II*\0\x08\0\0\0\x02\0".to_vec();
    let mut data = Vec::new();
    for (tag, kind, value) in entries {
        block.extend(tag.to_le_bytes());
        block.extend(kind.to_le_bytes());
        block.extend((value.len() as u32).to_le_bytes());
        block.extend((8 + 2 + 24 + 4 + data.len() as u32).to_le_bytes());
        data.extend(value);
        data.resize(data.len() + 100, 0);
    }
    let block = [&block[..], &[0; 4], &data].concat();
    let file = jpeg(&[segment(0xe1, &[b"Exif\0\0", &block])]);
    let kept = recoded(&file, true);
    assert!(!contains(&kept.file, &SECRET_TEXT.as_bytes()[..40]));
}

/// A picture divided among words, items and fields, each of them short.
#[test]
fn divided_data_is_left_out_and_listed() {
    let text = SECRET_TEXT.repeat(20);
    let part = |length: usize| -> Vec<&str> {
        (0..text.len() / length).map(|n| &text[n * length..(n + 1) * length]).collect()
    };
    let items: String = part(40).iter().map(|word| format!("<rdf:li>{word}</rdf:li>")).collect();
    let words = part(20)[..40].join(" ");
    for inner in [
        format!("<dc:subject><rdf:Bag>{items}</rdf:Bag></dc:subject>"),
        format!("<dc:description>{words}</dc:description>"),
        format!("<dc:source>{}</dc:source><dc:rights>{}</dc:rights>", &words[..400], &words[400..]),
    ] {
        let kept = recoded(&jpeg(&[xmp(&inner)]), true);
        assert!(contains(&kept.file, b"a title") && kept.stripped == ["XMP (dc)"], "{inner}");
        assert!(!contains(&kept.file, part(20)[0].as_bytes()), "{inner}");
    }
    // A part that would fit alone, beside parts that do not.
    let [description, copyright] = [&words[..299], &words[300..700]].map(str::as_bytes);
    let block = exif(&[(0x10e, 2, description), (0x8298, 2, copyright)], &[]);
    let kept = recoded(&jpeg(&[exif_segment(&block)]), true);
    assert!(!contains(&kept.file, part(20)[0].as_bytes()));
    let inner =
        format!("<dc:description>{}</dc:description><dc:source>{words}</dc:source>", &words[..299]);
    assert!(!contains(&recoded(&jpeg(&[xmp(&inner)]), true).file, part(20)[0].as_bytes()));
    // Pieces in fields that hold numbers.
    let mut block = b"II*\0\x08\0\0\0\x02\0".to_vec();
    for (tag, at) in [(0x011a_u16, 38_u32), (0x011b, 38 + 40)] {
        block.extend(tag.to_le_bytes());
        block.extend([7, 0, 40, 0, 0, 0]);
        block.extend(at.to_le_bytes());
    }
    let block = [&block[..], &[0; 4], SECRET, &[1; 80]].concat();
    let kept = recoded(&jpeg(&[segment(0xe1, &[b"Exif\0\0", &block])]), true);
    assert_clean("pieces", &kept);
    assert_eq!(kept.stripped, ["EXIF (other fields)"]);
}

#[test]
fn colour_profiles_carry_nothing_else() {
    let icc = |profile: &[u8]| jpeg(&[segment(0xe2, &[b"ICC_PROFILE\0\x01\x01", profile])]);
    let result = recoded(&icc(SECRET), false);
    assert_clean("no profile", &result);
    assert_eq!(result.stripped, ["data in place of a colour profile"]);

    // The profile of another golden file.
    let reader = image::ImageReader::new(std::io::Cursor::new(golden("tagged.jpg")));
    let mut decoder = reader.with_guessed_format().unwrap().into_decoder().unwrap();
    let profile = image::ImageDecoder::icc_profile(&mut decoder).unwrap().unwrap();
    let result = recoded(&icc(&[&profile[..], SECRET].concat()), false);
    assert_clean("after the profile", &result);
    assert_eq!(result.stripped, ["data after the colour profile"]);
    assert!(contains(&result.file, b"ICC_PROFILE\0"), "the profile itself is lost");

    // In a tag of its own: the number of tags is at 128, and names, places and sizes follow.
    let mut tagged = profile.clone();
    let last = 132 + 12 * (usize::from(tagged[131]) - 1);
    let size = tagged.len() as u32;
    tagged[last..last + 4].copy_from_slice(b"face");
    tagged[last + 4..last + 8].copy_from_slice(&size.to_be_bytes());
    tagged[last + 8..last + 12].copy_from_slice(&(SECRET.len() as u32).to_be_bytes());
    tagged.extend(SECRET);
    let size = (tagged.len() as u32).to_be_bytes();
    tagged[..4].copy_from_slice(&size);
    let result = recoded(&icc(&tagged), false);
    assert_clean("in a tag", &result);
    assert_eq!(result.stripped, ["other data in the colour profile"]);
}

#[test]
fn everything_that_is_left_out_is_listed() {
    let exif = || segment(0xe1, &[b"Exif\0\0II*\0\x08\0\0\0\0\0\0\0\0\0"]);
    let png = [&golden("upright.png")[..], SECRET].concat();
    let webp = [&golden("lossy_q80.webp")[..], SECRET].concat();
    let jfif = golden("base_420_q85.jpg");
    let header = [b"JFIF\0\x01\x01\0\0\x01\0\x01\x03\x03", &[9u8; 27][..]];
    assert_eq!(jfif[2..4], [0xff, 0xe0]);
    let jfif = [&jfif[..2], &segment(0xe0, &header), &jfif[20..]].concat();
    for (name, file, kind) in [
        ("JFIF", jfif, "thumbnail"),
        ("PNG", png, "data after the picture"),
        ("WebP", webp, "data after the picture"),
        ("two EXIF", jpeg(&[exif(), exif()]), "further EXIF"),
        ("two XMP", jpeg(&[xmp(""), xmp(SECRET_TEXT)]), "further XMP"),
        ("a reserved segment", jpeg(&[segment(0xf7, &[SECRET])]), "other data"),
    ] {
        for keep in [false, true] {
            let result = recoded(&file, keep);
            assert!(result.stripped.contains(&kind.to_owned()), "{name}: {:?}", result.stripped);
            assert_clean(name, &result);
        }
    }
}

/// What phones append to a JPEG: a video with the same face, a second picture, a gain map.
#[test]
fn motion_photos_multi_pictures_and_gain_maps_lose_their_other_pictures() {
    let (file, inner) = (golden("base_420_q85.jpg"), golden("orientation_1.jpg"));
    let boxed = |name: &[u8], body: &[u8]| {
        [&(body.len() as u32 + 8).to_be_bytes()[..], name, body].concat()
    };
    let video = [boxed(b"ftyp", b"mp42\0\0\0\0mp42isom"), boxed(b"mdat", &inner)].concat();
    let about = |inner: &str| {
        xmp(&format!(
            "<c:Camera xmlns:c='http://ns.google.com/photos/1.0/camera/'>{inner}</c:Camera>\
             <h:Version xmlns:h='http://ns.adobe.com/hdr-gain-map/1.0/'>1.0</h:Version>"
        ))
    };
    // A directory of two pictures: the whole file, and what follows it.
    let sizes = [0x0003_0000, file.len() as u32, 0, 0, 0, inner.len() as u32, file.len() as u32, 0];
    let list: Vec<u8> = sizes.into_iter().flat_map(u32::to_le_bytes).collect();
    let index =
        [&b"MPF\0II*\0\x08\0\0\0\x01\0\x02\xb0\x07\0\x20\0\0\0\x1a\0\0\0\0\0\0\0"[..], &list];
    let mpf = segment(0xe2, &index);
    for (name, segments, trailer, kind) in [
        ("motion photo", vec![about("MotionPhoto")], &video, "data after the picture"),
        ("MPF", vec![mpf.clone()], &inner, "further pictures"),
        ("Ultra HDR", vec![about("GainMap"), mpf], &inner, "further pictures"),
    ] {
        let whole = [jpeg(&segments), trailer.clone()].concat();
        for keep_metadata in [false, true] {
            let request = Request { aligned: true, keep_metadata, ..Request::default() };
            let result = noisy(request).protect(&whole, &mut Workspace::default()).unwrap();
            assert!(!result.unchanged, "{name}");
            assert_clean(name, &result);
            assert!(
                !contains(&result.file, b"ftyp") && !contains(&result.file, b"MPF\0"),
                "{name}"
            );
            let part = inner.windows(32).step_by(16).skip(40);
            assert!(part.into_iter().all(|part| !contains(&result.file, part)), "{name}");
            for kind in [kind, "data after the picture"] {
                assert!(
                    result.stripped.contains(&kind.to_owned()),
                    "{name}: {:?}",
                    result.stripped
                );
            }
            assert!(result.file.ends_with(&[0xff, 0xd9]), "{name}");
        }
    }
}

/// An EXIF block with fields (tag, type, value) in its main directory and in the one below it.
fn exif(main: &[(u16, u16, &[u8])], below: &[(u16, u16, &[u8])]) -> Vec<u8> {
    let directory = |at: usize, fields: &[(u16, u16, &[u8])]| {
        let mut entries = (fields.len() as u16).to_le_bytes().to_vec();
        let mut values: Vec<u8> = Vec::new();
        for (tag, kind, value) in fields {
            let size = [0, 1, 1, 2, 4, 8, 1, 1, 2, 4, 8][usize::from(*kind)];
            let place = at + 2 + 12 * fields.len() + 4 + values.len();
            entries.extend([tag.to_le_bytes(), kind.to_le_bytes()].concat());
            entries.extend((value.len() as u32 / size).to_le_bytes());
            if value.len() <= 4 {
                entries.extend(value.iter().copied().chain([0; 4]).take(4));
            } else {
                entries.extend((place as u32).to_le_bytes());
                values.extend(*value);
            }
        }
        [entries, vec![0; 4], values].concat()
    };
    let length = directory(8, &[main, &[(0x8769, 4, &[0; 4])]].concat()).len();
    let pointer = (8 + length as u32).to_le_bytes();
    let first = directory(8, &[main, &[(0x8769, 4, &pointer)]].concat());
    [&b"II*\0\x08\0\0\0"[..], &first, &directory(8 + length, below)].concat()
}

fn exif_segment(block: &[u8]) -> Vec<u8> {
    segment(0xe1, &[b"Exif\0\0", block])
}

/// Bytes as words of eight letters from a to p, which look like words of a language.
fn words_of_letters(bytes: &[u8]) -> Vec<String> {
    let letter = |half: u8| char::from(b'a' + half);
    let letters: Vec<char> = bytes.iter().flat_map(|b| [letter(b >> 4), letter(b & 15)]).collect();
    letters.chunks(8).map(|word| word.iter().collect()).collect()
}

/// Bytes that repeat, as no picture has them twice.
fn noise(length: usize) -> Vec<u8> {
    let mut state = 1_u32;
    let mut next = || {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (state >> 24) as u8
    };
    (0..length).map(|_| next()).collect()
}

#[test]
fn exif_fields_have_their_own_types_and_lengths() {
    let words = words_of_letters(&noise(40_000));
    let texts: Vec<String> = words.chunks(100).map(|words| words.join(" ") + "\0").collect();
    // Exposure, sensitivity, brightness, scene and lens: all are numbers but for the last three.
    let tags =
        [0x829a, 0x829d, 0x8822, 0x8827, 0x9203, 0xa402, 0xa406, 0xa432, 0x9003, 0xa431, 0xa434];
    let fields: Vec<(u16, u16, &[u8])> =
        tags.into_iter().zip(&texts).map(|(tag, text)| (tag, 2, text.as_bytes())).collect();
    let kept = recoded(&jpeg(&[exif_segment(&exif(&[(0x10f, 2, b"maker\0")], &fields))]), true);
    assert!(contains(&kept.file, b"maker"));
    assert!(words.iter().all(|word| !contains(&kept.file, word.as_bytes())));
    assert_eq!(kept.stripped, ["EXIF (other fields)"]);

    // Numbers of another type, or more of them, and texts that are short enough.
    let below: [(u16, u16, &[u8]); 5] = [
        (0x829a, 5, b"\x01\0\0\0\x3c\0\0\0"),
        (0x9207, 5, SECRET.first_chunk::<16>().unwrap()),
        (0x829d, 5, SECRET.first_chunk::<24>().unwrap()),
        (0x9003, 2, b"2001:02:03 04:05:06\0"),
        (0xa434, 2, b"a lens of 35 mm\0"),
    ];
    let kept = recoded(&jpeg(&[exif_segment(&exif(&[], &below))]), true);
    assert_clean("numbers", &kept);
    assert!(contains(&kept.file, b"a lens of 35 mm") && contains(&kept.file, b"2001:02:03"));
    assert!(contains(&kept.file, b"\x01\0\0\0\x3c\0\0\0"));
    assert_eq!(kept.stripped, ["EXIF (other fields)"]);
}

/// Words that cannot be told from those of people have room for no picture.
#[test]
fn all_text_together_is_short() {
    let bytes = noise(20_000);
    let words = words_of_letters(&bytes);
    let texts: Vec<String> = words.chunks(21).map(|words| words.join(" ")).collect();
    let main: Vec<String> = [20, 6, 6, 6, 20, 30].map(|n| words[..n].join(" ") + "\0").to_vec();
    let main: Vec<(u16, u16, &[u8])> = [0x10e, 0x10f, 0x110, 0x131, 0x13b, 0x8298]
        .into_iter()
        .zip(&main)
        .map(|(tag, text)| (tag, 2, text.as_bytes()))
        .collect();
    // 12 bits in each character, in words of ten.
    let han: Vec<char> = bytes
        .chunks_exact(3)
        .flat_map(|b| {
            let bits = u32::from(b[0]) << 16 | u32::from(b[1]) << 8 | u32::from(b[2]);
            [bits >> 12, bits & 0xfff].map(|bits| char::from_u32(0x4e00 + bits).unwrap())
        })
        .collect();
    let han: Vec<String> = han.chunks(10).map(|word| word.iter().collect()).collect();
    let names = ["description", "rights", "publisher", "contributor", "creator", "language"];
    let items = |texts: &[String]| -> String {
        texts.iter().map(|text| format!("<rdf:li>{text}</rdf:li>")).collect()
    };
    for (name, inner) in [
        (
            "keywords",
            format!("<dc:subject><rdf:Bag>{}</rdf:Bag></dc:subject>", items(&texts[..50])),
        ),
        (
            "characters",
            format!("<dc:subject><rdf:Bag>{}</rdf:Bag></dc:subject>", items(&han[..50])),
        ),
        (
            "fields",
            names
                .iter()
                .map(|name| {
                    format!("<dc:{name}><rdf:Bag>{}</rdf:Bag></dc:{name}>", items(&texts[..1]))
                })
                .collect(),
        ),
        ("description", format!("<dc:description>{}</dc:description>", words[..100].join(" "))),
    ] {
        let kept = recoded(&jpeg(&[exif_segment(&exif(&main, &[])), xmp(&inner)]), true);
        let text = String::from_utf8_lossy(&kept.file).into_owned();
        let held = words.iter().filter(|word| text.contains(*word)).map(String::len);
        let held = held.sum::<usize>() / 2;
        let characters = text.chars().filter(|c| ('\u{4e00}'..'\u{5e00}').contains(c)).count();
        assert!(held + characters * 3 / 2 <= 1000, "{name}: {held}, {characters}");
        let listed = kept.stripped.iter().any(|kind| kind == "XMP (dc)");
        assert!(listed || name == "fields", "{name}: {:?}", kept.stripped);
    }
}

#[test]
fn curves_of_colour_profiles_carry_no_data() {
    let reader = image::ImageReader::new(std::io::Cursor::new(golden("tagged.jpg")));
    let mut decoder = reader.with_guessed_format().unwrap().into_decoder().unwrap();
    let mut profile = image::ImageDecoder::icc_profile(&mut decoder).unwrap().unwrap();
    // Each point is above the last one by a half of a byte: it never falls, as a curve should.
    let mut level = 0_u16;
    let halves = noise(2048).into_iter().flat_map(|byte| [byte & 15, byte >> 4]);
    let points: Vec<u8> = halves
        .flat_map(|half| {
            level += u16::from(half);
            level.to_be_bytes()
        })
        .collect();
    let curve = [&b"curv\0\0\0\0\0\0\x10\0"[..], &points].concat();
    for number in 0..usize::from(profile[131]) {
        let at = 132 + 12 * number;
        if [b"rTRC", b"gTRC", b"bTRC"].iter().any(|name| profile[at..at + 4] == name[..]) {
            let place = (profile.len() as u32).to_be_bytes();
            profile[at + 4..at + 8].copy_from_slice(&place);
            profile[at + 8..at + 12].copy_from_slice(&(curve.len() as u32).to_be_bytes());
            profile.extend(&curve);
        }
    }
    let size = (profile.len() as u32).to_be_bytes();
    profile[..4].copy_from_slice(&size);
    let result = recoded(&jpeg(&[segment(0xe2, &[b"ICC_PROFILE\0\x01\x01", &profile])]), false);
    assert!(points.windows(16).step_by(2).all(|part| !contains(&result.file, part)));
    assert!(!contains(&result.file, b"ICC_PROFILE"));
    assert!(
        result.notes.iter().any(|note| note.contains("converted to sRGB")),
        "{:?}",
        result.notes
    );
}

/// An extended WebP with chunks before and after its picture.
fn webp(flags: u8, before: &[(&[u8; 4], &[u8])], after: &[(&[u8; 4], &[u8])]) -> Vec<u8> {
    let chunk = |(name, data): &(&[u8; 4], &[u8])| {
        let padding = vec![0; data.len() % 2];
        [&name[..], &(data.len() as u32).to_le_bytes(), data, &padding].concat()
    };
    let chunks = |all: &[(&[u8; 4], &[u8])]| all.iter().flat_map(chunk).collect::<Vec<u8>>();
    let file = golden("lossy_q80.webp");
    let photo = decode(&file);
    let [width, height] =
        [photo.width(), photo.height()].map(|side| (side as u32 - 1).to_le_bytes());
    let head = [&[flags, 0, 0, 0], &width[..3], &height[..3]].concat();
    let body =
        [&b"WEBP"[..], &chunk(&(b"VP8X", &head)), &chunks(before), &file[12..], &chunks(after)];
    let body = body.concat();
    [&b"RIFF"[..], &(body.len() as u32).to_le_bytes(), &body].concat()
}

/// What decoders ignore is no part of a result, and is listed.
#[test]
fn what_decoders_ignore_is_listed() {
    let reader = image::ImageReader::new(std::io::Cursor::new(golden("tagged.jpg")));
    let mut decoder = reader.with_guessed_format().unwrap().into_decoder().unwrap();
    let profile = image::ImageDecoder::icc_profile(&mut decoder).unwrap().unwrap();
    let icc = |at: u8, of: u8, data: &[u8]| segment(0xe2, &[b"ICC_PROFILE\0", &[at, of], data]);
    let zlib = |data: &[u8]| miniz_oxide::deflate::compress_to_vec_zlib(data, 6);
    let iccp = |name: &[u8], packed: &[u8]| png_chunk(b"iCCP", &[name, b"\0\0", packed].concat());
    let base = golden("upright.png");
    let (head, end) = (33, base.len() - 12);
    let png = |chunks: &[Vec<u8>]| [&base[..head], &chunks.concat(), &base[head..]].concat();
    let last = |chunk: Vec<u8>| [&base[..end], &chunk, &base[end..]].concat();
    let foreign = "data in place of a colour profile";
    let good = zlib(&profile);
    for (name, file, kind) in [
        ("two profiles", jpeg(&[icc(1, 1, &profile), icc(1, 1, SECRET)]), foreign),
        ("a wrong number", jpeg(&[icc(1, 1, &profile), icc(7, 1, SECRET)]), foreign),
        ("Adobe", jpeg(&[segment(0xee, &[b"Adobe\0\x64\0\0\0\0\x01", SECRET])]), "other data"),
        (
            "two profiles in PNG",
            png(&[iccp(b"icc", &good), iccp(b"icc", &zlib(SECRET))]),
            "further colour profile",
        ),
        (
            "after the packed profile",
            png(&[iccp(b"icc", &[&good, SECRET].concat())]),
            "data after the colour profile",
        ),
        ("name", png(&[iccp(&SECRET_TEXT.as_bytes()[..79], &good)]), "text"),
        ("after the pixels", last(png_chunk(b"IDAT", SECRET)), "data after the picture"),
        ("end", [&base[..end], &png_chunk(b"IEND", SECRET)].concat(), "other data"),
        ("background", png(&[png_chunk(b"bKGD", &[&[0; 6], SECRET].concat())]), "other data"),
        ("depth", png(&[png_chunk(b"sBIT", &[&[8; 3], SECRET].concat())]), "other data"),
        (
            "two profiles in WebP",
            webp(32, &[(b"ICCP", &profile), (b"ICCP", SECRET)], &[]),
            "further colour profile",
        ),
    ] {
        for keep in [false, true] {
            let result = recoded(&file, keep);
            assert_eq!(result.stripped, [kind], "{name}");
            assert_clean(name, &result);
        }
    }
    // Only where the rest is kept.
    let block = [exif(&[(0x10f, 2, b"maker\0")], &[]), SECRET.to_vec()].concat();
    for (name, file, kind) in [
        ("EXIF", jpeg(&[exif_segment(&block)]), "EXIF (other fields)"),
        ("comment", jpeg(&[xmp(&format!("<!--{SECRET_TEXT}-->"))]), "XMP (comments)"),
        ("instruction", jpeg(&[xmp(&format!("<?face {SECRET_TEXT}?>"))]), "XMP (instructions)"),
        ("text", jpeg(&[xmp(SECRET_TEXT)]), "XMP (other text)"),
    ] {
        let kept = recoded(&file, true);
        assert_eq!(kept.stripped, [kind], "{name}");
        assert_clean(name, &kept);
    }
    // An ordinary picture has none of this.
    for name in ["upright.png", "palette.png", "deep_rgb.png", "lossless.webp", "base_420_q85.jpg"]
    {
        assert_eq!(recoded(&golden(name), true).stripped, [""; 0], "{name}");
    }
}
