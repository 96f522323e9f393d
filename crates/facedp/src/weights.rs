//! How much each coefficient moves each feature.
//!
//! `w_ik = dF_i/dC_k = (H u_i)_k`: the features are linear in the coefficients, so the weights
//! are the transform of the eigenfaces. Budget, cost and ranking need only their squares.

use crate::basis::Transform;

/// Squared weights `w_ik^2`, one contiguous row of `features` values per coefficient `k`.
#[derive(Debug, Clone)]
pub struct Weights {
    features: usize,
    squared: Vec<f64>,
}

impl Weights {
    /// Transforms the first `features` eigenfaces (rows of `pixels` values).
    pub fn new(
        eigenfaces: &[f64],
        pixels: usize,
        features: usize,
        transform: &dyn Transform,
    ) -> Self {
        let mut squared = vec![0.0; pixels * features];
        let mut face = vec![0.0; pixels];
        for (i, eigenface) in eigenfaces.chunks_exact(pixels).take(features).enumerate() {
            face.copy_from_slice(eigenface);
            transform.forward(&mut face);
            for (w, row) in face.iter().zip(squared.chunks_exact_mut(features)) {
                row[i] = w * w;
            }
        }
        Self { features, squared }
    }

    /// The rows of some coefficients, in the order given.
    pub fn select(&self, coefficients: &[u32]) -> Self {
        let squared = coefficients.iter().flat_map(|&k| self.row(k as usize)).copied().collect();
        Self { features: self.features, squared }
    }

    /// Number of features.
    pub fn features(&self) -> usize {
        self.features
    }

    /// Number of coefficients.
    pub fn coefficients(&self) -> usize {
        self.squared.len() / self.features
    }

    /// `w_1k^2, w_2k^2, ...` of one coefficient.
    pub fn row(&self, k: usize) -> &[f64] {
        &self.squared[k * self.features..][..self.features]
    }

    /// All rows.
    pub fn rows(&self) -> impl Iterator<Item = &[f64]> {
        self.squared.chunks_exact(self.features)
    }

    /// The largest squared weight of each feature.
    pub fn peaks(&self) -> Vec<f64> {
        let mut peaks = vec![0.0f64; self.features];
        for row in self.rows() {
            peaks.iter_mut().zip(row).for_each(|(peak, &w)| *peak = peak.max(w));
        }
        peaks
    }
}
