//! Places for open connections. Other users of the machine must not take those of this one.

use std::sync::Arc;

use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// Connections of other users that are told why they get no answer; further ones are closed.
const REFUSED: usize = 16;

pub(crate) struct Places {
    free: Arc<Semaphore>,
    refused: Arc<Semaphore>,
}

/// The place of a connection until it ends.
pub(crate) struct Place {
    _permit: OwnedSemaphorePermit,
}

impl Place {
    fn new(permit: OwnedSemaphorePermit) -> Self {
        Self { _permit: permit }
    }
}

impl Places {
    pub fn new(connections: usize) -> Self {
        let semaphore = |places| Arc::new(Semaphore::new(places));
        Self { free: semaphore(connections), refused: semaphore(REFUSED) }
    }

    /// Waits for a free place; none if the server ends.
    pub async fn take(&self) -> Option<Place> {
        Arc::clone(&self.free).acquire_owned().await.ok().map(Place::new)
    }

    /// Gives the place back for one of those that other users have; none if these are taken.
    pub fn move_apart(&self, place: Place) -> Option<Place> {
        drop(place);
        Arc::clone(&self.refused).try_acquire_owned().ok().map(Place::new)
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use futures_util::FutureExt;

    use super::*;

    #[test]
    fn other_users_take_no_place() {
        let places = Places::new(4);
        let take = || places.take().now_or_never().flatten();
        let mut others = Vec::new();
        for _ in 0..1000 {
            others.extend(places.move_apart(take().unwrap()));
        }
        assert_eq!(others.len(), REFUSED);
        let own: Vec<Place> = std::iter::from_fn(take).collect();
        assert_eq!(own.len(), 4);
        drop(others);
        assert!(take().is_none());
    }
}
