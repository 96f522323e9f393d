//! Golden pictures and engines for tests.
#![allow(missing_docs, dead_code, clippy::unwrap_used, clippy::expect_used, clippy::panic)]

pub mod mutate;

use std::fs;
use std::path::Path;
use std::sync::{Arc, LazyLock};

use facedp::{Epsilon, FeatureModel, Plan, Preset};
use facedp_engine::{Engine, Limits, Options, Photo, Secret, Treatment};
use serde_json::Value;

pub const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");

/// The bytes of a golden file, made by `tools/make_photo_golden.py`.
pub fn golden(name: &str) -> Vec<u8> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden");
    fs::read(folder.join(name)).unwrap()
}

/// What Pillow says of every golden picture.
pub fn cases() -> Vec<Value> {
    let all: Value = serde_json::from_slice(&golden("photos.json")).unwrap();
    all["cases"].as_array().unwrap().clone()
}

/// A picture with two faces.
pub fn two_faces() -> Vec<u8> {
    fs::read(format!("{ROOT}/crates/facedp-nets/tests/golden/yunet_both.png")).unwrap()
}

pub fn decode(file: &[u8]) -> Photo {
    Photo::decode(file, &Limits::default()).unwrap()
}

static MODEL: LazyLock<Arc<FeatureModel>> = LazyLock::new(|| {
    let bytes = fs::read(format!("{ROOT}/assets/eigenfaces.safetensors")).unwrap();
    Arc::new(FeatureModel::from_bytes(&bytes).unwrap())
});

pub fn plan(epsilon: f64) -> Plan {
    let method = Preset::RdpOptimal.method(Epsilon::new(epsilon).unwrap(), 64);
    Plan::new(Arc::clone(&MODEL), method).unwrap()
}

/// An engine with noise that can be seen, without the recognisers.
pub fn noisy(options: Options) -> Engine {
    let treatment = Treatment::Noise { plan: Box::new(plan(0.01)), secret: Secret::Seed(1) };
    Engine::new(treatment, Options { check: false, ..options }).unwrap()
}

/// An engine that only decodes and encodes.
pub fn recoding(options: Options) -> Engine {
    Engine::new(Treatment::None, options).unwrap()
}
