//! The convex optimum, with a certificate.
//!
//! `min f(x)  s.t.  eps(x) <= eps0, x >= 0` is convex in x. The multiplicative step
//! `x_k <- x_k q_k f / eps(x)` keeps the cost and never raises the budget spent, because it minimises
//! a majorant of it. [`Problem::gap`] bounds what is left to gain.

use super::{Proposal, prune};
use crate::budget::Problem;
use crate::linear::dot;

/// Easy problems converge to rounding error within this many steps, at negligible cost.
const MIN_ITERATIONS: usize = 100;
/// For problems that do not converge. The 64 x 16384 problem takes about 1,500 steps.
const MAX_ITERATIONS: usize = 20_000;
/// Coefficients below this share of the cost are set aside until the final check.
const ASIDE: f64 = 1e-15;
/// The share at which the final check restores a coefficient.
const RESTORED: f64 = 1e-9;

/// Iterates until the gap over all coefficients, after pruning, is at most `max_gap`.
pub(crate) fn solve(problem: &Problem<'_>, max_gap: f64) -> Proposal {
    let mut x = vec![1.0; problem.weights.coefficients()];
    let mut active: Vec<usize> = (0..x.len()).collect();
    let mut variances = problem.variances(&x);
    let mut iterations = 0;
    loop {
        let cost: f64 = active.iter().map(|&k| x[k]).sum();
        let spent = problem.spent(&variances);
        let worth = problem.worth(&variances);
        // One pass over the active weights takes the step and sums the next variances.
        let mut max = 0.0f64;
        variances.fill(0.0);
        active.retain(|&k| {
            let row = problem.weights.row(k);
            let q = dot(row, &worth);
            max = max.max(q);
            let step = x[k] * q * cost / spent;
            let stays = step >= ASIDE * cost;
            x[k] = if stays { step } else { 0.0 };
            if stays {
                variances.iter_mut().zip(row).for_each(|(v, w)| *v += w * step);
            }
            stays
        });
        iterations += 1;
        let done = iterations >= MAX_ITERATIONS;
        let close = cost * max / spent - 1.0 <= 0.9 * max_gap;
        if close && iterations >= MIN_ITERATIONS || done {
            let pruned = prune(&x);
            if problem.gap(&pruned) <= max_gap || done {
                return Proposal { x: pruned, iterations, residuals: None };
            }
            for (k, row) in problem.weights.rows().enumerate() {
                if x[k] == 0.0 && dot(row, &worth) * cost > spent {
                    x[k] = RESTORED * cost;
                    active.push(k);
                }
            }
        }
    }
}
