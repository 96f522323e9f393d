//! Limits of displacements, and what keeps them natural.
#![allow(clippy::unwrap_used)]

use super::*;
use crate::patch::CHIP_LANDMARKS;

fn wave(side: usize, phase: f64) -> Plane {
    let mut plane = Plane::zeros(side, side);
    let values = plane.data_mut().iter_mut().enumerate();
    values.for_each(|(n, v)| *v = (0.37 * n as f64 + phase).sin() + (0.011 * n as f64).cos());
    plane
}

/// A warp far beyond its limits before they are applied.
fn wild(side: usize) -> (Warp, Tuning) {
    let scale = side as f32 / 128.0;
    let landmarks = CHIP_LANDMARKS.map(|p| p.map(|v| (v + 0.5) * scale - 0.5));
    let mut warp = Warp::new(side, &landmarks, &Tuning::default()).unwrap();
    let tuning = Tuning::default();
    for step in 0..6 {
        let gradient = [wave(side, f64::from(step)), wave(side, 1.0 + f64::from(step))];
        warp.advance(&gradient, &tuning, 20.0);
    }
    (warp, tuning)
}

/// `<A c, f> = <c, A^T f>`.
#[test]
fn transposed_is_the_transpose_of_evaluate() {
    let (mut warp, _) = wild(64);
    warp.spline.evaluate(&warp.controls, &mut warp.field);
    let gradient = [wave(64, 0.3), wave(64, 0.7)];
    let planes = warp.field.iter().zip(&gradient);
    let left: f64 =
        planes.flat_map(|(a, b)| a.data().iter().zip(b.data())).map(|(a, b)| a * b).sum();
    let pairs = warp.controls.iter().zip(warp.spline.transposed(&gradient));
    let right: f32 = pairs.map(|(a, b)| a[0] * b[0] + a[1] * b[1]).sum();
    assert!(left.abs() > 1.0);
    assert!((left - f64::from(right)).abs() < 1e-3 * left.abs(), "{left} {right}");
}

/// What is smoothed is the product of two Gaussians, and as much as before.
#[test]
fn a_single_control_point_becomes_a_gaussian() {
    let mut controls = vec![[0.0; 2]; GRID * GRID];
    controls[15 * GRID + 16] = [1.0, -2.0];
    smooth(&mut controls, 1.3);
    let gaussian = |d: f32| (-0.5 * (d / 1.3).powi(2)).exp();
    let total: f32 = (-4..=4).map(|d| gaussian(d as f32)).sum();
    for (n, [x, y]) in controls.iter().enumerate() {
        let away = [(n % GRID) as f32 - 16.0, (n / GRID) as f32 - 15.0];
        let expected = if away.iter().all(|d| d.abs() < 4.5) {
            gaussian(away[0]) * gaussian(away[1]) / total.powi(2)
        } else {
            0.0
        };
        assert!((x - expected).abs() < 1e-6 && (y + 2.0 * expected).abs() < 1e-6, "{n}: {x} {y}");
    }
}

#[test]
fn limits_hold() {
    for side in [32, 128] {
        let (warp, tuning) = wild(side);
        let Displacement { displacement, max_displacement, stretch } = warp.extent();
        assert!(displacement <= tuning.displacement * 1.001, "{displacement}");
        assert!(max_displacement < 5.0 * tuning.displacement, "{max_displacement}");
        assert!(stretch > 0.05 && stretch < 1.01 * MAX_STRETCH * tuning.stretch, "{stretch}");
    }
}

/// Nothing moves at the edge of the chip, and nothing but the shape of the face changes: no shift,
/// rotation or scaling is left.
#[test]
fn the_field_is_zero_at_the_edge_and_has_no_similarity_part() {
    let (warp, _) = wild(128);
    let edge = |n: usize| !(4..124).contains(&n);
    for plane in warp.field() {
        for at in (0..128 * 128).filter(|at| edge(at % 128) || edge(at / 128)) {
            assert!(plane.data()[at].abs() < 1e-6);
        }
    }
    let points = |moved: bool| -> Vec<Point> {
        let on_face = (0..128 * 128).filter(|at| warp.frame.face[*at]);
        let shift = |plane: &Plane, at: usize| if moved { plane.data()[at] as f32 } else { 0.0 };
        let [x, y] = warp.field();
        on_face
            .map(|at| [(at % 128) as f32 + shift(x, at), (at / 128) as f32 + shift(y, at)])
            .collect()
    };
    let left = Similarity::fit(&points(false), &points(true)).unwrap();
    assert!((left.scale() - 1.0).abs() < 0.003, "{}", left.scale());
    let [_, turn, ..] = left.parameters();
    assert!(turn.abs() < 0.003, "{turn}");
}

/// Eyes move as a whole: within the iris the displacement hardly varies.
#[test]
fn eyes_stay_round() {
    let (warp, _) = wild(128);
    for [x, y] in [CHIP_LANDMARKS[0], CHIP_LANDMARKS[1]] {
        let (x, y) = (x.round() as usize, y.round() as usize);
        for plane in warp.field() {
            let here = plane.row(y)[x];
            for (dx, dy) in [(0, 2), (4, 2), (2, 0), (2, 4)] {
                let near = plane.row(y + dy - 2)[x + dx - 2];
                assert!((near - here).abs() < 0.12, "{near} {here}");
            }
        }
    }
}

#[test]
fn lengths_change_by_the_singular_values() {
    assert_eq!(change_of_length([0.0, 0.0], [0.0, 0.0]), 0.0);
    assert!((change_of_length([0.1, 0.0], [0.0, -0.2]) - 0.2).abs() < 1e-12);
    // A pure rotation by a small angle changes lengths in the second order only.
    assert!(change_of_length([0.0, -0.01], [0.01, 0.0]) < 1e-4);
}

/// The pixel at a place, in both planes.
fn at(warp: &Warp, [x, y]: Point) -> [f64; 2] {
    let [x, y] = [x, y].map(|v| v.round() as usize);
    [0, 1].map(|axis| warp.field()[axis].row(y)[x])
}

/// Both halves of an upright face move alike: across the face in opposite directions, along it together.
#[test]
fn both_halves_move_alike() {
    let (warp, tuning) = wild(128);
    let [left, right, ..] = CHIP_LANDMARKS;
    let middle = (left[0] + right[0]) / 2.0;
    let mut largest = 0.0f64;
    for y in (30..110).step_by(5) {
        for beside in (2..40).step_by(3) {
            let [here, there] =
                [-1.0, 1.0].map(|side| at(&warp, [middle + side * beside as f32, y as f32]));
            largest = largest.max(here[0].hypot(here[1]));
            let (across, along) = (here[0] + there[0], here[1] - there[1]);
            assert!(across.abs() < 0.1 && along.abs() < 0.1, "{here:?} {there:?}");
        }
    }
    let limit = tuning.displacement * f64::from(warp.frame.eye_distance);
    assert!(largest > 0.25 * limit, "{largest} of {limit}");
}

/// A mouth is moved, widened and heightened, and nothing else: what is left after that is small.
#[test]
fn a_mouth_keeps_its_form() {
    let (warp, _) = wild(128);
    let [.., left, right] = CHIP_LANDMARKS;
    let [cx, cy] = [(left[0] + right[0]) / 2.0, (left[1] + right[1]) / 2.0];
    for side in [-1.0, 1.0] {
        let half = at(&warp, [cx + 7.0 * side, cy]);
        let corner = at(&warp, [cx + 14.0 * side, cy]);
        let centre = at(&warp, [cx, cy]);
        // Linear across the face, constant along it.
        assert!((corner[0] - 2.0 * half[0] + centre[0]).abs() < 0.2, "{corner:?} {half:?}");
        assert!((corner[1] - centre[1]).abs() < 0.25, "{corner:?} {centre:?}");
    }
}

/// Landmarks on one point of a side view, or beyond the chip, give finite displacements.
#[test]
fn odd_landmarks_are_survived() {
    let [left, right, nose, corner, last] = CHIP_LANDMARKS;
    let profile = [left, [left[0] + 3.0, right[1]], nose, corner, [corner[0], last[1]]];
    let beyond = CHIP_LANDMARKS.map(|[x, y]| [x + 90.0, y - 100.0]);
    for landmarks in [profile, beyond] {
        let mut warp = Warp::new(128, &landmarks, &Tuning::default()).unwrap();
        let gradient = [wave(128, 0.0), wave(128, 1.0)];
        warp.advance(&gradient, &Tuning::default(), 1.0);
        assert!(warp.field().iter().all(|plane| plane.data().iter().all(|v| v.is_finite())));
    }
}
