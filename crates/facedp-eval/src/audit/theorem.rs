//! The paper's Theorem 1: the noise of a feature, a weighted sum of Laplace variables, is itself Laplace
//! distributed. `proofs/paper.md` says when this holds, and why it does not in general.

use facedp::noise::experiment;
use rand_core::CryptoRng;
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

/// How well the noise of a feature fits the distribution that Theorem 1 states.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Fit {
    /// Features are counted from 1.
    pub feature: usize,
    /// The scale of the claimed Laplace distribution.
    pub scale: f64,
    /// The Kolmogorov-Smirnov distance between the draws and the claimed distribution.
    pub distance: f64,
    /// Draws from the claimed distribution exceed this distance with probability at most 1e-3.
    pub critical: f64,
}

/// Draws noise for all features and compares each feature with its claimed distribution.
pub(super) fn fits(
    scales: &[f64],
    draw: impl Fn(&mut dyn CryptoRng) -> Vec<f64> + Sync,
    draws: usize,
    seed: u64,
) -> Vec<Fit> {
    let one = |n: usize| draw(&mut experiment(seed, &format!("theorem 1 draw {n}")));
    let noises: Vec<Vec<f64>> = (0..draws).into_par_iter().map(one).collect();
    // Dvoretzky-Kiefer-Wolfowitz, with Massart's constant.
    let critical = ((2.0 / 1e-3f64).ln() / (2.0 * draws.max(1) as f64)).sqrt();
    let fit = |(n, scale): (usize, &f64)| {
        let mut values: Vec<f64> = noises.iter().map(|noise| noise[n]).collect();
        values.sort_unstable_by(f64::total_cmp);
        let law =
            |x: f64| if x < 0.0 { 0.5 * (x / scale).exp() } else { 1.0 - 0.5 * (-x / scale).exp() };
        let count = draws as f64;
        let apart = |(rank, x): (usize, &f64)| {
            let claimed = law(*x);
            (claimed - rank as f64 / count).max((rank + 1) as f64 / count - claimed)
        };
        let distance = values.iter().enumerate().map(apart).fold(0.0, f64::max);
        Fit { feature: n + 1, scale: *scale, distance, critical }
    };
    scales.iter().enumerate().collect::<Vec<_>>().into_par_iter().map(fit).collect()
}
