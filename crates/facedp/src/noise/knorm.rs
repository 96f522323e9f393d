//! Exact noise of the l-infinity K-norm mechanism (Hardt and Talwar, "On the Geometry of
//! Differential Privacy", 2010), on integers.
//!
//! `Pr[z]` is proportional to `e^(-|z| s/t)` on `Z^m`, with `|z|` the largest of the `|z_i|`. The
//! sampler draws a cube, then a point in it. With `q = e^(-s/t)`, a radius `r` of weight
//! `q^r (2r+1)^m` and `z` uniform on the `(2r+1)^m` points of the cube of that radius give `z` the
//! weight `sum over r >= |z| of q^r`, which is `q^|z|` up to a constant. The radius is the sum of
//! `m + 1` geometric numbers, of weight `q^r (r+1)...(r+m)/m!`, accepted with probability
//! `prod over j = 1..m of (2r+1) / (2(r+j))`. All numbers are integers, so the law is exact;
//! proofs/mechanisms.md shows each step.

use rand_core::CryptoRng;

use super::laplace::{accept_exp, below};
use crate::error::{Error, Result};

/// No radius exceeds this, so that coordinates and the numbers they are drawn from fit a word.
const MAX_RADIUS: u128 = 1 << 62;

/// Draws noise in `m` dimensions. In one dimension the law is discrete Laplace of scale `t/s`. `s` and
/// `t` must not be 0, and the mean radius, `(m + 1) t / s`, must stay far below `2^62`: a draw beyond it
/// is an error, since rounding it would change the law (proofs/mechanisms.md).
pub fn knorm<R: CryptoRng + ?Sized>(m: usize, s: u64, t: u64, noise: &mut R) -> Result<Vec<i64>> {
    let radius = loop {
        let radius = (0..=m).map(|_| geometric(s, t, noise)).sum::<u128>();
        if radius >= MAX_RADIUS - m as u128 {
            return Err(Error::NoiseOverflow);
        }
        let radius = radius as u64;
        let side = 2 * radius + 1;
        if (1..=m as u64).all(|j| below(2 * (radius + j), noise) < side) {
            break radius;
        }
    };
    let coordinate = |_| below(2 * radius + 1, noise) as i64 - radius as i64;
    Ok((0..m).map(coordinate).collect())
}

/// Draws `g >= 0` with `Pr[g]` proportional to `e^(-g s/t)`: the first half of Algorithm 2 of Canonne,
/// Kamath and Steinke (2020).
pub(super) fn geometric<R: CryptoRng + ?Sized>(s: u64, t: u64, noise: &mut R) -> u128 {
    let low = loop {
        let low = below(t, noise);
        if accept_exp(low, t, noise) {
            break low;
        }
    };
    let mut high: u128 = 0;
    while accept_exp(1, 1, noise) {
        high += 1;
    }
    (u128::from(t) * high + u128::from(low)) / u128::from(s)
}
