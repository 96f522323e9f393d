//! A gate that lets photos in only while there is memory for them.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Condvar, Mutex, PoisonError};
use std::time::Duration;

use crate::error::{Error, Result};

/// Bytes of files and decoded photos that may be in work at once. While it is worked on, a photo takes
/// two to seven times as much, most where a face fills it and is measured.
const ROOM: u64 = 160_000_000;
/// How often those who wait ask whether they still should.
const BEAT: Duration = Duration::from_millis(100);

/// Counts what is inside.
pub struct Gate {
    room: u64,
    inside: Mutex<u64>,
    left: Condvar,
}

impl Default for Gate {
    fn default() -> Self {
        Self::new(ROOM)
    }
}

/// A photo's place inside, given back when dropped.
pub(crate) struct Place<'a> {
    gate: &'a Gate,
    bytes: u64,
}

impl Gate {
    /// A gate with room for so many bytes of decoded photos.
    pub fn new(room: u64) -> Self {
        Self { room, inside: Mutex::new(0), left: Condvar::new() }
    }

    /// Waits until there is room, or it is told to stop. A photo larger than all the room goes in alone.
    pub(crate) fn enter(&self, bytes: u64, stop: &AtomicBool) -> Result<Place<'_>> {
        let full = |inside: &mut u64| *inside > 0 && *inside + bytes > self.room;
        let mut inside = self.inside.lock().unwrap_or_else(PoisonError::into_inner);
        while full(&mut inside) {
            if stop.load(Ordering::Relaxed) {
                return Err(Error::Stopped);
            }
            let waited = self.left.wait_timeout_while(inside, BEAT, full);
            inside = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
        *inside += bytes;
        Ok(Place { gate: self, bytes })
    }
}

impl Drop for Place<'_> {
    fn drop(&mut self) {
        *self.gate.inside.lock().unwrap_or_else(PoisonError::into_inner) -= self.bytes;
        self.gate.left.notify_all();
    }
}
