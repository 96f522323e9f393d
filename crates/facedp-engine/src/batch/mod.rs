//! Many photos: each saved as it is done, stopped and resumed at will.

mod job;
mod record;

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};

use facedp_nets::Workspace;
use rayon::prelude::*;

use crate::engine::{Engine, Hands};
use crate::error::{Error, Result};
use crate::files::{self, Existing, Readers};
use crate::outcome::{Compared, Protected, Seen};

pub use job::{Job, Mode};
pub use record::Record;

/// What became of one photo.
pub enum Outcome {
    /// Its result was written.
    Written(Protected),
    /// It has no face, and was written without noise.
    Copied(Protected),
    /// Its result is there from an earlier run; what recognisers say of it, if they were asked.
    Existing(Option<Compared>),
    /// Nothing was written: this is what would be done.
    Planned(Seen),
    /// The run was stopped before it was its turn.
    Stopped,
}

/// What a run does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Run {
    /// Writes results.
    Write,
    /// Only looks.
    Dry,
}

/// What becomes of results that are there from an earlier run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Known {
    /// They are taken as they are.
    Taken,
    /// Recognisers look at them again.
    Checked,
}

/// How a run goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Course {
    /// What it does.
    pub run: Run,
    /// What becomes of results that are there.
    pub existing: Known,
    /// Number of threads; 0 for one per core.
    pub workers: usize,
}

/// Who is told how a run goes.
pub trait Watch: Sync {
    /// So many faces of a photo are done. Only methods that take their time tell.
    fn faces(&self, _job: &Job, _done: usize, _of: usize) {}
    /// A photo is done, or failed, or was not begun.
    fn done(&self, job: &Job, outcome: Result<Outcome>);
}

/// Does all jobs, and tells of each as soon as it is done, on
/// the thread that did it. Once `stop` is set, photos in hand are finished and no other is begun.
pub fn run(
    engine: &Engine,
    jobs: &[Job],
    course: Course,
    stop: &AtomicBool,
    watch: &impl Watch,
) -> Result<()> {
    let pool = rayon::ThreadPoolBuilder::new()
        .num_threads(course.workers)
        .build()
        .map_err(|e| Error::Refused(format!("worker threads: {e}")))?;
    // Fewer photos than threads: the others help with their faces.
    let threads = pool.current_num_threads() / jobs.len().max(1);
    // Memory of the networks, handed from photo to photo.
    let spare = Mutex::new(Vec::<Workspace>::new());
    let one = |job: &Job| {
        if stop.load(Ordering::Relaxed) {
            return watch.done(job, Ok(Outcome::Stopped));
        }
        let taken = spare.lock().unwrap_or_else(PoisonError::into_inner).pop();
        let mut work = taken.unwrap_or_default();
        let tell = |done: usize, of: usize| watch.faces(job, done, of);
        let hands = Hands { threads, tell: &tell, ..Hands::default() };
        let tried =
            catch_unwind(AssertUnwindSafe(|| work_on(engine, job, course, hands, &mut work)));
        let outcome = match tried {
            Ok(outcome) => {
                spare.lock().unwrap_or_else(PoisonError::into_inner).push(work);
                outcome
            }
            Err(panic) => Err(Error::Panicked(words(&*panic))),
        };
        if outcome.as_ref().is_err_and(Error::is_disk_full) {
            stop.store(true, Ordering::Relaxed);
        }
        watch.done(job, outcome);
    };
    // One by one: photos differ too much in size to be dealt out beforehand.
    pool.install(|| jobs.par_iter().with_max_len(1).for_each(one));
    Ok(())
}

fn work_on(
    engine: &Engine,
    job: &Job,
    course: Course,
    hands: Hands<'_>,
    work: &mut Workspace,
) -> Result<Outcome> {
    let Course { run, existing, .. } = course;
    match job.state() {
        job::State::Refused(reason) => return Err(Error::Refused(reason.clone())),
        job::State::Done if existing == Known::Taken => return Ok(Outcome::Existing(None)),
        job::State::Done | job::State::Open => {}
    }
    let most = engine.options().limits.file_bytes;
    let file = files::read(job.source(), most)?;
    if *job.state() == job::State::Done {
        let compared = engine.compare(&file, &files::read(job.target(), most)?, work)?;
        return Ok(Outcome::Existing(Some(compared)));
    }
    if run == Run::Dry {
        return engine.look(&file, work).map(Outcome::Planned);
    }
    let result = engine.protect_with(&file, hands, work)?;
    job.write(&result)?;
    let faceless = engine.changes_faces() && result.faces.is_empty();
    let result = Protected { file: Vec::new(), ..result };
    Ok(if faceless { Outcome::Copied(result) } else { Outcome::Written(result) })
}

impl Job {
    /// Writes the receipt, if there is one, and then the result: there must be no picture without
    /// the receipt that was asked for.
    fn write(&self, result: &Protected) -> Result<()> {
        let receipt = self.receipt().zip(result.receipt.as_ref());
        if let Some((path, receipt)) = receipt {
            let text = serde_json::to_vec_pretty(receipt).map_err(|e| Error::Io {
                what: "cannot write",
                path: path.into(),
                reason: e.into(),
            })?;
            files::write_whole(path, &text, Readers::Owner, Existing::Replace)?;
        }
        let written =
            files::write_whole(self.target(), &result.file, Readers::Usual, self.existing());
        if let (Err(_), Some((path, _))) = (&written, receipt) {
            std::fs::remove_file(path).ok();
        }
        written
    }
}

/// What a panic says.
fn words(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().copied();
    let text = text.or_else(|| panic.downcast_ref::<String>().map(String::as_str));
    text.unwrap_or("no message").to_owned()
}
