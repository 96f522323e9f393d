//! `--method certified` and `facedp audit`, as a user meets them.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod support;

use std::fs;
use std::path::Path;

use image::{DynamicImage, GenericImage};
use support::{facedp, facedp_json, write_key};

const CERTIFIED: [&str; 4] = ["--method", "certified", "--epsilon", "4"];

fn example(name: &str) -> DynamicImage {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples");
    image::open(Path::new(folder).join(name)).unwrap()
}

/// A photo with one face, another with two beside each other, a third with two that overlap.
fn photos() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let face = example("photos/collins.jpg");
    face.save(folder.path().join("one.png")).unwrap();
    let (width, height) = (face.width(), face.height());
    for (name, apart) in [("two.png", width), ("close.png", width / 5)] {
        let mut both = DynamicImage::new_rgb8(width + apart, height);
        both.copy_from(&face, apart, 0).unwrap();
        // The left one ends before the face of the right one begins.
        let left = if apart == width {
            face.clone()
        } else {
            face.crop_imm(0, 0, width / 2 + apart / 2, height)
        };
        both.copy_from(&left, 0, 0).unwrap();
        both.save(folder.path().join(name)).unwrap();
    }
    folder
}

#[test]
fn faces_get_drawn_features_and_the_claim_says_which() {
    let folder = photos();
    let path = folder.path();
    let args = ["protect", "one.png", "two.png", "-o", "out", "--receipt", "--features", "16"];
    let lines = facedp_json(path, &[&args[..], &CERTIFIED].concat());
    let summary = &lines[2]["summary"];
    assert_eq!(summary["claim"], "eps-dp-face");
    assert_eq!((&summary["epsilon"], &summary["faces"]), (&4.0.into(), &3.into()));
    assert_eq!(summary["randomness"], "system");

    let receipt = fs::read_to_string(path.join("out.receipts/two.png.json")).unwrap();
    let receipt: serde_json::Value = serde_json::from_str(&receipt).unwrap();
    let public = &receipt["public"];
    assert_eq!(public["claim"], "eps-dp-face");
    assert_eq!(public["method"]["preset"], "certified");
    assert!(public["epsilon_spent"].as_f64().unwrap() <= 4.0);
    assert!(public["neighbours"].as_str().unwrap().contains("inside the outline of one face"));
    let faces = receipt["private"]["faces"].as_array().unwrap();
    assert_eq!(faces.len(), 2);
    for face in faces {
        assert_eq!(face["details"]["noisy_features"].as_array().unwrap().len(), 16);
    }
    let shown = facedp(path, &["receipt", "show", "out.receipts/one.png.json"]).stdout;
    for words in [
        "certified, K-norm or staircase noise on 16 features",
        "neighbours",
        "provided",
        "fresh entropy",
    ] {
        assert!(shown.contains(words), "{shown}");
    }
}

/// Faces that overlap are replaced too, each with numbers of its own, and pixels outside the outlines stay.
#[test]
fn every_face_is_replaced_and_the_rest_stays() {
    let folder = photos();
    let path = folder.path();
    for file in ["two.png", "close.png"] {
        let args = ["protect", file, "-o", "out", "--receipt", "--no-check", "--seed", "1"];
        facedp_json(path, &[&args[..], &CERTIFIED].concat());
        let receipt = format!("out.receipts/{file}.json");
        let receipt = fs::read_to_string(path.join(receipt)).unwrap();
        let receipt: serde_json::Value = serde_json::from_str(&receipt).unwrap();
        let faces = receipt["private"]["faces"].as_array().unwrap();
        assert_eq!(faces.len(), 2);
        assert_ne!(faces[0]["details"]["estimate"], faces[1]["details"]["estimate"]);
        let [before, after] = [path.join(file), path.join("out").join(file)]
            .map(|file| image::open(file).unwrap().into_rgb8());
        let changed = before.pixels().zip(after.pixels()).filter(|(a, b)| a != b).count();
        let all = before.pixels().count();
        assert!(changed > all / 50 && changed < all / 3, "{changed} of {all}");
        assert_eq!(before.get_pixel(3, 3), after.get_pixel(3, 3));
    }
}

/// Fresh entropy each time, unless a key or a seed is named; a seed claims nothing.
#[test]
fn noise_is_fresh_unless_asked_otherwise() {
    let folder = photos();
    let path = folder.path();
    write_key(&path.join("my.key"), 7);
    let released = |more: &[&str]| {
        let args = ["protect", "one.png", "-o", "out", "--force", "--no-check", "--receipt"];
        let method = ["--method", "certified", "--epsilon", "32", "--features", "4"];
        let lines = facedp_json(path, &[&args[..], &method, more].concat());
        let receipt = fs::read_to_string(path.join("out.receipts/one.png.json")).unwrap();
        let receipt: serde_json::Value = serde_json::from_str(&receipt).unwrap();
        let features = &receipt["private"]["faces"][0]["details"]["noisy_features"];
        let released = features.as_array().unwrap().iter().filter(|f| !f.is_null()).count();
        assert_eq!(released, 4, "{features}");
        let file = fs::read(path.join("out/one.png")).unwrap();
        (lines[1]["summary"]["claim"].clone(), (features.clone(), file))
    };
    let (claim, first) = released(&[]);
    assert_eq!(claim, "eps-dp-face");
    // No cell is drawn with a probability above 1 / 511, the inverse of the smallest first level of a
    // staircase: four features are equal twice with a probability below 2e-11.
    assert_ne!(released(&[]).1.0, first.0);
    let (claim, keyed) = released(&["--key", "my.key"]);
    assert_eq!(claim, "eps-dp-face");
    assert_eq!(released(&["--key", "my.key"]).1, keyed);
    let (claim, seeded) = released(&["--seed", "1"]);
    assert_eq!(claim, "none");
    assert_eq!(released(&["--seed", "1"]).1, seeded);
}

#[test]
fn what_cannot_be_certified_is_said() {
    let folder = photos();
    let path = folder.path();
    for (file, more, code, words) in [
        ("one.png", &["--keep-metadata"][..], 2, &["cannot keep metadata", "--keep-metadata"][..]),
        ("one.png", &["--mechanism", "gauss"], 2, &["knorm", "staircase"]),
        ("one.png", &["--strength", "high"], 2, &["--strength", "--method steered"]),
        ("one.png", &["--geometric-p", "0.1"], 2, &["--geometric-p", "certified"]),
        ("one.png", &["--require-no-match"], 2, &["--require-no-match", "whatever they look like"]),
    ] {
        let args = [&["protect", file, "-o", "out"], &CERTIFIED[..], more].concat();
        let outcome = facedp(path, &args);
        assert_eq!(outcome.code, code, "{file} {more:?}: {}", outcome.stderr);
        for word in words {
            assert!(outcome.stderr.contains(word), "{file} {more:?}: {}", outcome.stderr);
        }
        assert!(!path.join("out").join(file).exists());
    }
}

/// Fresh noise adds up over releases, and that is said; repeatable noise costs once.
#[test]
fn the_ledger_adds_up() {
    let folder = photos();
    let path = folder.path();
    write_key(&path.join("my.key"), 7);
    let release = |more: &[&str]| {
        let args = ["protect", "one.png", "-o", "out", "--force", "--no-check", "--features", "4"];
        let outcome = facedp(path, &[&args[..], &CERTIFIED, &["--ledger", "spent"], more].concat());
        assert_eq!(outcome.code, 0, "{}", outcome.stderr);
        outcome.stderr
    };
    assert_eq!(release(&[]), "");
    let words = "released before: one.png: 2 releases now, epsilon 8 in all";
    let said = release(&[]);
    assert!(said.contains(words), "{said}");
    assert!(release(&["--key", "my.key"]).contains("3 releases now, epsilon 12"));
    assert!(release(&["--key", "my.key"]).contains("3 releases now, epsilon 12"));
    // What one release hides, another with other outlines shows: there is no sum.
    let other = |ledger: &str, which: &[&str]| {
        let args = ["protect", "one.png", "-o", "out", "--force", "--no-check"];
        let more = [&["--ledger", ledger], which].concat();
        let outcome = facedp(path, &[&args[..], &CERTIFIED, &more].concat());
        assert_eq!(outcome.code, 0, "{}", outcome.stderr);
        outcome.stderr
    };
    other("apart", &[]);
    let said = other("apart", &["--box", "10,300,30,36"]);
    assert!(said.contains("2 releases now, no bound: with different"), "{said}");
    let total = facedp(path, &["receipt", "total", "--ledger", "apart"]).stdout;
    assert!(total.contains("2 releases, no bound: with different"), "{total}");
    let lines = facedp_json(path, &["receipt", "total", "--ledger", "apart"]);
    assert!(lines[0]["epsilon"].is_null(), "{lines:?}");
    let total =
        facedp(path, &["receipt", "total", "one.png", "two.png", "--ledger", "spent"]).stdout;
    assert!(total.contains("one.png  3 releases, epsilon 12 in all for each face"), "{total}");
    assert!(total.contains("two.png  no release in this ledger"), "{total}");
    let lines = facedp_json(path, &["receipt", "total", "--ledger", "spent"]);
    assert_eq!((lines.len(), &lines[0]["epsilon"]), (1, &12.0.into()));
    // Seeded noise can be subtracted, which voids the sum.
    let said = release(&["--seed", "1"]);
    assert!(said.contains("4 releases now, no bound: certified with a seed"), "{said}");
    fs::write(path.join("spent"), "x").unwrap();
    let damaged = facedp(path, &["receipt", "total", "--ledger", "spent"]);
    assert!(damaged.code == 1 && damaged.stderr.contains("line 1"), "{}", damaged.stderr);
}

/// Releases by other methods show what `certified` hides: from then on there is no total.
#[test]
fn releases_by_other_methods_void_the_total() {
    let folder = photos();
    let path = folder.path();
    write_key(&path.join("my.key"), 7);
    let release = |method: &[&str]| {
        let args =
            ["protect", "one.png", "-o", "out", "--force", "--no-metrics", "--ledger", "all"];
        let outcome = facedp(path, &[&args[..], &["--method"], method].concat());
        assert_eq!(outcome.code, 0, "{}", outcome.stderr);
        outcome.stderr
    };
    let total = || facedp(path, &["receipt", "total", "one.png", "--ledger", "all"]).stdout;
    assert_eq!(release(&["certified", "--epsilon", "0.2", "--no-check"]), "");
    assert_eq!(total(), "one.png  1 release, epsilon 0.2 in all for each face\n");
    let noise = ["rdp-optimal", "--key", "my.key", "--no-check"];
    let said = release(&noise);
    assert!(said.contains("2 releases now, no bound: rdp-optimal can show"), "{said}");
    // The same release again shows nothing new.
    assert!(release(&noise).contains("2 releases now"));
    assert!(release(&["none"]).contains("3 releases now, no bound: none, rdp-optimal can show"));
    let said = release(&["certified", "--epsilon", "0.5", "--no-check"]);
    assert!(said.contains("4 releases now, no bound: none, rdp-optimal can show"), "{said}");
    assert!(total().contains("4 releases, no bound: none, rdp-optimal"), "{}", total());
    let lines = facedp_json(path, &["receipt", "total", "--ledger", "all"]);
    assert!(lines[0]["epsilon"].is_null() && lines[0]["private_releases"] == 2, "{lines:?}");
}

#[test]
fn audits_say_what_they_found_and_what_not() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path();
    let wrong = facedp(path, &["audit", "--method", "rdp-optimal", "--runs", "1000"]);
    assert_eq!(wrong.code, 0);
    for words in ["delta_floor           1.0000", "refuted: the claimed epsilon is 0.2"] {
        assert!(wrong.stdout.contains(words), "{}", wrong.stdout);
    }
    let args = ["audit", "--epsilon", "1", "--features", "4", "--runs", "200"];
    let lines = facedp_json(path, &args);
    assert_eq!(lines[0]["refuted"], false);
    assert!(lines[0]["verdict"].as_str().unwrap().contains("too few runs to tell"));
    assert_eq!(facedp_json(path, &args), lines);
    let plan = facedp(path, &["plan", "--method", "certified", "--epsilon", "64"]);
    assert!(
        plan.stdout.contains("K-norm") && plan.stdout.contains("public_constants"),
        "{}",
        plan.stdout
    );
}
