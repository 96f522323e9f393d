//! Normalisation approximation: the paper's closed form.
//!
//! The paper sets `b_k` proportional to `sum_i Delta_i / w_ik`, on the ground that a geometric
//! sum of Laplace noises is itself Laplace when `|w_ik| b_k` does not depend on k. Taken
//! literally, weights near zero get the most noise, where it helps least, and zero weights
//! divide by zero. So only weights "of interest" count, `|w_ik| >= significance * max_k |w_ik|`,
//! and a coefficient with none of them gets no noise. `significance = 0` is the literal formula,
//! with absolute values and a floor under the weights.

use super::Proposal;
use crate::budget::Problem;

/// The floor under absolute weights in the literal formula.
const LEAST_WEIGHT: f64 = 1e-12;

/// `x_k = (sum_i Delta_i / |w_ik|)^2 g_k` over the weights of interest.
///
/// `peaks` are the largest squared weights of each feature over all coefficients.
pub fn solve(
    problem: &Problem<'_>,
    survivals: &[f64],
    peaks: &[f64],
    significance: f64,
) -> Proposal {
    let floor = LEAST_WEIGHT * LEAST_WEIGHT;
    let least: Vec<f64> = peaks.iter().map(|peak| significance * significance * peak).collect();
    let scale = |row: &[f64]| -> f64 {
        let terms = row.iter().zip(&least).zip(problem.sensitivities);
        terms.filter(|((w, least), _)| w >= least).map(|((w, _), d)| d / w.max(floor).sqrt()).sum()
    };
    let rows = problem.weights.rows().zip(survivals);
    Proposal::closed(rows.map(|(row, g)| scale(row).powi(2) * g).collect())
}
