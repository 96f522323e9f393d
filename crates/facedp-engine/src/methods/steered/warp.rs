//! The shape of a face: a smooth displacement of its pixels.
//!
//! A cubic B-spline over a grid of control points. The derivatives of such a spline are averages of the
//! differences between neighbouring control points, so that limits on these differences limit the local
//! stretch everywhere.

use facedp::Plane;
use facedp_nets::{Landmarks, Point, Similarity};

use crate::error::Result;
use crate::patch::CHIP_LANDMARKS;
use crate::receipt::Displacement;
use crate::steering::Tuning;

/// Control points along each side of the chip.
const GRID: usize = 32;
/// Rows of control points at each edge that stay where they are. The field is then zero at the edge.
const FIXED: usize = 2;
/// Centre of the face in a chip of 128 pixels, and half the axes of an ellipse around it.
const CENTRE: Point = [64.5, 67.2];
const AXES: Point = [48.0, 59.0];
/// Where the field fades out, in multiples of the axes.
const FADE: [f32; 2] = [0.9, 1.28];
/// Share of the largest stretch that is allowed at the outline of the face, and where it falls to that, in
/// multiples of the axes: an outline that wobbles is what people see first.
const OUTLINE_STRETCH: f32 = 0.3;
const OUTLINE: [f32; 2] = [0.65, 0.9];
/// Radius around an eye within which the field hardly varies, as a share of the distance of the eyes: eyes
/// move, but stay round.
const EYE_RADIUS: f32 = 0.2;
/// Sweeps that bring neighbouring control points closer.
const SWEEPS: usize = 8;
/// Largest stretch in any direction, as a multiple of the limit along the axes. The whole field is scaled down
/// where the sweeps leave more.
const MAX_STRETCH: f64 = 1.25;

/// A displacement of the chip's pixels, in pixels of the chip.
pub(super) struct Warp {
    side: usize,
    controls: Vec<[f32; 2]>,
    momentum: Vec<[f32; 2]>,
    frame: Frame,
    /// The field at each pixel of the chip: horizontal and vertical.
    field: [Plane; 2],
}

/// What is known about each control point and pixel from the landmarks.
struct Frame {
    /// How far each control point may move, 0 to 1.
    window: Vec<f32>,
    /// Share of the largest stretch that is allowed at each control point.
    stretch: Vec<f32>,
    /// Weight of each control point for each eye.
    eyes: [Vec<f32>; 2],
    /// Position of each control point, in pixels of the chip.
    positions: Vec<Point>,
    /// Whether a control point lies on the face.
    on_face: Vec<bool>,
    /// Whether a pixel lies on the face.
    face: Vec<bool>,
    /// Distance of the eyes, in pixels of the chip.
    eye_distance: f32,
    /// For each pixel of a line, the first of its four control points and their weights.
    taps: Vec<(usize, [f32; 4])>,
}

impl Warp {
    /// No displacement. `landmarks` are those of the face in a chip of `side` pixels.
    pub(super) fn new(side: usize, landmarks: &Landmarks) -> Result<Self> {
        let frame = Frame::new(side, landmarks)?;
        let zeros = vec![[0.0; 2]; GRID * GRID];
        let field = [Plane::zeros(side, side), Plane::zeros(side, side)];
        Ok(Self { side, controls: zeros.clone(), momentum: zeros, frame, field })
    }

    pub(super) fn field(&self) -> &[Plane; 2] {
        &self.field
    }

    pub(super) fn into_field(self) -> [Plane; 2] {
        self.field
    }

    /// Takes a step along a gradient with respect to the field. The step's length is a share of the largest
    /// displacement.
    pub(super) fn advance(&mut self, gradient: &[Plane; 2], tuning: &Tuning, share: f64) {
        let gradient = self.to_controls(gradient);
        let size = norm(&gradient);
        if size == 0.0 {
            return;
        }
        for (m, g) in self.momentum.iter_mut().zip(&gradient) {
            *m = [0, 1].map(|i| tuning.momentum as f32 * m[i] + g[i] / size);
        }
        let size = norm(&self.momentum);
        let limit = tuning.displacement as f32 * self.frame.eye_distance;
        let length = share as f32 * limit * GRID as f32 * std::f32::consts::SQRT_2;
        if size > 0.0 {
            for (c, m) in self.controls.iter_mut().zip(&self.momentum) {
                *c = [0, 1].map(|i| c[i] + length * m[i] / size);
            }
        }
        self.limit(tuning.stretch as f32, limit);
    }

    /// Brings the control points within all limits.
    fn limit(&mut self, stretch: f32, displacement: f32) {
        let spacing = self.side as f32 / (GRID - 1) as f32;
        for _ in 0..2 {
            self.remove_similarity();
            self.keep_eyes_round();
            for _ in 0..SWEEPS {
                relax(&mut self.controls, &self.frame.stretch, stretch * spacing);
            }
        }
        for (c, window) in self.controls.iter_mut().zip(&self.frame.window) {
            if *window == 0.0 {
                *c = [0.0; 2];
            }
        }
        self.evaluate();
        let allowed = f64::from(displacement / self.rms().max(f32::MIN_POSITIVE));
        let stretched = MAX_STRETCH * f64::from(stretch) / self.stretch().max(f64::MIN_POSITIVE);
        let factor = allowed.min(stretched);
        if factor < 1.0 {
            self.controls.iter_mut().for_each(|c| *c = c.map(|v| factor as f32 * v));
            let planes = self.field.iter_mut();
            planes.for_each(|p| p.data_mut().iter_mut().for_each(|v| *v *= factor));
        }
    }

    /// Subtracts the shift, rotation and scaling that fit the displacement best: recognisers undo them when
    /// they align the face.
    fn remove_similarity(&mut self) {
        let Frame { positions, on_face, window, .. } = &self.frame;
        let points = self.controls.iter().zip(positions).zip(on_face);
        let points = points.filter(|(_, on_face)| **on_face);
        let (from, to): (Vec<Point>, Vec<Point>) =
            points.map(|((c, p), _)| (*p, [p[0] + c[0], p[1] + c[1]])).unzip();
        let Ok(fit) = Similarity::fit(&from, &to) else { return };
        for ((c, p), window) in self.controls.iter_mut().zip(positions).zip(window) {
            let moved = fit.apply(*p);
            *c = [0, 1].map(|i| c[i] - window * (moved[i] - p[i]));
        }
    }

    /// Replaces the displacements around each eye by their mean.
    fn keep_eyes_round(&mut self) {
        for weights in &self.frame.eyes {
            let total: f32 = weights.iter().sum();
            if total == 0.0 {
                continue;
            }
            let mean = [0, 1].map(|i| {
                let parts = self.controls.iter().zip(weights).map(|(c, w)| w * c[i]);
                parts.sum::<f32>() / total
            });
            for (c, w) in self.controls.iter_mut().zip(weights) {
                *c = [0, 1].map(|i| c[i] + w * (mean[i] - c[i]));
            }
        }
    }

    /// Computes the field from the control points.
    fn evaluate(&mut self) {
        let (side, taps) = (self.side, &self.frame.taps);
        for (axis, plane) in self.field.iter_mut().enumerate() {
            // Along the lines of the grid first.
            let mut lines = vec![0.0; GRID * side];
            for (row, line) in lines.chunks_exact_mut(side).enumerate() {
                let controls = &self.controls[row * GRID..(row + 1) * GRID];
                for (out, (first, weights)) in line.iter_mut().zip(taps) {
                    let near = &controls[*first..first + 4];
                    *out = near.iter().zip(weights).map(|(c, w)| w * c[axis]).sum();
                }
            }
            for (out, (first, [a, b, c, d])) in plane.data_mut().chunks_exact_mut(side).zip(taps) {
                let near = lines[first * side..].chunks_exact(side);
                let mut sums = vec![0.0; side];
                for (weight, line) in [a, b, c, d].into_iter().zip(near) {
                    sums.iter_mut().zip(line).for_each(|(sum, v)| *sum += weight * v);
                }
                out.iter_mut().zip(sums).for_each(|(out, sum)| *out = f64::from(sum));
            }
        }
    }

    /// The transpose of [`Self::evaluate`], weighted by the window.
    fn to_controls(&self, field: &[Plane; 2]) -> Vec<[f32; 2]> {
        let (side, taps) = (self.side, &self.frame.taps);
        let mut controls = vec![[0.0; 2]; GRID * GRID];
        for (axis, plane) in field.iter().enumerate() {
            let mut lines = vec![0.0; GRID * side];
            for (y, (first, weights)) in taps.iter().enumerate() {
                for (i, weight) in weights.iter().enumerate() {
                    let line = &mut lines[(first + i) * side..][..side];
                    line.iter_mut().zip(plane.row(y)).for_each(|(l, v)| *l += weight * *v as f32);
                }
            }
            for (row, line) in lines.chunks_exact(side).enumerate() {
                for (value, (first, weights)) in line.iter().zip(taps) {
                    for (i, weight) in weights.iter().enumerate() {
                        controls[row * GRID + first + i][axis] += weight * value;
                    }
                }
            }
        }
        let windowed = controls.iter_mut().zip(&self.frame.window);
        windowed.for_each(|(c, window)| *c = c.map(|v| window * v));
        controls
    }

    /// Root mean square of the displacement over the face, in pixels of the chip.
    fn rms(&self) -> f32 {
        let [x, y] = &self.field;
        let (mut sum, mut count) = (0.0, 0usize);
        for ((x, y), _) in
            x.data().iter().zip(y.data()).zip(&self.frame.face).filter(|(_, face)| **face)
        {
            sum += x * x + y * y;
            count += 1;
        }
        (sum / count.max(1) as f64).sqrt() as f32
    }

    pub(super) fn extent(&self) -> Displacement {
        let [x, y] = &self.field;
        let eyes = f64::from(self.frame.eye_distance);
        let lengths = x.data().iter().zip(y.data()).map(|(x, y)| x.hypot(*y));
        let max = lengths.fold(0.0, f64::max);
        Displacement {
            displacement: f64::from(self.rms()) / eyes,
            max_displacement: max / eyes,
            stretch: self.stretch(),
        }
    }

    /// The largest relative change of a length.
    fn stretch(&self) -> f64 {
        let [x, y] = &self.field;
        let mut stretch = 0.0f64;
        for row in 1..self.side {
            let lines = [x.row(row - 1), x.row(row), y.row(row - 1), y.row(row)];
            // Each pixel with the one on its left; the pixel above it comes from the line before.
            let [x_above, x_here, y_above, y_here] = lines.map(|line| line.array_windows::<2>());
            let pixels = x_here.zip(x_above).zip(y_here.zip(y_above));
            for (([xl, x], [_, xa]), ([yl, y], [_, ya])) in pixels {
                stretch = stretch.max(change_of_length([x - xl, x - xa], [y - yl, y - ya]));
            }
        }
        stretch
    }
}

/// The largest relative change of a length, given the derivatives of a displacement: the largest deviation
/// of the singular values of the map from 1.
fn change_of_length([xx, xy]: [f64; 2], [yx, yy]: [f64; 2]) -> f64 {
    let (a, b, c, d) = (1.0 + xx, xy, yx, 1.0 + yy);
    // Numbers of about 1: nothing overflows, and `hypot` takes several times as long.
    let length = |x: f64, y: f64| (x * x + y * y).sqrt();
    let (sum, difference) = (length(a + d, c - b) / 2.0, length(a - d, c + b) / 2.0);
    (sum + difference - 1.0).max(1.0 - (sum - difference).abs())
}

impl Frame {
    fn new(side: usize, landmarks: &Landmarks) -> Result<Self> {
        // From the chip to the template, a chip of 128 pixels with mean landmarks.
        let to_template = Similarity::fit(landmarks, &CHIP_LANDMARKS)?;
        let [left, right] = [CHIP_LANDMARKS[0], CHIP_LANDMARKS[1]];
        let template_distance = (right[0] - left[0]).hypot(right[1] - left[1]);
        let spacing = side as f32 / (GRID - 1) as f32;
        let positions: Vec<Point> = (0..GRID * GRID)
            .map(|n| [(n % GRID) as f32 * spacing - 0.5, (n / GRID) as f32 * spacing - 0.5])
            .collect();
        let places: Vec<Point> =
            positions.iter().map(|position| to_template.apply(*position)).collect();
        let radius = |[x, y]: Point| ((x - CENTRE[0]) / AXES[0]).hypot((y - CENTRE[1]) / AXES[1]);
        let inner = FIXED..GRID - FIXED;
        let window = places.iter().enumerate().map(|(n, place)| {
            if !inner.contains(&(n % GRID)) || !inner.contains(&(n / GRID)) {
                return 0.0;
            }
            falling(radius(*place), FADE)
        });
        let stretch = places.iter().map(|place| {
            OUTLINE_STRETCH + (1.0 - OUTLINE_STRETCH) * falling(radius(*place), OUTLINE)
        });
        let eyes = [left, right].map(|eye| {
            let weight = |place: &Point| {
                let distance = (place[0] - eye[0]).hypot(place[1] - eye[1]);
                (-0.25 * (distance / (EYE_RADIUS * template_distance)).powi(4)).exp()
            };
            places.iter().map(weight).collect()
        });
        let pixel = |at: usize| to_template.apply([(at % side) as f32, (at / side) as f32]);
        Ok(Self {
            window: window.collect(),
            stretch: stretch.collect(),
            eyes,
            positions,
            on_face: places.iter().map(|place| radius(*place) < 1.0).collect(),
            face: (0..side * side).map(|at| radius(pixel(at)) < 1.0).collect(),
            eye_distance: template_distance / to_template.scale(),
            taps: taps(side),
        })
    }
}

/// Falls smoothly from 1 to 0 between two values.
fn falling(value: f32, [from, to]: [f32; 2]) -> f32 {
    let t = ((to - value) / (to - from)).clamp(0.0, 1.0);
    t * t * (3.0 - 2.0 * t)
}

/// The weights of a uniform cubic B-spline at each pixel of a line. Points beyond the ends of the grid count
/// as zero.
fn taps(side: usize) -> Vec<(usize, [f32; 4])> {
    let tap = |pixel: usize| {
        let at = (pixel as f32 + 0.5) / side as f32 * (GRID - 1) as f32;
        let cell = (at as usize).clamp(1, GRID - 3);
        let t = at - cell as f32;
        if !(0.0..=1.0).contains(&t) {
            // Within the fixed edge, where the field is zero.
            return (cell - 1, [0.0; 4]);
        }
        let u = 1.0 - t;
        let weights = [
            u.powi(3) / 6.0,
            (3.0 * t.powi(3) - 6.0 * t * t + 4.0) / 6.0,
            (3.0 * u.powi(3) - 6.0 * u * u + 4.0) / 6.0,
            t.powi(3) / 6.0,
        ];
        (cell - 1, weights)
    };
    (0..side).map(tap).collect()
}

/// Moves neighbouring control points towards each other where they differ by more than `limit`, of which
/// each point allows a share.
fn relax(controls: &mut [[f32; 2]], shares: &[f32], limit: f32) {
    for (step, neighbour) in [(GRID, [0, 1]), (1, [1, 0])] {
        let mut moves = vec![[0.0f32; 2]; controls.len()];
        for n in 0..controls.len() {
            let (x, y) = (n % GRID + neighbour[0], n / GRID + neighbour[1]);
            if x >= GRID || y >= GRID {
                continue;
            }
            let difference = [0, 1].map(|i| controls[n + step][i] - controls[n][i]);
            let length = (difference[0] * difference[0] + difference[1] * difference[1]).sqrt();
            let limit = limit * shares[n].min(shares[n + step]);
            if length > limit {
                let share = 0.25 * (1.0 - limit / length);
                for i in 0..2 {
                    moves[n][i] += share * difference[i];
                    moves[n + step][i] -= share * difference[i];
                }
            }
        }
        for (c, m) in controls.iter_mut().zip(&moves) {
            *c = [c[0] + m[0], c[1] + m[1]];
        }
    }
}

fn norm(values: &[[f32; 2]]) -> f32 {
    values.iter().map(|[x, y]| x * x + y * y).sum::<f32>().sqrt()
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

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
        let mut warp = Warp::new(side, &landmarks).unwrap();
        let tuning = Tuning::default();
        for step in 0..6 {
            let gradient = [wave(side, f64::from(step)), wave(side, 1.0 + f64::from(step))];
            warp.advance(&gradient, &tuning, 20.0);
        }
        (warp, tuning)
    }

    /// `<A c, f> = <c, A^T f>` inside the window.
    #[test]
    fn to_controls_is_the_transpose_of_evaluate() {
        let (mut warp, _) = wild(64);
        warp.frame.window.iter_mut().for_each(|w| *w = 1.0);
        warp.evaluate();
        let gradient = [wave(64, 0.3), wave(64, 0.7)];
        let planes = warp.field.iter().zip(&gradient);
        let left: f64 =
            planes.flat_map(|(a, b)| a.data().iter().zip(b.data())).map(|(a, b)| a * b).sum();
        let pairs = warp.controls.iter().zip(warp.to_controls(&gradient));
        let right: f32 = pairs.map(|(a, b)| a[0] * b[0] + a[1] * b[1]).sum();
        assert!(left.abs() > 1.0);
        assert!((left - f64::from(right)).abs() < 1e-3 * left.abs(), "{left} {right}");
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
            let shift =
                |plane: &Plane, at: usize| if moved { plane.data()[at] as f32 } else { 0.0 };
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
}
