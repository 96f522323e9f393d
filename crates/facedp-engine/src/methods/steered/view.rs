//! Random views of a face: a slightly different alignment, and the degradations of cameras and platforms.

use facedp_nets::{Chip, Similarity};
use rand_core::CryptoRng;

use super::pixel::{Pixel, pixels, plane};
use super::resize::Resize;
use super::scene::Scene;
use super::taps::Taps;
use crate::error::Result;
use crate::random::{normal, uniform};

/// Standard deviation of the rotation of a view, in radians.
const ROTATION_STD: f32 = 0.03;
/// Standard deviation of its scale.
const SCALE_STD: f32 = 0.04;
/// Standard deviation of its shift, as a share of the chip's side.
const SHIFT_STD: f32 = 0.02;
/// Standard deviation of sensor noise, in grey levels.
const NOISE_STD: f32 = 4.0;
/// Range of the side that a face is reduced to, as shares of the chip's side.
const REDUCED: [f32; 2] = [0.4, 0.73];

enum Degradation {
    None,
    /// Reduced, and enlarged again.
    Reduced([Resize; 2]),
    /// Blurred by a 3x3 box filter.
    Blurred,
    /// With this noise in all colours.
    Noisy(Vec<f32>),
}

/// What is random about a view.
pub(super) struct RandomView {
    side: usize,
    /// From the canvas to the chip.
    placement: Similarity,
    degradation: Degradation,
}

/// A linear map from the canvas to a recogniser's chip, and the noise that is added.
pub(super) struct View<'a> {
    side: usize,
    taps: Taps,
    degradation: &'a Degradation,
}

impl RandomView {
    /// A random view. `spread` is a factor on its default spread; degradations alternate with the step.
    pub(super) fn new(
        scene: &Scene,
        recogniser: usize,
        side: usize,
        step: usize,
        spread: f32,
        random: &mut dyn CryptoRng,
    ) -> Self {
        let (length, centre) = (side as f32, (side as f32 - 1.0) / 2.0);
        let mut by = |deviation: f32| spread * deviation * normal(random);
        let (angle, scale) = (by(ROTATION_STD), (1.0 + by(SCALE_STD)).max(0.5));
        let shift = [by(SHIFT_STD * length), by(SHIFT_STD * length)];
        let placement = scene.placement(recogniser);
        let placement = placement.turned(angle, scale, [centre, centre]).shifted(shift);
        let degradation = match step % 4 {
            0 => Degradation::None,
            1 => {
                let share = REDUCED[0] + (REDUCED[1] - REDUCED[0]) * uniform(random);
                let small = (share * length) as usize;
                Degradation::Reduced([Resize::new(side, small), Resize::new(small, side)])
            }
            2 => Degradation::Blurred,
            _ => {
                let noise = (0..side * side).map(|_| NOISE_STD * normal(random));
                Degradation::Noisy(noise.collect())
            }
        };
        Self { side, placement, degradation }
    }
}

impl<'a> View<'a> {
    pub(super) fn new(scene: &Scene, random: &'a RandomView) -> Self {
        let RandomView { side, placement, degradation } = random;
        let side = *side;
        let back = placement.inverse();
        // Along rows: a division for each pixel would cost more than the rest.
        let points = (0..side * side).scan([0.0, 0.0], |[x, y], _| {
            let point = back.apply([*x, *y]);
            [*x, *y] = if *x + 1.0 < side as f32 { [*x + 1.0, *y] } else { [0.0, *y + 1.0] };
            Some(point)
        });
        let (width, height) = scene.canvas.size();
        Self { side, taps: Taps::bilinear(points, side * side, width, height), degradation }
    }

    /// The chip that the recogniser sees.
    pub(super) fn chip(&self, pixels: &[Pixel]) -> Result<Chip> {
        let mut values = Vec::with_capacity(3 * self.side * self.side);
        let seen = self.taps.apply_to_pixels(pixels);
        for colour in 0..3 {
            let mut plane = self.smoothed(plane(&seen, colour));
            if let Degradation::Noisy(noise) = self.degradation {
                plane.iter_mut().zip(noise).for_each(|(v, n)| *v += n);
            }
            values.extend(plane.iter().map(|v| v.clamp(0.0, 255.0)));
        }
        Ok(Chip::new(self.side, values)?)
    }

    /// Propagates a gradient from the chip back to the pixels of the canvas, of which there are `count`.
    pub(super) fn backward(&self, gradient: &[f32], count: usize) -> Vec<Pixel> {
        let size = self.side * self.side;
        // Degradations are symmetric except at the border.
        let smoothed = |c: usize| self.smoothed(gradient[c * size..(c + 1) * size].to_vec());
        let mut into = vec![[0.0; 4]; count];
        self.taps.apply_transpose_to_pixels(&pixels(&[0, 1, 2].map(smoothed)), &mut into);
        into
    }

    fn smoothed(&self, values: Vec<f32>) -> Vec<f32> {
        match self.degradation {
            Degradation::None | Degradation::Noisy(_) => values,
            Degradation::Reduced([reduce, enlarge]) => enlarge.apply(&reduce.apply(&values)),
            Degradation::Blurred => blurred(&values, self.side),
        }
    }
}

/// The mean of a 3x3 window; of fewer pixels at the border.
fn blurred(values: &[f32], side: usize) -> Vec<f32> {
    const THIRD: f32 = 1.0 / 3.0;
    let mut down = vec![0.0; side * side];
    for (y, out) in down.chunks_exact_mut(side).enumerate() {
        let rows = y.saturating_sub(1)..(y + 2).min(side);
        let part = 1.0 / rows.len() as f32;
        for row in values[rows.start * side..rows.end * side].chunks_exact(side) {
            out.iter_mut().zip(row).for_each(|(out, v)| *out += part * v);
        }
    }
    let mut result = vec![0.0; side * side];
    for (out, row) in result.chunks_exact_mut(side).zip(down.chunks_exact(side)) {
        for (out, near) in out.iter_mut().skip(1).zip(row.windows(3)) {
            *out = THIRD * (near[0] + near[1] + near[2]);
        }
        for x in [0, side - 1] {
            let near = &row[x.saturating_sub(1)..(x + 2).min(side)];
            out[x] = near.iter().sum::<f32>() / near.len() as f32;
        }
    }
    result
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blurring_equals_plain_loops() {
        for side in [1, 2, 3, 10] {
            let values: Vec<f32> = (0..side * side).map(|n| (n as f32 * 0.7).sin()).collect();
            for (n, found) in blurred(&values, side).iter().enumerate() {
                let near = |m: &usize| {
                    (m % side).abs_diff(n % side) < 2 && (m / side).abs_diff(n / side) < 2
                };
                let near: Vec<usize> = (0..side * side).filter(near).collect();
                let mean = near.iter().map(|m| values[*m]).sum::<f32>() / near.len() as f32;
                assert!((found - mean).abs() < 1e-6, "{side}, {n}: {found}, not {mean}");
            }
        }
    }
}
