//! What all requests share: the engine, and how much of the machine they may take.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use facedp::FeatureModel;
use facedp_engine::{
    Engine, Gate, Goal, Limits, Options, Secret, Steering, Strength, Treatment, Workspace,
};
use tokio::sync::{OnceCell, OwnedSemaphorePermit, Semaphore};

use crate::error::{Problem, Result};
use crate::jobs::Jobs;
use crate::plan::Curves;
use crate::room::Room;

/// Bytes of decoded photos that may be looked at, but not treated, at once.
const LOOKED_AT: u64 = 80_000_000;

/// What a server is made from.
pub struct Config {
    /// The feature model.
    pub model: Arc<FeatureModel>,
    /// Where randomness comes from.
    pub secret: Secret,
    /// Where that of `certified` comes from.
    pub certified: Secret,
    /// Where releases of `certified` are written down.
    pub ledger: Option<PathBuf>,
    /// How much of the machine may be taken.
    pub bounds: Bounds,
}

/// How much of the machine may be taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Bounds {
    /// Of one photo.
    pub photo: Limits,
    /// Bytes of all photos that are being sent or worked on.
    pub uploads: usize,
    /// Bytes of all results that were not fetched and deleted.
    pub results: usize,
    /// Photos that are waiting, worked on or kept.
    pub jobs: usize,
    /// Time for one photo, from the moment that it is worked on.
    pub job_time: Duration,
    /// Time for one upload.
    pub upload_time: Duration,
    /// Time without a byte, of an upload or before a request's head is complete.
    pub silence: Duration,
    /// How long results are kept.
    pub kept: Duration,
    /// Connections at once; others wait.
    pub connections: usize,
}

impl Default for Bounds {
    fn default() -> Self {
        Self {
            photo: Limits { file_bytes: 64_000_000, pixels: 64_000_000, bytes: 256_000_000 },
            uploads: 256_000_000,
            results: 256_000_000,
            jobs: 64,
            job_time: Duration::from_secs(600),
            upload_time: Duration::from_secs(120),
            silence: Duration::from_secs(10),
            kept: Duration::from_secs(600),
            connections: 256,
        }
    }
}

/// What all requests share.
pub struct App {
    pub(crate) config: Config,
    /// The one whose networks all others share.
    pub(crate) engine: Engine,
    pub(crate) jobs: Jobs,
    pub(crate) uploads: Room,
    pub(crate) results: Room,
    /// Threads that the machine has.
    pub(crate) threads: usize,
    /// Threads that treat photos, and threads that only look at them: nobody who drops a photo waits for
    /// those that are being treated.
    pub(crate) treating: Arc<Semaphore>,
    pub(crate) looking: Arc<Semaphore>,
    /// Threads that make plans, for which nobody waits at a gate.
    pub(crate) planning: Arc<Semaphore>,
    /// The memory for photos that are treated; those who look have their own.
    pub(crate) gate: Arc<Gate>,
    pub(crate) curves: OnceCell<Curves>,
    /// Memory of the networks, handed from photo to photo.
    spare: Mutex<Vec<Workspace>>,
}

impl App {
    /// Loads the networks.
    pub fn new(config: Config) -> Result<Self> {
        let steering = Box::new(Steering::new(Strength::default(), Goal::default())?);
        let treatment = Treatment::Steer { steering, secret: config.secret.clone() };
        // Without a face there is nothing to say no to: the page lets the user draw boxes.
        let options =
            Options { limits: config.bounds.photo, copy_faceless: true, ..Options::default() };
        let threads = std::thread::available_parallelism().map_or(1, usize::from);
        Ok(Self {
            engine: Engine::new(treatment, options)?.behind(&Arc::new(Gate::new(LOOKED_AT))),
            jobs: Jobs::new(config.bounds.jobs),
            uploads: Room::new(config.bounds.uploads),
            results: Room::new(config.bounds.results),
            threads,
            treating: Arc::new(Semaphore::new(threads)),
            looking: Arc::new(Semaphore::new(threads)),
            planning: Arc::new(Semaphore::new(threads)),
            gate: Arc::default(),
            curves: OnceCell::new(),
            spare: Mutex::default(),
            config,
        })
    }

    /// Runs something that takes its time on a thread of its own, once one of `threads` is free.
    pub(crate) async fn work<T: Send + 'static, E: Into<Problem> + Send + 'static>(
        self: &Arc<Self>,
        threads: &Arc<Semaphore>,
        task: impl FnOnce(&App, &mut Workspace) -> Result<T, E> + Send + 'static,
    ) -> Result<T, Problem> {
        self.work_on(self.thread(threads).await?, task).await
    }

    /// One of those threads, once it is free.
    pub(crate) async fn thread(
        &self,
        threads: &Arc<Semaphore>,
    ) -> Result<OwnedSemaphorePermit, Problem> {
        let thread = Arc::clone(threads).acquire_owned().await;
        thread.map_err(|_| Problem::busy("the program is closing"))
    }

    /// Runs something that takes its time on that thread.
    pub(crate) async fn work_on<T: Send + 'static, E: Into<Problem> + Send + 'static>(
        self: &Arc<Self>,
        thread: OwnedSemaphorePermit,
        task: impl FnOnce(&App, &mut Workspace) -> Result<T, E> + Send + 'static,
    ) -> Result<T, Problem> {
        let app = Arc::clone(self);
        let done = tokio::task::spawn_blocking(move || {
            // Until the work is done, even if nobody waits for it any more.
            let _thread = thread;
            let mut work = app.spare().pop().unwrap_or_default();
            let result = task(&app, &mut work);
            app.spare().push(work);
            result
        });
        match done.await {
            Ok(result) => result.map_err(Into::into),
            Err(_) => Err(Problem::defect("a photo could not be worked on")),
        }
    }

    fn spare(&self) -> std::sync::MutexGuard<'_, Vec<Workspace>> {
        self.spare.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
