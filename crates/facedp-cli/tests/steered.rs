//! `protect` by its default method, `steered`, as a user meets it.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod support;

use std::fs;
use std::path::Path;

use image::{DynamicImage, GrayImage, RgbImage, imageops};
use serde_json::Value;
use support::{facedp, facedp_json};

fn example(name: &str) -> DynamicImage {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples");
    image::open(Path::new(folder).join(name)).unwrap()
}

fn protect(folder: &Path, args: &[&str]) -> Vec<Value> {
    facedp_json(folder, &[&["protect"], args].concat())
}

/// A face is changed within the floor, recognisers say so, and nothing is claimed.
#[test]
fn recognisers_no_longer_match() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path();
    example("photos/collins.jpg").save(path.join("face.png")).unwrap();
    let lines = protect(path, &["face.png", "-o", "out", "--seed", "1", "--receipt"]);
    let face = &lines[0]["faces"][0];
    assert!(face["ssimulacra2"].as_f64().unwrap() >= 75.0, "{face}");
    assert!(face["steered"]["shape"]["displacement"].as_f64().unwrap() <= 0.0331, "{face}");
    for verdict in face["recognisers"].as_array().unwrap() {
        for look in [verdict, &verdict["jpeg_75"], &verdict["half_size"]] {
            assert_eq!(look["match"], false, "{verdict}");
        }
    }
    for before in face["before"].as_array().unwrap() {
        for look in [before, &before["jpeg_75"], &before["half_size"]] {
            assert_eq!(look["match"], true, "{before}");
        }
    }
    let summary = &lines[1]["summary"];
    assert_eq!((&summary["method"], &summary["claim"]), (&"steered".into(), &"none".into()));
    assert_eq!(summary["epsilon"], Value::Null);
    assert_eq!((&summary["no_match"], &summary["matching"]), (&1.into(), &Value::Array(vec![])));

    let shown = facedp(path, &["receipt", "show", "out.receipts/face.png.json"]).stdout;
    for word in ["steered away from itself and towards", "none for the picture", "claim       none"]
    {
        assert!(shown.contains(word), "{shown}");
    }
    for word in ["as written: distance 0.000 before", "JPEG 75: distance", "half size: distance"] {
        assert_eq!(shown.matches(word).count(), 5, "{shown}");
    }
    let public = facedp(path, &["receipt", "public", "out.receipts/face.png.json"]).stdout;
    assert!(!public.contains("distance") && public.contains("\"claim\": \"none\""), "{public}");

    // The same seed gives the same file, another one another way.
    let before = fs::read(path.join("out/face.png")).unwrap();
    protect(path, &["face.png", "-o", "again", "--seed", "1", "--jobs", "1", "--no-check"]);
    assert_eq!(before, fs::read(path.join("again/face.png")).unwrap());
    protect(path, &["face.png", "-o", "other", "--seed", "2", "--no-check"]);
    assert_ne!(before, fs::read(path.join("other/face.png")).unwrap());
}

/// Floors are kept, whatever the strength; less change where less is asked for.
#[test]
fn quality_is_at_least_what_was_asked_for() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path();
    example("photos/collins.jpg").save(path.join("face.png")).unwrap();
    for (args, floor) in [
        (["--strength", "low"], 85.0),
        (["--strength", "high"], 70.0),
        (["--min-quality", "92"], 92.0),
    ] {
        let args = [&["face.png", "-o", "out", "--seed", "1", "--force"], &args[..]].concat();
        let score = protect(path, &args)[0]["faces"][0]["ssimulacra2"].as_f64().unwrap();
        assert!((floor..floor + 1.0).contains(&score), "{args:?}: {score}");
    }
    // In words: a face that is changed enough,
    let outcome = facedp(path, &["protect", "face.png", "-o", "words", "--seed", "1"]);
    assert!(outcome.stdout.contains("1 of 1 face no longer matches by dlib"), "{}", outcome.stdout);
    // and one that is hardly changed and still matches, with what to do about it.
    let args =
        ["protect", "face.png", "-o", "out", "--seed", "1", "--force", "--min-quality", "95"];
    let outcome = facedp(path, &[&args[..], &["--shape", "off"]].concat());
    assert_eq!(outcome.code, 0, "{}", outcome.stderr);
    for word in ["0 of 1 face no longer match", "still matches dlib, SFace", "--strength high"] {
        assert!(outcome.stdout.contains(word), "{}", outcome.stdout);
    }
}

/// Photos that are hard to steer: each gets clear words or a result, and no panic.
#[test]
fn odd_photos() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path();
    let face = example("photos/collins.jpg");
    let (width, height) = (face.width(), face.height());
    let found = facedp_json(
        path,
        &["inspect", &{
            face.save(path.join("whole.png")).unwrap();
            "whole.png".to_owned()
        }],
    );
    let rect: Vec<f64> = serde_json::from_value(found[0]["faces"][0]["box"].clone()).unwrap();

    face.to_luma8().save(path.join("grey.png")).unwrap();
    let dark = face.to_rgb8().pixels().flat_map(|p| p.0.map(|v| v / 12)).collect();
    RgbImage::from_raw(width, height, dark).unwrap().save(path.join("dark.png")).unwrap();
    // The left third of the face lies beyond the border.
    let cut = (rect[0] + rect[2] / 3.0) as u32;
    face.crop_imm(cut, 0, width - cut, height).save(path.join("cut.png")).unwrap();
    // Two faces, one half over the other.
    let mut two = RgbImage::new(2 * width, height);
    imageops::replace(&mut two, &face.to_rgb8(), 0, 0);
    imageops::replace(&mut two, &face.to_rgb8(), (rect[2] * 0.9) as i64, 0);
    two.save(path.join("two.png")).unwrap();
    let small = 20.0 / rect[2];
    let (w, h) = ((f64::from(width) * small) as u32, (f64::from(height) * small) as u32);
    let tiny = face.resize_exact(w, h, imageops::FilterType::Triangle);
    tiny.save(path.join("tiny.png")).unwrap();
    GrayImage::new(64, 64).save(path.join("nobody.png")).unwrap();

    let run = |name: &str, more: &[&str]| {
        let args = ["protect", name, "-o", "out", "--seed", "1", "--force", "--json"];
        facedp(path, &[&args[..], more].concat())
    };
    let faces = |text: &str| -> Vec<Value> {
        let line: Value = serde_json::from_str(text.lines().next().unwrap()).unwrap();
        line["faces"].as_array().unwrap().clone()
    };
    let grey = run("grey.png", &[]);
    assert_eq!(grey.code, 0, "{}", grey.stderr);
    assert!(faces(&grey.stdout)[0]["ssimulacra2"].as_f64().unwrap() >= 75.0);
    assert_eq!(image::open(path.join("out/grey.png")).unwrap().color(), image::ColorType::L8);
    for name in ["dark.png", "cut.png", "two.png"] {
        let outcome = run(name, &["--min-score", "0.5"]);
        match outcome.code {
            0 => {
                for face in faces(&outcome.stdout) {
                    // Where faces overlap, the change of one also lowers the score of the other.
                    let floor = if name == "two.png" { 50.0 } else { 75.0 };
                    assert!(face["ssimulacra2"].as_f64().unwrap() >= floor, "{name}: {face}");
                }
            }
            1 => assert!(outcome.stderr.contains("no face found"), "{name}: {}", outcome.stderr),
            code => panic!("{name}: {code}: {}", outcome.stderr),
        }
    }
    for (name, more, code, words) in [
        ("tiny.png", &["--min-score", "0.3"][..], 1, &["1 face found", "32 pixels", "larger"][..]),
        ("nobody.png", &[], 1, &["no face found", "--box"]),
        ("whole.png", &["--min-quality", "99"], 2, &["99", "30", "95"]),
        ("whole.png", &["--min-quality", "nan"], 2, &["NaN", "30", "95"]),
        ("whole.png", &["--shape", "round"], 2, &["--shape", "on", "off"]),
        ("whole.png", &["--epsilon", "0"], 2, &["--epsilon", "0"]),
        ("whole.png", &["--epsilon", "-1"], 2, &["--epsilon", "-1"]),
        ("whole.png", &["--goal", "up"], 2, &["away", "both", "draw"]),
        ("whole.png", &["--strength", "max"], 2, &["low", "medium", "high"]),
        ("whole.png", &["--steer-by", "eigenfaces"], 2, &["dlib", "sface"]),
        ("whole.png", &["--basis", "dct"], 2, &["--basis", "the paper's methods"]),
    ] {
        let outcome = run(name, more);
        assert_eq!(outcome.code, code, "{name} {more:?}: {}", outcome.stderr);
        for word in words {
            assert!(outcome.stderr.contains(word), "{name} {more:?}: {}", outcome.stderr);
        }
    }
    let args =
        ["protect", "whole.png", "-o", "out", "--force", "--method", "rdp", "--goal", "away"];
    let misplaced = facedp(path, &args);
    assert_eq!(misplaced.code, 2);
    assert!(
        misplaced.stderr.contains("--goal out, which is for --method steered"),
        "{}",
        misplaced.stderr
    );
}
