//! Finding rows among the results.

use facedp::Preset;

use crate::results::{QualityRow, Results};

/// Whether two parameters are the same; they come from the same list.
pub(super) fn same(a: f64, b: f64) -> bool {
    (a - b).abs() <= 1e-9 * a.abs().max(b.abs())
}

/// Rows of the methods' own rankings.
pub(super) fn usual(results: &Results) -> impl Iterator<Item = &QualityRow> {
    results.quality.iter().filter(|row| row.method.parts().1 == row.ranking)
}

/// The row of a method with its own ranking.
pub(super) fn quality(
    results: &Results,
    method: Preset,
    features: usize,
    epsilon: f64,
) -> Option<&QualityRow> {
    usual(results)
        .find(|r| r.method == method && r.features == features && same(r.epsilon, epsilon))
}

/// Numbers of features, least first.
pub(super) fn features(results: &Results) -> Vec<usize> {
    sorted(usual(results).map(|row| row.features))
}

/// Budgets, smallest first.
pub(super) fn budgets(results: &Results) -> Vec<f64> {
    numbers(usual(results).map(|row| row.epsilon))
}

/// Different values in order.
pub(super) fn sorted<T: Ord>(values: impl Iterator<Item = T>) -> Vec<T> {
    let mut values: Vec<T> = values.collect();
    values.sort();
    values.dedup();
    values
}

/// Different numbers in order.
pub(super) fn numbers(values: impl Iterator<Item = f64>) -> Vec<f64> {
    let mut values: Vec<f64> = values.filter(|v| v.is_finite()).collect();
    values.sort_by(f64::total_cmp);
    values.dedup_by(|a, b| same(*a, *b));
    values
}

/// Different values in the order of their first appearance.
pub(super) fn distinct<T: PartialEq>(values: impl Iterator<Item = T>) -> Vec<T> {
    let mut seen = Vec::new();
    for value in values {
        if !seen.contains(&value) {
            seen.push(value);
        }
    }
    seen
}
