//! Faces that are turned, in the dark or behind transparency, and places that may be faces.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod support;

use std::path::Path;

use image::{DynamicImage, Rgb, RgbImage, imageops};
use serde_json::Value;
use support::{NOISE, facedp, facedp_json};

fn example(name: &str) -> DynamicImage {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/photos");
    image::open(Path::new(folder).join(name)).unwrap()
}

/// The picture turned clockwise about its middle, on a square that holds all of it.
fn turned(picture: &RgbImage, degrees: f32) -> RgbImage {
    let [width, height] = [picture.width(), picture.height()].map(|n| n as f32);
    let side = width.hypot(height).ceil();
    let (sin, cos) = degrees.to_radians().sin_cos();
    let middle = [(width - 1.0) / 2.0, (height - 1.0) / 2.0];
    RgbImage::from_fn(side as u32, side as u32, |x, y| {
        let [u, v] = [x, y].map(|n| n as f32 - (side - 1.0) / 2.0);
        let (x, y) = (middle[0] + cos * u + sin * v, middle[1] - sin * u + cos * v);
        let outside = x < 0.0 || y < 0.0 || x > width - 1.0 || y > height - 1.0;
        let found = (!outside).then(|| imageops::interpolate_bilinear(picture, x, y)).flatten();
        found.unwrap_or(Rgb([0; 3]))
    })
}

/// The part of a picture that was turned there and back that holds the original.
fn middle(picture: &RgbImage, width: u32, height: u32) -> RgbImage {
    let [x, y] = [(picture.width() - width) / 2, (picture.height() - height) / 2];
    imageops::crop_imm(picture, x, y, width, height).to_image()
}

/// From the first eye to the second: 0 in an upright face, in degrees, clockwise.
fn tilt(face: &Value) -> f64 {
    let at = |eye: usize, axis: usize| face["landmarks"][eye][axis].as_f64().unwrap();
    (at(1, 1) - at(0, 1)).atan2(at(1, 0) - at(0, 0)).to_degrees()
}

/// Eyes are eyes at any angle: wrong ones would be off by 90 degrees and more.
#[test]
fn faces_are_found_at_any_angle() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path();
    for name in ["hopper.jpg", "collins.jpg"] {
        let picture = example(name).thumbnail(300, 300).to_rgb8();
        for degrees in [0, 30, 60, 90, 135, 180, 225, 285, 330] {
            turned(&picture, degrees as f32).save(path.join("turned.png")).unwrap();
            let report = &facedp_json(path, &["inspect", "turned.png"])[0];
            let [face] = &report["faces"].as_array().unwrap()[..] else {
                panic!("{name} at {degrees} degrees: {report}")
            };
            let off = (tilt(face) - f64::from(degrees)).rem_euclid(360.0);
            let off = off.min(360.0 - off);
            assert!(off < 12.0, "{name}: {off} degrees off at {degrees}");
        }
    }
}

/// A turned photo is protected, the result turned upright and asked with fresh detection.
#[test]
fn turned_faces_no_longer_match_once_upright() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path();
    let picture = example("collins.jpg").thumbnail(320, 320).to_rgb8();
    for degrees in [60.0, 90.0, 135.0, 180.0] {
        let before = turned(&picture, degrees);
        before.save(path.join("photo.png")).unwrap();
        let args = ["protect", "photo.png", "-o", "out", "--seed", "1", "--force"];
        let lines = facedp_json(path, &args);
        assert_eq!(lines[0]["faces"][0]["found_again"], true, "{}", lines[0]);
        let after = image::open(path.join("out/photo.png")).unwrap().to_rgb8();
        for (name, photo) in [("before.png", &before), ("after.png", &after)] {
            let back = turned(photo, -degrees);
            middle(&back, picture.width(), picture.height()).save(path.join(name)).unwrap();
        }
        let report = &facedp_json(path, &["check", "before.png", "after.png"])[0];
        assert_eq!(report["faces"].as_array().unwrap().len(), 1, "{report}");
        for verdict in report["faces"][0]["recognisers"].as_array().unwrap() {
            assert_eq!(verdict["match"], false, "at {degrees} degrees: {verdict}");
        }
    }
}

/// A face lying on its side beside an upright one is not passed over.
#[test]
fn upright_and_lying_faces_are_both_treated() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path();
    let mut both = RgbImage::from_pixel(1024, 640, Rgb([90; 3]));
    imageops::replace(&mut both, &example("hopper.jpg").to_rgb8(), 0, 0);
    imageops::replace(&mut both, &imageops::rotate90(&example("collins.jpg").to_rgb8()), 512, 0);
    both.save(path.join("both.png")).unwrap();
    let args = [&["protect", "both.png", "-o", "out", "--seed", "1"][..], &NOISE].concat();
    let lines = facedp_json(path, &args);
    let tilts: Vec<f64> = lines[0]["faces"].as_array().unwrap().iter().map(tilt).collect();
    assert_eq!(tilts.len(), 2, "{}", lines[0]);
    let near = |degrees: f64| tilts.iter().any(|tilt| (tilt - degrees).abs() < 12.0);
    assert!(near(0.0) && near(90.0), "{tilts:?}");
}

/// At 3 % of the light, a photo has seven levels of grey.
#[test]
fn faces_in_the_dark_are_found() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path();
    for name in ["hopper.jpg", "collins.jpg"] {
        let mut picture = example(name).to_rgb8();
        picture.iter_mut().for_each(|v| *v = (0.03 * f32::from(*v)).round() as u8);
        picture.save(path.join("dark.png")).unwrap();
        let report = &facedp_json(path, &["inspect", "dark.png"])[0];
        assert_eq!(report["faces"].as_array().unwrap().len(), 1, "{name}: {report}");
    }
}

/// Anybody can remove an alpha channel.
#[test]
fn faces_that_only_alpha_hides_are_found() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path();
    let mut picture = example("hopper.jpg").to_rgba8();
    picture.pixels_mut().for_each(|pixel| pixel.0[3] = 0);
    picture.save(path.join("clear.png")).unwrap();
    let report = &facedp_json(path, &["inspect", "clear.png"])[0];
    assert_eq!(report["faces"].as_array().unwrap().len(), 1, "{report}");
}

/// Half a face beside a whole one is a doubt if high scores are asked for.
#[test]
fn doubts_are_said_and_can_be_chosen() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path();
    let mut both = RgbImage::from_pixel(1024, 640, Rgb([90; 3]));
    imageops::replace(&mut both, &example("hopper.jpg").to_rgb8(), 0, 0);
    let half = example("collins.jpg").thumbnail(256, 256).crop_imm(0, 0, 102, 256).to_rgb8();
    imageops::replace(&mut both, &half, 640, 100);
    both.save(path.join("both.png")).unwrap();
    let min = "0.88";
    let report = &facedp_json(path, &["inspect", "both.png", "--min-score", min])[0];
    assert_eq!(report["doubts"][0]["number"], 2, "{report}");
    let shown = facedp(path, &["inspect", "both.png", "--min-score", min]).stdout;
    assert!(shown.contains("1 place may be a face"), "{shown}");
    let base = ["both.png", "-o", "out", "--force", "--seed", "1", "--min-score", min];
    let protect = |more: &[&str]| {
        facedp(path, &[&["protect"], &base[..], &NOISE, &["--no-check"], more].concat())
    };
    let warned = protect(&[]);
    assert_eq!(warned.code, 1, "{}", warned.stderr);
    let words = "1 place that may be a face was left as it is: 2 at ";
    assert!(warned.stderr.contains(words), "{}", warned.stderr);
    assert_eq!(protect(&["--accept-doubts"]).code, 0);
    let chosen = protect(&["--faces", "1,2", "--json"]);
    assert_eq!(chosen.code, 0, "{}", chosen.stderr);
    assert!(chosen.stdout.contains("\"faces\":2"), "{}", chosen.stdout);
    let given = warned.stderr.split("2 at ").nth(1).unwrap().split(';').next().unwrap();
    assert_eq!(protect(&["--box", given]).code, 0, "{given}");
}
