//! Control over the processing of one photo: threads, progress, stopping.

use std::sync::atomic::{AtomicBool, Ordering};

use crate::error::{Error, Result};

#[derive(Clone, Copy)]
pub struct Control<'a> {
    /// Number of faces that are treated in parallel.
    pub threads: usize,
    /// Called with the number of finished faces and of all faces, by methods that take seconds per face.
    pub progress: &'a (dyn Fn(usize, usize) + Sync),
    /// Once set, processing ends with [`Error::Stopped`].
    pub stop: &'a AtomicBool,
}

/// A flag that is never set.
pub(crate) static NEVER: AtomicBool = AtomicBool::new(false);

impl Default for Control<'_> {
    fn default() -> Self {
        Self { threads: 1, progress: &|_, _| {}, stop: &NEVER }
    }
}

impl Control<'_> {
    /// Fails with [`Error::Stopped`] once `stop` is set.
    pub(crate) fn proceed(&self) -> Result<()> {
        if self.stop.load(Ordering::Relaxed) { Err(Error::Stopped) } else { Ok(()) }
    }
}
