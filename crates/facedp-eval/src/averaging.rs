//! Averaging several releases of one chip: what it brings back, with one key and without.

use facedp::Plan;
use facedp::metrics::psnr;
use facedp::noise::{experiment, keyed};
use rayon::prelude::*;

use crate::error::Result;
use crate::progress::Progress;
use crate::results::AveragingRow;
use crate::sample::Subject;
use crate::statistics::average;

/// Releases of a chip that the attacker has.
pub const RELEASES: usize = 10;
/// A key for experiments: as secret as a seed.
const KEY: [u8; 32] = *b"a key for experiments, no secret";

/// Releases every chip several times and averages, before rounding.
pub fn row(
    plan: &Plan,
    subjects: &[Subject],
    by_key: bool,
    seed: u64,
    progress: &Progress<'_>,
) -> Result<AveragingRow> {
    let (side, label) = (plan.model().side(), plan.name());
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
            sum.iter_mut().zip(release.noise.data()).for_each(|(sum, noise)| *sum += noise);
        }
        let left = sum.iter().map(|v| (v / RELEASES as f64).powi(2)).sum();
        Ok((first, left))
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
        psnr_average: decibels(energies.iter().map(|(_, left)| *left).collect()),
        images: subjects.len(),
    })
}
