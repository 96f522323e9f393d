//! Exact noise of the staircase mechanism (Geng and Viswanath, "The Optimal Mechanism in Differential
//! Privacy", 2014), on integers.
//!
//! For a sensitivity of `n` and a first step of `r` (1 to n), `Pr[z]` is proportional to
//! `e^(-s/t * floor((|z| + n - r) / n))`: constant for `|z| < r`, then lower by a factor of `e^(-s/t)` after
//! every `n` values. A change of the input by at most `n` changes the level by at most 1
//! (proofs/mechanisms.md). At large budgets its variance is far below that of Laplace noise.

use rand_core::CryptoRng;

use super::knorm::geometric;
use super::laplace::below;
use crate::error::{Error, Result};

/// Draws staircase noise. `s`, `t` and `n` must not be 0, and `r` lies in `1..=n`; `n` must stay far below
/// `2^62`. A draw that does not fit a word is an error.
pub fn staircase<R: CryptoRng + ?Sized>(
    n: u64,
    r: u64,
    s: u64,
    t: u64,
    noise: &mut R,
) -> Result<i64> {
    loop {
        // Levels of weight e^(-level s/t), each as if it had 2n values.
        let level = geometric(s, t, noise);
        let at = below(2 * n, noise);
        let (size, negative) = match level {
            // Level 0 has only 2r - 1 values: the others are rejected.
            0 if at >= 2 * r - 1 => continue,
            0 => (u128::from(at.div_ceil(2)), at % 2 == 1),
            level => {
                let first = (level - 1) * u128::from(n) + u128::from(r);
                (first + u128::from(at / 2), at % 2 == 1)
            }
        };
        if size >= 1 << 62 {
            return Err(Error::NoiseOverflow);
        }
        let size = size as i64;
        return Ok(if negative { -size } else { size });
    }
}

/// The variance of staircase noise with a sensitivity of 1 and a first step of `share`, on a fine grid.
pub fn staircase_variance(epsilon: f64, share: f64) -> f64 {
    let b = (-epsilon).exp();
    let c = -(-epsilon).exp_m1();
    // Sums over k of b^k, k b^k, k^2 b^k, k^3 b^k, each times c = 1 - b.
    let [one, first] = [1.0, b / c];
    let second = b * (1.0 + b) / (c * c);
    let third = b * (1.0 + 4.0 * b + b * b) / (c * c * c);
    let cubes = third + 3.0 * share * second + 3.0 * share * share * first + share.powi(3) * one;
    cubes / (3.0 * (share + b / c))
}

/// The smallest first step, as a share of the sensitivity. A draw takes up to as many tries as its inverse;
/// smaller steps would gain nothing that shows.
const LEAST_STEP: f64 = 1.0 / 256.0;

/// The first step that gives the least variance, as a share of the sensitivity, and that variance.
pub fn best_staircase(epsilon: f64) -> (f64, f64) {
    // The variance has one minimum: golden section.
    let ratio = 0.5 * (5f64.sqrt() - 1.0);
    let (mut low, mut high) = (LEAST_STEP, 1.0);
    for _ in 0..60 {
        let (left, right) = (high - ratio * (high - low), low + ratio * (high - low));
        match staircase_variance(epsilon, left) < staircase_variance(epsilon, right) {
            true => high = right,
            false => low = left,
        }
    }
    let share = 0.5 * (low + high);
    (share, staircase_variance(epsilon, share))
}
