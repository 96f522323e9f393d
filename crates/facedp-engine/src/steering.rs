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

/// Named settings: the floor of quality, the margin, how far pixels move and change, and how long the search takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Strength {
    /// Hardly visible; some recognisers still match.
    Low,
    #[default]
    Medium,
    /// Another face, often with harder shading.
    High,
}

/// How faces are steered.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Steering {
    pub goal: Goal,
    /// Smallest SSIMULACRA2 score of a face.
    pub min_quality: f64,
    /// Whether the face's pixels move too, or only change their luma.
    pub shape: bool,
    /// Steering ends early once every distance is this many times its threshold.
    pub margin: f32,
    /// Budget for drawing the target.
    pub epsilon: Epsilon,
    /// Recognisers to steer by; all that are built in if empty.
    pub recognisers: Vec<String>,
    pub tuning: Tuning,
}

/// Internal parameters, chosen by measurement. Only experiments change them.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Tuning {
    /// Largest number of steps.
    pub steps: usize,
    /// Recognisers asked in each step, drawn anew.
    #[serde(default = "one")]
    pub asked: usize,
    /// Length of the first step, as a share of the largest change allowed; later steps are shorter.
    pub stride: f64,
    /// Share of the previous direction that is added to the next.
    pub momentum: f64,
    /// Standard deviation of the Gaussian that smooths changes of luma, in pixels of a 128-pixel chip.
    pub smooth: f64,
    /// Power of local contrast that scales changes of luma.
    pub contrast: f64,
    /// Factor on Haar coefficients whose basis functions span an eighth of the chip or more. A small one
    /// preserves lighting and skin tone.
    pub coarse: f64,
    /// Weight of the drawn person relative to the original, where the face is at its threshold; it grows
    /// with the square of the distance. For the goal `both`.
    pub pull: f32,
    /// How strongly recognisers that lag behind the others are favoured.
    pub balance: f64,
    /// Share of the largest change (root mean square) that is allowed at first. It grows to 1, so that easy
    /// faces keep more quality.
    pub start: f64,
    /// Standard deviation of the factors on the weights of recognisers.
    pub jitter: f32,
    /// Factor on the spread of random views.
    pub views: f32,
    /// Largest displacement (root mean square over the face), as a share of the distance of the eyes.
    pub displacement: f64,
    /// Largest difference between the displacements of neighbouring control points, as a share of their
    /// distance. It bounds the local stretch along each axis; at the outline of the face, a smaller one does.
    pub stretch: f64,
    /// Share of `stretch` that is allowed at the outline of the face.
    #[serde(default = "first_outline")]
    pub outline: f64,
    /// Standard deviation of the Gaussian that smooths gradients of the displacement, as a share of the distance of
    /// the eyes: what is near moves alike.
    #[serde(default)]
    pub bend: f64,
    /// Share of what is not symmetric in a displacement that is taken out of its gradient.
    #[serde(default)]
    pub symmetry: f32,
    /// Share of what would give nose and mouth another form that is taken out of the gradient.
    #[serde(default)]
    pub parts: f32,
    /// The loss of quality that is left whenever luma gives way to quality, as a share of what the floor
    /// allows. The less is left, the better the rest hides: the result may then be enlarged up to the floor.
    #[serde(default = "first_retreat")]
    pub retreat: f64,
    /// Largest change of a pixel on smooth, light skin, in grey levels; where it is darker, or beside the face, fewer.
    #[serde(default = "unlimited")]
    pub level: f64,
    /// How much more a pixel may change for each grey level of the contrast on its smoothest side.
    #[serde(default)]
    pub masking: f64,
    /// Largest change of each chroma, as a share of that of luma (of mean squares). 0 leaves colours as they
    /// are, and is not stored: receipts and keys are older than this number.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub chroma: f64,
}

/// What receipts that do not name `asked` were made with.
fn one() -> usize {
    1
}

/// What receipts that do not name `retreat` were made with.
fn first_retreat() -> f64 {
    0.9
}

/// What receipts that do not name `outline` were made with.
fn first_outline() -> f64 {
    0.3
}

/// Receipts that do not name `level` were made with limits that hold no longer.
fn unlimited() -> f64 {
    255.0
}

fn is_zero(number: &f64) -> bool {
    *number == 0.0
}

impl Default for Tuning {
    fn default() -> Self {
        Self {
            steps: 48,
            asked: 2,
            stride: 0.3,
            momentum: 0.7,
            smooth: 1.0,
            contrast: 1.2,
            coarse: 0.2,
            pull: 2.0,
            balance: 3.0,
            start: 0.5,
            jitter: 0.05,
            views: 1.0,
            displacement: 0.033,
            stretch: 0.48,
            outline: 0.2,
            bend: 0.15,
            symmetry: 1.0,
            parts: 0.85,
            retreat: 0.45,
            level: 5.0,
            masking: 0.9,
            chroma: 0.0,
        }
    }
}

impl Tuning {
    /// Each number with its valid range.
    fn ranges(&self) -> [(&'static str, f64, [f64; 2]); 22] {
        [
            ("steps", self.steps as f64, [1.0, 10_000.0]),
            ("asked", self.asked as f64, [1.0, 10.0]),
            ("stride", self.stride, [0.001, 2.0]),
            ("momentum", self.momentum, [0.0, 0.99]),
            ("smooth", self.smooth, [0.0, 16.0]),
            ("contrast", self.contrast, [0.0, 3.0]),
            ("coarse", self.coarse, [0.0, 1.0]),
            ("pull", f64::from(self.pull), [0.0, 100.0]),
            ("balance", self.balance, [0.0, 100.0]),
            ("start", self.start, [0.01, 1.0]),
            ("jitter", f64::from(self.jitter), [0.0, 1.0]),
            ("views", f64::from(self.views), [0.0, 5.0]),
            ("displacement", self.displacement, [0.0, 0.1]),
            ("stretch", self.stretch, [0.01, 0.9]),
            ("outline", self.outline, [0.0, 1.0]),
            ("bend", self.bend, [0.0, 2.0]),
            ("symmetry", f64::from(self.symmetry), [0.0, 1.0]),
            ("parts", f64::from(self.parts), [0.0, 1.0]),
            ("retreat", self.retreat, [0.05, 1.0]),
            ("level", self.level, [0.0, 255.0]),
            ("masking", self.masking, [0.0, 255.0]),
            ("chroma", self.chroma, [0.0, 10.0]),
        ]
    }
}

impl Steering {
    /// Range of `min_quality`.
    pub const MIN_QUALITIES: [f64; 2] = [30.0, 95.0];

    /// All settings as text. Keyed randomness depends on it: it must not change.
    pub(crate) fn fingerprint(&self) -> String {
        let Self { goal, min_quality, shape, margin, epsilon, recognisers, tuning } = self;
        let Tuning {
            steps,
            asked,
            stride,
            momentum,
            smooth,
            contrast,
            coarse,
            pull,
            balance,
            start,
            jitter,
            views,
            displacement,
            stretch,
            outline,
            bend,
            symmetry,
            parts,
            retreat,
            level,
            masking,
            chroma,
        } = tuning;
        let by = recognisers.join(",");
        let colour = if is_zero(chroma) { String::new() } else { format!(", chroma {chroma:?}") };
        format!(
            "steered 8: {goal}, quality {min_quality:?}, shape {shape}, margin {margin:?}, epsilon {:?}, \
             by [{by}], {steps} steps of {asked}, stride {stride:?}, momentum {momentum:?}, smooth {smooth:?}, \
             contrast {contrast:?}, coarse {coarse:?}, pull {pull:?}, balance {balance:?}, start \
             {start:?}, jitter {jitter:?}, views {views:?}, displacement {displacement:?}, stretch \
             {stretch:?}, outline {outline:?}, bend {bend:?}, symmetry {symmetry:?}, parts {parts:?}, retreat {retreat:?}, level {level:?}, \
             masking {masking:?}{colour}",
            epsilon.get()
        )
    }

    /// Fails if a setting is out of range or NaN.
    pub(crate) fn validate(&self) -> Result<()> {
        let [low, high] = Self::MIN_QUALITIES;
        if !(low..=high).contains(&self.min_quality) {
            return Err(Error::MinQuality { given: self.min_quality, low, high });
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

    /// Smallest score of a face, and the margin at which steering ends early.
    pub(crate) fn floor(self, goal: Goal) -> (f64, f32) {
        let (min_quality, margin) = match self {
            Strength::Low => (85.0, 1.3),
            Strength::Medium => (75.0, 1.6),
            Strength::High => (70.0, 1.8),
        };
        // `away` passes the known recognisers in a few steps, too few to affect others.
        let more = if goal == Goal::Away { 0.7 } else { 0.0 };
        (min_quality, margin + more)
    }

    /// How far pixels may move, how much each may change, and how long the search takes.
    pub(crate) fn tuning(self) -> Tuning {
        let medium = Tuning::default();
        match self {
            // A change that may hardly be seen is found sooner.
            Strength::Low => Tuning { steps: 32, displacement: 0.026, stretch: 0.4, ..medium },
            Strength::Medium => medium,
            Strength::High => Tuning { displacement: 0.038, stretch: 0.52, level: 8.0, ..medium },
        }
    }
}

impl Goal {
    pub const ALL: [Self; 3] = [Self::Away, Self::Both, Self::Draw];
}
