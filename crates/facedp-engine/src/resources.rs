//! What engines share and a request cannot name: networks, the feature model, secrets, memory limits.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use facedp::FeatureModel;

use crate::detect::FaceDetector;
use crate::error::Result;
use crate::gate::Gate;
use crate::key::Secret;
use crate::photo::Limits;
use crate::prior::Prior;
use crate::recognise::Recognisers;

/// What engines share. Clones share networks, model and memory limit.
#[derive(Clone)]
pub struct Resources {
    pub networks: Arc<Networks>,
    pub model: Arc<FeatureModel>,
    /// Randomness of all methods but `certified`.
    pub secret: Secret,
    /// Randomness of `certified`: fresh entropy, unless results must be repeatable.
    pub certified_secret: Secret,
    /// File in which releases are recorded.
    pub ledger: Option<PathBuf>,
    /// Limits the memory of photos that are processed at the same time.
    pub gate: Arc<Gate>,
    pub limits: Limits,
}

impl Resources {
    /// The embedded networks and model, no ledger. `certified` draws fresh entropy if `secret` is a key.
    pub fn new(secret: Secret) -> Result<Self> {
        let certified_secret = match &secret {
            Secret::Key(_) | Secret::Fresh => Secret::Fresh,
            Secret::Seed(seed) => Secret::Seed(*seed),
        };
        Ok(Self {
            networks: Arc::default(),
            model: embedded_model()?,
            secret,
            certified_secret,
            ledger: None,
            gate: Arc::default(),
            limits: Limits::default(),
        })
    }
}

/// [`FeatureModel::embedded`], to be shared.
pub fn embedded_model() -> Result<Arc<FeatureModel>> {
    Ok(Arc::new(FeatureModel::embedded()?))
}

/// The built-in networks. Each is loaded on first use.
#[derive(Default)]
pub struct Networks {
    detector: Lazy<FaceDetector>,
    recognisers: Lazy<Recognisers>,
    prior: Lazy<Prior>,
}

impl Networks {
    pub fn detector(&self) -> Result<Arc<FaceDetector>> {
        self.detector.get(FaceDetector::new)
    }

    pub fn recognisers(&self) -> Result<Arc<Recognisers>> {
        self.recognisers.get(Recognisers::embedded)
    }

    pub(crate) fn prior(&self) -> Result<Arc<Prior>> {
        self.prior.get(Prior::embedded)
    }
}

/// A value that is created on first use by a fallible function.
struct Lazy<T>(Mutex<Option<Arc<T>>>);

impl<T> Default for Lazy<T> {
    fn default() -> Self {
        Self(Mutex::new(None))
    }
}

impl<T> Lazy<T> {
    fn get(&self, make: impl FnOnce() -> Result<T>) -> Result<Arc<T>> {
        let mut value = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        match &*value {
            Some(value) => Ok(Arc::clone(value)),
            None => Ok(Arc::clone(value.insert(Arc::new(make()?)))),
        }
    }
}
