//! The same key gives the same pixels and the same ledger entries in every version.
//!
//! Pictures are face crops, so that no network is asked: networks round differently on other processors.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod support;

use facedp_engine::ledger::Ledger;
use facedp_engine::{Engine, Key, Request, Resources, Secret, Workspace};
use support::{decode, two_faces};

/// A request, the digest of the result's pixels, and what the ledger holds: noise and split.
const CASES: [(&str, &str, &str, Option<&str>); 4] = [
    (
        r#"{"method": "rdp-optimal", "epsilon": 0.01}"#,
        "b508106b5180ed4e54ee6f8d2043b85c0a48ec48e9a08515c8ec8c9ed9b2d505",
        "b73d918c3c28c55e",
        None,
    ),
    (
        r#"{"method": "rdp-lmgd", "epsilon": 0.01, "features": 16, "crop": 120}"#,
        "21325ed40fd434da1cd426199d9583f0f31b1c827d46acf6cf25c37b412d7351",
        "9643acd76ca1bc9b",
        None,
    ),
    (
        r#"{"method": "certified", "epsilon": 4}"#,
        "84ffce32cb703a7befe2b0472068d277c74dde68d94098189670134bcda8f9d3",
        "4be2befe9742e228",
        Some("a66a302927bb6868"),
    ),
    (
        r#"{"method": "certified", "epsilon": 4, "features": 16, "mechanism": "laplace"}"#,
        "0b1d1f3ae79243a642417b897113434f9d809bad0c2c5b35d37716b10070fc44",
        "50a6c18e86fd5dd8",
        Some("a66a302927bb6868"),
    ),
];

#[test]
fn the_same_key_gives_the_same_pixels_and_entries() {
    let secret = Secret::Key(Key::from_bytes([7; 32]));
    let work = &mut Workspace::default();
    for (request, digest, noise, split) in CASES {
        let folder = tempfile::tempdir().unwrap();
        let ledger = folder.path().join("ledger.jsonl");
        let request = Request::from_json(request).unwrap();
        let request = Request { aligned: true, ..support::unchecked(request) };
        let resources = Resources {
            certified_secret: secret.clone(),
            ledger: Some(ledger.clone()),
            ..Resources::new(secret.clone()).unwrap()
        };
        let name = request.method;
        let result = Engine::new(request, resources).unwrap().protect(&two_faces(), work).unwrap();
        let found = blake3::Hash::from_bytes(decode(&result.file).digest()).to_string();
        assert_eq!(found, digest, "{name}");
        let [entry] = &Ledger::read(&ledger).unwrap()[..] else { panic!("not one entry") };
        assert_eq!(entry.noise.as_deref(), Some(noise), "{name}");
        assert_eq!(entry.split.as_deref(), split, "{name}");
    }
}
