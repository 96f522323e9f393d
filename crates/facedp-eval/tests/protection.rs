//! Evaluations of treated photos of two people.
#![allow(missing_docs, clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod support;

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicUsize};

use facedp_engine::{Check, Engine, Format, Recognisers, Request, Resources, Secret, Terms};
use facedp_engine::{Workspace, embedded_model};
use facedp_eval::dataset::Half;
use facedp_eval::journal::Earlier;
use facedp_eval::progress::{Progress, Silent, Watch};
use facedp_eval::protection::{Options, ProtectionResults, run};
use facedp_eval::{Error, Task};
use image::DynamicImage;
use support::After;

const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");

/// Two pictures of a person, at most that wide and high.
fn person(folder: &Path, name: &str, file: &str, size: u32) {
    let picture = image::open(format!("{ROOT}/examples/photos/{file}")).unwrap();
    let picture = DynamicImage::ImageRgb8(picture.thumbnail(size, size).to_rgb8());
    fs::create_dir_all(folder.join(name)).unwrap();
    picture.save(folder.join(name).join("1.png")).unwrap();
    picture.brighten(15).save(folder.join(name).join("2.png")).unwrap();
}

/// Two people with two pictures each, and one person with one.
fn people(folder: &Path) {
    person(folder, "Grace", "hopper.jpg", 256);
    person(folder, "Eileen", "collins.jpg", 256);
    fs::create_dir_all(folder.join("Alone")).unwrap();
    fs::copy(folder.join("Grace/1.png"), folder.join("Alone/1.png")).unwrap();
}

/// A request that takes seconds.
fn steered() -> Request {
    let tuning = facedp_engine::Tuning { steps: 12, ..Default::default() };
    let experiment = facedp_engine::Experiment { tuning: Some(tuning), ..Default::default() };
    let request = Request::from_json(r#"{"goal": "away", "steer_by": ["dlib"]}"#).unwrap();
    Request { experiment: Some(experiment), ..request }
}

fn options(request: Request) -> Options {
    Options {
        requests: vec![request],
        people: 2,
        skip: 0,
        threshold_images: 4,
        galleries: true,
        attacks: vec!["none".to_owned(), "jpeg-75".to_owned()],
    }
}

fn evaluate(
    data: &Path,
    folder: &Path,
    options: &Options,
    earlier: Earlier,
    watch: &dyn Watch,
    stop: &AtomicBool,
) -> Result<ProtectionResults, Error> {
    let task = Task {
        data,
        half: Half::All,
        folder,
        earlier,
        model: embedded_model().unwrap(),
        recognisers: Recognisers::embedded().unwrap().keep(&["dlib", "sface"].map(str::to_owned)),
        seed: 1,
        progress: &Progress::new(watch, stop),
    };
    run(&task, options)
}

#[test]
fn known_and_held_out_recognisers_judge_steered_photos() {
    let folder = tempfile::tempdir().unwrap();
    let (data, report) = (folder.path().join("people"), folder.path().join("report"));
    people(&data);
    let go = AtomicBool::new(false);
    // Four pictures are read and four recognised; two more steps are two steered photos.
    let stop = AtomicBool::new(false);
    let watch = After { left: AtomicUsize::new(10), stop: &stop };
    let cut = evaluate(&data, &report, &options(steered()), Earlier::Refuse, &watch, &stop);
    assert!(matches!(cut, Err(Error::Stopped)));
    let again = evaluate(&data, &report, &options(steered()), Earlier::Refuse, &Silent, &go);
    assert!(again.is_err(), "the folder holds a report already");
    let resumed =
        evaluate(&data, &report, &options(steered()), Earlier::Resume, &Silent, &go).unwrap();
    let other = folder.path().join("other");
    let whole =
        evaluate(&data, &other, &options(steered()), Earlier::Refuse, &Silent, &go).unwrap();
    assert_eq!(resumed, whole);

    let row = &whole.rows[0];
    assert_eq!((whole.rows.len(), row.people, row.photos), (1, 2, 4));
    assert!(row.score.least >= 75.0 && row.score.median < 90.0, "{row:?}");
    assert!(row.displacement.unwrap().largest <= 0.0331, "{row:?}");
    assert!(row.psnr_crop.value < row.psnr.value && row.ssim.value > 0.8, "{row:?}");
    assert!(row.steps.unwrap() <= 12.0, "{row:?}");
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
        let halves = judge.pair_fnr_by_brightness.unwrap();
        let both = halves.iter().map(|half| half.value * half.n as f64).sum::<f64>();
        assert_eq!(halves.map(|half| half.n), [2, 2]);
        assert!((both - 4.0 * judge.attacks[0].pair_fnr.value).abs() < 1e-9, "{halves:?}");
        let gallery = judge.gallery.as_ref().unwrap();
        assert_eq!((gallery.pair_fnr.n, gallery.clean_rank_1.value), (2, 1.0));
    }
    // The recogniser that steered no longer matches Eileen, at least.
    assert!(row.judges[0].attacks[0].self_fnr.value >= 0.5, "{row:?}");
    let photos = files(&report.join("photos"));
    assert_eq!(photos.len(), 4);

    // Photos are treated exactly as by any other front end.
    let request = Request { format: Some(Format::Png), check: Check::Off, ..steered() };
    let engine = Engine::new(request, Resources::new(Secret::Seed(1)).unwrap()).unwrap();
    let photo = fs::read(data.join("Grace/1.png")).unwrap();
    let protected = engine.protect(&photo, &mut Workspace::default()).unwrap();
    let kept = photos.iter().find(|path| path.ends_with("Grace_1.png.png")).unwrap();
    assert!(fs::read(kept).unwrap() == protected.file);
}

/// A face that a method cannot treat leaves its person out, and is named.
#[test]
fn faces_that_cannot_be_treated_are_skipped() {
    let folder = tempfile::tempdir().unwrap();
    let (data, report) = (folder.path().join("people"), folder.path().join("report"));
    person(&data, "Eileen", "collins.jpg", 256);
    person(&data, "Tiny", "hopper.jpg", 64);
    let certified = r#"{"method": "certified", "epsilon": 64, "features": 4}"#;
    let certified = Request::from_json(certified).unwrap();
    let both = Options { requests: vec![steered(), certified], ..options(steered()) };
    let go = AtomicBool::new(false);
    let results = evaluate(&data, &report, &both, Earlier::Refuse, &Silent, &go).unwrap();
    let [steered, certified] = results.rows.as_slice() else { panic!("not two rows") };
    assert_eq!((steered.people, steered.photos), (1, 2));
    assert_eq!((certified.people, certified.photos), (2, 4));
    assert!(matches!(certified.terms, Terms::Certified(_)));
    assert!(certified.steps.is_none() && certified.judges.iter().all(|judge| !judge.known));
    let skipped: Vec<&str> = results.skipped.iter().map(|s| s.file.as_str()).collect();
    assert_eq!(skipped, ["Tiny/1.png", "Tiny/2.png"]);
    assert!(results.skipped[0].reason.contains("pixels wide"), "{:?}", results.skipped);
}

#[test]
fn methods_that_change_no_faces_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let (data, report) = (folder.path().join("people"), folder.path().join("report"));
    person(&data, "Eileen", "collins.jpg", 256);
    let none = options(Request::from_json(r#"{"method": "none"}"#).unwrap());
    let go = AtomicBool::new(false);
    let error = evaluate(&data, &report, &none, Earlier::Refuse, &Silent, &go).unwrap_err();
    assert_eq!(error.to_string(), "none changes no faces");
}

fn files(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    entries.flat_map(|path| if path.is_dir() { files(&path) } else { vec![path] }).collect()
}
