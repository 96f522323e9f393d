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
    let mut variances = problem.variances(&x);
    let mut iterations = 0;
    loop {
        let (cost, spent): (f64, f64) = (x.iter().sum(), problem.spent(&variances));
        let worth = problem.worth(&variances);
        // One pass over the weights takes the step and sums the next variances.
        let mut most = 0.0f64;
        variances.fill(0.0);
        for (row, x) in problem.weights.rows().zip(&mut x).filter(|(_, x)| **x > 0.0) {
            let q = dot(row, &worth);
            most = most.max(q);
            *x *= q * cost / spent;
            if *x < ASIDE * cost {
                *x = 0.0;
                continue;
            }
            let step = *x;
            variances.iter_mut().zip(row).for_each(|(v, w)| *v += w * step);
        }
        iterations += 1;
        let done = iterations >= MOST_ITERATIONS;
        let close = cost * most / spent - 1.0 <= 0.9 * max_gap;
        if close && iterations >= LEAST_ITERATIONS || done {
            let pruned = prune(&x);
            if problem.gap(&pruned) <= max_gap || done {
                return Proposal { x: pruned, iterations, residuals: None };
            }
            for (row, x) in problem.weights.rows().zip(&mut x).filter(|(_, x)| **x == 0.0) {
                if dot(row, &worth) * cost > spent {
                    *x = RECALLED * cost;
                }
            }
        }
    }
}
