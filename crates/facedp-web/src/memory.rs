//! Memory for uploads and results. What was reserved is freed when its last reader is gone.

use std::sync::Arc;

use bytes::Bytes;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// Bytes per permit of the semaphore.
const UNIT: usize = 1 << 16;

/// A fixed number of bytes that can be reserved.
pub(crate) struct MemoryBudget(Arc<Semaphore>);

/// A part of a budget, freed when dropped.
pub(crate) struct Reservation {
    budget: Arc<Semaphore>,
    permits: OwnedSemaphorePermit,
}

impl MemoryBudget {
    pub fn new(bytes: usize) -> Self {
        Self(Arc::new(Semaphore::new(bytes / UNIT)))
    }

    /// Reserves bytes if they are free. It never waits: the holders of the rest may be waiting too.
    pub fn reserve(&self, bytes: usize) -> Option<Reservation> {
        let units = u32::try_from(bytes.div_ceil(UNIT)).ok()?;
        let permits = Arc::clone(&self.0).try_acquire_many_owned(units).ok()?;
        Some(Reservation { budget: Arc::clone(&self.0), permits })
    }

    #[cfg(test)]
    fn free(&self) -> usize {
        self.0.available_permits() * UNIT
    }
}

impl Reservation {
    /// Grows to at least this many bytes, if they are free.
    pub fn grow(&mut self, bytes: usize) -> Option<()> {
        let wanted = bytes.div_ceil(UNIT);
        let more = wanted.saturating_sub(self.permits.num_permits());
        if more > 0 {
            let more = u32::try_from(more).ok()?;
            self.permits.merge(Arc::clone(&self.budget).try_acquire_many_owned(more).ok()?);
        }
        Some(())
    }

    /// Ties the reservation to the bytes that it was made for.
    pub fn hold(self, bytes: Vec<u8>) -> ReservedBytes {
        ReservedBytes(Arc::new((bytes, self)))
    }
}

/// Bytes with their reservation. Clones share both.
#[derive(Clone)]
pub(crate) struct ReservedBytes(Arc<(Vec<u8>, Reservation)>);

impl ReservedBytes {
    /// The bytes as a response body, which holds the reservation until it is sent.
    pub fn body(&self) -> Bytes {
        Bytes::from_owner(self.clone())
    }

    /// Whether there is more than one reader.
    pub fn is_shared(&self) -> bool {
        Arc::strong_count(&self.0) > 1
    }
}

impl AsRef<[u8]> for ReservedBytes {
    fn as_ref(&self) -> &[u8] {
        &self.0.0
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn memory_is_freed_with_the_last_reader() {
        let budget = MemoryBudget::new(4 * UNIT);
        let mut reservation = budget.reserve(1).unwrap();
        assert!(budget.reserve(4 * UNIT).is_none());
        reservation.grow(3 * UNIT - 1).unwrap();
        assert_eq!(budget.free(), UNIT);
        assert!(reservation.grow(5 * UNIT).is_none());
        let bytes = reservation.hold(vec![7; 3]);
        assert!(!bytes.is_shared());
        let slow = bytes.body().clone();
        assert!(bytes.is_shared());
        drop(bytes);
        assert_eq!((budget.free(), &slow[..]), (UNIT, &[7, 7, 7][..]));
        drop(slow);
        assert_eq!(budget.free(), 4 * UNIT);
    }
}
