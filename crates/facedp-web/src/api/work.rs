//! The work on a photo, from the moment that its job is accepted.

use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Instant;

use facedp::Claim;
use facedp_engine::{Control, Engine, Protected};
use futures_util::future::{Either, select};
use tokio::sync::OwnedSemaphorePermit;

use crate::app::App;
use crate::error::Problem;
use crate::jobs::{Job, JobResult, Status};
use crate::memory::{Reservation, ReservedBytes};

/// Treats a photo as soon as a thread is free, and keeps the result for a while.
pub(super) fn start(app: Arc<App>, job: Arc<Job>, file: ReservedBytes, engine: Arc<Engine>) {
    tokio::spawn(async move {
        let status = match treat(&app, &job, file, engine).await {
            Ok(status) => status,
            Err(error) => Status::Failed { error },
        };
        job.set_status(status);
        // From here on, only the list of jobs has the result.
        let id = job.id.clone();
        drop(job);
        tokio::time::sleep(app.bounds.result_time).await;
        app.jobs.remove(&id);
    });
}

async fn treat(
    app: &Arc<App>,
    job: &Arc<Job>,
    file: ReservedBytes,
    engine: Arc<Engine>,
) -> Result<Status, Problem> {
    let Some(thread) = thread(app, job).await? else { return Ok(Status::Stopped) };
    let time = app.bounds.job_time;
    let (mine, shared, worker) = (Arc::clone(job), Arc::clone(app), Arc::clone(&engine));
    let work = app.treating.run_on(thread, move |work| {
        mine.set_status(Status::Working { faces_done: 0, faces: 0 });
        let threads = (shared.threads / shared.jobs.unfinished().max(1)).max(1);
        let progress = |faces_done: usize, faces: usize| {
            mine.set_status(Status::Working { faces_done, faces });
        };
        let control = Control { threads, progress: &progress, stop: mine.stop_flag() };
        worker.protect_with(file.as_ref(), control, work)
    });
    let late = || {
        job.abort();
        Problem::timed_out(time.as_secs())
    };
    let done = tokio::time::timeout(time, work).await.map_err(|_| late())?;
    if job.stop_flag().load(Ordering::Relaxed) {
        return Ok(Status::Stopped);
    }
    let result = keep(app, done?, &engine)?;
    Ok(Status::Done { result: Arc::new(result) })
}

/// A thread for the job; none if the job was stopped before one was free.
async fn thread(app: &App, job: &Job) -> Result<Option<OwnedSemaphorePermit>, Problem> {
    let mut changes = job.watch();
    let stopped = changes.wait_for(Status::is_final);
    match select(pin!(app.treating.thread()), pin!(stopped)).await {
        Either::Left((thread, _)) => thread.map(Some),
        Either::Right(_) => Ok(None),
    }
}

/// The result of a job, within the memory for results.
fn keep(app: &App, mut report: Protected, engine: &Engine) -> Result<JobResult, Problem> {
    let (mut file, receipt) = (std::mem::take(&mut report.file), report.receipt.take());
    file.shrink_to_fit();
    let reservation = reserve(app, file.capacity())?;
    let claim = engine.terms().map_or(Claim::None, |terms| terms.claim());
    Ok(JobResult {
        report,
        bytes: file.len(),
        method: engine.request().method,
        claim,
        claim_in_words: claim.in_words(),
        file: reservation.hold(file),
        receipt,
        done_at: Instant::now(),
    })
}

/// Memory for a result. Older results that nobody reads make way.
pub(super) fn reserve(app: &App, bytes: usize) -> Result<Reservation, Problem> {
    loop {
        match app.results.reserve(bytes) {
            Some(reservation) => return Ok(reservation),
            None if app.jobs.remove_oldest_result() => {}
            None => {
                let message = "no memory for the result: fetch and delete others first";
                return Err(Problem::busy(message));
            }
        }
    }
}
