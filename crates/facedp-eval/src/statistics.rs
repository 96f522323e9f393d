//! Rates and means with their 95 % intervals.

use facedp::noise::experiment;
use rand_core::Rng;

use crate::results::Estimate;

/// The 97.5 % quantile of the normal distribution.
const Z: f64 = 1.959_963_984_540_054;
/// Resamples of a bootstrap.
const RESAMPLES: usize = 400;

/// A rate with its Wilson interval.
pub(crate) fn rate(hits: usize, n: usize) -> Estimate {
    if n == 0 {
        return Estimate { value: 0.0, low: 0.0, high: 1.0, n };
    }
    let (count, share) = (n as f64, hits as f64 / n as f64);
    let centre = share + Z * Z / (2.0 * count);
    let half = Z * (share * (1.0 - share) / count + Z * Z / (4.0 * count * count)).sqrt();
    let shrink = 1.0 + Z * Z / count;
    let (low, high) = ((centre - half) / shrink, (centre + half) / shrink);
    let low = if hits == 0 { 0.0 } else { low.max(0.0) };
    let high = if hits == n { 1.0 } else { high.min(1.0) };
    Estimate { value: share, low, high, n }
}

/// A mean with its bootstrap interval (percentiles of resampled means). The label seeds the resampling.
pub(crate) fn mean(values: &[f64], label: &str) -> Estimate {
    let n = values.len();
    if n == 0 {
        return Estimate { value: 0.0, low: 0.0, high: 0.0, n };
    }
    let value = average(values);
    let mut random = experiment(0, label);
    let mut resampled = || {
        let pick = |_| values[((u64::from(random.next_u32()) * n as u64) >> 32) as usize];
        (0..n).map(pick).sum::<f64>() / n as f64
    };
    let mut means: Vec<f64> = (0..RESAMPLES).map(|_| resampled()).collect();
    means.sort_unstable_by(f64::total_cmp);
    let at = |share: f64| means[((RESAMPLES - 1) as f64 * share).round() as usize];
    // For equal values, rounding must not put the mean outside its interval.
    Estimate { value, low: at(0.025).min(value), high: at(0.975).max(value), n }
}

/// The arithmetic mean; 0 without values.
pub fn average(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len().max(1) as f64
}

/// The standard error of the mean, from the unbiased variance.
pub(crate) fn standard_error(values: &[f64]) -> f64 {
    let (n, mean) = (values.len() as f64, average(values));
    let variance = values.iter().map(|v| (v - mean).powi(2)).sum::<f64>() / (n - 1.0).max(1.0);
    (variance / n.max(1.0)).sqrt()
}

/// The median; `None` without values.
pub fn median(mut values: Vec<f64>) -> Option<f64> {
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

    /// Against `statsmodels.stats.proportion.proportion_confint(3, 20, method="wilson")`.
    #[test]
    fn wilson_intervals() {
        let found = rate(3, 20);
        assert!((found.low - 0.052_369).abs() < 1e-5 && (found.high - 0.360_419).abs() < 1e-5);
        assert_eq!((rate(20, 20).high, rate(0, 20).low), (1.0, 0.0));
        let none = rate(0, 100);
        assert!(none.value == 0.0 && none.low == 0.0 && (none.high - 0.037).abs() < 1e-3);
    }

    #[test]
    fn bootstrap_intervals() {
        let values: Vec<f64> = (0..400).map(|i| f64::from(i % 20)).collect();
        let found = mean(&values, "test");
        assert_eq!(found, mean(&values, "test"), "repeatable");
        // The normal approximation: 1.96 standard errors of 5.77 / 20 each.
        assert!((found.value - 9.5).abs() < 1e-12);
        assert!((found.high - 9.5 - 0.565).abs() < 0.15 && (9.5 - found.low - 0.565).abs() < 0.15);
        assert_eq!(mean(&[2.0; 5], "equal").low, 2.0);
    }

    #[test]
    fn medians() {
        assert_eq!(median(vec![]), None);
        assert_eq!(median(vec![3.0, 1.0, f64::INFINITY]), Some(3.0));
        assert_eq!(median(vec![4.0, 1.0, 2.0, 9.0]), Some(3.0));
        assert_eq!(median(vec![f64::INFINITY, 1.0]), Some(f64::INFINITY));
    }
}
