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
    pub model: SharedModel,
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
            model: SharedModel::default(),
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

/// A feature model that engines share: the user's, or the embedded one, which is unpacked on first use. Most methods need
/// none.
#[derive(Clone, Default)]
pub struct SharedModel(Arc<Lazy<FeatureModel>>);

impl SharedModel {
    pub fn get(&self) -> Result<Arc<FeatureModel>> {
        self.0.get(|| Ok(FeatureModel::embedded()?))
    }
}

impl From<Arc<FeatureModel>> for SharedModel {
    fn from(model: Arc<FeatureModel>) -> Self {
        Self(Arc::new(Lazy(Mutex::new(Some(model)))))
    }
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

    /// Begins to load the recognisers, so that they are there when the faces of a photo have been found. Whether there was
    /// anything to load.
    pub(crate) fn expect_recognisers(self: &Arc<Self>) -> bool {
        let missing = !self.recognisers.is_begun();
        if missing {
            let networks = Arc::clone(self);
            let load = move || drop(networks.recognisers());
            // Where that fails, whoever needs them loads them and finds out why.
            drop(std::thread::Builder::new().spawn(load));
        }
        missing
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
    /// Whether the value is there or being made.
    fn is_begun(&self) -> bool {
        self.0.try_lock().map_or(true, |value| value.is_some())
    }

    fn get(&self, make: impl FnOnce() -> Result<T>) -> Result<Arc<T>> {
        let mut value = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        match &*value {
            Some(value) => Ok(Arc::clone(value)),
            None => Ok(Arc::clone(value.insert(Arc::new(make()?)))),
        }
    }
}
