//! Places in a file where a picture of the original face can hide. Nothing of them may be in a result.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod support;

use facedp_engine::{Format, Protected, Request, Workspace};
use support::{golden, noisy, recoding};

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
        assert!(listed || name == "a comment", "{name}: {:?}", kept.stripped);
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
