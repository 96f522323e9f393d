//! Damaged pictures: none makes the engine panic, hang or take more memory than it may.
//!
//! `cargo run --release -p facedp-engine --example mutations -- SECONDS` does the same for longer.
#![allow(missing_docs, clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod support;

use std::time::Duration;

use support::mutate::{peak_memory, run};

#[test]
fn damaged_pictures_do_no_harm() {
    std::panic::set_hook(Box::new(|_| ()));
    let seeds: Vec<Vec<u8>> = support::cases()
        .iter()
        .map(|case| support::golden(case["file"].as_str().unwrap()))
        .collect();
    let findings = run(&seeds, 1, Duration::from_secs(20));
    drop(std::panic::take_hook());
    println!(
        "{} inputs, {} accepted, slowest {:?}",
        findings.inputs, findings.accepted, findings.slowest
    );
    let panics: Vec<&String> = findings.panics.iter().map(|(text, _)| text).collect();
    assert!(panics.is_empty(), "{panics:?}");
    assert!(findings.inputs > 1000, "only {} inputs", findings.inputs);
    assert!(findings.accepted > 50, "only {} accepted", findings.accepted);
    assert!(findings.slowest < Duration::from_secs(10), "hangs: {:?}", findings.slowest);
    // A picture of 16 MB several times over, and the detector.
    if let Some(bytes) = peak_memory() {
        assert!(bytes < 400_000_000, "{bytes} bytes");
    }
}
