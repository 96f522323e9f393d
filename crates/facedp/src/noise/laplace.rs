//! Exact discrete Laplace noise.
//!
//! `Pr[X = x]` is proportional to `e^(-|x|/t)` on the integers. The sampler is Algorithm 2 of
//! Canonne, Kamath and Steinke, "The Discrete Gaussian for Differential Privacy" (2020), with a
//! whole scale t. It uses integers only, so the law of a draw is exact as far as the generator's
//! bits are uniform, which floating-point samplers are not (Mironov 2012). What is done with a draw
//! afterwards is the caller's: adding it to a photo in floats rounds again.
//!
//! OpenDP's sampler works in big integers and cannot take a generator; prio's takes 6 to 11
//! microseconds a draw. This one takes about a tenth of a microsecond.

use rand_core::CryptoRng;

/// Draws discrete Laplace noise of scale `t`; no noise at all if `t` is 0.
///
/// Variance `2 e^(1/t) / (e^(1/t) - 1)^2`, which is `2 t^2 - 1/6` up to `O(t^-2)`.
pub fn discrete_laplace<R: CryptoRng + ?Sized>(t: u64, noise: &mut R) -> i128 {
    if t == 0 {
        return 0;
    }
    loop {
        let low = below(t, noise);
        if !accept_exp(low, t, noise) {
            continue;
        }
        let mut high: u128 = 0;
        while accept_exp(1, 1, noise) {
            high += 1;
        }
        let size = (u128::from(t) * high + u128::from(low)) as i128;
        let negative = noise.next_u64() >> 63 == 1;
        // Zero has no sign: drawn twice as often, it is refused half of the time.
        match (negative, size) {
            (true, 0) => continue,
            (true, size) => return -size,
            (false, size) => return size,
        }
    }
}

/// True with probability `e^(-a/t)`, for `a <= t`.
///
/// `e^(-r) = 1 - r (1 - r/2 (1 - r/3 (...)))`: count how often a chance of `r/k` comes true in a
/// row; the answer is yes if that is an even number of times (proofs/mechanisms.md).
pub(super) fn accept_exp<R: CryptoRng + ?Sized>(a: u64, t: u64, noise: &mut R) -> bool {
    let mut k = 1;
    while (a == t || below(t, noise) < a) && (k == 1 || below(k, noise) == 0) {
        k += 1;
    }
    k % 2 == 1
}

/// Uniform on `0..n`, exactly (Lemire 2019: a product's high word, refusing the few low words
/// that would favour some values). `n` must not be 0.
pub(super) fn below<R: CryptoRng + ?Sized>(n: u64, noise: &mut R) -> u64 {
    let mut product = u128::from(noise.next_u64()) * u128::from(n);
    if (product as u64) < n {
        let refused = n.wrapping_neg() % n;
        while (product as u64) < refused {
            product = u128::from(noise.next_u64()) * u128::from(n);
        }
    }
    (product >> 64) as u64
}
