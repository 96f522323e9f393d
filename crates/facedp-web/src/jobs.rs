//! Jobs: photos that wait, are being treated, or are done and not yet deleted.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use facedp::Claim;
use facedp_engine::{MethodName, Protected, Receipt};
use serde::{Serialize, Serializer};
use tokio::sync::{Semaphore, watch};

use crate::client::random_number;
use crate::error::Problem;
use crate::memory::ReservedBytes;

/// A result that is younger than this is not deleted for the sake of a new job.
const MIN_RESULT_TIME: Duration = Duration::from_secs(60);

#[derive(Clone, Serialize)]
#[serde(tag = "state", rename_all = "lowercase")]
pub(crate) enum Status {
    /// For a thread.
    Waiting,
    /// Faces done, of how many. Both are 0 for methods that take no time per face.
    Working {
        faces_done: usize,
        faces: usize,
    },
    Done {
        #[serde(serialize_with = "shared")]
        result: Arc<JobResult>,
    },
    Failed {
        error: Problem,
    },
    /// On request.
    Stopped,
}

fn shared<S: Serializer>(result: &JobResult, to: S) -> Result<S::Ok, S::Error> {
    result.serialize(to)
}

impl Status {
    pub fn is_final(&self) -> bool {
        !matches!(self, Status::Waiting | Status::Working { .. })
    }
}

/// What was made of a photo.
#[derive(Serialize)]
pub(crate) struct JobResult {
    /// Without its file and receipt, which are below.
    #[serde(flatten)]
    pub report: Protected,
    /// Size of the file.
    pub bytes: usize,
    pub method: MethodName,
    pub claim: Claim,
    pub claim_in_words: &'static str,
    #[serde(skip)]
    pub file: ReservedBytes,
    #[serde(skip)]
    pub receipt: Option<Receipt>,
    #[serde(skip)]
    pub done_at: Instant,
}

/// The work on one photo.
pub(crate) struct Job {
    pub id: String,
    /// The file's name, as the browser gave it.
    pub name: String,
    status: watch::Sender<Status>,
    stop: AtomicBool,
    /// Whether the result was sent to somebody who waited for it.
    fetched: AtomicBool,
    /// Places for event streams of this photo.
    pub streams: Arc<Semaphore>,
}

impl Job {
    pub fn status(&self) -> Status {
        self.status.borrow().clone()
    }

    /// Reports every change of the status.
    pub fn watch(&self) -> watch::Receiver<Status> {
        self.status.subscribe()
    }

    /// Changes the status, unless it is final.
    pub fn set_status(&self, status: Status) {
        self.status.send_if_modified(|known| {
            let changes = !known.is_final();
            if changes {
                *known = status;
            }
            changes
        });
    }

    /// Ends the job on request.
    pub fn stop(&self) {
        self.abort();
        self.set_status(Status::Stopped);
    }

    /// Ends the work, and leaves the status to the caller.
    pub fn abort(&self) {
        self.stop.store(true, Ordering::Relaxed);
    }

    /// The result was sent: it makes way as soon as its place is needed.
    pub fn mark_fetched(&self) {
        self.fetched.store(true, Ordering::Relaxed);
    }

    /// Set once the work is to end.
    pub fn stop_flag(&self) -> &AtomicBool {
        &self.stop
    }
}

/// All jobs, oldest first.
pub(crate) struct Jobs {
    max: usize,
    /// Event streams of one photo.
    streams: usize,
    all: Mutex<Vec<Arc<Job>>>,
}

impl Jobs {
    pub fn new(max: usize, streams: usize) -> Self {
        Self { max, streams, all: Mutex::default() }
    }

    fn all(&self) -> MutexGuard<'_, Vec<Arc<Job>>> {
        self.all.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Fails if there are too many jobs to add one.
    pub fn require_room(&self) -> Result<(), Problem> {
        self.make_room(&mut self.all())
    }

    pub fn add(&self, name: String) -> Result<Arc<Job>, Problem> {
        let id = random_number().map_err(Problem::defect)?;
        let (status, _) = watch::channel(Status::Waiting);
        let [stop, fetched] = [false; 2].map(AtomicBool::new);
        let streams = Arc::new(Semaphore::new(self.streams));
        let job = Arc::new(Job { id, name, status, stop, fetched, streams });
        let mut all = self.all();
        self.make_room(&mut all)?;
        all.push(Arc::clone(&job));
        Ok(job)
    }

    pub fn find(&self, id: &str) -> Result<Arc<Job>, Problem> {
        let all = self.all();
        let found = all.iter().find(|job| job.id == id);
        found.cloned().ok_or_else(|| {
            Problem::not_found(
                "no such photo: results are deleted on request, or after some minutes",
            )
        })
    }

    /// Stops and deletes a job.
    pub fn remove(&self, id: &str) {
        let mut all = self.all();
        if let Some(at) = all.iter().position(|job| job.id == id) {
            all.remove(at).stop();
        }
    }

    /// Deletes the oldest result that nobody reads. False if there is none.
    pub fn remove_oldest_result(&self) -> bool {
        remove_first(&mut self.all(), |job| match &*job.status.borrow() {
            Status::Done { result } => !result.file.is_shared(),
            _ => false,
        })
    }

    /// Jobs that need a thread, now or soon.
    pub fn unfinished(&self) -> usize {
        self.all().iter().filter(|job| !job.status.borrow().is_final()).count()
    }

    pub fn stop_all(&self) {
        self.all().iter().for_each(|job| job.stop());
    }

    /// Deletes, if all places are taken, the oldest job that failed, was stopped or sent, or was done long ago.
    fn make_room(&self, all: &mut Vec<Arc<Job>>) -> Result<(), Problem> {
        let expendable = |job: &Job| match &*job.status.borrow() {
            Status::Done { result } => {
                result.done_at.elapsed() > MIN_RESULT_TIME || job.fetched.load(Ordering::Relaxed)
            }
            status => status.is_final(),
        };
        if all.len() < self.max || remove_first(all, expendable) {
            return Ok(());
        }
        let message = format!("{} photos are waiting already: try again in a moment", self.max);
        Err(Problem::busy(message))
    }
}

/// Deletes the first such job. False if there is none.
fn remove_first(all: &mut Vec<Arc<Job>>, such: impl Fn(&Job) -> bool) -> bool {
    let found = all.iter().position(|job| such(job));
    found.map(|at| all.remove(at)).is_some()
}
