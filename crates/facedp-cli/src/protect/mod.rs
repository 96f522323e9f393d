//! `facedp protect`: photos whose faces recognisers no longer match, or with noise on them.

mod engine;
mod summary;

use std::process::ExitCode;
use std::sync::atomic::Ordering;
use std::sync::{Mutex, PoisonError};
use std::time::Instant;

use anyhow::anyhow;
use facedp_engine::batch::{
    self, ExistingResults, Job, Mode, Outcome, Progress, Record, Run, RunOptions,
};
use facedp_engine::ledger::Total;
use facedp_engine::{DetectedFace, Doubt, Error, SkippedFace, Verdict, files};
use indicatif::ProgressBar;
use serde_json::{Value, json};

use crate::args::{Output, Protect, RunArgs};
use crate::failure::{Failure, complain, say};
use crate::remedy::explained;
use crate::{plain, progress, signals, words};
use summary::Tally;

pub fn run(args: &Protect, output: &Output) -> Result<ExitCode, Failure> {
    let start = Instant::now();
    let mode = args.run.mode();
    let options = args.run_options()?;
    let (jobs, failures) = jobs(args, mode)?;
    let engine = engine::engine(args, output)?;
    let record = match options.run {
        Run::Dry => Record::look(&args.output, &engine, mode)?,
        Run::Write => Record::begin(&args.output, &jobs, &engine, mode)?,
    };
    let stop = signals::stop_on_signal(
        "finishing the photos in work; press Ctrl-C again to stop at once",
    )?;
    let console = Console::new(args, jobs.len(), output);
    failures.into_iter().for_each(|failure| console.report(None, Err(failure)));
    batch::run(&engine, &jobs, &record, options, &stop, &console)?;
    let summary = console.finish()?.summary(&engine, options.run, start.elapsed());
    let stopped = stop.load(Ordering::Relaxed) && summary.left() > 0;
    if !stopped {
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
            "{why}: {done} done, {left} to go; continue with the same command and --resume"
        ));
    }
    Ok(match summary {
        _ if stopped && !summary.disk_full() => ExitCode::from(130),
        _ if args.run.require_no_match && summary.still_match() => ExitCode::from(3),
        _ if summary.all_well(args.run.accept_doubts) => ExitCode::SUCCESS,
        _ => ExitCode::FAILURE,
    })
}

/// The photos to be treated, and what could not be taken.
fn jobs(args: &Protect, mode: Mode) -> Result<(Vec<Job>, Vec<Error>), Failure> {
    let receipts =
        args.write.receipt.then(|| files::beside(&args.output, ".receipts")).transpose()?;
    let (found, failures) = files::collect(&args.paths, &args.output);
    let format = args.write.format.0;
    let jobs = Job::list(found, &args.output, receipts.as_deref(), format, mode);
    if jobs.len() > 1 && !args.faces.boxes.is_empty() {
        let count = jobs.len();
        return Err(Failure::usage(anyhow!("--box is for one photo, but {count} are named")));
    }
    Ok((jobs, failures))
}

/// Shows a run as it goes on, and counts what became of photos.
struct Console<'a> {
    args: &'a Protect,
    json: bool,
    bar: ProgressBar,
    tally: Mutex<Tally>,
    /// The first failure to print a result.
    printed: Mutex<anyhow::Result<()>>,
}

impl<'a> Console<'a> {
    fn new(args: &'a Protect, photos: usize, output: &Output) -> Self {
        let bar = progress::bar(photos, args.method.info().activity, output);
        let (tally, printed) = (Mutex::default(), Mutex::new(Ok(())));
        Self { args, json: output.json, bar, tally, printed }
    }

    fn report(&self, source: Option<&Job>, outcome: Result<Outcome, Error>) {
        let mut complaints = complaint(source, &outcome);
        if self.args.run.require_no_match {
            complaints.extend(still_matching(source, &outcome));
        }
        complaints.into_iter().for_each(|text| self.bar.suspend(|| complain(text)));
        if self.json
            && let Some(line) = line(source, &outcome)
        {
            let printed = self.bar.suspend(|| say(line));
            let mut first = self.printed.lock().unwrap_or_else(PoisonError::into_inner);
            if first.is_ok() {
                *first = printed;
            }
        }
        let file = source.map(|job| job.target().display().to_string());
        self.tally.lock().unwrap_or_else(PoisonError::into_inner).add(file, &outcome);
        self.bar.inc(1);
    }

    fn finish(self) -> anyhow::Result<Tally> {
        self.bar.finish_and_clear();
        self.printed.into_inner().unwrap_or_else(PoisonError::into_inner)?;
        Ok(self.tally.into_inner().unwrap_or_else(PoisonError::into_inner))
    }
}

impl Progress for Console<'_> {
    fn faces(&self, job: &Job, done: usize, of: usize) {
        let activity = self.args.method.info().activity;
        let name = job.source().file_name().unwrap_or_default().to_string_lossy();
        let faces = words::count(of, "face");
        let message = format!("{activity}: {name}, {done} of {faces}");
        self.bar.set_message(plain::line(&message));
    }

    fn done(&self, job: &Job, outcome: Result<Outcome, Error>) {
        self.report(Some(job), outcome);
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
    fn run_options(&self) -> Result<RunOptions, Failure> {
        // What an earlier run found out about its results is not kept: look again where it matters.
        let changes = self.method.info().randomness.is_some();
        let look = changes && (self.run.require_no_match || self.write.copy_faceless);
        Ok(RunOptions {
            run: if self.run.dry_run { Run::Dry } else { Run::Write },
            existing: if look { ExistingResults::Check } else { ExistingResults::Skip },
            workers: batch::workers(self.run.jobs.map(usize::from)).map_err(Failure::usage)?,
        })
    }
}

/// What is said at once of a photo that is not as it should be.
fn complaint(job: Option<&Job>, outcome: &Result<Outcome, Error>) -> Vec<String> {
    let name = job.map_or(String::new(), |job| format!("{}: ", job.source().display()));
    let text = match outcome {
        Err(error @ Error::NoFace) => format!("not written: {name}{}", explained(error)),
        // The message names the file itself.
        Err(Error::Io { path, reason, what }) if job.is_some_and(|job| job.source() == path) => {
            format!("failed: {name}{what} it: {reason}")
        }
        Err(error) => format!("failed: {name}{}", explained(error)),
        Ok(Outcome::Copied(result)) => {
            let copied = format!("no face found: {name}written unchanged");
            let more = doubts(&name, &result.doubts).into_iter();
            return [copied]
                .into_iter()
                .chain(more)
                .chain(again(&name, result.total.as_ref()))
                .collect();
        }
        Ok(Outcome::Written(result)) => {
            let again = again(&name, result.total.as_ref());
            let untreated = |face: &DetectedFace| {
                let place = words::place(face);
                format!(
                    "not treated: {name}the result has a face at {place} that was not found in the \
                     original: mark it with --box"
                )
            };
            let doubts = doubts(&name, &result.doubts);
            let skipped = result.skipped.iter().map(|skipped| small(&name, skipped));
            let said = skipped.chain(doubts);
            return said.chain(result.untreated.iter().map(untreated)).chain(again).collect();
        }
        Ok(Outcome::Planned(seen)) => {
            let skipped = seen.skipped.iter().map(|skipped| small(&name, skipped));
            return skipped.chain(doubts(&name, &seen.doubts)).collect();
        }
        Ok(Outcome::PlannedCopy(seen)) => {
            let copied = format!("no face found: {name}would be written unchanged");
            return [copied].into_iter().chain(doubts(&name, &seen.doubts)).collect();
        }
        Ok(Outcome::Existing(Some(compared))) if compared.faces.is_empty() => {
            format!("no face found: {name}its result is there from an earlier run")
        }
        Ok(_) => return Vec::new(),
    };
    vec![text]
}

/// What is said of a face that is too small.
fn small(name: &str, skipped: &SkippedFace) -> String {
    let [x, y, ..] = skipped.face.rect;
    format!("skipped: {name}face at {x:.0},{y:.0}: {}", skipped.reason)
}

/// What is said of a photo that was released before, if a guarantee is at stake.
fn again(name: &str, total: Option<&Total>) -> Option<String> {
    let total = total.filter(|total| total.releases > 1 && total.private_releases > 0)?;
    let (releases, cost) = (total.releases, words::cost(total));
    Some(format!("released before: {name}{releases} releases now, {cost}"))
}

/// What is said of places that may be faces.
fn doubts(name: &str, doubts: &[Doubt]) -> Option<String> {
    let places =
        doubts.iter().map(|doubt| format!("{} at {}", doubt.number, words::place(&doubt.face)));
    let (what, were) = match doubts {
        [] => return None,
        [_] => ("1 place that may be a face", "was left as it is"),
        _ => ("places that may be faces", "were left as they are"),
    };
    let count = if doubts.len() > 1 { format!("{} ", doubts.len()) } else { String::new() };
    let places = places.collect::<Vec<_>>().join("; ");
    Some(format!(
        "in doubt: {name}{count}{what} {were}: {places}; choose by number with --faces, mark one with \
         --box, or pass --accept-doubts"
    ))
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
        Ok(Outcome::Planned(seen) | Outcome::PlannedCopy(seen)) => ("planned", json!(seen)),
        Ok(Outcome::Existing(compared)) => ("existing", json!({ "compared": compared })),
        Err(error @ Error::NoFace) => ("no-face", json!({ "error": explained(error) })),
        Err(error) => ("failed", json!({ "error": explained(error) })),
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
