//! Rules of recognisers: how a chip is cut and normalised, and when two embeddings match.

use std::ops::RangeInclusive;

use serde::Deserialize;

use crate::error::{Error, Result};
use crate::picture::Chip;
use crate::recogniser::{Embed, Landmarks};

/// Everything about a recogniser except its network.
///
/// Nothing has a default: a recogniser that sees faces differently from its training data appears
/// weaker than it is.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Rule {
    /// The name in reports.
    pub name: String,
    /// The side of the chips, in pixels.
    pub side: usize,
    /// The positions of the landmarks in a chip.
    pub template: Landmarks,
    /// Red, green and blue. A network's input is `(pixel - mean) * factor`, with pixels 0..=255.
    pub mean: [f32; 3],
    pub factor: f32,
    pub channels: Channels,
    pub metric: Metric,
    /// The largest distance at which two faces match.
    pub threshold: f32,
}

/// The order of the colour planes of a network's input.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Channels {
    Rgb,
    Bgr,
}

impl Channels {
    /// The colour of each plane: 0 is red, 1 green, 2 blue.
    fn order(self) -> [usize; 3] {
        match self {
            Channels::Rgb => [0, 1, 2],
            Channels::Bgr => [2, 1, 0],
        }
    }
}

/// The distance between two embeddings.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Metric {
    /// The length of their difference.
    Euclidean,
    /// One minus the cosine of the angle between them.
    Cosine,
}

const SIDES: RangeInclusive<usize> = 8..=1024;
const MAX_NAME: usize = 32;
/// Lengths of embeddings, besides 0, whose fourth power fits single precision.
const LENGTHS: RangeInclusive<f32> = 1e-9..=1e9;
/// The names of the built-in recognisers.
const RESERVED: [&str; 5] = ["dlib", "facexzoo", "intel", "mobilefacenet", "sface"];

impl Rule {
    /// Checks every value.
    pub fn validate(&self) -> Result<()> {
        let wrong = |key, value, problem| Err(Error::Rule { key, value, problem });
        let name = &self.name;
        let plain = |c: char| c.is_ascii_alphanumeric() || "-_.".contains(c);
        if !(1..=MAX_NAME).contains(&name.len()) || !name.chars().all(plain) {
            let problem = "must be 1 to 32 letters, digits, '-', '_' and '.'";
            return wrong("name", format!("{name:?}"), problem);
        }
        if RESERVED.contains(&name.to_ascii_lowercase().as_str()) {
            let problem = "a built-in recogniser has that name";
            return wrong("name", format!("{name:?}"), problem);
        }
        if !SIDES.contains(&self.side) {
            return wrong("side", self.side.to_string(), "must be 8 to 1024 pixels");
        }
        let inside = 0.0..=self.side as f32;
        let [left_eye, right_eye, _, left_mouth, right_mouth] = self.template;
        let upright = left_eye[0] < right_eye[0]
            && left_mouth[0] < right_mouth[0]
            && left_eye[1].max(right_eye[1]) < left_mouth[1].min(right_mouth[1]);
        if !upright || !self.template.as_flattened().iter().all(|v| inside.contains(v)) {
            let problem = "must be five points [x, y] within the chip, of an upright face: the eye on \
                           the left of the picture, the other eye, nose, corner of the mouth on the \
                           left, the other corner";
            return wrong("template", format!("{:?}", self.template), problem);
        }
        if !self.mean.iter().all(|m| m.is_finite()) {
            return wrong("mean", format!("{:?}", self.mean), "must be three finite numbers");
        }
        if !(self.factor > 0.0 && self.factor.is_finite()) {
            return wrong("factor", self.factor.to_string(), "must be a finite number above 0");
        }
        let max = match self.metric {
            Metric::Euclidean => f32::MAX,
            Metric::Cosine => 2.0,
        };
        if !(self.threshold > 0.0 && self.threshold <= max) {
            let problem = "must be the largest distance of a match, a number above 0; a cosine \
                           distance is one minus the cosine, at most 2";
            return wrong("threshold", self.threshold.to_string(), problem);
        }
        Ok(())
    }

    /// The rule and the digest of a network as one line of text. Resumed runs compare it, so the text
    /// must not change; a new format gets a new number.
    pub(crate) fn fingerprint(&self, digest: &str) -> String {
        let Rule { name, side, template, mean, factor, channels, metric, threshold } = self;
        let points = template.map(|[x, y]| format!("{x:?} {y:?}")).join(", ");
        let [red, green, blue] = mean;
        let channels = match channels {
            Channels::Rgb => "rgb",
            Channels::Bgr => "bgr",
        };
        let metric = match metric {
            Metric::Euclidean => "euclidean",
            Metric::Cosine => "cosine",
        };
        format!(
            "recogniser 1: {name}, network {digest}, side {side}, template [{points}], \
             mean {red:?} {green:?} {blue:?}, factor {factor:?}, {channels}, {metric}, \
             threshold {threshold:?}"
        )
    }

    /// Fails if a chip has the wrong size.
    pub(crate) fn check(&self, chip: &Chip) -> Result<()> {
        if chip.side() != self.side {
            let (expected, found) = (3 * self.side * self.side, chip.values().len());
            return Err(Error::ChipSize { expected, found });
        }
        Ok(())
    }

    /// Writes a chip as the input of a network, plane by plane.
    pub(crate) fn fill(&self, chip: &Chip, input: &mut [f32]) {
        let plane = self.side * self.side;
        for (to, colour) in input.chunks_exact_mut(plane).zip(self.channels.order()) {
            let (from, mean) = (&chip.values()[colour * plane..][..plane], self.mean[colour]);
            to.iter_mut().zip(from).for_each(|(t, f)| *t = (f - mean) * self.factor);
        }
    }

    /// The gradient with respect to a chip, from that with respect to the input of a network.
    pub(crate) fn gradient(&self, input: &[f32]) -> Vec<f32> {
        let plane = self.side * self.side;
        let mut gradient = Vec::with_capacity(input.len());
        // The order is its own inverse.
        for colour in self.channels.order() {
            gradient.extend(input[colour * plane..][..plane].iter().map(|g| g * self.factor));
        }
        gradient
    }

    /// The embedding that a foreign network gives a chip.
    pub(crate) fn embed(&self, network: &dyn Embed, chip: &Chip) -> Result<Vec<f32>> {
        self.check(chip)?;
        let mut values = vec![0.0; chip.values().len()];
        self.fill(chip, &mut values);
        let failed = |problem| Error::Foreign { name: self.name.clone(), problem };
        let embedding = network.embed(&values).map_err(failed)?;
        if embedding.is_empty() {
            return Err(failed("gave no numbers for a face".to_owned()));
        }
        // Distances must be computable.
        let length = embedding.iter().map(|v| v * v).sum::<f32>().sqrt();
        if length != 0.0 && !LENGTHS.contains(&length) {
            return Err(failed(format!(
                "gave an embedding of length {length}, outside 1e-9..=1e9: mean and factor may not suit \
                 the network"
            )));
        }
        Ok(embedding)
    }
}
