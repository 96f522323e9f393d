//! A gate that lets photos in only while there is memory for them.

use std::sync::{Condvar, Mutex, PoisonError};

/// Bytes of files and decoded photos that may be in work at once. While it is worked on, a photo takes
/// two to seven times as much, most where a face fills it and is measured.
const ROOM: u64 = 160_000_000;

/// Counts what is inside.
#[derive(Default)]
pub(crate) struct Gate {
    inside: Mutex<u64>,
    left: Condvar,
}

/// A photo's place inside, given back when dropped.
pub(crate) struct Place<'a> {
    gate: &'a Gate,
    bytes: u64,
}

impl Gate {
    /// Waits until there is room. A photo larger than all the room goes in alone.
    pub fn enter(&self, bytes: u64) -> Place<'_> {
        let full = |inside: &mut u64| *inside > 0 && *inside + bytes > ROOM;
        let inside = self.inside.lock().unwrap_or_else(PoisonError::into_inner);
        let waited = self.left.wait_while(inside, full);
        *waited.unwrap_or_else(PoisonError::into_inner) += bytes;
        Place { gate: self, bytes }
    }
}

impl Drop for Place<'_> {
    fn drop(&mut self) {
        *self.gate.inside.lock().unwrap_or_else(PoisonError::into_inner) -= self.bytes;
        self.gate.left.notify_all();
    }
}
