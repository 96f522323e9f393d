//! Runs over many photos. Each result is written as soon as it is ready; a run can be stopped and resumed.

mod job;
mod record;

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};

use facedp_nets::Workspace;
use rayon::prelude::*;

use crate::control::Control;
use crate::engine::Engine;
use crate::error::{Error, Result};
use crate::files::{self, Existing, Readers};
use crate::outcome::{Compared, Inspection, Protected};

pub use job::{Job, Mode};
pub use record::Record;

/// The outcome of one job.
pub enum Outcome {
    Written(Protected),
    /// The photo has no face and was written unchanged.
    Copied(Protected),
    /// The result exists from an earlier run. Holds the verdicts of recognisers if they were asked.
    Existing(Option<Compared>),
    /// Dry run: nothing was written.
    Planned(Inspection),
    /// Dry run: the photo has no face and would be written unchanged.
    PlannedCopy(Inspection),
    /// The run was stopped before this job began.
    Stopped,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Run {
    /// Write results.
    Write,
    /// Inspect photos and write nothing.
    Dry,
}

/// What to do with results of an earlier run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ExistingResults {
    Skip,
    /// Ask recognisers about them again.
    Check,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RunOptions {
    pub run: Run,
    pub existing: ExistingResults,
    /// Number of threads; 0 for one per core.
    pub workers: usize,
}

/// More threads than these per core only take memory.
const MAX_WORKERS_PER_CORE: usize = 8;

/// The number of threads that was asked for, or one per core (also for 0). Fails if the machine has no use for so many.
/// Never 0, for which rayon would take any number from the environment (`RAYON_NUM_THREADS`).
pub fn workers(asked: Option<usize>) -> Result<usize> {
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let max = MAX_WORKERS_PER_CORE * cores;
    match asked {
        Some(asked) if asked > max => Err(Error::TooManyThreads { asked, max }),
        asked => Ok(asked.filter(|asked| *asked > 0).unwrap_or(cores)),
    }
}

/// Receives the progress of a run.
pub trait Progress: Sync {
    /// `done` of the photo's faces are done. Only methods that take seconds per face report this.
    fn faces(&self, _job: &Job, _done: usize, _of: usize) {}
    /// A job ended, failed or was not begun.
    fn done(&self, job: &Job, outcome: Result<Outcome>);
}

/// Runs all jobs. Reports each as soon as it ends, on the thread that ran it. Once `stop` is set, jobs in
/// progress are finished and no other is begun.
pub fn run(
    engine: &Engine,
    jobs: &[Job],
    record: &Record,
    options: RunOptions,
    stop: &AtomicBool,
    progress: &impl Progress,
) -> Result<()> {
    let pool = rayon::ThreadPoolBuilder::new()
        .num_threads(workers(Some(options.workers))?)
        .build()
        .map_err(|e| Error::Threads(e.to_string()))?;
    // With fewer photos than threads, the spare threads work on faces.
    let threads = pool.current_num_threads() / jobs.len().max(1);
    // Network buffers, reused from photo to photo.
    let spare = Mutex::new(Vec::<Workspace>::new());
    let one = |job: &Job| {
        if stop.load(Ordering::Relaxed) {
            return progress.done(job, Ok(Outcome::Stopped));
        }
        let taken = spare.lock().unwrap_or_else(PoisonError::into_inner).pop();
        let mut work = taken.unwrap_or_default();
        let on_face = |done: usize, of: usize| progress.faces(job, done, of);
        let control = Control { threads, progress: &on_face, ..Control::default() };
        let outcome = without_panic(|| process(engine, job, (record, options), control, &mut work));
        if !matches!(outcome, Err(Error::Panicked(_))) {
            spare.lock().unwrap_or_else(PoisonError::into_inner).push(work);
        }
        if outcome.as_ref().is_err_and(Error::is_disk_full) {
            stop.store(true, Ordering::Relaxed);
        }
        progress.done(job, outcome);
    };
    // One job at a time: photos differ too much in size to be divided among threads beforehand.
    pool.install(|| jobs.par_iter().with_max_len(1).for_each(one));
    Ok(())
}

fn process(
    engine: &Engine,
    job: &Job,
    (record, options): (&Record, RunOptions),
    control: Control<'_>,
    work: &mut Workspace,
) -> Result<Outcome> {
    let RunOptions { run, existing, .. } = options;
    job.require_allowed()?;
    let max = engine.resources().limits.file_bytes;
    let file = files::read(job.source(), max)?;
    if let Some(result) = job.present(max).filter(|result| record.knows(job, &file, result)) {
        return Ok(Outcome::Existing(match existing {
            ExistingResults::Skip => None,
            ExistingResults::Check => Some(engine.compare(&file, &result, work)?),
        }));
    }
    if run == Run::Dry {
        let seen = engine.rehearse(&file, work)?;
        job.require_places()?;
        let faceless = engine.changes_faces() && seen.faces.is_empty();
        return Ok(if faceless { Outcome::PlannedCopy(seen) } else { Outcome::Planned(seen) });
    }
    let result = engine.protect_with(&file, control, work)?;
    job.write(&file, &result, record)?;
    let faceless = engine.changes_faces() && result.faces.is_empty();
    let result = Protected { file: Vec::new(), ..result };
    Ok(if faceless { Outcome::Copied(result) } else { Outcome::Written(result) })
}

impl Job {
    /// The result that is there already. A link is none: it can lead anywhere.
    fn present(&self, max: u64) -> Option<Vec<u8>> {
        let present = *self.state() == job::State::Present && !self.target().is_symlink();
        present.then(|| files::read(self.target(), max).ok()).flatten()
    }

    /// Fails if the result or its receipt could not be put where they belong. Writes nothing.
    fn require_places(&self) -> Result<()> {
        [Some(self.target()), self.receipt()]
            .into_iter()
            .flatten()
            .try_for_each(files::require_place)
    }

    /// Writes the receipt, if there is one, the line in the record, and then the result: no result may exist
    /// without the receipt that was requested.
    fn write(&self, source: &[u8], result: &Protected, record: &Record) -> Result<()> {
        let receipt = self.receipt().zip(result.receipt.as_ref());
        if let Some((path, receipt)) = receipt {
            let text = serde_json::to_vec_pretty(receipt).map_err(|e| Error::Io {
                what: "cannot write",
                path: path.into(),
                reason: e.into(),
            })?;
            files::write_whole(path, &text, Readers::Owner, Existing::Replace)?;
        }
        let written = record.add(self, source, &result.file).and_then(|()| {
            files::write_whole(self.target(), &result.file, Readers::Default, self.existing())
        });
        if let (Err(_), Some((path, _))) = (&written, receipt) {
            std::fs::remove_file(path).ok();
        }
        written
    }
}

/// Turns a panic, which is a defect, into an error. What the work had borrowed must not be used afterwards.
pub fn without_panic<T>(work: impl FnOnce() -> Result<T>) -> Result<T> {
    let tried = catch_unwind(AssertUnwindSafe(work));
    tried.unwrap_or_else(|panic| Err(Error::Panicked(message(&*panic))))
}

fn message(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().copied();
    let text = text.or_else(|| panic.downcast_ref::<String>().map(String::as_str));
    text.unwrap_or("no message").to_owned()
}
