//! Damaged pictures: random changes to good ones.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::{Duration, Instant};

use facedp::noise::experiment;
use facedp_engine::{Engine, Limits, Request, Resources, Workspace};
use rand_core::Rng;

/// What a run found.
#[derive(Debug, Default)]
pub struct Findings {
    pub inputs: u64,
    pub accepted: u64,
    pub slowest: Duration,
    /// What a panic said, and the input.
    pub panics: Vec<(String, Vec<u8>)>,
}

/// Small pictures are read only, so that a run that takes more memory than that shows.
pub const LIMITS: Limits = Limits { file_bytes: 10_000_000, pixels: 2_000_000, bytes: 16_000_000 };

/// Feeds engines with mutated pictures for as long as `more` says so, which is told how many they had.
pub fn run(seeds: &[Vec<u8>], seed: u64, more: impl Fn(u64) -> bool) -> Findings {
    let detecting = Request { measure: false, ..Request::default() };
    let cropped = Request { aligned: true, keep_metadata: true, ..Request::default() };
    let limited = Resources { limits: LIMITS, ..super::resources() };
    let engines: [Engine; 2] =
        [detecting, cropped].map(|request| super::noisy_with(request, limited.clone()));
    let mut work = Workspace::default();
    let mut random = experiment(seed, "mutations");
    let mut findings = Findings::default();
    while more(findings.inputs) {
        let input = mutated(seeds, &mut random);
        // Networks take most of the time and see decoded pixels only: seldom is enough.
        let engine = &engines[usize::from(random.next_u32() & 15 != 0)];
        let begun = Instant::now();
        let tried = catch_unwind(AssertUnwindSafe(|| engine.protect(&input, &mut work).is_ok()));
        findings.inputs += 1;
        findings.slowest = findings.slowest.max(begun.elapsed());
        match tried {
            Ok(accepted) => findings.accepted += u64::from(accepted),
            Err(panic) => {
                work = Workspace::default();
                let text = panic.downcast_ref::<String>().cloned();
                let text = text.or_else(|| panic.downcast_ref::<&str>().map(|s| (*s).to_owned()));
                findings.panics.push((text.unwrap_or_default(), input));
            }
        }
    }
    findings
}

/// A picture with one to eight changes.
fn mutated(seeds: &[Vec<u8>], random: &mut impl Rng) -> Vec<u8> {
    let mut pick = |n: usize| (random.next_u64() % n.max(1) as u64) as usize;
    let mut file = seeds[pick(seeds.len())].clone();
    for _ in 0..=pick(8) {
        // Heads matter most.
        let reach = if pick(2) == 0 { file.len().min(200) } else { file.len() };
        let at = pick(reach);
        let end = (at + 1 + pick(64)).min(file.len());
        match pick(9) {
            0 if !file.is_empty() => file[at] ^= 1 << pick(8),
            1 if !file.is_empty() => file[at] = [0, 1, 0x7f, 0x80, 0xff][pick(5)],
            2 if end >= at + 4 => file[at..at + 4].copy_from_slice(&[0xff, 0xff, 0xff, 0xff]),
            3 if end >= at + 2 => {
                file[at..at + 2].copy_from_slice(&[pick(256) as u8, pick(256) as u8])
            }
            4 => drop(file.drain(at..end)),
            5 => {
                let part = file[at..end].to_vec();
                file.splice(at..at, part);
            }
            6 => file.truncate(at),
            7 => {
                let other = &seeds[pick(seeds.len())];
                let from = pick(other.len());
                let part = other[from..(from + pick(400)).min(other.len())].to_vec();
                file.splice(at..at, part);
            }
            _ => {
                let part: Vec<u8> = (0..pick(32)).map(|_| pick(256) as u8).collect();
                file.splice(at..at, part);
            }
        }
    }
    if pick(4) > 0 {
        mend_checksums(&mut file);
    }
    file
}

/// Sets the checksums of a PNG file's chunks, so that changes reach what lies behind them.
fn mend_checksums(file: &mut [u8]) {
    if !file.starts_with(b"\x89PNG\r\n\x1a\n") {
        return;
    }
    let mut at = 8;
    while let Some(head) = file.get(at..at + 8) {
        let length = u32::from_be_bytes([head[0], head[1], head[2], head[3]]) as usize;
        let Some(sum) = at.checked_add(8).and_then(|n| n.checked_add(length)) else { return };
        let Some(covered) = file.get(at + 4..sum) else { return };
        let crc = crc(covered).to_be_bytes();
        let Some(place) = file.get_mut(sum..sum + 4) else { return };
        place.copy_from_slice(&crc);
        at = sum + 4;
    }
}

/// A chunk of a PNG file, with its checksum.
pub fn png_chunk(kind: &[u8; 4], contents: &[u8]) -> Vec<u8> {
    let covered = [kind, contents].concat();
    let length = (contents.len() as u32).to_be_bytes();
    [&length, covered.as_slice(), &crc(&covered).to_be_bytes()].concat()
}

fn crc(bytes: &[u8]) -> u32 {
    let mut crc = u32::MAX;
    for byte in bytes {
        crc ^= u32::from(*byte);
        for _ in 0..8 {
            crc = (crc >> 1) ^ (0xEDB8_8320 & 0u32.wrapping_sub(crc & 1));
        }
    }
    !crc
}

/// The most memory this process has had, in bytes, where the system says it.
pub fn peak_memory() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find(|line| line.starts_with("VmHWM:"))?;
    Some(line.split_whitespace().nth(1)?.parse::<u64>().ok()? * 1024)
}
