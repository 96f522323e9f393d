//! Weights: the derivative of each feature with respect to each coefficient.
//!
//! `w_ik = dF_i/dC_k = (H u_i)_k`: the features are linear in the coefficients, so the weights
//! are the transform of the eigenfaces. Budget, cost and ranking need only their squares.

use facedp_linalg::{MatMut, MatRef, product_into};

use crate::basis::Transform;

/// Squared weights `w_ik^2`, one contiguous row of `features` values per coefficient `k`.
#[derive(Debug, Clone)]
pub(crate) struct Weights {
    features: usize,
    squared: Vec<f64>,
}

impl Weights {
    /// Transforms the first `features` eigenfaces, which are rows of `pixels` values.
    pub(crate) fn new(
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
    pub(crate) fn select(&self, coefficients: &[u32]) -> Self {
        let squared = coefficients.iter().flat_map(|&k| self.row(k as usize)).copied().collect();
        Self { features: self.features, squared }
    }

    pub(crate) fn coefficients(&self) -> usize {
        self.squared.len() / self.features
    }

    /// `w_1k^2, w_2k^2, ...` of one coefficient.
    pub(crate) fn row(&self, k: usize) -> &[f64] {
        &self.squared[k * self.features..][..self.features]
    }

    pub(crate) fn rows(&self) -> impl Iterator<Item = &[f64]> {
        self.squared.chunks_exact(self.features)
    }

    /// `q_k = sum_i w_ik^2 worth_i` of every coefficient.
    pub(crate) fn pulls(&self, worth: &[f64]) -> Vec<f64> {
        let mut pulls = vec![0.0; self.coefficients()];
        let (out, worth) = (column_mut(&mut pulls), column(worth));
        product_into(out, self.matrix(), worth);
        pulls
    }

    /// `v_i = sum_k w_ik^2 x_k` of every feature.
    pub(crate) fn variances(&self, x: &[f64]) -> Vec<f64> {
        let mut variances = vec![0.0; self.features];
        let (out, x) = (column_mut(&mut variances), column(x));
        product_into(out, self.matrix().transpose(), x);
        variances
    }

    fn matrix(&self) -> MatRef<'_, f64> {
        MatRef::from_row_major_slice(&self.squared, self.coefficients(), self.features)
    }

    /// The largest squared weight of each feature.
    pub(crate) fn peaks(&self) -> Vec<f64> {
        let mut peaks = vec![0.0f64; self.features];
        for row in self.rows() {
            peaks.iter_mut().zip(row).for_each(|(peak, &w)| *peak = peak.max(w));
        }
        peaks
    }
}

fn column(values: &[f64]) -> MatRef<'_, f64> {
    MatRef::from_column_major_slice(values, values.len(), 1)
}

fn column_mut(values: &mut [f64]) -> MatMut<'_, f64> {
    let length = values.len();
    MatMut::from_column_major_slice_mut(values, length, 1)
}
