//! The commands that find and recognise faces.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod support;

use std::fs;

use support::{facedp, facedp_json, workshop};

/// A picture of the networks' golden vectors: `hopper` and `astronaut` have one face, `both` has two.
fn golden(name: &str) -> std::path::PathBuf {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../facedp-nets/tests/golden");
    std::path::Path::new(folder).join(format!("yunet_{name}.png"))
}

#[test]
fn inspect_finds_faces() {
    let folder = workshop();
    let path = folder.path();
    fs::copy(golden("both"), path.join("both.png")).unwrap();
    let report = &facedp_json(path, &["inspect", "both.png", "--annotate", "marked.png"])[0];
    let faces = report["faces"].as_array().unwrap();
    assert_eq!(faces.len(), 2);
    for face in faces {
        assert_eq!(face["box"].as_array().unwrap().len(), 4);
        assert_eq!(face["landmarks"].as_array().unwrap().len(), 5);
        assert!(face["score"].as_f64().unwrap() > 0.7);
    }
    let [plain, marked] = ["both.png", "marked.png"].map(|f| image::open(path.join(f)).unwrap());
    assert_eq!((plain.width(), plain.height()), (marked.width(), marked.height()));
    assert_ne!(plain.to_rgb8(), marked.to_rgb8());
    let none = facedp(path, &["inspect", "face.png"]);
    assert_eq!((none.code, none.stdout.trim()), (1, "no face found"));
}

#[test]
fn check_says_who_still_recognises_a_face() {
    let folder = workshop();
    let path = folder.path();
    fs::copy(golden("hopper"), path.join("hopper.png")).unwrap();
    let equal = &facedp_json(path, &["check", "hopper.png", "hopper.png"])[0];
    for verdict in equal["faces"][0]["recognisers"].as_array().unwrap() {
        assert!(verdict["distance"].as_f64().unwrap() < 1e-3, "{verdict}");
        assert_eq!(verdict["match"], true);
        assert!(verdict["jpeg_75"]["distance"].as_f64().unwrap() > 0.0, "{verdict}");
        assert!(verdict["half_size"]["match"].is_boolean(), "{verdict}");
    }
    // Another face in its place does not match: the other person, brought to the same size.
    let size = image::open(path.join("hopper.png")).unwrap();
    let other = image::open(golden("astronaut")).unwrap();
    let filter = image::imageops::FilterType::Triangle;
    other.resize_exact(size.width(), size.height(), filter).save(path.join("other.png")).unwrap();
    let text = facedp(path, &["check", "hopper.png", "other.png"]).stdout;
    assert!(text.contains("dlib: 0 of 1") && text.contains("sface: 0 of 1"), "{text}");
    assert!(facedp(path, &["check", "face.png", "face.png"]).stdout.contains("no face found"));
}

/// Two people, each in two exposures.
fn two_people(path: &std::path::Path) {
    for name in ["hopper", "astronaut"] {
        let picture = image::open(golden(name)).unwrap();
        fs::create_dir_all(path.join("data").join(name)).unwrap();
        for (number, light) in [(1, 0), (2, 25), (3, -25)] {
            let to = path.join(format!("data/{name}/{name}_000{number}.jpg"));
            image::DynamicImage::ImageRgb8(picture.brighten(light).to_rgb8()).save(to).unwrap();
        }
    }
}

#[test]
fn evaluate_judges_pairs() {
    let folder = workshop();
    let path = folder.path();
    two_people(path);
    let pairs = "2 1\nhopper 1 2\nhopper 1 astronaut 1\nastronaut 1 2\nastronaut 2 hopper 2\n";
    fs::write(path.join("pairs.txt"), pairs).unwrap();
    let report =
        &facedp_json(path, &["evaluate", "recognisers", "data", "--pairs", "pairs.txt"])[0];
    assert_eq!((report["pairs"].as_u64(), report["undetected"].as_u64()), (Some(4), Some(0)));
    for recogniser in report["recognisers"].as_array().unwrap() {
        assert_eq!(recogniser["accuracy"], 1.0, "{recogniser}");
        assert_eq!(recogniser["standard_accuracy"], 1.0, "{recogniser}");
    }
    // A picture that is missing is named, and the rest is judged.
    fs::remove_file(path.join("data/hopper/hopper_0002.jpg")).unwrap();
    let outcome = facedp(path, &["evaluate", "recognisers", "data", "--pairs", "pairs.txt"]);
    assert_eq!(outcome.code, 1);
    assert!(outcome.stderr.contains("hopper_0002.jpg"), "{}", outcome.stderr);
    assert!(outcome.stdout.contains("dlib"), "{}", outcome.stdout);
}

#[test]
fn train_finds_and_aligns_faces() {
    let folder = workshop();
    let path = folder.path();
    two_people(path);
    let args = ["train", "data", "-o", "m", "--features", "2", "--size", "64"];
    let summary = &facedp_json(path, &args)[0];
    assert_eq!((summary["pictures"].as_u64(), summary["failed"].as_u64()), (Some(6), Some(0)));
}
