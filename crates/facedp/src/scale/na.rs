//! Normalisation approximation: the paper's closed form.
//!
//! The paper sets `b_k` proportional to `sum_i Delta_i / w_ik`, because a geometric sum of Laplace
//! noises is itself Laplace when `|w_ik| b_k` does not depend on k. Taken literally, the noise is
//! largest where weights are near zero, where it helps least, and zero weights divide by zero. So only
//! significant weights count, `|w_ik| >= significance * max_k |w_ik|`, and a coefficient without any
//! gets no noise. `significance = 0` is the literal formula, with absolute values and a lower limit
//! on the weights.

use super::Proposal;
use crate::budget::Problem;

/// The lower limit of absolute weights in the literal formula.
const MIN_WEIGHT: f64 = 1e-12;

/// `x_k = (sum_i Delta_i / |w_ik|)^2 g_k` over the significant weights.
///
/// `peaks` are the largest squared weights of each feature over all coefficients.
pub(crate) fn solve(
    problem: &Problem<'_>,
    survivals: &[f64],
    peaks: &[f64],
    significance: f64,
) -> Proposal {
    let floor = MIN_WEIGHT * MIN_WEIGHT;
    let min: Vec<f64> = peaks.iter().map(|peak| significance * significance * peak).collect();
    let scale = |row: &[f64]| -> f64 {
        let terms = row.iter().zip(&min).zip(problem.sensitivities);
        terms.filter(|((w, min), _)| w >= min).map(|((w, _), d)| d / w.max(floor).sqrt()).sum()
    };
    let rows = problem.weights.rows().zip(survivals);
    Proposal::closed(rows.map(|(row, g)| scale(row).powi(2) * g).collect())
}
