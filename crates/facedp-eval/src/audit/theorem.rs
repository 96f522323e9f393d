//! The paper's Theorem 1: that the noise of a feature, a weighted sum of Laplace noises, is Laplace
//! noise itself. `proofs/paper.md` says when it is, and why it is not in general.

use facedp::noise::experiment;
use rand_core::CryptoRng;
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

/// How well the noise of a feature fits the law that is claimed of it.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Fit {
    /// The feature, counted from 1.
    pub feature: usize,
    /// The scale of the Laplace law that is claimed.
    pub scale: f64,
    /// The largest difference between both distribution functions (Kolmogorov and Smirnov).
    pub distance: f64,
    /// A distance that draws of the claimed law exceed with a chance of 1e-3 at most.
    pub critical: f64,
}

/// Draws noise of all features and compares each with its law.
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
