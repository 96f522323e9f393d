//! A face as a recogniser may come to see it: aligned a little differently, and degraded as cameras
//! and platforms do.

use facedp::Plane;
use facedp::resample::resized;
use facedp_nets::{Chip, Similarity};
use rand_core::CryptoRng;

use super::chance::{normal, uniform};
use super::scene::Scene;
use super::taps::Taps;
use crate::error::Result;
use crate::lift::Tint;

/// Spread of a view's turn (radians), size and place (shares of the chip).
const TURN: f32 = 0.03;
const GROWTH: f32 = 0.04;
const SHIFT: f32 = 0.02;
/// Spread of grain, in grey levels.
const GRAIN: f32 = 4.0;
/// How much smaller a face is shown, as shares of the chip's side.
const SMALLER: [f32; 2] = [0.4, 0.73];

/// What happens to a face before a recogniser sees it.
#[derive(Clone, Copy)]
pub(super) enum Degraded {
    Not,
    /// Reduced to so many pixels and back.
    Smaller(usize),
    /// Blurred by a 3x3 window.
    Blurred,
    /// With grain.
    Grainy,
}

/// One way of looking.
pub(super) struct View {
    side: usize,
    taps: Taps,
    degraded: Degraded,
}

impl View {
    /// A random way, degradations taking turns.
    pub(super) fn random(
        scene: &Scene,
        recogniser: usize,
        side: usize,
        turn: usize,
        random: &mut dyn CryptoRng,
    ) -> Self {
        let (length, middle) = (side as f32, (side as f32 - 1.0) / 2.0);
        let angle = TURN * normal(random);
        let growth = 1.0 + GROWTH * normal(random);
        let shift = [SHIFT * length * normal(random), SHIFT * length * normal(random)];
        let placement = scene.placement(recogniser);
        let placement = placement.turned(angle, growth, [middle, middle]).shifted(shift);
        let degraded = match turn % 4 {
            0 => Degraded::Not,
            1 => {
                let share = SMALLER[0] + (SMALLER[1] - SMALLER[0]) * uniform(random);
                Degraded::Smaller((share * length) as usize)
            }
            2 => Degraded::Blurred,
            _ => Degraded::Grainy,
        };
        Self::new(scene, &placement, side, degraded)
    }

    fn new(scene: &Scene, placement: &Similarity, side: usize, degraded: Degraded) -> Self {
        let back = placement.inverse();
        let points =
            (0..side * side).map(|at| back.apply([(at % side) as f32, (at / side) as f32]));
        let (width, height) = scene.size();
        Self { side, taps: Taps::at(points, width, height), degraded }
    }

    /// The chip that it shows.
    pub(super) fn chip(&self, colours: &[Vec<f32>; 3], random: &mut dyn CryptoRng) -> Result<Chip> {
        let grain: Option<Vec<f32>> = match self.degraded {
            Degraded::Grainy => {
                Some((0..self.side * self.side).map(|_| GRAIN * normal(random)).collect())
            }
            _ => None,
        };
        let mut values = Vec::with_capacity(3 * self.side * self.side);
        for colour in colours {
            let mut plane = self.smoothed(self.taps.read(colour));
            if let Some(grain) = &grain {
                plane.iter_mut().zip(grain).for_each(|(v, n)| *v += n);
            }
            values.extend(plane.iter().map(|v| v.clamp(0.0, 255.0)));
        }
        Ok(Chip::new(self.side, values)?)
    }

    /// Brings a gradient from the chip back to the scene: how much each pixel's tint matters.
    pub(super) fn back(&self, gradient: &[f32], tint: Tint, pixels: usize) -> Vec<f32> {
        let mut sum = vec![0.0; self.side * self.side];
        for (plane, share) in gradient.chunks_exact(sum.len()).zip(tint.shares()) {
            sum.iter_mut().zip(plane).for_each(|(s, g)| *s += share * g);
        }
        let mut into = vec![0.0; pixels];
        // Degradations are symmetric but for the border.
        self.taps.spread(&self.smoothed(sum), &mut into);
        into
    }

    fn smoothed(&self, values: Vec<f32>) -> Vec<f32> {
        match self.degraded {
            Degraded::Not | Degraded::Grainy => values,
            Degraded::Smaller(side) => {
                let mut plane = Plane::zeros(self.side, self.side);
                plane.data_mut().iter_mut().zip(values).for_each(|(to, v)| *to = f64::from(v));
                let small = resized(&plane, side, side);
                resized(&small, self.side, self.side).data().iter().map(|v| *v as f32).collect()
            }
            Degraded::Blurred => blurred(&values, self.side),
        }
    }
}

/// The mean of nine neighbours; fewer at the border.
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
