//! Which results of an interrupted run are taken over.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod support;

use std::fs;
use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::AtomicBool;

use facedp_engine::batch::{
    self, ExistingResults, Job, Mode, Outcome, Progress, Record, Run, RunOptions,
};
use facedp_engine::{Engine, Error, Request, files};
use support::{golden, noisy, recoding};

/// The names of sources that were taken over, and of those that were treated.
#[derive(Default)]
struct Seen(Mutex<(Vec<String>, Vec<String>)>);

impl Progress for Seen {
    fn done(&self, job: &Job, outcome: Result<Outcome, Error>) {
        let name = job.source().file_name().unwrap().to_str().unwrap().to_owned();
        let mut seen = self.0.lock().unwrap();
        match outcome.unwrap() {
            Outcome::Existing(_) => seen.0.push(name),
            Outcome::Written(_) => seen.1.push(name),
            _ => panic!("{name}"),
        }
    }
}

/// Runs into `out`; the record stays, as that of an interrupted run does.
fn run(folder: &Path, engine: &Engine, mode: Mode) -> (Vec<String>, Vec<String>) {
    let out = folder.join("out");
    let (found, failures) = files::collect(&[folder.join("in")], &out);
    assert!(failures.is_empty());
    let jobs = Job::list(found, &out, None, None, mode);
    let record = Record::begin(&out, &jobs, engine, mode).unwrap();
    let (options, seen) = (
        RunOptions { run: Run::Write, existing: ExistingResults::Skip, workers: 1 },
        Seen::default(),
    );
    batch::run(engine, &jobs, &record, options, &AtomicBool::new(false), &seen).unwrap();
    drop(record);
    let mut seen = seen.0.into_inner().unwrap();
    seen.0.sort();
    seen.1.sort();
    seen
}

fn album() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    fs::create_dir(folder.path().join("in")).unwrap();
    for (name, file) in [("a.jpg", "base_420_q85.jpg"), ("b.jpg", "444_q95.jpg")] {
        fs::write(folder.path().join("in").join(name), golden(file)).unwrap();
    }
    folder
}

#[test]
fn only_what_the_run_wrote_from_these_sources_is_taken_over() {
    let folder = album();
    let path = folder.path();
    let engine = noisy(Request { aligned: true, ..Request::default() });
    let all = ["a.jpg", "b.jpg"].map(str::to_owned).to_vec();
    let nothing: Vec<String> = Vec::new();
    assert_eq!(run(path, &engine, Mode::New), (nothing.clone(), all.clone()));
    let results = || ["a.jpg", "b.jpg"].map(|name| fs::read(path.join("out").join(name)).unwrap());
    let first = results();
    assert_eq!(run(path, &engine, Mode::Resume), (all.clone(), nothing.clone()));
    let again = |expected: &str| {
        let (taken, treated) = run(path, &engine, Mode::Resume);
        assert_eq!((taken.len(), treated), (1, vec![expected.to_owned()]));
        assert_eq!(run(path, &engine, Mode::Resume).0, all);
    };
    // An original in place of a result.
    fs::copy(path.join("in/a.jpg"), path.join("out/a.jpg")).unwrap();
    again("a.jpg");
    assert_eq!(results(), first);
    // What another method makes of it.
    let other = recoding(Request::default());
    let copy = other.protect(&golden("444_q95.jpg"), &mut Default::default()).unwrap().file;
    fs::write(path.join("out/b.jpg"), copy).unwrap();
    again("b.jpg");
    assert_eq!(results(), first);
    // A source that changed since.
    fs::write(path.join("in/a.jpg"), golden("custom_tables.jpg")).unwrap();
    again("a.jpg");
    assert_ne!(results()[0], first[0]);
    // A link to the result is not the result.
    #[cfg(unix)]
    {
        fs::rename(path.join("out/b.jpg"), path.join("elsewhere.jpg")).unwrap();
        std::os::unix::fs::symlink(path.join("elsewhere.jpg"), path.join("out/b.jpg")).unwrap();
        again("b.jpg");
        assert!(!path.join("out/b.jpg").is_symlink());
    }
}

/// Without a record, nothing in the folder is known.
#[test]
fn without_a_record_everything_is_made_again() {
    let folder = album();
    let path = folder.path();
    let engine = noisy(Request { aligned: true, ..Request::default() });
    fs::create_dir(path.join("out")).unwrap();
    fs::copy(path.join("in/a.jpg"), path.join("out/a.jpg")).unwrap();
    let (taken, treated) = run(path, &engine, Mode::Resume);
    assert_eq!((taken.len(), treated.len()), (0, 2));
    assert_ne!(fs::read(path.join("in/a.jpg")).unwrap(), fs::read(path.join("out/a.jpg")).unwrap());
}
