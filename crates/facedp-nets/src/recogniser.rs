//! Recognisers: 128 numbers for a face, and whether two faces are the same person's.

use crate::engine::{Network, Shape, Workspace};
use crate::error::{Error, Result};
use crate::picture::Chip;
use crate::similarity::{Point, Similarity};

/// The five landmarks of a face: eyes, nose, corners of the mouth; of each pair the one on the left
/// of the picture first.
pub type Landmarks = [Point; 5];

/// A network that turns aligned faces into embeddings.
///
/// Memory for running it is the caller's [`Workspace`], one per thread.
pub struct Recogniser {
    rule: Rule,
    network: Network,
}

/// What tells recognisers apart but for their network.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Rule {
    name: &'static str,
    side: usize,
    /// Where landmarks lie in a chip.
    template: Landmarks,
    /// Values are `(pixel - mean) * factor`.
    mean: [f32; 3],
    factor: f32,
    metric: Metric,
    /// The largest distance at which two faces match.
    threshold: f32,
}

// A program with one recogniser left out needs only one of these.
#[cfg_attr(not(all(feature = "dlib", feature = "sface")), allow(dead_code))]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Metric {
    Euclidean,
    /// One minus the cosine of the angle between embeddings.
    Cosine,
}

impl Recogniser {
    /// dlib's ResNet v1 (the network of `face_recognition`): Euclidean distance, match up to 0.6.
    #[cfg(feature = "dlib")]
    pub fn dlib() -> Result<Self> {
        let rule = Rule {
            name: "dlib",
            side: 150,
            template: [[47.2, 45.3], [102.8, 45.6], [74.6, 77.5], [52.1, 102.1], [99.2, 102.2]],
            mean: [122.782, 117.001, 104.298],
            factor: 1.0 / 256.0,
            metric: Metric::Euclidean,
            threshold: 0.6,
        };
        Ok(Self { rule, network: crate::networks::dlib::network()? })
    }

    /// SFace: cosine distance, match from a cosine of 0.363.
    #[cfg(feature = "sface")]
    pub fn sface() -> Result<Self> {
        let rule = Rule {
            name: "sface",
            side: 112,
            template: [
                [38.2946, 51.6963],
                [73.5318, 51.5014],
                [56.0252, 71.7366],
                [41.5493, 92.3655],
                [70.7299, 92.2041],
            ],
            mean: [127.5; 3],
            factor: 1.0 / 128.0,
            metric: Metric::Cosine,
            threshold: 1.0 - 0.363,
        };
        Ok(Self { rule, network: crate::networks::sface::network()? })
    }

    /// Its name.
    pub fn name(&self) -> &'static str {
        self.rule.name
    }

    /// Side of its chips.
    pub fn side(&self) -> usize {
        self.rule.side
    }

    /// The largest distance at which two faces match.
    pub fn threshold(&self) -> f32 {
        self.rule.threshold
    }

    /// How a face with these landmarks is placed in a chip. Use one placement for a photo and its
    /// changed twin, or the jitter of landmarks counts as a change.
    pub fn placement(&self, landmarks: &Landmarks) -> Result<Similarity> {
        Similarity::fit(landmarks, &self.rule.template)
    }

    /// The embedding of an aligned face.
    pub fn embed(&self, chip: &Chip, work: &mut Workspace) -> Result<Vec<f32>> {
        self.forward(chip, work)?;
        Ok(self.network.output(work, 0).to_vec())
    }

    /// The embedding, and the gradient with respect to the chip's values of
    /// `sum(weights(embedding) * embedding)`, where the weights may depend on the embedding.
    pub fn gradient(
        &self,
        chip: &Chip,
        work: &mut Workspace,
        weights: impl FnOnce(&[f32]) -> Vec<f32>,
    ) -> Result<(Vec<f32>, Vec<f32>)> {
        let embedding = self.embed(chip, work)?;
        let upstream = weights(&embedding);
        if upstream.len() != embedding.len() {
            let (expected, found) = (embedding.len(), upstream.len());
            return Err(Error::GradientSize { expected, found });
        }
        let gradient = self.network.backward(work, 0, &upstream);
        Ok((embedding, gradient.iter().map(|g| g * self.rule.factor).collect()))
    }

    fn forward(&self, chip: &Chip, work: &mut Workspace) -> Result<()> {
        let Rule { side, mean, factor, .. } = self.rule;
        if chip.side() != side {
            let (expected, found) = (3 * side * side, chip.values().len());
            return Err(Error::ChipSize { expected, found });
        }
        self.network.forward(work, Shape::new(3, side, side), |input| {
            let planes = input.chunks_exact_mut(side * side);
            for ((to, from), mean) in planes.zip(chip.values().chunks_exact(side * side)).zip(mean)
            {
                to.iter_mut().zip(from).for_each(|(t, f)| *t = (f - mean) * factor);
            }
        });
        Ok(())
    }

    /// How far two embeddings lie apart.
    pub fn distance(&self, a: &[f32], b: &[f32]) -> f32 {
        let dot = |a: &[f32], b: &[f32]| -> f32 { a.iter().zip(b).map(|(a, b)| a * b).sum() };
        match self.rule.metric {
            Metric::Euclidean => a.iter().zip(b).map(|(a, b)| (a - b).powi(2)).sum::<f32>().sqrt(),
            Metric::Cosine => {
                let size = (dot(a, a) * dot(b, b)).sqrt();
                if size > 0.0 { 1.0 - dot(a, b) / size } else { 1.0 }
            }
        }
    }

    /// The gradient with respect to `a` of minus the distance between two embeddings: where `a` has
    /// to go to come closer to `b` the fastest.
    pub fn pull(&self, a: &[f32], b: &[f32]) -> Vec<f32> {
        let dot = |a: &[f32], b: &[f32]| -> f32 { a.iter().zip(b).map(|(a, b)| a * b).sum() };
        match self.rule.metric {
            Metric::Euclidean => {
                let distance = self.distance(a, b).max(f32::MIN_POSITIVE);
                a.iter().zip(b).map(|(a, b)| (b - a) / distance).collect()
            }
            Metric::Cosine => {
                let (size, other) = (dot(a, a).sqrt(), dot(b, b).sqrt());
                if size == 0.0 || other == 0.0 {
                    return vec![0.0; a.len()];
                }
                let cosine = dot(a, b) / (size * other);
                a.iter().zip(b).map(|(a, b)| (b / other - cosine * a / size) / size).collect()
            }
        }
    }

    /// Whether faces at that distance count as one person's.
    pub fn matches(&self, distance: f32) -> bool {
        distance <= self.rule.threshold
    }
}
