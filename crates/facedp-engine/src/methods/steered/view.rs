//! Random views of a face: a slightly different alignment, and the degradations of cameras and platforms.

use facedp::Plane;
use facedp::resample::resized;
use facedp_nets::{Chip, Similarity};
use rand_core::CryptoRng;

use super::canvas::Colours;
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

#[derive(Clone, Copy)]
enum Degradation {
    None,
    /// Reduced to that many pixels a side, and enlarged again.
    Reduced(usize),
    /// Blurred by a 3x3 box filter.
    Blurred,
    /// With Gaussian noise.
    Noisy,
}

/// A linear map from the canvas to a recogniser's chip, and the noise that is added.
pub(super) struct View {
    side: usize,
    taps: Taps,
    degradation: Degradation,
}

impl View {
    /// A random view. `spread` is a factor on its default spread; degradations alternate with the step.
    pub(super) fn random(
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
                Degradation::Reduced((share * length) as usize)
            }
            2 => Degradation::Blurred,
            _ => Degradation::Noisy,
        };
        Self::new(scene, &placement, side, degradation)
    }

    fn new(scene: &Scene, placement: &Similarity, side: usize, degradation: Degradation) -> Self {
        let back = placement.inverse();
        let points =
            (0..side * side).map(|at| back.apply([(at % side) as f32, (at / side) as f32]));
        let (width, height) = scene.canvas.size();
        Self { side, taps: Taps::bilinear(points, width, height), degradation }
    }

    /// The chip that the recogniser sees.
    pub(super) fn chip(&self, colours: &Colours, random: &mut dyn CryptoRng) -> Result<Chip> {
        let noise: Option<Vec<f32>> = match self.degradation {
            Degradation::Noisy => {
                Some((0..self.side * self.side).map(|_| NOISE_STD * normal(random)).collect())
            }
            _ => None,
        };
        let mut values = Vec::with_capacity(3 * self.side * self.side);
        for colour in colours {
            let mut plane = self.smoothed(self.taps.apply(colour));
            if let Some(noise) = &noise {
                plane.iter_mut().zip(noise).for_each(|(v, n)| *v += n);
            }
            values.extend(plane.iter().map(|v| v.clamp(0.0, 255.0)));
        }
        Ok(Chip::new(self.side, values)?)
    }

    /// Propagates a gradient from the chip back to the colours of the canvas.
    pub(super) fn backward(&self, gradient: &[f32], pixels: usize) -> Colours {
        let plane = self.side * self.side;
        std::array::from_fn(|c| {
            let mut into = vec![0.0; pixels];
            // Degradations are symmetric except at the border.
            let gradient = self.smoothed(gradient[c * plane..(c + 1) * plane].to_vec());
            self.taps.apply_transpose(&gradient, &mut into);
            into
        })
    }

    fn smoothed(&self, values: Vec<f32>) -> Vec<f32> {
        match self.degradation {
            Degradation::None | Degradation::Noisy => values,
            Degradation::Reduced(side) => {
                let mut plane = Plane::zeros(self.side, self.side);
                plane.data_mut().iter_mut().zip(values).for_each(|(to, v)| *to = f64::from(v));
                let small = resized(&plane, side, side);
                resized(&small, self.side, self.side).data().iter().map(|v| *v as f32).collect()
            }
            Degradation::Blurred => blurred(&values, self.side),
        }
    }
}

/// The mean of a 3x3 window; of fewer pixels at the border.
fn blurred(values: &[f32], side: usize) -> Vec<f32> {
    let along = |values: &[f32]| -> Vec<f32> {
        let mut out = Vec::with_capacity(values.len());
        for row in values.chunks_exact(side) {
            for x in 0..side {
                let near = &row[x.saturating_sub(1)..(x + 2).min(side)];
                out.push(near.iter().sum::<f32>() / near.len() as f32);
            }
        }
        out
    };
    let transposed = |values: &[f32]| -> Vec<f32> {
        (0..side * side).map(|at| values[at % side * side + at / side]).collect()
    };
    transposed(&along(&transposed(&along(values))))
}
