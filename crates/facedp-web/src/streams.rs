//! Places for event streams: each holds a connection for as long as a minute.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::bounds::Bounds;
use crate::client::Client;

/// The open event streams of each client.
pub(crate) struct Streams {
    max: usize,
    max_of_client: usize,
    open: Mutex<HashMap<Client, usize>>,
}

/// A place, free again when dropped.
pub(crate) struct Place {
    streams: Arc<Streams>,
    client: Client,
}

impl Streams {
    pub fn new(bounds: &Bounds) -> Arc<Self> {
        let (max, max_of_client) = (bounds.streams, bounds.streams_of_client);
        Arc::new(Self { max, max_of_client, open: Mutex::default() })
    }

    fn open(&self) -> MutexGuard<'_, HashMap<Client, usize>> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A place for one more stream of a client, if there is one for it.
    pub fn place(self: &Arc<Self>, client: Client) -> Option<Place> {
        let mut open = self.open();
        let own = open.get(&client).copied().unwrap_or(0);
        if own >= self.max_of_client || open.values().sum::<usize>() >= self.max {
            return None;
        }
        open.insert(client, own + 1);
        Some(Place { streams: Arc::clone(self), client })
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let mut open = self.streams.open();
        match open.get_mut(&self.client) {
            Some(own) if *own > 1 => *own -= 1,
            _ => {
                open.remove(&self.client);
            }
        }
    }
}
