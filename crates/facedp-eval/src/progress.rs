//! Reporting progress, and stopping on request.

use std::sync::atomic::{AtomicBool, Ordering};

use crate::error::{Error, Result};

/// Receives the progress of a run, from several threads.
pub trait Watch: Sync {
    /// A stage with that many steps begins.
    fn begin(&self, stage: &str, steps: usize);
    /// A step of the current stage is done.
    fn step(&self);
}

/// Ignores progress.
pub struct Silent;

impl Watch for Silent {
    fn begin(&self, _: &str, _: usize) {}
    fn step(&self) {}
}

/// The handle through which the parts of a run report progress and learn that they should stop.
pub struct Progress<'a> {
    watch: &'a dyn Watch,
    stop: &'a AtomicBool,
}

impl<'a> Progress<'a> {
    /// Reports to `watch`. The run ends with [`Error::Stopped`] soon after `stop` is set.
    pub fn new(watch: &'a dyn Watch, stop: &'a AtomicBool) -> Self {
        Self { watch, stop }
    }

    pub(crate) fn begin(&self, stage: &str, steps: usize) {
        self.watch.begin(stage, steps);
    }

    pub(crate) fn step(&self) {
        self.watch.step();
    }

    /// Fails with [`Error::Stopped`] if the run should stop.
    pub(crate) fn check(&self) -> Result<()> {
        if self.stop.load(Ordering::Relaxed) { Err(Error::Stopped) } else { Ok(()) }
    }
}
