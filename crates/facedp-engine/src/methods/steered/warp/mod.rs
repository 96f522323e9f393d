//! The shape of a face: a smooth displacement of its pixels.
//!
//! A cubic B-spline over a grid of control points. The derivatives of such a spline are averages of the
//! differences between neighbouring control points, so that limits on these differences limit the local
//! stretch everywhere.

mod frame;
mod natural;
mod spline;
#[cfg(test)]
mod tests;

use facedp::Plane;
use facedp_nets::{Landmarks, Point, Similarity};

use crate::error::Result;
use crate::receipt::Displacement;
use crate::steering::Tuning;
use frame::Frame;
pub(super) use frame::on_face;
use spline::{Controls, GRID, Spline, smooth};

/// Sweeps that bring neighbouring control points closer.
const SWEEPS: usize = 8;
/// Largest stretch in any direction, as a multiple of the limit along the axes. The whole field is scaled down
/// where the sweeps leave more.
const MAX_STRETCH: f64 = 1.1;

/// A displacement of the chip's pixels, in pixels of the chip.
pub(super) struct Warp {
    side: usize,
    controls: Vec<[f32; 2]>,
    momentum: Vec<[f32; 2]>,
    spline: Spline,
    frame: Frame,
    /// The field at each pixel of the chip: horizontal and vertical.
    field: [Plane; 2],
}

impl Warp {
    /// No displacement. `landmarks` are those of the face in a chip of `side` pixels.
    pub(super) fn new(side: usize, landmarks: &Landmarks, tuning: &Tuning) -> Result<Self> {
        let spline = Spline::new(side);
        let frame = Frame::new(side, &spline, landmarks, tuning.outline as f32)?;
        let zeros = vec![[0.0; 2]; GRID * GRID];
        let field = [Plane::zeros(side, side), Plane::zeros(side, side)];
        Ok(Self { side, controls: zeros.clone(), momentum: zeros, spline, frame, field })
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
        let gradient = self.to_controls(gradient, tuning);
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

    /// A gradient with respect to control points, without what would not look natural.
    fn to_controls(&self, gradient: &[Plane; 2], tuning: &Tuning) -> Vec<[f32; 2]> {
        let Frame { window, natural, eye_distance, .. } = &self.frame;
        let mut controls = self.spline.transposed(gradient);
        smooth(&mut controls, tuning.bend as f32 * eye_distance / self.spline.spacing());
        controls.iter_mut().zip(window).for_each(|(c, window)| *c = c.map(|v| window * v));
        natural.keep_symmetric(&mut controls, tuning.symmetry);
        natural.keep_parts(&mut controls, tuning.parts);
        natural.keep_eyes(&mut controls);
        controls
    }

    /// Brings the control points within all limits.
    fn limit(&mut self, stretch: f32, displacement: f32) {
        let spacing = self.spline.spacing();
        for _ in 0..2 {
            self.remove_similarity();
            self.frame.natural.keep_eyes(&mut self.controls);
            for _ in 0..SWEEPS {
                relax(&mut self.controls, &self.frame.stretch, stretch * spacing);
            }
        }
        for (c, window) in self.controls.iter_mut().zip(&self.frame.window) {
            if *window == 0.0 {
                *c = [0.0; 2];
            }
        }
        self.spline.evaluate(&self.controls, &mut self.field);
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

/// Moves neighbouring control points towards each other where they differ by more than `limit`, of which
/// each point allows a share.
fn relax(controls: &mut Controls, shares: &[f32], limit: f32) {
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

fn norm(values: &Controls) -> f32 {
    values.iter().map(|[x, y]| x * x + y * y).sum::<f32>().sqrt()
}
