//! The settings of `steered`, as requests and receipts hold them.

use facedp::Epsilon;
use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};

/// The direction in which a face is steered.
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

/// Named pairs of quality floor and margin.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Strength {
    /// Hardly visible; some recognisers still match.
    Low,
    #[default]
    Medium,
    /// Visible on a close look.
    High,
}

/// How faces are steered.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Steering {
    pub goal: Goal,
    /// Smallest PSNR of a face's region, in dB of luma.
    pub min_psnr: f64,
    /// Steering ends early once every distance is this many times its threshold.
    pub margin: f32,
    /// Budget for drawing the target.
    pub epsilon: Epsilon,
    /// Recognisers to steer by; all that are built in if empty.
    pub recognisers: Vec<String>,
    /// Whether colours change too, or only luma.
    pub colour: bool,
    pub tuning: Tuning,
}

/// Internal parameters, chosen by measurement. Only experiments change them.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Tuning {
    /// Largest number of steps.
    pub steps: usize,
    /// Length of the first step, as a share of the largest change allowed; later steps are shorter.
    pub stride: f64,
    /// Share of the previous direction that is added to the next.
    pub momentum: f64,
    /// Standard deviation of the Gaussian that smooths directions, in pixels of a 128-pixel chip.
    pub smooth: f64,
    /// Power of local contrast that scales the change.
    pub contrast: f64,
    /// Mean grey level from which a face may change as much as the floor allows. Darker faces change less,
    /// in proportion.
    pub light: f64,
    /// Weight of the drawn person relative to the original, for the goal `both`.
    pub pull: f32,
    /// How strongly recognisers that lag behind the others are favoured.
    pub balance: f64,
    /// Share of the largest change (root mean square) that is allowed at first. It grows to 1, so that easy
    /// faces keep more quality.
    pub start: f64,
    /// Steps between two checks of the margin.
    pub check_every: usize,
    /// Largest mean squared change of chroma, as a share of luma's.
    pub chroma: f64,
    /// Smoothing of chroma relative to luma.
    pub chroma_smooth: f64,
    /// Factor on Haar coefficients whose basis functions span an eighth of the chip or more. A small one
    /// preserves lighting and skin tone.
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
    /// Each number with its valid range.
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
    /// Range of `min_psnr`, in dB.
    pub const MIN_PSNRS: [f64; 2] = [25.0, 50.0];

    /// All settings as text. Keyed randomness depends on it: it must not change.
    pub(crate) fn fingerprint(&self) -> String {
        let Self { goal, min_psnr, margin, epsilon, recognisers, colour, tuning } = self;
        let Tuning {
            steps,
            stride,
            momentum,
            smooth,
            contrast,
            light,
            pull,
            balance,
            start,
            check_every,
            chroma,
            chroma_smooth,
            coarse,
        } = tuning;
        let by = recognisers.join(",");
        format!(
            "steered 1: {goal}, {min_psnr:?} dB, margin {margin:?}, epsilon {:?}, by [{by}], colour \
             {colour}, {steps} steps, stride {stride:?}, momentum {momentum:?}, smooth {smooth:?}, \
             contrast {contrast:?}, light {light:?}, pull {pull:?}, balance {balance:?}, start \
             {start:?}, check every {check_every}, chroma {chroma:?}, chroma smooth \
             {chroma_smooth:?}, coarse {coarse:?}",
            epsilon.get()
        )
    }

    /// Fails if a setting is out of range or NaN.
    pub(crate) fn validate(&self) -> Result<()> {
        let [low, high] = Self::MIN_PSNRS;
        if !(low..=high).contains(&self.min_psnr) {
            return Err(Error::MinPsnr { given: self.min_psnr, low, high });
        }
        if self.margin.is_nan() || self.margin < 0.0 {
            return Err(Error::Margin { given: self.margin });
        }
        for (name, given, range) in self.tuning.ranges() {
            if !(range[0]..=range[1]).contains(&given) {
                return Err(Error::Tuning { name, given, range });
            }
        }
        Ok(())
    }
}

facedp::names!(Strength, "strength", Low = "low", Medium = "medium", High = "high");
facedp::names!(Goal, "goal", Away = "away", Both = "both", Draw = "draw");

impl Strength {
    pub const ALL: [Self; 3] = [Self::Low, Self::Medium, Self::High];

    /// Smallest PSNR of a face (dB), and the margin at which steering ends early.
    pub(crate) fn floor(self, goal: Goal) -> (f64, f32) {
        let (min_psnr, margin) = match self {
            Strength::Low => (39.0, 1.3),
            Strength::Medium => (36.0, 1.5),
            Strength::High => (34.0, 1.8),
        };
        // `away` passes the known recognisers in a few steps, too few to affect others.
        let more = if goal == Goal::Away { 0.7 } else { 0.0 };
        (min_psnr, margin + more)
    }
}

impl Goal {
    pub const ALL: [Self; 3] = [Self::Away, Self::Both, Self::Draw];
}
