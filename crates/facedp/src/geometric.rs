//! The geometric number `K`: how many of the ranked coefficients get noise.
//!
//! `K` lies in `1..=n` with `Pr[K = k]` proportional to `(1-p)^(k-1)` (the paper's Definition 5:
//! mean about `1/p`). Its survival function has a closed form: with `L = ln(1-p)`,
//!
//! ```text
//! g_k = Pr[K >= k] = e^((k-1)L) * expm1((n-k+1)L) / expm1(nL)
//! ```

use rand_core::CryptoRng;

use crate::error::{Error, Result};

/// Ranks that are reached with a lower probability get no noise. Their scales would exceed the range
/// of floating point, and such a draw practically never happens.
const MIN_SURVIVAL: f64 = 1e-12;

/// The truncated geometric law.
///
/// ```
/// let law = facedp::Geometric::new(0.5, 2)?;
/// // Pr[K=1] : Pr[K=2] = 1 : 1/2
/// assert!((law.survival(2) - 1.0 / 3.0).abs() < 1e-15);
/// # Ok::<(), facedp::Error>(())
/// ```
#[derive(Debug, Clone, Copy)]
pub struct Geometric {
    n: usize,
    /// L = ln(1 - p).
    log_q: f64,
    /// expm1(n L) = (1-p)^n - 1.
    tail: f64,
}

impl Geometric {
    /// The law with parameter `p` on `1..=n`; `n` must be at least 1.
    pub fn new(p: f64, n: usize) -> Result<Self> {
        if !(p > 0.0 && p < 1.0 && n > 0) {
            return Err(Error::GeometricP(p));
        }
        let log_q = (-p).ln_1p();
        Ok(Self { n, log_q, tail: (n as f64 * log_q).exp_m1() })
    }

    /// `g_k = Pr[K >= k]` for a rank `k` in `1..=n`; 0 beyond.
    pub fn survival(&self, k: usize) -> f64 {
        if k <= 1 {
            return 1.0;
        }
        if k > self.n {
            return 0.0;
        }
        let left = ((self.n - k + 1) as f64 * self.log_q).exp_m1() / self.tail;
        ((k - 1) as f64 * self.log_q).exp() * left
    }

    /// `g_1, g_2, ...` down to the last rank that can get noise (`g_k >= 1e-12`).
    pub fn survivals(&self) -> Vec<f64> {
        let all = (1..=self.n).map(|k| self.survival(k));
        all.take_while(|&g| g >= MIN_SURVIVAL).collect()
    }

    /// Draws `K` by inversion: the largest `k` with `g_k >= u` for `u` uniform on `(0, 1]`.
    ///
    /// Computed in floating point from 53 random bits: probabilities are accurate to about 1e-16,
    /// far better than the accounting needs.
    pub fn sample<R: CryptoRng + ?Sized>(&self, noise: &mut R) -> usize {
        let u = ((noise.next_u64() >> 11) + 1) as f64 * 2f64.powi(-53);
        // g_k >= u  <=>  (1-p)^(k-1) >= 1 + (1-u) tail
        let steps = ((1.0 - u) * self.tail).ln_1p() / self.log_q;
        1 + (steps as usize).min(self.n - 1)
    }
}
