//! Working on one photo: with how many threads, who is told, and when it ends early.

use std::sync::atomic::{AtomicBool, Ordering};

use crate::error::{Error, Result};

/// How one photo may be worked on, and who is told.
#[derive(Clone, Copy)]
pub struct Hands<'a> {
    /// Faces that are worked on at once.
    pub threads: usize,
    /// Called with the number of faces done and of all.
    pub tell: &'a (dyn Fn(usize, usize) + Sync),
    /// Once set, work on the photo ends with [`Error::Stopped`].
    pub stop: &'a AtomicBool,
}

/// What nobody sets.
pub(super) static NEVER: AtomicBool = AtomicBool::new(false);

impl Default for Hands<'_> {
    fn default() -> Self {
        Self { threads: 1, tell: &|_, _| {}, stop: &NEVER }
    }
}

impl Hands<'_> {
    /// Fails once the work is to be stopped.
    pub(super) fn go_on(&self) -> Result<()> {
        if self.stop.load(Ordering::Relaxed) { Err(Error::Stopped) } else { Ok(()) }
    }
}
