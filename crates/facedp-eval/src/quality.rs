//! Quality of released chips: the paper's variance, SSIM, PSNR and matching rule.

use facedp::metrics::{Quality, psnr};
use facedp::noise::experiment;
use facedp::{Method, Plan, Plane};
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use crate::error::Result;
use crate::progress::Progress;
use crate::results::{MatcherRow, QualityRow};
use crate::sample::Subject;
use crate::statistics::{average, mean, median, rate};

/// The rows of one method, ranking, number of features and budget.
#[derive(Serialize, Deserialize)]
pub struct Cell {
    pub quality: QualityRow,
    /// `None` if the model has no radii for the matching rule.
    pub matcher: Option<MatcherRow>,
}

/// Measurements of one release.
struct Release {
    /// The energy of the noise before rounding.
    real: f64,
    /// Its expectation given the number K of noisy coefficients.
    theoretical: f64,
    quality: Quality,
    unchanged: bool,
    missed: Option<bool>,
}

/// Releases every chip `repeats` times.
pub fn cell(
    plan: &Plan,
    subjects: &[Subject],
    repeats: usize,
    seed: u64,
    progress: &Progress<'_>,
) -> Result<Cell> {
    let label = plan.fingerprint();
    let radii = plan.model().radii();
    let one = |subject: &Subject| -> Result<Vec<Release>> {
        progress.check()?;
        let chip = subject.plane(plan.model().side());
        let release =
            |n: usize| release(plan, &chip, radii, seed, &format!("{label} {} {n}", subject.name));
        (0..repeats).map(release).collect()
    };
    let by_subject: Vec<Vec<Release>> = subjects.par_iter().map(one).collect::<Result<_>>()?;
    let all = || by_subject.iter().flatten();
    // Releases of one chip are correlated, so intervals are over chips.
    let of_chips = |value: &dyn Fn(&Release) -> f64, name: &str| {
        let chip =
            |releases: &Vec<Release>| average(&releases.iter().map(value).collect::<Vec<_>>());
        mean(&by_subject.iter().map(chip).collect::<Vec<_>>(), &format!("{label} {name}"))
    };
    let pixels = plan.model().pixels() as f64;
    let real = average(&all().map(|r| r.real).collect::<Vec<_>>());
    let theoretical = average(&all().map(|r| r.theoretical).collect::<Vec<_>>());
    let finite = |value: Option<f64>| value.filter(|v| v.is_finite());
    let decibels = |value: &dyn Fn(&Release) -> Option<f64>| {
        finite(median(all().map(|r| value(r).unwrap_or(f64::INFINITY)).collect()))
    };
    let n = by_subject.len() * repeats;
    let Method { preset: method, ranking, features, epsilon, .. } = *plan.method();
    let epsilon = epsilon.get();
    let quality = QualityRow {
        method,
        ranking,
        features,
        epsilon,
        psnr_expected: plan.report().psnr_of_expected_mse,
        psnr_mean_mse: psnr(real / pixels, 255.0),
        mse: of_chips(&|r| r.real / pixels, "mse"),
        psnr_median: decibels(&|r| r.quality.psnr),
        psnr_paper_median: decibels(&|r| r.quality.psnr_paper),
        ssim: of_chips(&|r| r.quality.ssim.unwrap_or(1.0), "ssim"),
        ssim_wang: of_chips(&|r| r.quality.ssim_wang.unwrap_or(1.0), "wang"),
        log10_variance: of_chips(&|r| r.real.max(f64::MIN_POSITIVE).log10(), "variance"),
        difference: of_chips(&|r| (r.real - r.theoretical).abs() / r.theoretical, "difference"),
        difference_of_means: (real - theoretical).abs() / theoretical,
        unchanged: rate(all().filter(|r| r.unchanged).count(), n),
    };
    let theory = expected_misses(plan);
    let missed = all().filter(|r| r.missed == Some(true)).count();
    let matcher = theory.map(|theory| MatcherRow {
        method,
        ranking,
        features,
        epsilon,
        miss: rate(missed, n),
        theory,
    });
    Ok(Cell { quality, matcher })
}

fn release(
    plan: &Plan,
    chip: &Plane,
    radii: Option<&[f64]>,
    seed: u64,
    label: &str,
) -> Result<Release> {
    let release = plan.protect(chip, &mut experiment(seed, label))?;
    let mut rounded = release.plane.clone();
    rounded.data_mut().iter_mut().for_each(|v| *v = v.round().clamp(0.0, 255.0));
    let unchanged = rounded == *chip;
    let quality = Quality::compare(chip, &rounded)?;
    let missed = match radii {
        None => None,
        Some(radii) => {
            let features = plan.method().features;
            let before = plan.model().project(chip, features)?;
            let pairs = before.iter().zip(release.features()?);
            let far =
                pairs.zip(radii).any(|((before, after), radius)| (after - before).abs() > *radius);
            Some(far)
        }
    };
    let (real, theoretical) = (release.real_variance(), release.theoretical_variance);
    Ok(Release { real, theoretical, quality, unchanged, missed })
}

/// The miss rate under the paper's assumption of independent Laplace noise on every feature:
/// `1 - prod_i (1 - exp(-R_i / b_i))` with `b_i = Delta_i / eps_i`.
fn expected_misses(plan: &Plan) -> Option<f64> {
    let (scales, radii) = (plan.feature_scales()?, plan.model().radii()?);
    let inside = scales.iter().zip(radii).map(|(scale, radius)| 1.0 - (-radius / scale).exp());
    Some(1.0 - inside.product::<f64>())
}
