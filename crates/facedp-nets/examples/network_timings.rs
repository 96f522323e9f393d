//! Times of the networks on one thread, in milliseconds, as one JSON object; with a name as its argument, of one network.
//! With a number N as its argument: resident memory before and after N embeddings, in bytes.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::hint::black_box;
use std::time::Instant;

use facedp_nets::{Chip, Detector, Picture, Recogniser, Workspace};
use serde_json::{Map, Value, json};

/// Processor time of this thread in nanoseconds (Linux). Other programs do not count.
fn processor_time() -> f64 {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap();
    text.split(' ').next().unwrap().parse().unwrap()
}

/// Milliseconds of processor time: the least mean of ten runs of a tenth of a second.
fn least_ms(mut work: impl FnMut()) -> Value {
    work();
    let mean = |_| {
        let (start, before, mut count) = (Instant::now(), processor_time(), 0);
        while count < 5 || start.elapsed().as_secs_f64() < 0.1 {
            work();
            count += 1;
        }
        1e-6 * (processor_time() - before) / f64::from(count)
    };
    json!((0..10).map(mean).fold(f64::INFINITY, f64::min))
}

/// Resident memory (Linux).
fn resident() -> u64 {
    let pages = std::fs::read_to_string("/proc/self/statm").unwrap();
    4096 * pages.split(' ').nth(1).unwrap().parse::<u64>().unwrap()
}

fn memory(count: usize) {
    let recogniser = Recogniser::dlib().unwrap();
    let mut work = Workspace::default();
    let mut embed = |n: usize| {
        let values = (0..67_500).map(|i| ((i * 7 + n) % 256) as f32).collect();
        drop(black_box(recogniser.embed(&Chip::new(150, values).unwrap(), &mut work)));
    };
    (0..10).for_each(&mut embed);
    let before = resident();
    (0..count).for_each(&mut embed);
    println!("{}", json!({ "embeddings": count, "before": before, "after": resident() }));
}

fn main() {
    let only = std::env::args().nth(1);
    if let Some(count) = only.as_ref().and_then(|argument| argument.parse().ok()) {
        return memory(count);
    }
    let wanted = |name: &str| only.as_ref().is_none_or(|only| only == name);
    let mut times = Map::new();
    let mut work = Workspace::default();
    let noise = |n: usize| (0..n as u32).map(|i| (i.wrapping_mul(2_654_435_761) >> 24) as u8);
    let recognisers = [
        Recogniser::dlib(),
        Recogniser::sface(),
        Recogniser::intel(),
        Recogniser::mobilefacenet(),
        Recogniser::facexzoo(),
    ];
    for recogniser in recognisers.map(Result::unwrap) {
        if !wanted(recogniser.name()) {
            continue;
        }
        let side = recogniser.side();
        let chip = Chip::new(side, noise(3 * side * side).map(f32::from).collect()).unwrap();
        let forward = least_ms(|| drop(black_box(recogniser.embed(&chip, &mut work))));
        let both = least_ms(|| {
            drop(black_box(recogniser.gradient(&chip, &mut work, |e| vec![1.0; e.len()])));
        });
        let jittered = least_ms(|| {
            let ones = |e: &[f32]| vec![1.0; e.len()];
            drop(black_box(recogniser.jittered_gradient(&chip, &mut work, || 1.01, ones)));
        });
        times.insert(format!("{}_forward", recogniser.name()), forward);
        times.insert(format!("{}_jittered", recogniser.name()), jittered);
        times.insert(format!("{}_forward_and_gradient", recogniser.name()), both);
    }
    if wanted("yunet") {
        let detector = Detector::new().unwrap();
        let picture = Picture::new(640, 640, noise(3 * 640 * 640).collect()).unwrap();
        let once = least_ms(|| drop(black_box(detector.detect_once(&picture, 0.7, &mut work))));
        times.insert("yunet_640".to_owned(), once);
    }
    println!("{}", Value::Object(times));
}
