//! Threads for work that takes its time.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use facedp_engine::Workspace;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use crate::error::Problem;

/// Working memory of the networks, handed from photo to photo.
#[derive(Clone, Default)]
pub(crate) struct Workspaces(Arc<Mutex<Vec<Workspace>>>);

impl Workspaces {
    fn lock(&self) -> MutexGuard<'_, Vec<Workspace>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A number of threads for one kind of work.
pub(crate) struct Workers {
    free: Arc<Semaphore>,
    workspaces: Workspaces,
}

impl Workers {
    pub fn new(threads: usize, workspaces: &Workspaces) -> Self {
        Self { free: Arc::new(Semaphore::new(threads)), workspaces: workspaces.clone() }
    }

    /// Waits for a free thread, and runs a task on it.
    pub async fn run<T: Send + 'static, E: Into<Problem> + Send + 'static>(
        &self,
        task: impl FnOnce(&mut Workspace) -> Result<T, E> + Send + 'static,
    ) -> Result<T, Problem> {
        self.run_on(self.thread().await?, task).await
    }

    /// Waits for a free thread.
    pub async fn thread(&self) -> Result<OwnedSemaphorePermit, Problem> {
        let thread = Arc::clone(&self.free).acquire_owned().await;
        thread.map_err(|_| Problem::busy("the program is closing"))
    }

    /// Runs a task on a thread. The thread is taken until the task ends, even if nobody waits for it.
    pub async fn run_on<T: Send + 'static, E: Into<Problem> + Send + 'static>(
        &self,
        thread: OwnedSemaphorePermit,
        task: impl FnOnce(&mut Workspace) -> Result<T, E> + Send + 'static,
    ) -> Result<T, Problem> {
        let workspaces = self.workspaces.clone();
        let work = move || {
            let _thread = thread;
            let mut work = workspaces.lock().pop().unwrap_or_default();
            let result = task(&mut work);
            workspaces.lock().push(work);
            result
        };
        // Coverage must not depend on which of two threads is first.
        if cfg!(fuzzing) {
            return work().map_err(Into::into);
        }
        match tokio::task::spawn_blocking(work).await {
            Ok(result) => result.map_err(Into::into),
            Err(_) => Err(Problem::defect("a task panicked")),
        }
    }
}
