//! The result of `protect`.

use std::sync::Arc;

use crate::basis::Transform;
use crate::error::Result;
use crate::features::FeatureModel;
use crate::noise::Randomness;
use crate::plane::Plane;
use crate::receipt::Terms;

/// A chip with noise, and what Algorithm 1 of the paper returns with it.
///
/// Values are floating point. Do not publish them: publish the picture rounded to 8 or 16 bits.
#[derive(Clone)]
pub struct Release {
    /// `P'`: the chip with noise, not rounded.
    pub plane: Plane,
    /// `K`. A function of the draw: private.
    pub geometric_number: usize,
    /// The paper's `sigma_t^2 = 2 sum_(k <= K) b_k^2`.
    pub theoretical_variance: f64,
    /// `2 f`: the expectation of `theoretical_variance` over K.
    pub expected_variance: f64,
    pub randomness: Randomness,
    /// The noise of the coefficients that have any.
    pub(super) sparse: Vec<(usize, f64)>,
    pub(super) transform: Arc<dyn Transform>,
    pub(crate) terms: Arc<Terms>,
    pub(super) model: Arc<FeatureModel>,
}

impl Release {
    /// The noise, in pixels. Computed on each call.
    pub fn noise(&self) -> Plane {
        let mut noise = Plane::zeros(self.plane.width(), self.plane.height());
        self.transform.synthesise(&self.sparse, noise.data_mut());
        noise
    }

    /// `F'`: the noisy features. Computed on each call, at far more cost than the noise itself.
    pub fn features(&self) -> Result<Vec<f64>> {
        self.model.project(&self.plane, self.terms.method.features)
    }

    /// The plan's terms, with the randomness that was used.
    pub fn terms(&self) -> Terms {
        self.terms.with_randomness(self.randomness)
    }

    /// The paper's real variance `sigma_r^2` before rounding: the energy of the noise. Computed on each call.
    pub fn real_variance(&self) -> f64 {
        self.noise().energy()
    }
}
