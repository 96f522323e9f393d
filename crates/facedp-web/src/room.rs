//! Memory that is lent to uploads and results, and comes back by itself.

use std::sync::Arc;

use bytes::Bytes;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// What room is counted in.
const UNIT: usize = 1 << 16;

/// So many bytes and no more.
pub(crate) struct Room(Arc<Semaphore>);

/// A part of a room.
pub(crate) struct Share {
    room: Arc<Semaphore>,
    permits: OwnedSemaphorePermit,
}

impl Room {
    pub fn new(bytes: usize) -> Self {
        Self(Arc::new(Semaphore::new(bytes / UNIT)))
    }

    /// So many bytes, if they are free: nobody waits for room, since those who have some may wait too.
    pub fn share(&self, bytes: usize) -> Option<Share> {
        let units = u32::try_from(bytes.div_ceil(UNIT)).ok()?;
        let permits = Arc::clone(&self.0).try_acquire_many_owned(units).ok()?;
        Some(Share { room: Arc::clone(&self.0), permits })
    }

    #[cfg(test)]
    pub fn free(&self) -> usize {
        self.0.available_permits() * UNIT
    }
}

impl Share {
    /// Makes it at least so large, if there is room.
    pub fn grow(&mut self, bytes: usize) -> Option<()> {
        let wanted = bytes.div_ceil(UNIT);
        let more = wanted.saturating_sub(self.permits.num_permits());
        if more > 0 {
            let more = u32::try_from(more).ok()?;
            self.permits.merge(Arc::clone(&self.room).try_acquire_many_owned(more).ok()?);
        }
        Some(())
    }

    /// Bytes that hold their share until the last of their readers is gone.
    pub fn with(self, bytes: Vec<u8>) -> Held {
        Held(Arc::new((bytes, self)))
    }
}

/// Bytes and the room that they take.
#[derive(Clone)]
pub(crate) struct Held(Arc<(Vec<u8>, Share)>);

impl Held {
    /// The same, for one more reader.
    pub fn bytes(&self) -> Bytes {
        Bytes::from_owner(self.clone())
    }

    /// Whether there is more than one reader.
    pub fn is_shared(&self) -> bool {
        Arc::strong_count(&self.0) > 1
    }
}

impl AsRef<[u8]> for Held {
    fn as_ref(&self) -> &[u8] {
        &self.0.0
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn room_comes_back_with_the_last_reader() {
        let room = Room::new(4 * UNIT);
        let mut share = room.share(1).unwrap();
        assert!(room.share(4 * UNIT).is_none());
        share.grow(3 * UNIT - 1).unwrap();
        assert_eq!(room.free(), UNIT);
        assert!(share.grow(5 * UNIT).is_none());
        let held = share.with(vec![7; 3]);
        assert!(!held.is_shared());
        let slow = held.bytes().clone();
        assert!(held.is_shared());
        drop(held);
        assert_eq!((room.free(), &slow[..]), (UNIT, &[7, 7, 7][..]));
        drop(slow);
        assert_eq!(room.free(), 4 * UNIT);
    }
}
