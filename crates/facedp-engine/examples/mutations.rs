//! Feeds damaged pictures to the engine: `mutations SECONDS [SEED] [FOLDER]`.
//!
//! Inputs that cause a panic are written to FOLDER, if given.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

#[path = "../tests/support/mod.rs"]
mod support;

use std::time::{Duration, Instant};

use support::mutate::{peak_memory, run};

fn main() {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let seconds = args.first().map_or(600, |s| s.parse().unwrap());
    let seed = args.get(1).map_or(1, |s| s.parse().unwrap());
    std::panic::set_hook(Box::new(|panic| eprintln!("{panic}")));
    let cases = support::cases();
    let seeds = cases.iter().map(|case| support::golden(case["file"].as_str().unwrap()));
    let (start, time) = (Instant::now(), Duration::from_secs(seconds));
    let findings = run(&seeds.collect::<Vec<_>>(), seed, |_| start.elapsed() < time);
    println!(
        "{} inputs in {seconds} s, {} accepted, slowest {:?}, {} panics, peak memory {} MB",
        findings.inputs,
        findings.accepted,
        findings.slowest,
        findings.panics.len(),
        peak_memory().unwrap_or(0) / 1_000_000,
    );
    for (number, (text, input)) in findings.panics.iter().enumerate() {
        println!("{number}: {text}");
        if let Some(folder) = args.get(2) {
            std::fs::write(format!("{folder}/panic-{number}"), input).unwrap();
        }
    }
    std::process::exit(i32::from(!findings.panics.is_empty()));
}
