//! Photos that are waiting, being treated, or done and not yet fetched.

use std::pin::pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use facedp_engine::{Hands, Protected, Receipt};
use futures_util::future::{Either, select};
use rand_core::TryRng;
use serde::{Serialize, Serializer};
use tokio::sync::{OwnedSemaphorePermit, watch};

use crate::app::App;
use crate::error::Problem;
use crate::room::Held;
use crate::settings::Settings;

/// How long a result is kept at least, unless there is no memory for others.
const STALE: Duration = Duration::from_secs(60);

/// How far a photo is.
#[derive(Clone, Serialize)]
#[serde(tag = "state", rename_all = "lowercase")]
pub(crate) enum Status {
    /// For a thread.
    Waiting,
    /// Of how many faces so many are done; methods that are quick do not count.
    Working { done: usize, faces: usize },
    /// The result can be fetched.
    Done {
        #[serde(serialize_with = "shared")]
        result: Arc<Finished>,
    },
    /// There is none.
    Failed { error: Problem },
    /// Somebody asked for it.
    Stopped,
}

fn shared<S: Serializer>(result: &Finished, to: S) -> Result<S::Ok, S::Error> {
    result.serialize(to)
}

/// What was made of a photo.
#[derive(Serialize)]
pub(crate) struct Finished {
    #[serde(flatten)]
    pub report: Protected,
    /// Size of the file.
    pub bytes: usize,
    pub method: String,
    pub claim: facedp::Claim,
    pub claim_in_words: &'static str,
    #[serde(skip)]
    pub file: Held,
    /// When it was done.
    #[serde(skip)]
    since: Instant,
    #[serde(skip)]
    pub receipt: Option<Receipt>,
}

/// A photo on its way.
pub(crate) struct Job {
    pub id: String,
    /// The file's name, as the browser gave it.
    pub name: String,
    status: watch::Sender<Status>,
    stop: Arc<AtomicBool>,
}

impl Job {
    pub fn status(&self) -> Status {
        self.status.borrow().clone()
    }

    /// Tells of every change until it is over.
    pub fn watch(&self) -> watch::Receiver<Status> {
        self.status.subscribe()
    }

    /// Says how far it is, unless it is over.
    fn tell(&self, status: Status) {
        self.status.send_if_modified(|known| {
            let news = !known.is_over();
            if news {
                *known = status;
            }
            news
        });
    }

    pub fn stop(&self) {
        self.stop.store(true, Ordering::Relaxed);
        self.tell(Status::Stopped);
    }

    /// A thread for it; none if it was stopped before there was one.
    async fn thread(&self, app: &App) -> Result<Option<OwnedSemaphorePermit>, Problem> {
        let mut changes = self.watch();
        let stopped = changes.wait_for(Status::is_over);
        match select(pin!(app.thread(&app.treating)), pin!(stopped)).await {
            Either::Left((thread, _)) => thread.map(Some),
            Either::Right(_) => Ok(None),
        }
    }
}

impl Status {
    pub fn is_over(&self) -> bool {
        !matches!(self, Status::Waiting | Status::Working { .. })
    }
}

/// All of them, oldest first.
pub(crate) struct Jobs {
    most: usize,
    all: Mutex<Vec<Arc<Job>>>,
}

impl Jobs {
    pub fn new(most: usize) -> Self {
        Self { most, all: Mutex::default() }
    }

    fn all(&self) -> MutexGuard<'_, Vec<Arc<Job>>> {
        self.all.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A new one, if there is a place for it.
    pub fn add(&self, name: String) -> Result<Arc<Job>, Problem> {
        let mut id = [0; 16];
        let entropy = getrandom::SysRng.try_fill_bytes(&mut id);
        entropy.map_err(|e| Problem::defect(format!("no entropy: {e}")))?;
        let id = format!("{:032x}", u128::from_le_bytes(id));
        let (status, _) = watch::channel(Status::Waiting);
        let job = Arc::new(Job { id, name, status, stop: Arc::default() });
        let mut all = self.all();
        if all.len() >= self.most && !make_way(&mut all) {
            let most = self.most;
            let message = format!("{most} photos are waiting already: try again in a moment");
            return Err(Problem::busy(message));
        }
        all.push(Arc::clone(&job));
        Ok(job)
    }

    pub fn find(&self, id: &str) -> Result<Arc<Job>, Problem> {
        let all = self.all();
        let found = all.iter().find(|job| job.id == id);
        found.cloned().ok_or_else(|| {
            Problem::unknown(
                "no such photo: results are kept until they are deleted, and for some minutes at most",
            )
        })
    }

    /// Forgets a photo, and stops work on it.
    pub fn remove(&self, id: &str) {
        let mut all = self.all();
        if let Some(at) = all.iter().position(|job| job.id == id) {
            all.remove(at).stop();
        }
    }

    /// Forgets the oldest result that nobody reads. False if there is none.
    fn remove_oldest_result(&self) -> bool {
        let mut all = self.all();
        let unread = |job: &Arc<Job>| match &*job.status.borrow() {
            Status::Done { result } => !result.file.is_shared(),
            _ => false,
        };
        all.iter().position(unread).map(|at| all.remove(at)).is_some()
    }

    /// Those that need a thread, now or soon.
    fn open(&self) -> usize {
        self.all().iter().filter(|job| !job.status.borrow().is_over()).count()
    }

    pub fn stop_all(&self) {
        self.all().iter().for_each(|job| job.stop());
    }
}

/// Forgets the oldest photo of which there is no result, or nobody has fetched it for long. False if all
/// are needed.
fn make_way(all: &mut Vec<Arc<Job>>) -> bool {
    let needless = |job: &Arc<Job>| match &*job.status.borrow() {
        Status::Done { result } => result.since.elapsed() > STALE,
        status => status.is_over(),
    };
    all.iter().position(needless).map(|at| all.remove(at)).is_some()
}

/// Treats a photo as soon as a thread is free, and keeps the result for a while.
pub(crate) fn start(app: &Arc<App>, job: Arc<Job>, file: Held, settings: Settings) {
    let app = Arc::clone(app);
    tokio::spawn(async move {
        let status = match treat(&app, &job, file, settings).await {
            Ok(status) => status,
            Err(error) => Status::Failed { error },
        };
        job.tell(status);
        // The result is not held while nobody has asked for it.
        let id = job.id.clone();
        drop(job);
        tokio::time::sleep(app.config.bounds.kept).await;
        app.jobs.remove(&id);
    });
}

async fn treat(
    app: &Arc<App>,
    job: &Arc<Job>,
    file: Held,
    settings: Settings,
) -> Result<Status, Problem> {
    let Some(thread) = job.thread(app).await? else { return Ok(Status::Stopped) };
    let time = app.config.bounds.job_time;
    let mine = Arc::clone(job);
    let work = app.work_on(thread, move |app, work| {
        let engine = settings.engine(app)?;
        mine.tell(Status::Working { done: 0, faces: 0 });
        let threads = (app.threads / app.jobs.open().max(1)).max(1);
        let tell = |done: usize, faces: usize| mine.tell(Status::Working { done, faces });
        let hands = Hands { threads, tell: &tell, stop: &mine.stop };
        Ok::<_, Problem>((engine.protect_with(file.as_ref(), hands, work)?, engine.terms()))
    });
    let late = || {
        job.stop.store(true, Ordering::Relaxed);
        Problem::timed_out(time.as_secs())
    };
    let done = tokio::time::timeout(time, work).await.map_err(|_| late())?;
    if job.stop.load(Ordering::Relaxed) {
        return Ok(Status::Stopped);
    }
    let (mut report, terms) = done?;
    let (mut file, receipt) = (std::mem::take(&mut report.file), report.receipt.take());
    file.shrink_to_fit();
    let share = loop {
        match app.results.share(file.capacity()) {
            Some(share) => break share,
            // Those that are being read keep their room.
            None if app.jobs.remove_oldest_result() => {}
            None => {
                let message = "there is no room for the result: fetch and delete others first";
                return Err(Problem::busy(message));
            }
        }
    };
    let claim = terms.as_ref().map_or(facedp::Claim::None, |terms| terms.claim());
    let method = terms.map_or("none".to_owned(), |terms| terms.method());
    let (bytes, claim_in_words) = (file.len(), claim.in_words());
    let file = share.with(file);
    let since = Instant::now();
    let result = Finished { report, bytes, method, claim, claim_in_words, file, since, receipt };
    Ok(Status::Done { result: Arc::new(result) })
}
