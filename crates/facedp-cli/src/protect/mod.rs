//! `facedp protect`: noise for the faces of photos.

mod settings;
mod summary;

use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

use anyhow::{Context, anyhow};
use facedp_engine::batch::{self, Job, Mode, Outcome, Record, Run};
use facedp_engine::{Error, files};
use serde_json::{Value, json};

use crate::args::{Output, Protect, RunArgs};
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
    let others: Vec<PathBuf> = receipts.into_iter().collect();
    let record = match args.run.what() {
        Run::Dry => None,
        Run::Write => Some(Record::begin(&args.output, &others, &engine.description(), mode)?),
    };
    let stop = stop_on_signal()?;

    let bar = progress::bar(jobs.len(), "protecting", output);
    let tally = Mutex::new(Tally::default());
    let told = Mutex::new(Ok(()));
    let tell = |source: Option<&Job>, outcome: Result<Outcome, Error>| {
        if let Some(complaint) = complaint(source, &outcome) {
            bar.suspend(|| complain(complaint));
        }
        if output.json {
            let line = line(source, &outcome).map_or(Ok(()), |line| bar.suspend(|| say(line)));
            let mut told = told.lock().unwrap_or_else(PoisonError::into_inner);
            if told.is_ok() {
                *told = line;
            }
        }
        tally.lock().unwrap_or_else(PoisonError::into_inner).add(&outcome);
        bar.inc(1);
    };
    for failure in failures {
        tell(None, Err(failure));
    }
    let workers = args.run.jobs.map_or(0, usize::from);
    batch::run(&engine, &jobs, args.run.what(), workers, &stop, |job, outcome| {
        tell(Some(job), outcome);
    })?;
    bar.finish_and_clear();

    let tally = tally.into_inner().unwrap_or_else(PoisonError::into_inner);
    told.into_inner().unwrap_or_else(PoisonError::into_inner)?;
    let stopped = stop.load(Ordering::Relaxed);
    if !stopped && let Some(record) = record {
        record.finish();
    }
    let summary = tally.summary(&engine, args.run.what(), start.elapsed());
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

impl RunArgs {
    fn mode(&self) -> Mode {
        match (self.resume, self.force) {
            (true, _) => Mode::Resume,
            (_, true) => Mode::Replace,
            _ => Mode::New,
        }
    }

    fn what(&self) -> Run {
        if self.dry_run { Run::Dry } else { Run::Write }
    }
}

/// A flag that Ctrl-C sets. The second Ctrl-C ends the program at once; what it leaves unfinished is
/// removed when the run is resumed.
fn stop_on_signal() -> anyhow::Result<Arc<AtomicBool>> {
    let stop = Arc::new(AtomicBool::new(false));
    let flag = Arc::clone(&stop);
    let handler = move || {
        if flag.swap(true, Ordering::Relaxed) {
            std::process::exit(130);
        }
        complain("finishing the photos in hand; press Ctrl-C again to stop at once");
    };
    ctrlc::set_handler(handler).context("cannot catch Ctrl-C")?;
    Ok(stop)
}

/// What is said at once of a photo that is not as it should be.
fn complaint(job: Option<&Job>, outcome: &Result<Outcome, Error>) -> Option<String> {
    let name = || job.map_or(String::new(), |job| format!("{}: ", job.source().display()));
    match outcome {
        Err(error @ Error::NoFace) => Some(format!("not written: {}{error}", name())),
        Err(error) => Some(format!("failed: {}{error}", name())),
        Ok(Outcome::Copied(_)) => Some(format!("no face found: {}written without noise", name())),
        Ok(_) => None,
    }
}

/// The JSON line of a photo; none for one that was not begun.
fn line(job: Option<&Job>, outcome: &Result<Outcome, Error>) -> Option<Value> {
    let (word, details) = match outcome {
        Ok(Outcome::Stopped) => return None,
        Ok(Outcome::Written(result)) => ("written", json!(result)),
        Ok(Outcome::Copied(result)) => ("copied", json!(result)),
        Ok(Outcome::Planned(seen)) => ("planned", json!(seen)),
        Ok(Outcome::Existing) => ("existing", json!({})),
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
