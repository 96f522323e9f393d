//! Pictures as other programs write them: read, written again, and compared with what Pillow says.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod support;

use facedp::metrics::Quality;
use facedp_engine::{Error, Format, Limits, Photo, Protected, Region, Request, Workspace};
use image::{DynamicImage, GenericImageView, ImageDecoder};
use serde_json::Value;
use support::{cases, decode, golden, noisy, recoding};

/// Cases that are still pictures.
fn stills() -> impl Iterator<Item = (String, Value)> {
    let cases = cases().into_iter().filter(|case| case["frames"] == 1);
    cases.map(|case| (case["file"].as_str().unwrap().to_owned(), case))
}

fn recoded(file: &[u8], request: Request) -> Protected {
    let engine = recoding(request);
    engine.protect(file, &mut Workspace::default()).unwrap()
}

fn contains(file: &[u8], part: &[u8]) -> bool {
    file.windows(part.len()).any(|window| window == part)
}

#[test]
fn decoded_as_pillow_decodes() {
    let mut tried = 0;
    for (name, case) in stills() {
        let photo = decode(&golden(&name));
        let size = [photo.width(), photo.height()].map(|n| n as u64);
        assert_eq!(size, [&case["width"], &case["height"]].map(|n| n.as_u64().unwrap()), "{name}");
        let format = match case["format"].as_str().unwrap() {
            "JPEG" => Format::Jpeg,
            "PNG" => Format::Png,
            _ => Format::WebP,
        };
        assert_eq!(photo.format(), format, "{name}");
        // Decoders of lossy formats differ by rounding and by how chroma is enlarged.
        let most = if format == Format::Png { 0.51 } else { 0.8 };
        let (x, y) = (photo.width() / 2, photo.height() / 2);
        let (right, bottom) = (photo.width() - x, photo.height() - y);
        let quarters = [(0, 0, x, y), (x, 0, right, y), (0, y, x, bottom), (x, y, right, bottom)];
        for (quarter, (x, y, width, height)) in quarters.into_iter().enumerate() {
            let picture = photo.picture(Region { x, y, width, height }).unwrap();
            for channel in 0..3 {
                let samples = picture.rgb().iter().skip(channel).step_by(3).map(|s| f64::from(*s));
                let mean = samples.sum::<f64>() / (width * height) as f64;
                let expected = case["quarters"][quarter][channel].as_f64().unwrap();
                assert!((mean - expected).abs() < most, "{name}: {mean} instead of {expected}");
            }
        }
        tried += 1;
    }
    assert!(tried >= 28, "{tried}");
}

/// Kind of samples, and size of the file, stay; lossless formats keep every sample.
#[test]
fn formats_survive_without_noise() {
    for (name, case) in stills() {
        let file = golden(&name);
        let result = recoded(&file, Request::default());
        let [before, after] = [&file, &result.file].map(|f| image::load_from_memory(f).unwrap());
        assert_eq!(image::guess_format(&file).unwrap(), image::guess_format(&result.file).unwrap());
        assert_eq!(before.color(), after.color(), "{name}");
        let (photo, again) = (decode(&file), decode(&result.file));
        let [a, b] = [&photo, &again].map(|p| p.luma(p.whole()));
        let quality = Quality::compare(&a, &b).unwrap();
        let lossless = case["format"] == "PNG" || case["lossless"] == true;
        if lossless {
            assert_eq!(photo.digest(), again.digest(), "{name}");
        } else {
            let ratio = result.file.len() as f64 / file.len() as f64;
            println!("{name}: {:.2} dB, size {ratio:.3}", quality.psnr.unwrap_or(f64::INFINITY));
            assert!(quality.psnr.is_none_or(|psnr| psnr > 38.0), "{name}: {:?}", quality.psnr);
            // Four inks become three colours in one file; others lose metadata.
            let least = match name.as_str() {
                "cmyk.jpg" => 0.5,
                "tagged.jpg" | "tagged.webp" => 0.6,
                _ => 0.9,
            };
            assert!((least..1.15).contains(&ratio), "{name}: {ratio}");
        }
        let note = match name.as_str() {
            "cmyk.jpg" => Some("CMYK"),
            "palette.png" | "palette_transparent.png" => Some("palette"),
            _ => None,
        };
        assert_eq!(note.is_some(), !result.notes.is_empty(), "{name}: {:?}", result.notes);
        assert!(result.notes.iter().all(|n| n.contains(note.unwrap_or(""))), "{name}");
    }
}

#[test]
fn jpeg_tables_subsampling_and_kind_are_kept() {
    for (name, case) in stills().filter(|(_, case)| case["format"] == "JPEG") {
        // CMYK has other tables; a quarter turn makes rows of columns.
        let turned = case["orientation"].as_u64().is_some_and(|turn| turn > 4);
        if name == "cmyk.jpg" {
            continue;
        }
        let result = recoded(&golden(&name), Request::default()).file;
        for (id, table) in case["tables"].as_object().unwrap() {
            let table = table.as_array().unwrap().iter().map(|v| v.as_u64().unwrap() as u8);
            let table = if turned { transposed(table.collect()) } else { table.collect() };
            let head = [0xff, 0xdb, 0, 67, id.parse::<u8>().unwrap()];
            let segment: Vec<u8> = head.into_iter().chain(table).collect();
            assert!(contains(&result, &segment), "{name}: table {id} is not in the result");
        }
        let frame = if case["progressive"] == true { 0xc2 } else { 0xc0 };
        let components = case["components"].as_array().unwrap();
        let factor = |n: usize| {
            let part = |key: &str| components[n][key].as_u64().unwrap() as u8;
            part("h") << 4 | part("v")
        };
        let at = result.windows(2).position(|w| w == [0xff, frame]).unwrap();
        assert_eq!(usize::from(result[at + 9]), components.len(), "{name}");
        if components.len() == 3 {
            assert_eq!((result[at + 11], result[at + 14]), (factor(0), factor(1)), "{name}");
        }
        let lower =
            recoded(&golden(&name), Request { jpeg_quality: Some(30), ..Request::default() });
        assert!(lower.file.len() < result.len(), "{name}");
    }
}

#[test]
fn all_orientations_come_out_upright() {
    let upright = decode(&golden("upright.png"));
    let expected = upright.picture(upright.whole()).unwrap();
    for orientation in 1..=8 {
        let name = format!("orientation_{orientation}.jpg");
        let result =
            recoded(&golden(&name), Request { format: Some(Format::Png), ..Request::default() });
        let photo = decode(&result.file);
        let picture = photo.picture(photo.whole()).unwrap();
        assert_eq!((picture.width(), picture.height()), (93, 109), "{name}");
        let differences = expected.rgb().iter().zip(picture.rgb()).map(|(a, b)| a.abs_diff(*b));
        let most = differences.clone().max().unwrap();
        let mean = differences.map(f64::from).sum::<f64>() / picture.rgb().len() as f64;
        // With Pillow and OpenCV: at most 19, 2.3 on average.
        assert!(most <= 22 && mean < 2.6, "{name}: {most}, {mean}");
        // Kept EXIF must not turn the picture again.
        let kept = Request { keep_metadata: true, ..Request::default() };
        let kept = decode(&recoded(&golden(&name), kept).file);
        assert_eq!((kept.width(), kept.height()), (93, 109), "{name}");
    }
}

#[test]
fn metadata_is_left_out_and_named() {
    for (name, expected) in [
        (
            "tagged.jpg",
            vec!["IPTC", "comment", "EXIF", "GPS position", "thumbnail", "maker notes", "XMP"],
        ),
        ("text.png", vec!["text", "EXIF", "GPS position", "maker notes", "XMP"]),
        ("tagged.webp", vec!["EXIF", "GPS position", "thumbnail", "maker notes", "XMP"]),
    ] {
        let file = golden(name);
        let case = cases().into_iter().find(|case| case["file"] == name).unwrap();
        let traces = case["traces"].as_array().unwrap().clone();
        let traces: Vec<&str> = traces.iter().map(|t| t.as_str().unwrap()).collect();
        assert!(!traces.is_empty() && traces.iter().all(|t| contains(&file, t.as_bytes())));
        let result = recoded(&file, Request::default());
        assert_eq!(result.stripped, expected, "{name}");
        for trace in &traces {
            assert!(!contains(&result.file, trace.as_bytes()), "{trace} is still in {name}");
        }
        assert!(decode(&result.file).metadata().is_empty(), "{name}");

        // Kept on request, but for pictures of the face and what can hold them.
        let kept = recoded(&file, Request { keep_metadata: true, ..Request::default() });
        assert!(contains(&kept.file, b"trace-make"), "{name}");
        assert!(!contains(&kept.file, b"trace-makernote"), "{name}");
        let found = decode(&kept.file).metadata().to_vec();
        assert!(found.contains(&"GPS position".to_owned()), "{name}: {found:?}");
        for part in ["thumbnail", "maker notes"] {
            assert!(!found.contains(&part.to_owned()), "{name}: {found:?}");
        }
        let left: Vec<_> = expected.iter().filter(|e| !found.iter().any(|f| f == *e)).collect();
        let stripped = kept.stripped.iter().filter(|kind| !kind.starts_with("XMP ("));
        assert_eq!(stripped.collect::<Vec<_>>(), left, "{name}");
        // The bytes of the thumbnail are gone too: a JPEG begins only where the file does.
        let starts = kept.file.windows(3).filter(|w| *w == [0xff, 0xd8, 0xff]).count();
        assert_eq!(starts, usize::from(name.ends_with("jpg")), "{name}");
    }
}

/// The data of a tag of a colour profile.
fn tag_data<'a>(icc: &'a [u8], tag: &str) -> &'a [u8] {
    let number = |at: usize| u32::from_be_bytes(icc[at..at + 4].try_into().unwrap()) as usize;
    let entries = (0..number(128)).map(|n| 132 + 12 * n);
    let at = entries.into_iter().find(|at| icc[*at..at + 4] == *tag.as_bytes()).unwrap();
    &icc[number(at + 4)..number(at + 4) + number(at + 8)]
}

#[test]
fn colour_profiles_and_display_chunks_are_kept() {
    let profile = |file: &[u8]| {
        let reader = image::ImageReader::new(std::io::Cursor::new(file)).with_guessed_format();
        reader.unwrap().into_decoder().unwrap().icc_profile().unwrap()
    };
    for name in ["tagged.jpg", "tagged.webp"] {
        let file = golden(name);
        let original = profile(&file).unwrap();
        for format in [Format::Jpeg, Format::Png, Format::WebP] {
            let result = recoded(&file, Request { format: Some(format), ..Request::default() });
            let again = profile(&result.file).unwrap();
            // Written anew, with the same primaries and curves.
            for tag in ["wtpt", "chad", "rXYZ", "gXYZ", "bXYZ", "rTRC", "gTRC", "bTRC"] {
                let [before, after] = [&original, &again].map(|icc| tag_data(icc, tag));
                assert!(!before.is_empty() && before == after, "{name} as {format}: {tag}");
            }
        }
    }
    let text = recoded(&golden("text.png"), Request::default()).file;
    assert!(contains(&text, b"gAMA") && contains(&text, b"pHYs"), "how it is shown is lost");
    assert!(!contains(&text, b"tIME") && !contains(&text, b"eXIf"));
}

/// Noise is added whatever the kind of samples; alpha stays, deep samples stay deep.
#[test]
fn noise_on_every_kind_of_picture() {
    let engine = noisy(Request { aligned: true, ..Request::default() });
    let mut work = Workspace::default();
    for (name, _) in stills() {
        let file = golden(&name);
        let result = engine.protect(&file, &mut work).unwrap();
        assert!(!result.unchanged, "{name}");
        let [before, after] = [&file, &result.file].map(|f| image::load_from_memory(f).unwrap());
        assert_eq!(before.color(), after.color(), "{name}");
        // What is measured on the file is what was drawn, but for clipping, compression and size.
        let face = &result.faces[0];
        let [drawn, written] = [facedp::metrics::psnr(face.mse, 255.0), face.quality.unwrap().psnr]
            .map(Option::unwrap);
        let most = if name.ends_with("png") { 3.0 } else { 4.0 };
        // In black and white, half of the noise is clipped.
        let most = if name == "bilevel.png" { 5.0 } else { most };
        assert!(drawn > 40.0 || (drawn - written).abs() < most, "{name}: {drawn}, {written}");
        // libwebp keeps alpha too: its quality of alpha is 100 unless told otherwise.
        if before.color().has_alpha() {
            let alpha = |image: &DynamicImage| {
                image.pixels().map(|(_, _, pixel)| pixel.0[3]).collect::<Vec<_>>()
            };
            assert_eq!(alpha(&before), alpha(&after), "{name}");
        }
    }
}

#[test]
fn changes_of_format_are_stated() {
    for (name, format, note) in [
        ("deep_rgb.png", Format::Jpeg, "16 bits"),
        ("deep_grey.png", Format::WebP, "16 bits"),
        ("alpha.png", Format::Jpeg, "transparent"),
    ] {
        let result = recoded(&golden(name), Request { format: Some(format), ..Request::default() });
        assert_eq!(result.format, format);
        assert!(result.notes.iter().any(|n| n.contains(note)), "{name}: {:?}", result.notes);
        let photo = decode(&result.file);
        assert_eq!(photo.format(), format);
    }
    // Over white, as a viewer shows it: the corner of the ramp is fully transparent.
    let over =
        recoded(&golden("alpha.png"), Request { format: Some(Format::Jpeg), ..Request::default() });
    let over = image::load_from_memory(&over.file).unwrap().to_rgb8();
    assert!(over.get_pixel(0, 0).0.iter().all(|level| *level > 250));
}

#[test]
fn what_is_not_read_is_said() {
    let error = |file: &[u8]| match Photo::decode(file, &Limits::default()) {
        Err(error) => error,
        Ok(_) => panic!("decoded"),
    };
    for name in ["moving.png", "moving.webp"] {
        assert!(matches!(error(&golden(name)), Error::Animated), "{name}");
    }
    assert!(matches!(error(&golden("heic_header.heic")), Error::Damaged(_)));
    let avif = b"\0\0\0\x1cftypmif1\0\0\0\0mif1avifmiaf";
    assert!(error(avif).to_string().contains("AVIF"));
    assert!(error(b"").to_string().contains("empty"));
    assert!(error(b"GIF89a......").to_string().contains("GIF"));
    let small = Limits { pixels: 1000, ..Limits::default() };
    let file = golden("base_420_q85.jpg");
    assert!(matches!(Photo::decode(&file, &small), Err(Error::TooManyPixels { .. })));
    let small = Limits { bytes: 1000, ..Limits::default() };
    assert!(matches!(
        Photo::decode(&file, &small),
        Err(Error::TooManyBytes { .. } | Error::Damaged(_))
    ));
    let small = Limits { file_bytes: 1000, ..Limits::default() };
    assert!(matches!(Photo::decode(&file, &small), Err(Error::TooManyBytes { .. })));
    for part in [2, 3, 4, 5, 6, 7, 8, 9] {
        let cut = &file[..file.len() * part / 10];
        assert!(matches!(error(cut), Error::Damaged(_)), "cut to {part} tenths");
    }
}

/// A table in zigzag order, with rows and columns changed round: diagonals run the other way.
fn transposed(table: Vec<u8>) -> Vec<u8> {
    let diagonals = (0..15).map(|d: usize| d.min(14 - d) + 1);
    let mut start = 0;
    let mut turned = Vec::new();
    for length in diagonals {
        turned.extend(table[start..start + length].iter().rev());
        start += length;
    }
    turned
}

#[test]
fn a_quarter_turn_keeps_quality() {
    // Whole blocks, so that the grid of the turned picture is that of the file.
    let small = image::load_from_memory(&golden("upright.png")).unwrap().to_rgb8();
    let mut file = Vec::new();
    let picture = image::imageops::crop_imm(&small, 0, 0, 80, 96).to_image();
    let encoder = image::codecs::jpeg::JpegEncoder::new_with_quality(&mut file, 60);
    picture.write_with_encoder(encoder).unwrap();
    let exif =
        b"\xff\xe1\0\x22Exif\0\0MM\0*\0\0\0\x08\0\x01\x01\x12\0\x03\0\0\0\x01\0\x06\0\0\0\0\0\0";
    let turned = [&file[..2], exif, &file[2..]].concat();
    let photo = decode(&turned);
    assert_eq!((photo.width(), photo.height()), (96, 80));
    let again = decode(&recoded(&turned, Request::default()).file);
    let quality = Quality::compare(&photo.luma(photo.whole()), &again.luma(again.whole())).unwrap();
    assert!(quality.psnr.is_none_or(|psnr| psnr > 55.0), "{:?}", quality.psnr);
}

/// Fields that are not known to be harmless are not kept, whatever they are called.
#[test]
fn pictures_do_not_hide_in_kept_metadata() {
    let thumbnail = [b"\xff\xd8\xff trace-picture".as_slice(), &[7; 80]].concat();
    let fields: [(u16, &[u8]); 5] = [
        (0x010f, b"trace-make\0"),
        (0x02bc, &thumbnail),
        (0x501b, &thumbnail),
        (0x8649, &thumbnail),
        (0x9999, &thumbnail),
    ];
    let mut entries = Vec::new();
    let mut values = Vec::new();
    for (tag, value) in fields {
        let at = 8 + 2 + 12 * fields.len() + 4 + values.len();
        let kind: u16 = if tag == 0x010f { 2 } else { 7 };
        entries.extend([tag.to_le_bytes(), kind.to_le_bytes()].concat());
        entries.extend([(value.len() as u32).to_le_bytes(), (at as u32).to_le_bytes()].concat());
        values.extend(value);
    }
    let count = (fields.len() as u16).to_le_bytes();
    let head = b"II*\0\x08\0\0\0";
    let exif = [head.as_slice(), &count, &entries, &[0; 4], &values].concat();
    let keep = Request { keep_metadata: true, ..Request::default() };
    let jpeg = golden("base_420_q85.jpg");
    let size = (exif.len() as u16 + 8).to_be_bytes();
    let tagged = [&jpeg[..2], &[0xff, 0xe1], &size, b"Exif\0\0", &exif, &jpeg[2..]].concat();
    let trailer = [tagged.as_slice(), b"a video of the face"].concat();
    let kept = recoded(&trailer, keep);
    assert!(contains(&kept.file, b"trace-make") && !contains(&kept.file, b"trace-picture"));
    assert_eq!(kept.stripped, ["data after the picture", "EXIF (other fields)"]);

    // Chunks that say how a PNG is shown are kept only as long as they should be.
    let png = golden("text.png");
    let at = png.windows(4).position(|w| w == b"pHYs").unwrap();
    let chunk = support::mutate::png_chunk(b"pHYs", &[&png[at + 4..at + 13], &thumbnail].concat());
    let padded = [&png[..at - 4], &chunk, &png[at + 17..]].concat();
    let result = recoded(&padded, Request::default());
    assert!(!contains(&result.file, b"trace-picture"));
    assert!(result.stripped.contains(&"other data".to_owned()), "{:?}", result.stripped);
}

/// 48 megapixels: within limits, its face found and changed.
#[test]
fn a_large_photo() {
    let small = image::load_from_memory(&golden("base_420_q85.jpg")).unwrap().to_rgb8();
    let (width, height) = (6000, 8000);
    let large = image::RgbImage::from_fn(width, height, |x, y| {
        *small.get_pixel(x * small.width() / width, y * small.height() / height)
    });
    let mut file = Vec::new();
    let encoder = image::codecs::jpeg::JpegEncoder::new_with_quality(&mut file, 90);
    large.write_with_encoder(encoder).unwrap();
    let result = noisy(Request::default()).protect(&file, &mut Workspace::default()).unwrap();
    assert_eq!(result.faces.len(), 1);
    assert!(!result.unchanged);
    let [x, y, width, height] = result.faces[0].face.unwrap().rect;
    // The golden face, enlarged as the picture was.
    let centre = [103.0 * 6000.0 / 199.0, 117.4 * 8000.0 / 241.0];
    assert!((x + width / 2.0 - centre[0]).abs() < 300.0, "{x} {width}");
    assert!((y + height / 2.0 - centre[1]).abs() < 300.0, "{y} {height}");
    assert_eq!((decode(&result.file).width(), decode(&result.file).height()), (6000, 8000));
}

#[test]
fn the_smallest_picture() {
    let mut file = std::io::Cursor::new(Vec::new());
    image::RgbImage::new(1, 1).write_to(&mut file, image::ImageFormat::Png).unwrap();
    let mut work = Workspace::default();
    let seen = noisy(Request::default()).protect(file.get_ref(), &mut work);
    assert!(matches!(seen, Err(Error::NoFace)));
    let cropped = noisy(Request { aligned: true, ..Request::default() });
    assert!(cropped.protect(file.get_ref(), &mut work).is_ok());
}
