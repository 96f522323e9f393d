//! Selecting rows of the results.

use facedp::{Preset, Ranking};

use crate::results::{QualityRow, Results};

/// Whether two parameters are equal up to rounding.
pub(super) fn same(a: f64, b: f64) -> bool {
    (a - b).abs() <= 1e-9 * a.abs().max(b.abs())
}

pub(super) fn is_default_ranking(method: Preset, ranking: Ranking) -> bool {
    method.parts().1 == ranking
}

/// Rows with the default ranking of their method.
pub(super) fn default_ranking(results: &Results) -> impl Iterator<Item = &QualityRow> {
    results.quality.iter().filter(|row| is_default_ranking(row.method, row.ranking))
}

/// The row of a method with its default ranking.
pub(super) fn quality(
    results: &Results,
    method: Preset,
    features: usize,
    epsilon: f64,
) -> Option<&QualityRow> {
    default_ranking(results)
        .find(|r| r.method == method && r.features == features && same(r.epsilon, epsilon))
}

/// Numbers of features, smallest first.
pub(super) fn features(results: &Results) -> Vec<usize> {
    sorted(default_ranking(results).map(|row| row.features))
}

/// Budgets, smallest first.
pub(super) fn budgets(results: &Results) -> Vec<f64> {
    numbers(default_ranking(results).map(|row| row.epsilon))
}

/// Distinct values in ascending order.
pub(super) fn sorted<T: Ord>(values: impl Iterator<Item = T>) -> Vec<T> {
    let mut values: Vec<T> = values.collect();
    values.sort();
    values.dedup();
    values
}

/// Distinct finite numbers in ascending order.
pub(super) fn numbers(values: impl Iterator<Item = f64>) -> Vec<f64> {
    let mut values: Vec<f64> = values.filter(|v| v.is_finite()).collect();
    values.sort_by(f64::total_cmp);
    values.dedup_by(|a, b| same(*a, *b));
    values
}

/// Distinct values in the order of their first appearance.
pub(super) fn distinct<T: PartialEq>(values: impl Iterator<Item = T>) -> Vec<T> {
    let mut seen = Vec::new();
    for value in values {
        if !seen.contains(&value) {
            seen.push(value);
        }
    }
    seen
}
