//! Budget and cost in x-space, and the step that turns a proposal into noise scales.
//!
//! `x_k = b_k^2 g_k` is half the expected noise energy at rank k, `Delta_i` are the sensitivities and
//! `w_ik^2` the squared weights:
//!
//! ```text
//! feature variance (halved)  v_i(x) = sum_k w_ik^2 x_k
//! budget                     eps(x) = sum_i Delta_i / sqrt(v_i)             paper eq. 4.1
//! cost                       f(x)   = sum_k x_k                             paper eq. 4.2
//! pull of a coefficient      q_k(x) = sum_i Delta_i w_ik^2 v_i^(-3/2) = -2 d eps / d x_k
//! ```
//!
//! The budget is convex in x and `eps(c^2 x) = eps(x) / c`. Any proposal of a solver can therefore be
//! rescaled to spend exactly `eps0`. The least possible cost `f*` is bounded by
//!
//! ```text
//! eps0 / max_k q_k  <=  f*  <=  f(x)        gap = f(x) max_k q_k / eps0 - 1
//! ```

#[cfg(test)]
mod tests;

use crate::error::{Error, Result};
use crate::weights::Weights;

/// The constraint on a solver: spend `epsilon` on features with these sensitivities.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Problem<'a> {
    /// One row per coefficient that may get noise.
    pub weights: &'a Weights,
    /// `Delta_i`.
    pub sensitivities: &'a [f64],
    /// `eps0`.
    pub epsilon: f64,
}

impl Problem<'_> {
    /// `v_i(x)`, the halved variance of each feature's noise.
    pub(crate) fn variances(&self, x: &[f64]) -> Vec<f64> {
        self.weights.variances(x)
    }

    /// `eps(x)` from the variances; infinite if one of them is 0.
    pub(crate) fn spent(&self, variances: &[f64]) -> f64 {
        self.sensitivities.iter().zip(variances).map(|(delta, v)| delta / v.sqrt()).sum()
    }

    /// `Delta_i v_i^(-3/2)`: the value of one unit of feature variance.
    pub(crate) fn worth(&self, variances: &[f64]) -> Vec<f64> {
        self.sensitivities.iter().zip(variances).map(|(delta, v)| delta / (v * v.sqrt())).collect()
    }

    /// `f` after rescaling x to spend exactly `epsilon`.
    pub(crate) fn cost_at_budget(&self, x: &[f64]) -> f64 {
        let spent = self.spent(&self.variances(x)) / self.epsilon;
        x.iter().sum::<f64>() * spent * spent
    }

    /// An upper bound on the relative excess over the least cost, of x rescaled to the budget.
    pub(crate) fn gap(&self, x: &[f64]) -> f64 {
        let variances = self.variances(x);
        let worth = self.worth(&variances);
        let max = self.weights.pulls(&worth).into_iter().fold(0.0, f64::max);
        // Scaling x changes f q only by the factor of the budget, which is divided out.
        x.iter().sum::<f64>() * max / self.spent(&variances) - 1.0
    }

    /// A lower bound on the cost of any additive noise under this accounting:
    /// `(sum_i Delta_i^(2/3))^3 / eps0^2`, since `sum_i w_ik^2 <= 1`.
    pub(crate) fn subspace_bound(&self) -> f64 {
        let sum: f64 = self.sensitivities.iter().map(|delta| delta.cbrt().powi(2)).sum();
        sum.powi(3) / (self.epsilon * self.epsilon)
    }
}

/// Laplace scales by rank that spend a budget exactly.
///
/// `Scales::spend` is the only constructor, so no noise can be drawn whose budget is not accounted
/// for. Scales are multiples of a power of two, the grid of the discrete Laplace sampler. They are
/// rounded up, so the budget spent never exceeds the one given.
#[derive(Debug, Clone)]
pub struct Scales {
    units: Vec<u64>,
    grid: f64,
    spent: f64,
    energy: Vec<f64>,
    cost: f64,
}

/// Bits of the smallest scale on the grid: enough to make the cost of rounding negligible.
const FINE_BITS: i32 = 44;
/// Bits of the largest scale.
const MAX_BITS: i32 = 60;

impl Scales {
    /// Rescales a proposal `x` (one value per row of `problem`, in rank order) to the budget and
    /// converts it to scales `b_k = sqrt(x_k / g_k)`.
    pub(crate) fn spend(problem: &Problem<'_>, x: &[f64], survivals: &[f64]) -> Result<Self> {
        let ranks = problem.weights.coefficients();
        if x.len() != ranks || survivals.len() < ranks {
            let found = x.len().min(survivals.len());
            return Err(Error::Ranks { expected: ranks, found });
        }
        let variances = problem.variances(x);
        if let Some(bare) = variances.iter().position(|&v| v.is_nan() || v <= 0.0) {
            return Err(Error::Uncovered { feature: bare + 1 });
        }
        let factor = problem.spent(&variances) / problem.epsilon;
        let ideal: Vec<f64> =
            x.iter().zip(survivals).map(|(x, g)| factor * (x / g).sqrt()).collect();
        let max = ideal.iter().copied().fold(0.0, f64::max);
        let min = ideal.iter().copied().filter(|&b| b > 0.0).fold(f64::INFINITY, f64::min);
        if !(1e-60..=1e60).contains(&min) || !(1e-60..=1e60).contains(&max) {
            return Err(Error::ScaleRange { epsilon: problem.epsilon });
        }
        let bits = |b: f64| b.log2().floor() as i32;
        let exponent = (bits(min) - FINE_BITS).max(bits(max) + 1 - MAX_BITS);
        let grid = 2f64.powi(exponent);
        let units: Vec<u64> = ideal.iter().map(|b| (b / grid).ceil() as u64).collect();
        let energy: Vec<f64> = units
            .iter()
            .zip(survivals)
            .map(|(&units, g)| (units as f64 * grid).powi(2) * g)
            .collect();
        let spent = problem.spent(&problem.variances(&energy));
        let cost = energy.iter().sum();
        Ok(Self { units, grid, spent, energy, cost })
    }

    /// Scales by rank, in units of the grid.
    pub fn units(&self) -> &[u64] {
        &self.units
    }

    /// The grid of the noise, a power of two.
    pub fn grid(&self) -> f64 {
        self.grid
    }

    /// `b_k` of the rank at `index` (rank minus one).
    pub fn scale(&self, index: usize) -> f64 {
        self.units[index] as f64 * self.grid
    }

    /// `eps(b)`: what these scales spend.
    pub fn spent(&self) -> f64 {
        self.spent
    }

    /// `x_k = b_k^2 g_k` by rank.
    pub fn energy(&self) -> &[f64] {
        &self.energy
    }

    /// `f`, half the expected energy of the noise.
    pub fn cost(&self) -> f64 {
        self.cost
    }
}
