//! An evaluation of steering on two people.
#![allow(missing_docs, clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod support;

use std::fs;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize};

use facedp::FeatureModel;
use facedp_engine::{Goal, Steering, Strength};
use facedp_eval::Error;
use facedp_eval::dataset::Half;
use facedp_eval::journal::Earlier;
use facedp_eval::progress::{Nobody, Progress, Watch};
use facedp_eval::steering::{Options, SteeringResults, Way, run};
use image::DynamicImage;
use support::After;

const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");

/// Two pictures each of two people, and somebody with one.
fn people(folder: &Path) {
    for (name, file) in [("Grace", "hopper.jpg"), ("Eileen", "collins.jpg")] {
        let picture = image::open(format!("{ROOT}/examples/photos/{file}")).unwrap();
        let picture = DynamicImage::ImageRgb8(picture.thumbnail(256, 256).to_rgb8());
        fs::create_dir_all(folder.join(name)).unwrap();
        picture.save(folder.join(name).join("1.png")).unwrap();
        picture.brighten(15).save(folder.join(name).join("2.png")).unwrap();
    }
    fs::create_dir_all(folder.join("Alone")).unwrap();
    fs::copy(folder.join("Grace/1.png"), folder.join("Alone/1.png")).unwrap();
}

fn options() -> Options {
    let mut steering = Steering::new(Strength::Medium, Goal::Away).unwrap();
    steering.recognisers = vec!["dlib".to_owned()];
    steering.tuning.steps = 12;
    Options {
        ways: vec![Way::Steered(steering)],
        people: 2,
        skip: 0,
        threshold_images: 4,
        galleries: true,
        attacks: vec!["none".to_owned(), "jpeg-75".to_owned()],
        recognisers: vec!["dlib".to_owned(), "sface".to_owned()],
        half: Half::All,
        seed: 1,
    }
}

fn evaluate(
    data: &Path,
    report: &Path,
    options: &Options,
    earlier: Earlier,
    watch: &dyn Watch,
    stop: &AtomicBool,
) -> Result<SteeringResults, Error> {
    let model = fs::read(format!("{ROOT}/assets/eigenfaces.safetensors")).unwrap();
    let model = Arc::new(FeatureModel::from_bytes(&model).unwrap());
    run(data, report, &model, options, Vec::new(), earlier, &Progress::new(watch, stop))
}

#[test]
fn known_and_held_out_recognisers_judge_steered_photos() {
    let folder = tempfile::tempdir().unwrap();
    let (data, report) = (folder.path().join("people"), folder.path().join("report"));
    people(&data);
    let go = AtomicBool::new(false);
    // Eight pictures are read and looked at; two more steps are two steered photos.
    let stop = AtomicBool::new(false);
    let watch = After { left: AtomicUsize::new(10), stop: &stop };
    let cut = evaluate(&data, &report, &options(), Earlier::Refuse, &watch, &stop);
    assert!(matches!(cut, Err(Error::Stopped)));
    let again = evaluate(&data, &report, &options(), Earlier::Refuse, &Nobody, &go);
    assert!(again.is_err(), "there is a report already");
    let resumed = evaluate(&data, &report, &options(), Earlier::Resume, &Nobody, &go).unwrap();
    let other = folder.path().join("other");
    let whole = evaluate(&data, &other, &options(), Earlier::Refuse, &Nobody, &go).unwrap();
    assert_eq!(resumed, whole);

    let row = &whole.rows[0];
    assert_eq!((whole.rows.len(), row.people, row.photos), (1, 2, 4));
    assert!(row.psnr_least >= 36.0 && row.psnr_tight.value < row.psnr.value, "{row:?}");
    assert!(row.ssim.value > 0.9 && row.steps <= 12.0, "{row:?}");
    let names: Vec<(&str, &str, bool)> = row
        .judges
        .iter()
        .map(|judge| (judge.recogniser.as_str(), judge.rule.name.as_str(), judge.known))
        .collect();
    let expected = [
        ("dlib", "standard", true),
        ("dlib", "far-1e-3", true),
        ("sface", "standard", false),
        ("sface", "far-1e-3", false),
    ];
    assert_eq!(names, expected);
    for judge in &row.judges {
        assert_eq!(judge.clean_pair_fnr.value, 0.0, "a brighter picture is the same person");
        assert_eq!(judge.attacks.len(), 2);
        assert!(judge.attacks.iter().all(|a| a.self_fnr.n == 4 && a.pair_fnr.n == 4));
        let gallery = judge.gallery.as_ref().unwrap();
        assert_eq!((gallery.pair_fnr.n, gallery.clean_rank_1.value), (2, 1.0));
    }
    // Eileen, at least, is not matched any more by the recogniser that steered.
    assert!(row.judges[0].attacks[0].self_fnr.value >= 0.5, "{row:?}");
    let files = walk(&report.join("steered"));
    assert_eq!(files, 4);
}

fn walk(folder: &Path) -> usize {
    let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    entries.map(|path| if path.is_dir() { walk(&path) } else { 1 }).sum()
}
