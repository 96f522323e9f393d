//! Engines, shared between jobs that ask for the same.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use facedp_engine::{Engine, Request, Resources};

use crate::error::Problem;

/// Different engines at once. A plan takes up to 9 MB (`ranking` by amplitude; most take less than 1 MB),
/// so that waiting jobs hold at most 290 MB of plans, and those that are just being made.
const MAX_ENGINES: usize = 32;
const TOO_MANY: &str = "32 photos with different settings are waiting: try again in a moment";

/// The engines of jobs that wait or run. An engine lives as long as one of its jobs.
///
/// A job's engine is built once, before the job begins to wait: wrong settings are refused at once.
pub(crate) struct Engines {
    resources: Resources,
    /// With the request as JSON.
    known: Mutex<Vec<(String, Weak<Engine>)>>,
}

impl Engines {
    pub fn new(resources: Resources) -> Self {
        Self { resources, known: Mutex::default() }
    }

    /// The engine for a request. A plan can take seconds.
    pub fn get(&self, request: Request) -> Result<Arc<Engine>, Problem> {
        let text = serde_json::to_string(&request).map_err(|e| Problem::defect(e.to_string()))?;
        if let Some(engine) = self.find(&text)? {
            return Ok(engine);
        }
        let engine = Engine::new(request, self.resources.clone());
        let engine = Arc::new(engine.map_err(|error| Problem::from(error).of_settings())?);
        self.known().push((text, Arc::downgrade(&engine)));
        Ok(engine)
    }

    /// The engine that is there already. Fails if it is not, and there are too many others.
    fn find(&self, text: &str) -> Result<Option<Arc<Engine>>, Problem> {
        let mut known = self.known();
        known.retain(|(_, engine)| engine.strong_count() > 0);
        let found = known.iter().find(|(other, _)| other == text);
        match found.and_then(|(_, engine)| engine.upgrade()) {
            None if known.len() >= MAX_ENGINES => Err(Problem::busy(TOO_MANY)),
            found => Ok(found),
        }
    }

    fn known(&self) -> MutexGuard<'_, Vec<(String, Weak<Engine>)>> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use facedp_engine::{Key, Secret};

    fn engines(ledger: Option<std::path::PathBuf>) -> Engines {
        let resources = Resources::new(Secret::Key(Key::from_bytes([7; 32]))).unwrap();
        Engines::new(Resources { ledger, ..resources })
    }

    fn request(text: &str) -> Request {
        Request::from_json(text).unwrap()
    }

    #[test]
    fn equal_requests_share_an_engine_and_the_number_is_bounded() {
        let engines = engines(None);
        let rdp = |n: usize| request(&format!(r#"{{"method":"rdp","features":1,"faces":[{n}]}}"#));
        let first = engines.get(rdp(1)).unwrap();
        assert!(Arc::ptr_eq(&first, &engines.get(rdp(1)).unwrap()));
        let mut all: Vec<_> = (2..=MAX_ENGINES).map(|n| engines.get(rdp(n)).unwrap()).collect();
        assert_eq!(engines.get(rdp(1000)).err(), Some(Problem::busy(TOO_MANY)));
        assert!(engines.get(rdp(1)).is_ok());
        all.pop();
        assert!(engines.get(rdp(1000)).is_ok());
    }

    #[test]
    fn all_methods_get_the_ledger() {
        for method in ["rdp", "steered", "none", "certified"] {
            let folder = tempfile::tempdir().unwrap();
            let ledger = folder.path().join("ledger.jsonl");
            let engines = engines(Some(ledger.clone()));
            engines.get(request(&format!(r#"{{"method":"{method}"}}"#))).unwrap();
            assert!(ledger.exists(), "{method}");
        }
    }
}
