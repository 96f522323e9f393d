//! HEIC, as libheif codes it: read as libheif reads it, and nothing else of the file survives.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod support;

use facedp_engine::{Error, Format, Limits, Photo, Region, Request, Workspace};
use serde_json::Value;
use support::{decode, golden, noisy, recoding};

/// The golden files, made by `tools/compare_heic.py --golden`, and what libheif says of them.
fn cases() -> Vec<(String, Vec<u8>, Value)> {
    let all: Value = serde_json::from_slice(&golden("heic/heic.json")).unwrap();
    let case = |(name, facts): (&String, &Value)| {
        (name.clone(), golden(&format!("heic/{name}.heic")), facts.clone())
    };
    all.as_object().unwrap().iter().map(case).collect()
}

#[test]
fn decoded_as_libheif_decodes() {
    for (name, file, facts) in cases() {
        let photo = decode(&file);
        let size = [photo.width(), photo.height()].map(|n| n as u64);
        assert_eq!(
            size,
            [&facts["width"], &facts["height"]].map(|n| n.as_u64().unwrap()),
            "{name}"
        );
        assert_eq!(photo.format(), Format::Heic, "{name}");
        let (x, y) = (photo.width() / 2, photo.height() / 2);
        let (right, bottom) = (photo.width() - x, photo.height() - y);
        let quarters = [(0, 0, x, y), (x, 0, right, y), (0, y, x, bottom), (x, y, right, bottom)];
        for (quarter, (x, y, width, height)) in quarters.into_iter().enumerate() {
            let picture = photo.picture(Region { x, y, width, height }).unwrap();
            for channel in 0..3 {
                let samples = picture.rgb().iter().skip(channel).step_by(3).map(|s| f64::from(*s));
                let mean = samples.sum::<f64>() / (width * height) as f64;
                let expected = facts["quarters"][quarter][channel].as_f64().unwrap();
                assert!((mean - expected).abs() < 0.8, "{name}: {mean} instead of {expected}");
            }
        }
    }
}

#[test]
fn results_are_jpeg_or_png_and_hold_nothing_else() {
    for (name, file, _) in cases() {
        for (format, keep_metadata) in [(None, false), (None, true), (Some(Format::Png), true)] {
            let request = Request { aligned: true, format, keep_metadata, ..Request::default() };
            let result = noisy(request).protect(&file, &mut Workspace::default()).unwrap();
            let written = format.unwrap_or(Format::Jpeg);
            assert_eq!((result.format, result.unchanged), (written, false), "{name}");
            assert!(result.notes.contains(&format!("HEIC was written as {written}")), "{name}");
            assert!(
                !result.file.windows(4).any(|w| [&b"ftyp"[..], b"hvcC"].contains(&w)),
                "{name}"
            );
            let starts = result.file.windows(3).filter(|w| *w == [0xff, 0xd8, 0xff]).count();
            assert_eq!(starts, usize::from(written == Format::Jpeg), "{name}");
            if name == "phone" {
                for kind in ["thumbnail", "further pictures"] {
                    assert!(result.stripped.contains(&kind.to_owned()), "{:?}", result.stripped);
                }
            }
            let notes = result.notes.join(", ");
            assert_eq!(
                notes.contains("more than 8 bits"),
                name == "deep" && format.is_none(),
                "{name}"
            );
            assert_eq!(
                notes.contains("transparent"),
                name == "alpha" && format.is_none(),
                "{name}"
            );
        }
    }
}

/// A JPEG of the quality that HEIC is written with, and of its size, is hardly another picture.
#[test]
fn what_is_written_looks_like_what_was_read() {
    for (name, file, _) in cases().into_iter().filter(|(name, ..)| name != "alpha") {
        let engine = recoding(Request::default());
        let result = engine.protect(&file, &mut Workspace::default()).unwrap();
        let [before, after] = [&file, &result.file].map(|f| decode(f));
        let [a, b] = [&before, &after].map(|p| p.luma(p.whole()));
        let psnr = facedp::metrics::Quality::compare(&a, &b).unwrap().psnr.unwrap();
        assert!(psnr > 38.0, "{name}: {psnr}");
    }
}

#[test]
fn limits_hold_and_heic_is_not_written() {
    let file = golden("heic/phone.heic");
    let small = Limits { pixels: 1000, ..Limits::default() };
    assert!(matches!(Photo::decode(&file, &small), Err(Error::TooManyPixels { .. })));
    let small = Limits { bytes: 1000, ..Limits::default() };
    assert!(matches!(Photo::decode(&file, &small), Err(Error::TooManyBytes { .. })));
    // The last tenth is of a gain map, which is not read.
    for tenth in 1..9 {
        let cut = &file[..file.len() * tenth / 10];
        assert!(
            matches!(Photo::decode(cut, &Limits::default()), Err(Error::Damaged(_))),
            "{tenth}"
        );
    }
    let request = Request { format: Some(Format::Heic), ..Request::default() };
    let engine = facedp_engine::Engine::new(request, support::resources());
    assert!(matches!(engine, Err(Error::NotWritten { format: Format::Heic })));
}
