//! Golden pictures and engines for tests.
#![allow(dead_code, clippy::unwrap_used, clippy::expect_used, clippy::panic)]

pub mod mutate;

use facedp::{Epsilon, Preset};
use facedp_engine::{Check, Engine, Limits, MethodName, Photo, Request, Resources, Secret};
use serde_json::Value;
use std::fs;
use std::path::Path;

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

/// Resources with a seed, so that results repeat.
pub fn resources() -> Resources {
    Resources::new(Secret::Seed(1)).unwrap()
}

/// A request of the paper's noise at that budget.
pub fn noise(epsilon: f64) -> Request {
    let method = MethodName::Noise(Preset::RdpOptimal);
    let epsilon = Some(Epsilon::new(epsilon).unwrap());
    unchecked(Request { method, epsilon, ..Request::default() })
}

/// A request without the recognisers.
pub fn unchecked(request: Request) -> Request {
    Request { check: Check::Off, ..request }
}

/// An engine with noise that can be seen, without the recognisers. The rest is the request's.
pub fn noisy(request: Request) -> Engine {
    noisy_with(request, resources())
}

pub fn noisy_with(request: Request, resources: Resources) -> Engine {
    let Request { method, epsilon, check, .. } = noise(0.01);
    Engine::new(Request { method, epsilon, check, ..request }, resources).unwrap()
}

/// An engine that only decodes and encodes.
pub fn recoding(request: Request) -> Engine {
    Engine::new(Request { method: MethodName::None, ..request }, resources()).unwrap()
}
