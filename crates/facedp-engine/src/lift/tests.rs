//! Tests of lifting.
#![allow(clippy::unwrap_used)]

use facedp::noise::experiment;
use facedp::{Epsilon, Plan, Preset};

use super::*;
use crate::detect::{DetectedFace, FaceDetector, MIN_SCORE};
use crate::engine::Engine;
use crate::key::Secret;
use crate::photo::Limits;
use crate::request::{Check, MethodName, Request};
use crate::resources::{Resources, embedded_model};
use facedp_nets::Workspace;

const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");

fn read(name: &str) -> Vec<u8> {
    std::fs::read(format!("{ROOT}/{name}")).unwrap()
}

fn two_faces() -> Vec<u8> {
    read("crates/facedp-nets/tests/golden/yunet_both.png")
}

fn golden(name: &str) -> Vec<u8> {
    read(&format!("crates/facedp-engine/tests/golden/{name}"))
}

fn decode(file: &[u8]) -> Photo {
    Photo::decode(file, &Limits::default()).unwrap()
}

fn faces(photo: &Photo) -> Vec<DetectedFace> {
    let detector = FaceDetector::new().unwrap();
    detector.find(photo, MIN_SCORE, &mut Workspace::default()).unwrap()
}

/// The sum of all lifts, as a plane of the photo's size.
fn lifted(lifts: &[Lift], photo: &Photo) -> Plane {
    let mut plane = Plane::zeros(photo.width(), photo.height());
    let width = photo.width();
    for (y, row) in plane.data_mut().chunks_exact_mut(width).enumerate() {
        let mut line = vec![0.0; width];
        lifts.iter().for_each(|lift| lift.add_row(0, y, &mut line));
        row.iter_mut().zip(line).for_each(|(out, value)| *out = f64::from(value));
    }
    plane
}

#[test]
fn luma_moves_by_the_lifted_noise_and_nothing_else_moves() {
    let original = decode(&two_faces());
    let faces = faces(&original);
    assert_eq!(faces.len(), 2);
    let method = Preset::RdpOptimal.method(Epsilon::new(0.01).unwrap(), 64);
    let plan = Plan::new(embedded_model().unwrap(), method).unwrap();
    let lifts = faces.iter().map(|face| {
        let patch = Patch::face(&face.landmarks).unwrap();
        let chip = patch.chip(&original, 128);
        let release = plan.protect(&chip, &mut experiment(1, "lift")).unwrap();
        Lift::new(&release.noise(), &patch, &original)
    });
    let lifts: Vec<Lift> = lifts.collect();
    let noise = lifted(&lifts, &original);
    let mut changed = original.clone();
    assert!(apply(&lifts, &mut changed));
    // Through a PNG file.
    let changed = decode(&changed.encode(&Default::default()).unwrap().file);

    let [before, after] = [&original, &changed].map(|p| p.luma(p.whole()));
    let pixels = changed.picture(changed.whole()).unwrap();
    let clipped = |at: usize| pixels.rgb()[3 * at..3 * at + 3].iter().any(|v| [0, 255].contains(v));
    let (mut moved, mut compared) = (0, 0);
    for at in 0..before.data().len() {
        let (change, expected) = (after.data()[at] - before.data()[at], noise.data()[at]);
        if expected == 0.0 {
            assert_eq!(change, 0.0, "pixel {at} lies outside");
        } else if !clipped(at) {
            assert!((change - expected).abs() <= 0.5 + 1e-6, "{change} instead of {expected}");
            compared += 1;
            moved += usize::from(change != 0.0);
        }
    }
    assert!(compared > 5_000 && moved > compared / 2, "{moved} of {compared}");
    // Noise lies only inside the regions of the lifts.
    for (at, value) in noise.data().iter().enumerate() {
        let (x, y) = (at % noise.width(), at / noise.width());
        let inside =
            |r: Region| (r.x..r.x + r.width).contains(&x) && (r.y..r.y + r.height).contains(&y);
        assert!(*value == 0.0 || lifts.iter().any(|lift| inside(lift.region)));
    }
}

/// Through the engine: colours change alike, and only on faces.
#[test]
fn the_engine_changes_faces_only() {
    let file = two_faces();
    let original = decode(&file);
    let request = Request {
        method: MethodName::Noise(Preset::RdpOptimal),
        epsilon: Some(Epsilon::new(0.01).unwrap()),
        check: Check::Off,
        ..Request::default()
    };
    let engine = Engine::new(request, Resources::new(Secret::Seed(1)).unwrap()).unwrap();
    let result = engine.protect(&file, &mut Workspace::default()).unwrap();
    assert_eq!(result.faces.len(), 2);
    let changed = decode(&result.file);
    let [a, b] = [&original, &changed].map(|p| p.picture(p.whole()).unwrap());
    let regions: Vec<Region> = result
        .faces
        .iter()
        .map(|face| Patch::face(&face.face.unwrap().landmarks).unwrap().region(&original))
        .collect();
    let mut changes = 0;
    for (at, (a, b)) in a.rgb().chunks_exact(3).zip(b.rgb().chunks_exact(3)).enumerate() {
        let (x, y) = (at % original.width(), at / original.width());
        let inside =
            |r: &Region| (r.x..r.x + r.width).contains(&x) && (r.y..r.y + r.height).contains(&y);
        if !regions.iter().any(inside) {
            assert_eq!(a, b, "pixel {x},{y}");
        } else if b.iter().all(|v| (1..255).contains(v)) {
            let steps = [0, 1, 2].map(|c| i16::from(b[c]) - i16::from(a[c]));
            assert!(steps.iter().all(|s| *s == steps[0]), "{steps:?} at {x},{y}");
            changes += usize::from(steps[0] != 0);
        }
    }
    assert!(changes > 5_000, "{changes}");
}

fn waves(side: usize) -> Plane {
    let value =
        |i: usize| ((i % side) as f64 * 0.13).sin() * 9.0 + ((i / side) as f64 * 0.07).cos() * 5.0;
    Plane::new(side, side, (0..side * side).map(value).collect()).unwrap()
}

/// Compares with interpolation written out, away from the fading edges.
#[test]
fn lifting_is_bilinear_interpolation() {
    let photo = decode(&golden("base_420_q85.jpg"));
    let noise = waves(128);
    // A face seen at an angle, larger than the chip.
    let landmarks = [[60.0, 70.0], [150.0, 90.0], [100.0, 140.0], [50.0, 170.0], [125.0, 190.0]];
    let patch = Patch::face(&landmarks).unwrap();
    let placement: Similarity = patch.placement(128);
    assert!(placement.scale() < 1.0);
    let plane = lifted(&[Lift::new(&noise, &patch, &photo)], &photo);
    let mut compared = 0;
    for y in 0..photo.height() {
        for x in 0..photo.width() {
            let [u, v] = placement.apply([x as f32, y as f32]);
            if (16.0..111.0).contains(&u) && (16.0..111.0).contains(&v) {
                let (i, j) = (u as usize, v as usize);
                let (s, t) = (f64::from(u.fract()), f64::from(v.fract()));
                let at = |i: usize, j: usize| noise.row(j)[i];
                let expected = (1.0 - t) * ((1.0 - s) * at(i, j) + s * at(i + 1, j))
                    + t * ((1.0 - s) * at(i, j + 1) + s * at(i + 1, j + 1));
                assert!((plane.row(y)[x] - expected).abs() < 1e-3, "{x},{y}");
                compared += 1;
            }
        }
    }
    assert!(compared > 5_000, "{compared}");
}

/// A crop of the model's size gets the noise unchanged, up to its edges: none of them lies inside the
/// picture.
#[test]
fn a_crop_of_the_models_size_gets_the_noise_unchanged() {
    let portrait = decode(&read("examples/portrait.png"));
    let photo = portrait.crop(portrait.centre(Some(128)).unwrap());
    let noise = waves(128);
    let patch = Patch::Square(photo.whole());
    let plane = lifted(&[Lift::new(&noise, &patch, &photo)], &photo);
    for (lifted, noise) in plane.data().iter().zip(noise.data()) {
        assert!((lifted - noise).abs() < 1e-5);
    }
    // The same square inside a larger picture fades at all edges.
    let square = portrait.centre(Some(128)).unwrap();
    let plane = lifted(&[Lift::new(&noise, &Patch::Square(square), &portrait)], &portrait);
    for y in 16..112 {
        for x in 16..112 {
            let value = plane.row(square.y + y)[square.x + x];
            assert!((value - noise.row(y)[x]).abs() < 1e-4, "{x},{y}");
        }
        assert!(plane.row(square.y + y)[square.x].abs() < 0.1);
    }
}

/// A chip of constant noise has no visible edge: neighbouring pixels differ little, and nothing is added
/// outside the chip.
#[test]
fn noise_fades_out() {
    let photo = decode(&golden("base_420_q85.jpg"));
    let level = Plane::new(128, 128, vec![30.0; 128 * 128]).unwrap();
    let landmarks = [[80.7, 99.5], [127.5, 100.7], [103.6, 126.6], [81.5, 142.8], [124.3, 143.8]];
    let patch = Patch::face(&landmarks).unwrap();
    let placement = patch.placement(128);
    let plane = lifted(&[Lift::new(&level, &patch, &photo)], &photo);
    let max = plane.data().iter().copied().fold(0.0, f64::max);
    assert!((max - 30.0).abs() < 1e-4, "{max}");
    let (mut steepest, mut outside) = (0.0f64, 0);
    for y in 1..photo.height() {
        for x in 1..photo.width() {
            let here = plane.row(y)[x];
            let (left, above) = (plane.row(y)[x - 1], plane.row(y - 1)[x]);
            steepest = steepest.max((here - left).abs()).max((here - above).abs());
            if placement.apply([x as f32, y as f32]).iter().any(|v| !(-0.5..127.5).contains(v)) {
                assert_eq!(here, 0.0, "{x},{y}");
                outside += 1;
            }
        }
    }
    assert!(steepest < 30.0 / 8.0, "{steepest}");
    assert!(outside > 1000, "{outside}");
}

/// On a face smaller than the chip, noise is averaged instead of sampled, which keeps its mean.
#[test]
fn small_faces_get_the_mean_of_the_noise() {
    let photo = decode(&golden("base_420_q85.jpg"));
    let checks = (0..128 * 128).map(|i| if (i + i / 128) % 2 == 0 { 41.0 } else { 1.0 }).collect();
    let checks = Plane::new(128, 128, checks).unwrap();
    let small = [[93.0, 107.0], [101.0, 107.0], [97.0, 112.0], [93.7, 115.0], [100.3, 115.0]];
    let patch = Patch::face(&small).unwrap();
    assert!(patch.placement(128).scale() > 4.0);
    let plane = lifted(&[Lift::new(&checks, &patch, &photo)], &photo);
    let [x, y] = [97, 110];
    assert!((plane.row(y)[x] - 21.0).abs() < 2.0, "{}", plane.row(y)[x]);
}
