//! What tells recognisers apart but for their network: how a chip is cut and brought to numbers, and
//! when two embeddings match.

use std::ops::RangeInclusive;

use serde::Deserialize;

use crate::error::{Error, Result};
use crate::picture::Chip;
use crate::recogniser::{Embed, Landmarks};

/// Everything about a recogniser but its network.
///
/// Nothing has a default: a recogniser that sees faces otherwise than in its training only seems
/// weak.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Rule {
    /// What it is called in reports.
    pub name: String,
    /// Side of its chips.
    pub side: usize,
    /// Where landmarks lie in a chip.
    pub template: Landmarks,
    /// Of red, green and blue. Values are `(pixel - mean) * factor`.
    pub mean: [f32; 3],
    /// Pixels are 0..=255.
    pub factor: f32,
    /// Which colour comes first.
    pub channels: Channels,
    /// How embeddings are compared.
    pub metric: Metric,
    /// The largest distance at which two faces match.
    pub threshold: f32,
}

/// The order of the planes that a network takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Channels {
    /// Red, green, blue.
    Rgb,
    /// Blue, green, red.
    Bgr,
}

/// A distance of embeddings.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Metric {
    /// The length of their difference.
    Euclidean,
    /// One minus the cosine of the angle between them.
    Cosine,
}

/// Sides that a recogniser's chips can have.
const SIDES: RangeInclusive<usize> = 8..=1024;
/// The longest name.
const NAME: usize = 32;
/// Lengths of embeddings, besides 0, whose fourth power single precision has.
const LENGTHS: RangeInclusive<f32> = 1e-9..=1e9;
/// Names that mean the recognisers inside the program.
const TAKEN: [&str; 2] = ["dlib", "sface"];

impl Rule {
    /// Checks what was written by hand.
    pub fn validate(&self) -> Result<()> {
        let wrong = |key, value, problem| Err(Error::Rule { key, value, problem });
        let name = &self.name;
        let plain = |c: char| c.is_ascii_alphanumeric() || "-_.".contains(c);
        if !(1..=NAME).contains(&name.len()) || !name.chars().all(plain) {
            let problem = "take 1 to 32 letters, digits, '-', '_' and '.'";
            return wrong("name", format!("{name:?}"), problem);
        }
        if TAKEN.contains(&name.to_ascii_lowercase().as_str()) {
            let problem = "a recogniser inside the program has that name; take another";
            return wrong("name", format!("{name:?}"), problem);
        }
        if !SIDES.contains(&self.side) {
            return wrong("side", self.side.to_string(), "take 8 to 1024 pixels");
        }
        let inside = 0.0..=self.side as f32;
        let [left_eye, right_eye, _, left_mouth, right_mouth] = self.template;
        let upright = left_eye[0] < right_eye[0]
            && left_mouth[0] < right_mouth[0]
            && left_eye[1].max(right_eye[1]) < left_mouth[1].min(right_mouth[1]);
        if !upright || !self.template.as_flattened().iter().all(|v| inside.contains(v)) {
            let problem = "take five points [x, y] within the chip, of an upright face: the eye on \
                           the left of the picture, the other eye, nose, corner of the mouth on the \
                           left, the other corner";
            return wrong("template", format!("{:?}", self.template), problem);
        }
        if !self.mean.iter().all(|m| m.is_finite()) {
            return wrong("mean", format!("{:?}", self.mean), "take three finite numbers");
        }
        if !(self.factor > 0.0 && self.factor.is_finite()) {
            return wrong("factor", self.factor.to_string(), "take a finite number above 0");
        }
        let most = match self.metric {
            Metric::Euclidean => f32::MAX,
            Metric::Cosine => 2.0,
        };
        if !(self.threshold > 0.0 && self.threshold <= most) {
            let problem = "take the largest distance of a match, a number above 0; a cosine \
                           distance is one minus the cosine, at most 2";
            return wrong("threshold", self.threshold.to_string(), problem);
        }
        Ok(())
    }

    /// Whether a chip has the right size.
    pub(crate) fn check(&self, chip: &Chip) -> Result<()> {
        if chip.side() != self.side {
            let (expected, found) = (3 * self.side * self.side, chip.values().len());
            return Err(Error::ChipSize { expected, found });
        }
        Ok(())
    }

    /// Writes a chip as a network takes it, plane by plane.
    pub(crate) fn fill(&self, chip: &Chip, input: &mut [f32]) {
        let plane = self.side * self.side;
        let order = match self.channels {
            Channels::Rgb => [0, 1, 2],
            Channels::Bgr => [2, 1, 0],
        };
        for (to, colour) in input.chunks_exact_mut(plane).zip(order) {
            let (from, mean) = (&chip.values()[colour * plane..][..plane], self.mean[colour]);
            to.iter_mut().zip(from).for_each(|(t, f)| *t = (f - mean) * self.factor);
        }
    }

    /// The embedding that a network from elsewhere gives a chip.
    pub(crate) fn embed(&self, network: &dyn Embed, chip: &Chip) -> Result<Vec<f32>> {
        self.check(chip)?;
        let mut values = vec![0.0; chip.values().len()];
        self.fill(chip, &mut values);
        let failed = |problem| Error::Foreign { name: self.name.clone(), problem };
        let embedding = network.embed(&values).map_err(failed)?;
        if embedding.is_empty() {
            return Err(failed("gave no numbers for a face".to_owned()));
        }
        // What distances can be computed from.
        let length = embedding.iter().map(|v| v * v).sum::<f32>().sqrt();
        if length != 0.0 && !LENGTHS.contains(&length) {
            let problem = "do mean and factor suit the network?";
            return Err(failed(format!("gave an embedding of length {length}: {problem}")));
        }
        Ok(embedding)
    }
}
