//! Exact discrete Laplace noise.
//!
//! `Pr[X = x]` is proportional to `e^(-|x|/t)` on the integers. The sampler is Algorithm 2 of
//! Canonne, Kamath and Steinke, "The Discrete Gaussian for Differential Privacy" (2020), with an
//! integer scale t. It uses integers only, so if the generator's bits are uniform, the law of a draw
//! is exact. Floating-point samplers are not (Mironov 2012). Adding a draw to a photo in floats
//! rounds again; that is the caller's concern.
//!
//! OpenDP's sampler works in big integers and cannot take a generator; prio's takes 6 to 11
//! microseconds a draw. This one takes about a tenth of a microsecond.

use rand_core::CryptoRng;

/// Draws discrete Laplace noise of scale `t`; always 0 if `t` is 0.
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
        // Zero has no sign. It comes up twice as often, so half of its draws are rejected.
        match (negative, size) {
            (true, 0) => continue,
            (true, size) => return -size,
            (false, size) => return size,
        }
    }
}

/// True with probability `e^(-a/t)`, for `a <= t`.
///
/// `e^(-r) = 1 - r (1 - r/2 (1 - r/3 (...)))` with `r = a/t`: count how many trials of probability
/// `r/k`, `k = 1, 2, ...`, succeed in a row. The result is true if the count is even
/// (proofs/mechanisms.md).
pub(super) fn accept_exp<R: CryptoRng + ?Sized>(a: u64, t: u64, noise: &mut R) -> bool {
    let mut k = 1;
    while (a == t || below(t, noise) < a) && (k == 1 || below(k, noise) == 0) {
        k += 1;
    }
    k % 2 == 1
}

/// Exactly uniform on `0..n` (Lemire 2019: the high word of a product, with the few low words rejected
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
