//! Lagrange-multiplier gradient descent as the paper prints it.
//!
//! ```text
//! F1      = |eps(b) - eps0|                       F2_k = |lambda q_k - 2|,  F2 = sum_k F2_k
//! b_k    -= eta (|dF1/db_k| + |dF2_k/db_k|)       |dF1/db_k|   = b_k g_k q_k
//! lambda -= eta sum_k |dF2_k/dlambda|             |dF2_k/db_k| = 3 lambda b_k g_k sum_i Delta_i w_ik^4 v_i^(-5/2)
//! ```
//!
//! until `F1 + F2 < delta`. The absolute values are the paper's: scales can only shrink, and lambda can only
//! fall. Two things are ours, since the paper leaves them open: lambda is one number while its equations
//! are one per coefficient, so their sum is taken; and since F2 does not vanish, iterations are limited and
//! the scales with the least loss are returned.

use super::Proposal;
use crate::budget::Problem;

/// Iterates from uniform scales, and returns those with the least loss.
pub(crate) fn solve(
    problem: &Problem<'_>,
    survivals: &[f64],
    eta: f64,
    max_iterations: usize,
    delta: f64,
) -> Proposal {
    // eps(b) close but not equal to eps0, as the paper asks.
    let factor = 1.02 * problem.spent(&problem.variances(survivals)) / problem.epsilon;
    let ranks = problem.weights.coefficients();
    let mut scales = vec![factor; ranks];
    let energies = |scales: &[f64]| -> Vec<f64> {
        scales.iter().zip(survivals).map(|(b, g)| b * b * g).collect()
    };
    let mut lambda = None;
    let mut iterations = 0;
    let mut best: Option<(f64, Proposal)> = None;
    loop {
        let x = energies(&scales);
        let variances = problem.variances(&x);
        let (spent, worth) = (problem.spent(&variances), problem.worth(&variances));
        let multiplier = *lambda.get_or_insert(2.0 * x.iter().sum::<f64>() / spent);
        let pulls = problem.weights.pulls(&worth);
        let f1 = (spent - problem.epsilon).abs();
        let f2: f64 = pulls.iter().map(|q| (multiplier * q - 2.0).abs()).sum();
        let loss = f1 + f2;
        let proposal = Proposal { x, iterations, residuals: Some((f1, f2)) };
        let (least, found) = match best {
            Some(known) if known.0 <= loss || loss.is_nan() => known,
            _ => (loss, proposal),
        };
        if loss < delta || iterations == max_iterations || loss.is_nan() {
            return Proposal { iterations, ..found };
        }
        best = Some((least, found));
        // Delta_i v_i^(-5/2)
        let steep: Vec<f64> = worth.iter().zip(&variances).map(|(w, v)| w / v).collect();
        let rows = problem.weights.rows().zip(&pulls).zip(survivals);
        for (b, ((row, q), g)) in scales.iter_mut().zip(rows) {
            let fourth: f64 = row.iter().zip(&steep).map(|(w, s)| w * w * s).sum();
            let step = *b * g * (q + 3.0 * multiplier * fourth);
            *b = (*b - eta * step).max(0.0);
        }
        lambda = Some(multiplier - eta * pulls.iter().sum::<f64>());
        iterations += 1;
    }
}
