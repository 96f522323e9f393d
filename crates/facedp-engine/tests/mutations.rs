//! Damaged pictures: none makes the engine panic, hang or take more memory than it may.
//!
//! The same inputs every time; `cargo run --release -p facedp-engine --example mutations -- SECONDS SEED`
//! tries others.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod support;

use std::time::Duration;

use facedp_engine::{Request, Workspace};
use support::mutate::{peak_memory, run};
use support::{golden, recoding};

/// About 15 seconds' worth.
const INPUTS: u64 = 12_000;
/// Nothing takes as long on any machine, unless it hangs.
const HANG: Duration = Duration::from_secs(300);

/// A picture of 16 MB several times over, and the detector. The limit is for all tests of this file: they
/// run in one process.
fn assert_memory_is_bounded() {
    if let Some(bytes) = peak_memory() {
        assert!(bytes < 400_000_000, "{bytes} bytes");
    }
}

#[test]
fn damaged_pictures_do_no_harm() {
    std::panic::set_hook(Box::new(|_| ()));
    let seeds: Vec<Vec<u8>> =
        support::cases().iter().map(|case| golden(case["file"].as_str().unwrap())).collect();
    let findings = run(&seeds, 1, |inputs| inputs < INPUTS);
    drop(std::panic::take_hook());
    println!(
        "{} inputs, {} accepted, slowest {:?}",
        findings.inputs, findings.accepted, findings.slowest
    );
    let panics: Vec<&String> = findings.panics.iter().map(|(text, _)| text).collect();
    assert!(panics.is_empty(), "{panics:?}");
    assert!(findings.accepted > 50, "only {} accepted", findings.accepted);
    assert!(findings.slowest < HANG, "hangs: {:?}", findings.slowest);
    assert_memory_is_bounded();
}

/// An EXIF block whose directories point to each other three levels deep, 300 times each: a reader that
/// follows every pointer makes gigabytes of entries.
#[test]
fn an_exif_bomb_is_harmless() {
    let entry = |tag: u16, kind: u16, value: u32| {
        let head = [tag.to_be_bytes(), kind.to_be_bytes()].concat();
        [head.as_slice(), &1u32.to_be_bytes(), &value.to_be_bytes()].concat()
    };
    let directory =
        |entry: Vec<u8>| [&300u16.to_be_bytes(), entry.repeat(300).as_slice(), &[0; 4]].concat();
    let length = 2 + 12 * 300 + 4;
    let first = directory(entry(0x8769, 4, 8 + length));
    let second = directory(entry(0xa005, 4, 8 + 2 * length));
    let third = directory(entry(0x0001, 4, 7));
    let body = [b"Exif\0\0MM\0*\0\0\0\x08".as_slice(), &first, &second, &third].concat();
    let jpeg = golden("base_420_q85.jpg");
    let size = (body.len() as u16 + 2).to_be_bytes();
    let file = [&jpeg[..2], &[0xff, 0xe1], &size, &body, &jpeg[2..]].concat();
    let recoded = |keep_metadata: bool| {
        let engine = recoding(Request { keep_metadata, ..Request::default() });
        engine.protect(&file, &mut Workspace::default()).unwrap()
    };
    assert_eq!(recoded(false).stripped, ["EXIF"]);
    assert!(recoded(true).file.len() < jpeg.len() + 1000);
    assert_memory_is_bounded();
}
