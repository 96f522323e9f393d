//! Shared by several tests.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use facedp_eval::progress::Watch;

/// Stops a run after `left` steps.
pub struct After<'a> {
    pub left: AtomicUsize,
    pub stop: &'a AtomicBool,
}

impl Watch for After<'_> {
    fn begin(&self, _: &str, _: usize) {}

    fn step(&self) {
        if self.left.fetch_sub(1, Ordering::Relaxed) == 1 {
            self.stop.store(true, Ordering::Relaxed);
        }
    }
}
