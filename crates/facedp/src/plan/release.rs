//! What `protect` returns.

use std::sync::Arc;

use crate::error::Result;
use crate::features::FeatureModel;
use crate::plane::Plane;

/// A chip with noise, and what Algorithm 1 of the paper returns with it.
#[derive(Debug, Clone)]
pub struct Release {
    /// `P'`: the chip with noise, not rounded.
    pub plane: Plane,
    /// The noise alone.
    pub noise: Plane,
    /// `K`. A function of the draw: private.
    pub geometric_number: usize,
    /// The paper's `sigma_t^2 = 2 sum_(k <= K) b_k^2`.
    pub theoretical_variance: f64,
    /// `2 f`: its expectation over K.
    pub expected_variance: f64,
    pub(super) model: Arc<FeatureModel>,
    pub(super) features: usize,
}

impl Release {
    /// `F'`: the noisy features. Computed when asked for, since it costs far more than the
    /// noise itself.
    pub fn features(&self) -> Result<Vec<f64>> {
        self.model.project(&self.plane, self.features)
    }

    /// The paper's real variance `sigma_r^2` before rounding: the energy of the noise.
    pub fn real_variance(&self) -> f64 {
        self.noise.energy()
    }
}
