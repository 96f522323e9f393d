//! Telling how far a run is, and hearing when to stop.

use std::sync::atomic::{AtomicBool, Ordering};

use crate::error::{Error, Result};

/// Somebody who wants to know how far a run is.
pub trait Watch: Sync {
    /// A part of so many steps begins.
    fn begin(&self, what: &str, steps: usize);
    /// A step was done.
    fn step(&self);
}

/// Nobody.
pub struct Nobody;

impl Watch for Nobody {
    fn begin(&self, _: &str, _: usize) {}
    fn step(&self) {}
}

/// What all parts of a run are given.
pub struct Progress<'a> {
    watch: &'a dyn Watch,
    stop: &'a AtomicBool,
}

impl<'a> Progress<'a> {
    /// Tells `watch`, stops once `stop` is set.
    pub fn new(watch: &'a dyn Watch, stop: &'a AtomicBool) -> Self {
        Self { watch, stop }
    }

    pub(crate) fn begin(&self, what: &str, steps: usize) {
        self.watch.begin(what, steps);
    }

    pub(crate) fn step(&self) {
        self.watch.step();
    }

    /// Fails once the run is to stop.
    pub(crate) fn check(&self) -> Result<()> {
        if self.stop.load(Ordering::Relaxed) { Err(Error::Stopped) } else { Ok(()) }
    }
}
