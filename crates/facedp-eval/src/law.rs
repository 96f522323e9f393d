//! Whether the mean energy of the noise agrees with theory.

use facedp::noise::experiment;
use facedp::{Plan, Plane};
use rayon::prelude::*;

use crate::error::Result;
use crate::progress::Progress;
use crate::results::LawRow;
use crate::statistics::{average, standard_error};

/// Draws noise `draws` times. The chip does not matter because rankings are public.
pub fn row(plan: &Plan, draws: usize, seed: u64, progress: &Progress<'_>) -> Result<LawRow> {
    let side = plan.model().side();
    let (chip, label) = (Plane::zeros(side, side), plan.fingerprint());
    let draw = |n: usize| -> Result<(f64, f64)> {
        progress.check()?;
        let mut noise = experiment(seed, &format!("{label} law {n}"));
        let release = plan.protect(&chip, &mut noise)?;
        Ok((release.real_variance(), release.theoretical_variance))
    };
    let drawn: Vec<(f64, f64)> = (0..draws).into_par_iter().map(draw).collect::<Result<_>>()?;
    let real: Vec<f64> = drawn.iter().map(|(real, _)| *real).collect();
    let mean = average(&real);
    let standard_error = standard_error(&real);
    let expected = 2.0 * plan.report().cost.unwrap_or(f64::NAN);
    let differences: Vec<f64> =
        drawn.iter().map(|(real, theory)| (real - theory).abs() / theory).collect();
    let method = plan.method();
    Ok(LawRow {
        method: method.preset,
        ranking: method.ranking,
        features: method.features,
        epsilon: method.epsilon.get(),
        draws,
        expected,
        mean,
        standard_error,
        z: (mean - expected) / standard_error,
        difference: average(&differences),
    })
}
