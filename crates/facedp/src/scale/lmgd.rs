//! Lagrange-multiplier gradient descent: the paper's iterative method.
//!
//! The paper alternates gradient steps on the scales b and the multiplier lambda of
//! `L(b, lambda) = f(b) + lambda (eps(b) - eps0)`. The gradients as printed carry absolute values,
//! which can only shrink b, and the residual F2 cannot vanish where the optimum has `b_k = 0`. This
//! implementation takes signed steps in log space, so b stays positive, and uses the residuals both
//! for the direction and for stopping:
//!
//! ```text
//! r1    = eps/eps0 - 1                 F1 = |r1|
//! r2_k  = lambda q_k / 2 - 1           F2 = sum_k x_k |r2_k| / f
//! b_k     *= exp(eta (clip(r2_k, -1, 5) + clip(r1, -1, 1)))
//! lambda  *= exp(-eta clip(sum_k x_k r2_k / f, -1, 1))
//! ```
//!
//! `r2_k` is the gradient of L: `dL/dlog b_k = -2 x_k r2_k`.

use super::{Proposal, prune};
use crate::budget::Problem;

/// `dL/dlog b_k = 2 x_k (1 - lambda q_k / 2)` for every rank, for comparison with finite differences.
#[cfg(test)]
pub(crate) fn gradient(problem: &Problem<'_>, x: &[f64], lambda: f64) -> Vec<f64> {
    let worth = problem.worth(&problem.variances(x));
    let pulls = problem.weights.pulls(&worth);
    pulls.into_iter().zip(x).map(|(q, x)| -2.0 * x * residual(q, lambda)).collect()
}

/// `r2_k`.
fn residual(pull: f64, lambda: f64) -> f64 {
    0.5 * lambda * pull - 1.0
}

/// Iterates from uniform scales until `F1 + F2 < delta` and `gap < delta`, or for `max_iterations`.
///
/// Returns the best scales seen, which are never worse than the uniform ones.
pub(crate) fn solve(
    problem: &Problem<'_>,
    survivals: &[f64],
    eta: f64,
    max_iterations: usize,
    delta: f64,
) -> Proposal {
    // Uniform b, with eps(b) close but not equal to eps0, as the paper asks.
    let factor = 1.02 * problem.spent(&problem.variances(survivals)) / problem.epsilon;
    let mut x: Vec<f64> = survivals.iter().map(|g| factor * factor * g).collect();
    let start = problem.cost_at_budget(&x);
    let mut best = (start, x.clone());
    let mut lambda = None;
    let mut residuals = vec![0.0; x.len()];
    let mut iterations = 0;
    let (f1, f2) = loop {
        let variances = problem.variances(&x);
        let (spent, worth) = (problem.spent(&variances), problem.worth(&variances));
        let cost: f64 = x.iter().sum();
        let at_budget = cost * (spent / problem.epsilon).powi(2);
        if at_budget < best.0 {
            best = (at_budget, x.clone());
        }

        let multiplier = *lambda.get_or_insert(2.0 * cost / spent);
        let r1 = spent / problem.epsilon - 1.0;
        let (mut max, mut mean, mut mean_abs) = (0.0f64, 0.0, 0.0);
        let pulls = problem.weights.pulls(&worth);
        for ((r2, q), x) in residuals.iter_mut().zip(pulls).zip(&x) {
            *r2 = residual(q, multiplier);
            max = max.max(q);
            mean += x * *r2 / cost;
            mean_abs += x * r2.abs() / cost;
        }
        let gap = cost * max / spent - 1.0;
        let settled = r1.abs() + mean_abs < delta && gap < delta;
        if settled || iterations == max_iterations {
            break (r1.abs(), mean_abs);
        }

        for (x, r2) in x.iter_mut().zip(&residuals) {
            *x *= (2.0 * eta * (r2.clamp(-1.0, 5.0) + r1.clamp(-1.0, 1.0))).exp();
        }
        lambda = Some(multiplier * (-eta * mean.clamp(-1.0, 1.0)).exp());
        iterations += 1;
    };
    let pruned = prune(&best.1);
    let x = if problem.cost_at_budget(&pruned) <= start { pruned } else { best.1 };
    Proposal { x, iterations, residuals: Some((f1, f2)) }
}
