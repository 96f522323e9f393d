//! A limit on the memory of photos that are processed at the same time.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Condvar, Mutex, PoisonError};
use std::time::Duration;

use crate::error::{Error, Result};

/// Default capacity: bytes of files and decoded photos. Processing a photo takes two to seven times its
/// decoded size; the most if a face fills the photo and its quality is measured.
const DEFAULT_CAPACITY: u64 = 160_000_000;
/// Interval at which waiting threads check their stop flag.
const POLL_INTERVAL: Duration = Duration::from_millis(100);

/// Admits photos while their total size is below a capacity.
pub struct Gate {
    capacity: u64,
    in_use: Mutex<u64>,
    released: Condvar,
}

impl Default for Gate {
    fn default() -> Self {
        Self::new(DEFAULT_CAPACITY)
    }
}

/// The share of one photo, released on drop.
pub(crate) struct Admission<'a> {
    gate: &'a Gate,
    bytes: u64,
}

impl Gate {
    /// A gate with a capacity in bytes of files and decoded photos.
    pub fn new(capacity: u64) -> Self {
        Self { capacity, in_use: Mutex::new(0), released: Condvar::new() }
    }

    /// Waits until a photo fits, or until `stop` is set. A photo larger than the capacity is admitted alone.
    pub(crate) fn enter(&self, bytes: u64, stop: &AtomicBool) -> Result<Admission<'_>> {
        let full = |in_use: &mut u64| *in_use > 0 && *in_use + bytes > self.capacity;
        let mut in_use = self.in_use.lock().unwrap_or_else(PoisonError::into_inner);
        while full(&mut in_use) {
            if stop.load(Ordering::Relaxed) {
                return Err(Error::Stopped);
            }
            let waited = self.released.wait_timeout_while(in_use, POLL_INTERVAL, full);
            in_use = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
        *in_use += bytes;
        Ok(Admission { gate: self, bytes })
    }
}

impl Drop for Admission<'_> {
    fn drop(&mut self) {
        *self.gate.in_use.lock().unwrap_or_else(PoisonError::into_inner) -= self.bytes;
        self.gate.released.notify_all();
    }
}
