//! `facedp evaluate`: methods and recognisers, measured on a folder of people.

mod certified;
mod files;
mod paper;
mod protection;
mod recognisers;
mod steered;
mod time;

use std::process::ExitCode;
use std::sync::Arc;

use anyhow::{Context, anyhow};
use facedp::FeatureModel;
use facedp_engine::Recognisers;
use facedp_engine::batch::workers;
use facedp_eval::journal::Earlier;
use facedp_eval::progress::Progress;
use facedp_eval::results::Skipped;
use facedp_eval::{Error, Task};

use crate::args::{DataArgs, Evaluate, Output, ReportArgs};
use crate::failure::{Failure, complain};
use crate::progress::Bar;
use crate::signals;

pub fn run(command: &Evaluate, output: &Output) -> Result<ExitCode, Failure> {
    match command {
        Evaluate::Paper(args) => in_threads(&args.report.data, || paper::run(args, output)),
        Evaluate::Steered(args) => in_threads(&args.report.data, || steered::run(args, output)),
        Evaluate::Certified(args) => in_threads(&args.report.data, || certified::run(args, output)),
        Evaluate::Recognisers(args) => in_threads(&args.data, || recognisers::run(args, output)),
    }
}

fn in_threads(
    args: &DataArgs,
    evaluate: impl FnOnce() -> Result<ExitCode, Failure> + Send,
) -> Result<ExitCode, Failure> {
    let threads = workers(args.jobs.map(usize::from)).map_err(Failure::usage)?;
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
    pool.context("worker threads")?.install(evaluate)
}

/// Runs an evaluation that writes a report. None if it was interrupted, and that was said.
fn report<T>(
    args: &ReportArgs,
    model: Arc<FeatureModel>,
    output: &Output,
    evaluate: impl FnOnce(&Task<'_>) -> Result<T, Error>,
) -> Result<Option<T>, Failure> {
    let recognisers = Recognisers::embedded()?.keep(&args.recognisers);
    let recognisers = files::add(recognisers, &args.data.recogniser_files)?;
    let stop = signals::stop_on_signal("stopping; press Ctrl-C again to stop at once")?;
    let bar = Bar::new(output);
    let task = Task {
        data: &args.data.data,
        half: args.identities.half(),
        folder: &args.output,
        earlier: args.earlier(),
        model,
        recognisers,
        seed: args.seed,
        progress: &Progress::new(&bar, &stop),
    };
    let done = evaluate(&task);
    bar.clear();
    match done {
        Err(Error::Stopped) => {
            complain("interrupted: continue with the same command and --resume");
            Ok(None)
        }
        done => Ok(Some(done?)),
    }
}

/// The exit code of a run that was interrupted.
fn interrupted() -> ExitCode {
    ExitCode::from(130)
}

/// Names pictures that were left out. The exit code says whether there are any.
fn complain_of(skipped: &[Skipped]) -> ExitCode {
    for Skipped { file, reason } in skipped {
        complain(format_args!("skipped: {file}: {reason}"));
    }
    if skipped.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// Fails if a number of features is not one that the model has.
fn require_features(features: &[usize], model: &FeatureModel) -> Result<(), Failure> {
    let max = model.features();
    match features.iter().find(|n| !(1..=max).contains(*n)) {
        None => Ok(()),
        Some(n) => Err(Failure::usage(anyhow!("--features {n}: the model has 1 to {max}"))),
    }
}

impl ReportArgs {
    fn earlier(&self) -> Earlier {
        match (self.resume, self.force) {
            (true, _) => Earlier::Resume,
            (_, true) => Earlier::Discard,
            _ => Earlier::Refuse,
        }
    }
}
