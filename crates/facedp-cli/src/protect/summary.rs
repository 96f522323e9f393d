//! What a run did, in numbers and in words.

use std::path::Path;
use std::time::Duration;

use facedp::metrics::psnr;
use facedp::{Claim, Plan, Preset, Randomness};
use serde::Serialize;

use super::job::Done;

#[derive(Serialize)]
pub struct Summary {
    files: usize,
    failed: usize,
    method: Preset,
    epsilon: f64,
    /// PSNR of the mean squared noise over all files, before lifting and rounding.
    psnr_mean_mse: Option<f64>,
    /// PSNR of the mean of what the plan expected.
    psnr_expected: Option<f64>,
    /// Median over files as written; none if infinite: at least half are unchanged.
    psnr_median: Option<f64>,
    ssim_mean: Option<f64>,
    /// Share of files that are equal to their original.
    unchanged: f64,
    seconds: f64,
    claim: Claim,
    randomness: Randomness,
}

impl Summary {
    pub fn new(
        plan: &Plan,
        seed: Option<u64>,
        done: &[Done],
        failed: usize,
        time: Duration,
    ) -> Self {
        let (claim, randomness) = match seed {
            Some(_) => (Claim::None, Randomness::Experiment),
            None => (plan.claim(), Randomness::System),
        };
        let decibels = done.iter().map(|done| done.quality.psnr.unwrap_or(f64::INFINITY));
        let unchanged = done.iter().filter(|done| done.unchanged).count();
        Self {
            files: done.len(),
            failed,
            method: plan.method().preset,
            epsilon: plan.method().epsilon.get(),
            psnr_mean_mse: mean(done.iter().map(|d| d.mse)).and_then(|mse| psnr(mse, 255.0)),
            psnr_expected: mean(done.iter().map(|d| d.expected_mse))
                .and_then(|mse| psnr(mse, 255.0)),
            psnr_median: median(decibels.collect()).filter(|d| d.is_finite()),
            ssim_mean: mean(done.iter().filter_map(|d| d.quality.ssim)),
            unchanged: unchanged as f64 / done.len().max(1) as f64,
            seconds: time.as_secs_f64(),
            claim,
            randomness,
        }
    }

    /// The summary for people. The last line says what may be claimed.
    pub fn in_words(&self, folder: &Path) -> String {
        let mut text = format!(
            "{} of {} pictures written to {} in {:.2} s ({}, epsilon {})",
            self.files,
            self.files + self.failed,
            folder.display(),
            self.seconds,
            self.method,
            self.epsilon,
        );
        if self.files == 0 {
            return text;
        }
        let decibels = |value: Option<f64>, none: &str| {
            value.map_or(none.to_owned(), |value| format!("{value:.2} dB"))
        };
        text += &format!(
            "\npsnr_mean_mse  {} (the noise as drawn)\nmedian PSNR    {}\nmean SSIM      {}\n\
             unchanged      {:.1} % are equal to their original after rounding\n",
            decibels(self.psnr_mean_mse, "no noise drawn"),
            decibels(self.psnr_median, "infinite: at least half are unchanged"),
            self.ssim_mean.map_or("pictures too small".to_owned(), |ssim| format!("{ssim:.5}")),
            100.0 * self.unchanged,
        );
        if self.randomness == Randomness::Experiment {
            text += "experiment     seeded noise: whoever knows the seed can take it off again\n";
        }
        text + "claim          " + self.claim.in_words()
    }
}

fn mean(values: impl Iterator<Item = f64>) -> Option<f64> {
    let (count, sum) = values.fold((0u32, 0.0), |(count, sum), value| (count + 1, sum + value));
    (count > 0).then(|| sum / f64::from(count))
}

fn median(mut values: Vec<f64>) -> Option<f64> {
    values.sort_unstable_by(f64::total_cmp);
    let middle = values.len() / 2;
    match values.len() {
        0 => None,
        n if n % 2 == 1 => Some(values[middle]),
        _ => Some(0.5 * (values[middle - 1] + values[middle])),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn medians_and_means() {
        assert_eq!(median(vec![]), None);
        assert_eq!(median(vec![3.0, 1.0, f64::INFINITY]), Some(3.0));
        assert_eq!(median(vec![4.0, 1.0, 2.0, 9.0]), Some(3.0));
        assert_eq!(median(vec![f64::INFINITY, 1.0]), Some(f64::INFINITY));
        assert_eq!(mean([1.0, 4.0].into_iter()), Some(2.5));
        assert_eq!(mean(std::iter::empty()), None);
    }
}
