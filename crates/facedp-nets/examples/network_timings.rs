//! Times of the networks on one thread, in milliseconds, as one JSON object: medians over a second.
#![allow(missing_docs, clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::hint::black_box;
use std::time::Instant;

use facedp_nets::{Chip, Detector, Picture, Recogniser, Workspace};
use serde_json::{Map, Value, json};

fn median_ms(mut work: impl FnMut()) -> Value {
    work();
    let start = Instant::now();
    let mut times = Vec::new();
    while times.len() < 5 || start.elapsed().as_secs_f64() < 1.0 {
        let once = Instant::now();
        work();
        times.push(1e3 * once.elapsed().as_secs_f64());
    }
    times.sort_unstable_by(f64::total_cmp);
    json!(times[times.len() / 2])
}

fn main() {
    let mut times = Map::new();
    let mut work = Workspace::default();
    let noise = |n: usize| (0..n as u32).map(|i| (i.wrapping_mul(2_654_435_761) >> 24) as u8);
    for recogniser in [Recogniser::dlib().unwrap(), Recogniser::sface().unwrap()] {
        let side = recogniser.side();
        let chip = Chip::new(side, noise(3 * side * side).map(f32::from).collect()).unwrap();
        let forward = median_ms(|| drop(black_box(recogniser.embed(&chip, &mut work))));
        let both = median_ms(|| {
            drop(black_box(recogniser.gradient(&chip, &mut work, |e| vec![1.0; e.len()])));
        });
        times.insert(format!("{}_forward", recogniser.name()), forward);
        times.insert(format!("{}_forward_and_gradient", recogniser.name()), both);
    }
    let detector = Detector::new().unwrap();
    let picture = Picture::new(640, 640, noise(3 * 640 * 640).collect()).unwrap();
    let once = median_ms(|| drop(black_box(detector.detect_once(&picture, 0.7, &mut work))));
    times.insert("yunet_640".to_owned(), once);
    println!("{}", Value::Object(times));
}
