//! A public model of faces in colour, from which `certified` makes faces.
//!
//! A face is a vector of colour values `P`, its surroundings a vector `R` (the context). Features are
//! what the surroundings do not tell: with the mean face `mu`, orthonormal directions `U` and a linear
//! prediction `g(R)` of the features,
//!
//! ```text
//! F = U^T (P - mu) - g(R)         P is about mu + U (g(R) + F)
//! ```
//!
//! Which pixels a value stands for is the business of whoever samples photos (`facedp-engine`).

mod file;
mod fit;

pub use fit::FaceSamples;

use crate::features::Provenance;

/// Mean, directions, prediction from surroundings, and statistics of the features over public faces.
#[derive(Debug, Clone)]
pub struct FaceModel {
    mean: Vec<f32>,
    /// Orthonormal, row by row.
    directions: Vec<f32>,
    context_mean: Vec<f32>,
    /// One row of context weights for each feature.
    prediction: Vec<f32>,
    boxes: Vec<[f64; 2]>,
    spreads: Vec<f64>,
    provenance: Provenance,
    hash: String,
}

impl FaceModel {
    /// Length of a face.
    pub fn values(&self) -> usize {
        self.mean.len()
    }

    /// Length of a context.
    pub fn context(&self) -> usize {
        self.context_mean.len()
    }

    /// The number of features, `M_F`.
    pub fn features(&self) -> usize {
        self.spreads.len()
    }

    /// A public interval for each feature: the 0.5 % and 99.5 % quantiles of the training set, rounded
    /// outwards to whole grey levels.
    pub fn boxes(&self) -> &[[f64; 2]] {
        &self.boxes
    }

    /// Variance of each feature over the training set.
    pub fn spreads(&self) -> &[f64] {
        &self.spreads
    }

    pub fn provenance(&self) -> &Provenance {
        &self.provenance
    }

    /// SHA-256 of the content, in hexadecimal.
    pub fn hash(&self) -> &str {
        &self.hash
    }

    /// `g(R)`: coordinates of a face along the directions, as far as its surroundings tell them.
    pub fn predicted(&self, context: &[f32]) -> Vec<f32> {
        let centred: Vec<f32> =
            context.iter().zip(&self.context_mean).map(|(r, mean)| r - mean).collect();
        self.prediction.chunks_exact(self.context()).map(|row| dot(row, &centred)).collect()
    }

    /// `mu + U c`: the face with these coordinates.
    pub fn face(&self, coordinates: &[f32]) -> Vec<f32> {
        let mut face = self.mean.clone();
        for (row, weight) in self.directions.chunks_exact(self.values()).zip(coordinates) {
            face.iter_mut().zip(row).for_each(|(sum, value)| *sum += weight * value);
        }
        face
    }

    /// The first `count` features of a face in surroundings that predict `coordinates`. Values that are NaN
    /// are unknown, and taken as predicted.
    pub fn features_of(&self, face: &[f32], coordinates: &[f32], count: usize) -> Vec<f64> {
        let expected = self.face(coordinates);
        let left: Vec<f32> = face
            .iter()
            .zip(&expected)
            .map(|(value, expected)| if value.is_nan() { 0.0 } else { value - expected })
            .collect();
        let rows = self.directions.chunks_exact(self.values()).take(count);
        rows.map(|row| f64::from(dot(row, &left))).collect()
    }
}

fn dot(a: &[f32], b: &[f32]) -> f32 {
    // Independent partial sums let the compiler use vector registers.
    let mut lanes = [0.0f32; 16];
    let (left, right) = (a.chunks_exact(16), b.chunks_exact(16));
    let rest: f32 = left.remainder().iter().zip(right.remainder()).map(|(a, b)| a * b).sum();
    for (left, right) in left.zip(right) {
        for ((lane, a), b) in lanes.iter_mut().zip(left).zip(right) {
            *lane += a * b;
        }
    }
    lanes.iter().sum::<f32>() + rest
}
