//! Steering: changing a face, as little as possible, until recognisers no longer match it.
//!
//! The paper's idea taken to real recognisers: features are their embeddings, weights are derivatives
//! of these by back-propagation, the change is carried by the Haar coefficients of the aligned face.
//! Steps along the gradient lead away from the face's own embeddings and towards those of somebody
//! drawn from a public prior; each step sees the face a little differently, as cameras and platforms
//! will. What is claimed of it is what recognisers say afterwards, and nothing else.

mod chance;
mod descent;
mod prior;
mod scene;
mod shape;
mod taps;
mod view;

use facedp::Epsilon;
use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};

pub use descent::{Place, Steered, steer};
pub use prior::Prior;

/// The least width of a face's box (pixels) that can be steered: of narrower faces, one in ten and more
/// still matches (docs/measurements/steered.md).
pub const MIN_WIDTH: f32 = 32.0;

/// Where a face goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Goal {
    /// Away from its own embedding.
    Away,
    /// Away from its own embedding and towards a person drawn for it.
    #[default]
    Both,
    /// Towards a person drawn for it.
    Draw,
}

/// Names for settings that go well together.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Strength {
    /// Hardly visible; some recognisers will still match.
    Low,
    /// The default.
    #[default]
    Medium,
    /// Visible on a close look.
    High,
}

/// How faces are steered.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Steering {
    /// Where to.
    pub goal: Goal,
    /// The least PSNR of a face's region (dB, luma).
    pub min_psnr: f64,
    /// Steering ends early once all distances are so many times their threshold.
    pub margin: f32,
    /// The budget of the draw.
    pub epsilon: Epsilon,
    /// The recognisers to steer by; all that are built in if empty.
    pub recognisers: Vec<String>,
    /// Change colours too, not only how light they are.
    pub colour: bool,
    /// What was found by measuring.
    pub tuning: Tuning,
}

/// Numbers that were found by measuring, and seldom need to be changed.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Tuning {
    /// Steps at most.
    pub steps: usize,
    /// Length of the first step, as a share of the largest change allowed; lengths fall to nothing.
    pub stride: f64,
    /// How much of its direction a step passes on to the next.
    pub momentum: f64,
    /// Gaussian that smooths directions, in pixels of a 128-pixel chip.
    pub smooth: f64,
    /// Power of local contrast that scales the change.
    pub contrast: f64,
    /// Mean grey level from which a face may change as much as the floor allows; darker ones change
    /// less, in proportion.
    pub light: f64,
    /// How strongly the draw pulls, beside going away, where both are the goal.
    pub pull: f32,
    /// How much more a recogniser counts that is not as far as the others.
    pub balance: f64,
    /// Share of the largest change (its root mean square) that is allowed at first; it grows to all of
    /// it, so that easy faces keep more quality.
    pub start: f64,
    /// Steps from one look whether it is enough to the next.
    pub check_every: usize,
    /// Chroma's largest mean squared change, as a share of luma's.
    pub chroma: f64,
    /// How many times smoother chroma's change is.
    pub chroma_smooth: f64,
    /// How much the coarse bands of the Haar transform count, whose patches are an eighth of the chip
    /// and more: with little of them, light and skin tone stay.
    pub coarse: f64,
}

impl Default for Tuning {
    fn default() -> Self {
        Self {
            steps: 40,
            stride: 0.3,
            momentum: 0.7,
            smooth: 0.7,
            contrast: 0.5,
            light: 100.0,
            pull: 1.2,
            balance: 3.0,
            start: 0.5,
            check_every: 4,
            chroma: 0.3,
            chroma_smooth: 3.0,
            coarse: 0.2,
        }
    }
}

impl Tuning {
    /// Each number, and the range in which it means something.
    fn ranges(&self) -> [(&'static str, f64, [f64; 2]); 13] {
        [
            ("steps", self.steps as f64, [1.0, 10_000.0]),
            ("stride", self.stride, [0.001, 2.0]),
            ("momentum", self.momentum, [0.0, 0.99]),
            ("smooth", self.smooth, [0.0, 16.0]),
            ("contrast", self.contrast, [0.0, 2.0]),
            ("light", self.light, [1.0, 255.0]),
            ("pull", f64::from(self.pull), [0.0, 100.0]),
            ("balance", self.balance, [0.0, 100.0]),
            ("start", self.start, [0.01, 1.0]),
            ("check_every", self.check_every as f64, [1.0, 10_000.0]),
            ("chroma", self.chroma, [0.0, 4.0]),
            ("chroma_smooth", self.chroma_smooth, [0.0, 16.0]),
            ("coarse", self.coarse, [0.0, 1.0]),
        ]
    }
}

impl Steering {
    /// The lowest and the highest floor that can be asked for.
    pub const DECIBELS: [f64; 2] = [25.0, 50.0];

    /// The settings of a strength for a goal.
    pub fn new(strength: Strength, goal: Goal) -> Result<Self> {
        let (min_psnr, margin) = match strength {
            Strength::Low => (39.0, 1.3),
            Strength::Medium => (36.0, 1.5),
            Strength::High => (34.0, 1.8),
        };
        // Away leads past the known recognisers in a few steps, too few for those not known.
        let more = if goal == Goal::Away { 0.7 } else { 0.0 };
        Ok(Self {
            goal,
            min_psnr,
            margin: margin + more,
            epsilon: Epsilon::new(0.2)?,
            recognisers: Vec::new(),
            colour: true,
            tuning: Tuning::default(),
        })
    }

    /// A word for everything that decides what it does.
    pub(crate) fn name(&self) -> String {
        format!("steered {self:?}")
    }

    /// Fails if a number is out of range.
    pub fn validate(&self) -> Result<()> {
        let [low, high] = Self::DECIBELS;
        if !(low..=high).contains(&self.min_psnr) {
            return Err(Error::MinPsnr { given: self.min_psnr });
        }
        for (name, given, range) in self.tuning.ranges() {
            if !(range[0]..=range[1]).contains(&given) {
                return Err(Error::Tuning { name, given, range });
            }
        }
        Ok(())
    }
}
