//! Averaging several releases of one chip, made with one key or with fresh noise.

use facedp::Plan;
use facedp::metrics::psnr;
use facedp::noise::{experiment, keyed};
use rayon::prelude::*;

use crate::error::Result;
use crate::progress::Progress;
use crate::results::AveragingRow;
use crate::sample::Subject;
use crate::statistics::average;

/// The number of releases that the attacker averages.
const RELEASES: usize = 10;
/// A fixed key for experiments. It is not secret.
const KEY: [u8; 32] = *b"a key for experiments, no secret";

/// Releases every chip [`RELEASES`] times and averages the releases before rounding.
pub fn row(
    plan: &Plan,
    subjects: &[Subject],
    by_key: bool,
    seed: u64,
    progress: &Progress<'_>,
) -> Result<AveragingRow> {
    let (side, label) = (plan.model().side(), plan.fingerprint());
    let one = |subject: &Subject| -> Result<(f64, f64)> {
        progress.check()?;
        let chip = subject.plane(side);
        let mut sum = vec![0.0; chip.data().len()];
        let mut first = 0.0;
        for n in 0..RELEASES {
            let release = match by_key {
                true => plan.protect(
                    &chip,
                    &mut keyed(&KEY, format!("{label} {}", subject.name).as_bytes()),
                ),
                false => plan.protect(
                    &chip,
                    &mut experiment(seed, &format!("{label} {} average {n}", subject.name)),
                ),
            }?;
            if n == 0 {
                first = release.real_variance();
            }
            sum.iter_mut().zip(release.noise().data()).for_each(|(sum, noise)| *sum += noise);
        }
        let remaining = sum.iter().map(|v| (v / RELEASES as f64).powi(2)).sum();
        Ok((first, remaining))
    };
    let energies: Vec<(f64, f64)> = subjects.par_iter().map(one).collect::<Result<_>>()?;
    let pixels = plan.model().pixels() as f64;
    let decibels = |values: Vec<f64>| psnr(average(&values) / pixels, 255.0);
    Ok(AveragingRow {
        method: plan.method().preset,
        epsilon: plan.method().epsilon.get(),
        releases: RELEASES,
        keyed: by_key,
        psnr_one: decibels(energies.iter().map(|(first, _)| *first).collect()),
        psnr_average: decibels(energies.iter().map(|(_, remaining)| *remaining).collect()),
        images: subjects.len(),
    })
}
