//! The convex optimum, with a certificate.
//!
//! `min f(x)  s.t.  eps(x) <= eps0, x >= 0` is convex in x. The multiplicative step
//! `x_k <- x_k q_k f / eps(x)` keeps the cost and never raises the budget spent (it minimises a
//! majorant of it), and [`Problem::gap`] bounds what is left to gain.

use super::{Proposal, prune};
use crate::budget::Problem;
use crate::linear::dot;

/// Easy problems converge to rounding within this many steps, which cost next to nothing.
const LEAST_ITERATIONS: usize = 100;
/// A stop for problems that do not converge; the 64 x 16384 one takes about 1,500 steps.
const MOST_ITERATIONS: usize = 20_000;
/// Coefficients below this share of the cost are set aside, until the last check recalls them.
const ASIDE: f64 = 1e-15;
/// The share at which a recalled coefficient starts again.
const RECALLED: f64 = 1e-9;

/// Iterates until the gap over all coefficients, after pruning, is at most `max_gap`.
pub fn solve(problem: &Problem<'_>, max_gap: f64) -> Proposal {
    let mut x = vec![1.0; problem.weights.coefficients()];
    let mut active: Vec<usize> = (0..x.len()).collect();
    let mut variances = problem.variances(&x);
    let mut iterations = 0;
    loop {
        let cost: f64 = active.iter().map(|&k| x[k]).sum();
        let spent = problem.spent(&variances);
        let worth = problem.worth(&variances);
        // One pass over the active weights takes the step and sums the next variances.
        let mut most = 0.0f64;
        variances.fill(0.0);
        active.retain(|&k| {
            let row = problem.weights.row(k);
            let q = dot(row, &worth);
            most = most.max(q);
            let step = x[k] * q * cost / spent;
            let stays = step >= ASIDE * cost;
            x[k] = if stays { step } else { 0.0 };
            if stays {
                variances.iter_mut().zip(row).for_each(|(v, w)| *v += w * step);
            }
            stays
        });
        iterations += 1;
        let done = iterations >= MOST_ITERATIONS;
        let close = cost * most / spent - 1.0 <= 0.9 * max_gap;
        if close && iterations >= LEAST_ITERATIONS || done {
            let pruned = prune(&x);
            if problem.gap(&pruned) <= max_gap || done {
                return Proposal { x: pruned, iterations, residuals: None };
            }
            for (k, row) in problem.weights.rows().enumerate() {
                if x[k] == 0.0 && dot(row, &worth) * cost > spent {
                    x[k] = RECALLED * cost;
                    active.push(k);
                }
            }
        }
    }
}
