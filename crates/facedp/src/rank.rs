//! The order in which coefficients get noise.

use serde::{Deserialize, Serialize};

use crate::names;
use crate::weights::Weights;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Ranking {
    /// By influence on the features, `s_k = sum_i w_ik^2` (the paper's Definition 5). Public.
    Influence,
    /// By amplitude in the photo, `|C_k|` (line 3 of the paper's Algorithm 1). The order depends on
    /// the photo, so nothing can be claimed about the budget.
    Amplitude,
    /// By the energy that the optimum gives each coefficient, in descending order. Public.
    Energy,
}

names!(Ranking, "ranking", Influence = "influence", Amplitude = "amplitude", Energy = "energy");

/// The `count` coefficients with the largest influence, in descending order.
pub(crate) fn by_influence(weights: &Weights, count: usize) -> Vec<u32> {
    let influence: Vec<f64> = weights.rows().map(|row| row.iter().sum()).collect();
    largest(&influence, count)
}

/// The `count` coefficients with the largest absolute value, in descending order.
pub(crate) fn by_amplitude(coefficients: &[f64], count: usize) -> Vec<u32> {
    let amplitudes: Vec<f64> = coefficients.iter().map(|c| c.abs()).collect();
    largest(&amplitudes, count)
}

/// Positions of the `count` largest values, in descending order; ties in order of position.
pub(crate) fn largest(values: &[f64], count: usize) -> Vec<u32> {
    let by_value = |&a: &u32, &b: &u32| {
        values[b as usize].total_cmp(&values[a as usize]).then_with(|| a.cmp(&b))
    };
    let mut order: Vec<u32> = (0..values.len() as u32).collect();
    if count < order.len() {
        order.select_nth_unstable_by(count, by_value);
        order.truncate(count);
    }
    order.sort_unstable_by(by_value);
    order
}
