//! What all engines of a process share: networks, the model, the limit on memory.

use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use facedp::FeatureModel;
use facedp_engine::{
    Engine, Error, FaceDetector, MethodName, Recognisers, Request, Resources, Secret, Workspace,
    batch,
};
use pyo3::prelude::*;
use serde::Serialize;

use crate::error::raised;

type Result<T> = std::result::Result<T, Error>;

static RESOURCES: OnceLock<Resources> = OnceLock::new();

/// Resources with the networks that this process has loaded already.
pub fn resources() -> Result<Resources> {
    match RESOURCES.get() {
        Some(known) => Ok(known.clone()),
        None => {
            let new = Resources::new(Secret::Fresh)?;
            Ok(RESOURCES.get_or_init(|| new).clone())
        }
    }
}

/// Memory of networks, one for each thread that works, reused.
#[derive(Default)]
pub struct Workspaces(Mutex<Vec<Workspace>>);

impl Workspaces {
    /// Works with one of them while other Python threads go on.
    pub fn with<T: Send>(
        &self,
        py: Python<'_>,
        work: impl FnOnce(&mut Workspace) -> Result<T> + Send,
    ) -> PyResult<T> {
        let done = py.detach(|| {
            let spare = || self.0.lock().unwrap_or_else(PoisonError::into_inner);
            let mut space = spare().pop().unwrap_or_default();
            let done = batch::without_panic(|| work(&mut space));
            if !matches!(done, Err(Error::Panicked(_))) {
                spare().push(space);
            }
            done
        });
        done.map_err(|error| raised(py, error))
    }
}

/// For work without a request of its own.
pub struct Tools(Resources);

impl Tools {
    pub fn detector(&self) -> Result<Arc<FaceDetector>> {
        self.0.networks.detector()
    }

    pub fn recognisers(&self) -> Result<Arc<Recognisers>> {
        self.0.networks.recognisers()
    }

    pub fn model(&self) -> Result<Arc<FeatureModel>> {
        self.0.model.get()
    }

    /// An engine that changes nothing.
    pub fn plain(&self) -> Result<Engine> {
        Engine::new(Request::new(MethodName::None), self.0.clone())
    }
}

/// Works with the shared resources while other Python threads go on.
pub fn work<T: Send>(
    py: Python<'_>,
    work: impl FnOnce(&Tools, &mut Workspace) -> Result<T> + Send,
) -> PyResult<T> {
    static WORKSPACES: OnceLock<Workspaces> = OnceLock::new();
    let workspaces = WORKSPACES.get_or_init(Workspaces::default);
    workspaces.with(py, |space| work(&Tools(resources()?), space))
}

/// The value as JSON.
pub fn json(py: Python<'_>, value: &impl Serialize) -> PyResult<String> {
    let failed = |e: serde_json::Error| raised(py, Error::Request { problem: e.to_string() });
    serde_json::to_string(value).map_err(failed)
}
