//! `facedp protect`: photos whose faces recognisers no longer match, or with noise on them.

mod settings;
mod summary;

use std::process::ExitCode;
use std::sync::atomic::Ordering;
use std::sync::{Mutex, PoisonError};
use std::time::Instant;

use anyhow::anyhow;
use facedp_engine::batch::{self, Course, Job, Known, Mode, Outcome, Record, Run, Watch};
use facedp_engine::ledger::Total;
use facedp_engine::{Error, Left, Verdict, files};
use serde_json::{Value, json};

use crate::args::{MethodName, Output, Protect, RunArgs};
use crate::failure::{Failure, complain, say};
use crate::{progress, words};
use summary::Tally;

pub fn run(args: &Protect, output: &Output) -> Result<ExitCode, Failure> {
    let start = Instant::now();
    let receipts =
        args.write.receipt.then(|| files::beside(&args.output, ".receipts")).transpose()?;
    let (found, failures) = files::collect(&args.paths, &args.output);
    let format = args.write.format.format();
    let mode = args.run.mode();
    let jobs = Job::list(found, &args.output, receipts.as_deref(), format, mode);
    if jobs.len() > 1 && !args.look.boxes.is_empty() {
        return Err(Failure::usage(anyhow!(
            "--box is for one photo, but {} are named",
            jobs.len()
        )));
    }
    let engine = settings::engine(args)?;
    let course = args.course();
    let record = match course.run {
        Run::Dry => None,
        Run::Write => Some(Record::begin(&args.output, &jobs, &engine, mode)?),
    };
    let stop =
        words::stop_on_signal("finishing the photos in hand; press Ctrl-C again to stop at once")?;

    let what = if args.method == MethodName::Steered { "steering" } else { "adding noise" };
    let bar = progress::bar(jobs.len(), what, output);
    let tally = Mutex::new(Tally::default());
    let told = Mutex::new(Ok(()));
    let tell = |source: Option<&Job>, outcome: Result<Outcome, Error>| {
        let mut complaints = complaint(source, &outcome);
        if args.run.require_no_match {
            complaints.extend(still_matching(source, &outcome));
        }
        complaints.into_iter().for_each(|text| bar.suspend(|| complain(text)));
        if output.json {
            let line = line(source, &outcome).map_or(Ok(()), |line| bar.suspend(|| say(line)));
            let mut told = told.lock().unwrap_or_else(PoisonError::into_inner);
            if told.is_ok() {
                *told = line;
            }
        }
        let file = source.map(|job| job.target().display().to_string());
        tally.lock().unwrap_or_else(PoisonError::into_inner).add(file, &outcome);
        bar.inc(1);
    };
    for failure in failures {
        tell(None, Err(failure));
    }
    let watch = Telling {
        faces: |job: &Job, done: usize, of: usize| {
            let name = job.source().file_name().unwrap_or_default().to_string_lossy();
            bar.set_message(format!("{what}: {name}, {done} of {}", words::count(of, "face")));
        },
        done: |job: &Job, outcome| tell(Some(job), outcome),
    };
    batch::run(&engine, &jobs, course, &stop, &watch)?;
    bar.finish_and_clear();

    let tally = tally.into_inner().unwrap_or_else(PoisonError::into_inner);
    told.into_inner().unwrap_or_else(PoisonError::into_inner)?;
    let summary = tally.summary(&engine, course.run, start.elapsed());
    let stopped = stop.load(Ordering::Relaxed) && summary.left() > 0;
    if !stopped && let Some(record) = record {
        record.finish();
    }
    if output.json {
        say(json!({ "summary": summary }))?;
    } else if !output.quiet {
        say(summary.in_words(&args.output))?;
    }
    if stopped {
        let (done, left) = (words::count(summary.done(), "photo"), summary.left());
        let why = match summary.disk_full() {
            true => "stopped, since the disk is full",
            false => "interrupted",
        };
        complain(format_args!(
            "{why}: {done} done, {left} to go; go on with the same command and --resume"
        ));
    }
    Ok(match summary {
        _ if stopped && !summary.disk_full() => ExitCode::from(130),
        _ if args.run.require_no_match && summary.still_match() => ExitCode::from(3),
        _ if summary.all_well() => ExitCode::SUCCESS,
        _ => ExitCode::FAILURE,
    })
}

/// Passes on what a batch tells.
struct Telling<F, D> {
    faces: F,
    done: D,
}

impl<F, D> Watch for Telling<F, D>
where
    F: Fn(&Job, usize, usize) + Sync,
    D: Fn(&Job, Result<Outcome, Error>) + Sync,
{
    fn faces(&self, job: &Job, done: usize, of: usize) {
        (self.faces)(job, done, of);
    }

    fn done(&self, job: &Job, outcome: Result<Outcome, Error>) {
        (self.done)(job, outcome);
    }
}

impl RunArgs {
    fn mode(&self) -> Mode {
        match (self.resume, self.force) {
            (true, _) => Mode::Resume,
            (_, true) => Mode::Replace,
            _ => Mode::New,
        }
    }
}

impl Protect {
    fn course(&self) -> Course {
        // What an earlier run found out about its results is not kept: look again where it matters.
        let noisy = self.method != MethodName::None;
        let look = noisy && (self.run.require_no_match || self.write.copy_faceless);
        Course {
            run: if self.run.dry_run { Run::Dry } else { Run::Write },
            existing: if look { Known::Checked } else { Known::Taken },
            workers: self.run.jobs.map_or(0, usize::from),
        }
    }
}

/// What is said at once of a photo that is not as it should be.
fn complaint(job: Option<&Job>, outcome: &Result<Outcome, Error>) -> Vec<String> {
    let name = job.map_or(String::new(), |job| format!("{}: ", job.source().display()));
    let text = match outcome {
        Err(error @ Error::NoFace) => format!("not written: {name}{error}"),
        // The message names the file itself.
        Err(Error::Io { path, reason, what }) if job.is_some_and(|job| job.source() == path) => {
            format!("failed: {name}{what} it: {reason}")
        }
        Err(error) => format!("failed: {name}{error}"),
        Ok(Outcome::Copied(_)) => format!("no face found: {name}written unchanged"),
        Ok(Outcome::Written(result)) => {
            let words = |left: &Left| {
                let [x, y, ..] = left.spot.rect;
                format!("left as it is: {name}face at {x:.0},{y:.0}: {}", left.reason)
            };
            let again = |total: &Total| {
                let releases = total.releases;
                let cost = match total.epsilon {
                    Some(epsilon) => format!("epsilon {epsilon} in all for each face"),
                    None => {
                        "with different faces, boxes or features: together they can show what each \
                             of them hides, and no epsilon holds"
                            .to_owned()
                    }
                };
                format!("released before: {name}{releases} releases now, {cost}")
            };
            let again = result.total.as_ref().filter(|total| total.releases > 1).map(again);
            return result.left.iter().map(words).chain(again).collect();
        }
        Ok(Outcome::Existing(Some(compared))) if compared.faces.is_empty() => {
            format!("no face found: {name}its result is there from an earlier run")
        }
        Ok(_) => return Vec::new(),
    };
    vec![text]
}

/// The faces of a photo that recognisers still match.
fn still_matching(job: Option<&Job>, outcome: &Result<Outcome, Error>) -> Vec<String> {
    let faces: Vec<&[Verdict]> = match outcome {
        Ok(Outcome::Written(result)) => {
            result.faces.iter().map(|face| face.recognisers.as_slice()).collect()
        }
        Ok(Outcome::Existing(Some(compared))) => compared.faces.iter().map(Vec::as_slice).collect(),
        _ => return Vec::new(),
    };
    let name = job.map_or(String::new(), |job| job.target().display().to_string());
    let complaint = |(number, verdicts): (usize, &[Verdict])| {
        let matching = verdicts.iter().filter(|v| v.plain.matches);
        let matching: Vec<&str> = matching.map(|v| words::recogniser(&v.name)).collect();
        match verdicts {
            [] => Some(format!("not checked: {name}: no recogniser could look at face {number}")),
            _ if matching.is_empty() => None,
            _ => Some(format!("still matches: {name}: face {number} ({})", matching.join(", "))),
        }
    };
    (1..).zip(faces).filter_map(complaint).collect()
}

/// The JSON line of a photo; none for one that was not begun.
fn line(job: Option<&Job>, outcome: &Result<Outcome, Error>) -> Option<Value> {
    let (word, details) = match outcome {
        Ok(Outcome::Stopped) => return None,
        Ok(Outcome::Written(result)) => ("written", json!(result)),
        Ok(Outcome::Copied(result)) => ("copied", json!(result)),
        Ok(Outcome::Planned(seen)) => ("planned", json!(seen)),
        Ok(Outcome::Existing(compared)) => ("existing", json!({ "compared": compared })),
        Err(error @ Error::NoFace) => ("no-face", json!({ "error": error.to_string() })),
        Err(error) => ("failed", json!({ "error": error.to_string() })),
    };
    let mut line = json!({
        "file": job.map(|job| job.source().to_string_lossy()),
        "output": job.map(|job| job.target().to_string_lossy()),
        "result": word,
    });
    if let (Value::Object(line), Value::Object(details)) = (&mut line, details) {
        line.extend(details);
    }
    Some(line)
}
