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
        "6e7909c347445d7d45b6d646635e03942665a4dfbe4201c48e877f2cef890239",
        "87ff2f09b01bcc65",
        Some("fba00c11b7126799"),
    ),
    (
        r#"{"method": "certified", "epsilon": 4, "features": 16, "mechanism": "laplace"}"#,
        "45045297e13b02ce2a48ca4585d5bdbd672aeeb4b370dba802bc546145eb9b7d",
        "988ed200fa334bc2",
        Some("fad1d7f03c9ca10b"),
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
