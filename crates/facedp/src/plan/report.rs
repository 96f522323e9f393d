//! The expected effect of a plan, before any photo.

use serde::{Deserialize, Serialize};

use super::Ranked;
use crate::budget::Problem;
use crate::features::FeatureModel;
use crate::method::{Method, Sensitivity};
use crate::metrics::psnr;
use crate::scale::Proposal;

/// The expected effect of a plan. `None` where it depends on the photo (an amplitude ranking).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PlanReport {
    /// `eps(b)`, at most the budget and equal to it up to 1e-9.
    pub budget_spent: f64,
    /// The budget that the same noise spends against the measured sensitivities.
    pub budget_measured: Option<f64>,
    /// `f`, half the expected energy of the noise.
    pub cost: Option<f64>,
    /// PSNR (dB) of the expected mean squared error. This is not the expected PSNR: energy varies
    /// between draws, and its median is below its mean.
    pub psnr_of_expected_mse: Option<f64>,
    /// PSNR (dB) that no additive noise exceeds under this accounting.
    pub bound_psnr: f64,
    /// An upper bound on the relative excess over the least cost in this basis.
    pub gap: Option<f64>,
    pub iterations: Option<usize>,
    /// Coefficients that can get noise.
    pub support: Option<usize>,
    /// The probability that a draw reaches the whole support.
    pub prob_full_support: Option<f64>,
    /// The share of the expected energy at ranks that fewer than 1 in 100 draws reach.
    pub energy_below_g01: Option<f64>,
    /// LMGD's residual of the budget.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub f1: Option<f64>,
    /// LMGD's residual of the scales.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub f2: Option<f64>,
}

impl PlanReport {
    pub(super) fn of_public(
        ranked: &Ranked,
        proposal: &Proposal,
        all: &Problem<'_>,
        survivals: &[f64],
        measured: &[f64],
    ) -> Self {
        let (energy, cost) = (ranked.scales.energy(), ranked.scales.cost());
        let mut x = vec![0.0; all.weights.coefficients()];
        ranked.order.iter().zip(energy).for_each(|(&k, &e)| x[k as usize] = e);
        let rare = energy.iter().zip(survivals).filter(|(_, g)| **g < 0.01);
        let rare = rare.fold(0.0, |sum, (e, _)| sum + e);
        let last = energy.iter().rposition(|&e| e > 0.0);
        let against_measured = Problem { sensitivities: measured, ..*all };
        Self {
            budget_spent: ranked.scales.spent(),
            budget_measured: Some(against_measured.spent(&all.variances(&x))),
            cost: Some(cost),
            psnr_of_expected_mse: decibels(cost, all),
            bound_psnr: bound_psnr(all),
            gap: Some(all.gap(&x)),
            iterations: Some(proposal.iterations),
            support: Some(energy.iter().filter(|&&e| e > 0.0).count()),
            prob_full_support: last.map(|index| survivals[index]),
            energy_below_g01: Some(rare / cost),
            f1: proposal.residuals.map(|(f1, _)| f1),
            f2: proposal.residuals.map(|(_, f2)| f2),
        }
    }

    /// An amplitude ranking will spend exactly the budget, on coefficients not known yet.
    pub(super) fn of_amplitude(all: &Problem<'_>, model: &FeatureModel, method: &Method) -> Self {
        let measured: f64 = model.sensitivities()[..method.features].iter().sum();
        Self {
            budget_spent: all.epsilon,
            budget_measured: match method.sensitivity {
                Sensitivity::Normalised => Some(all.epsilon * measured),
                Sensitivity::Measured => Some(all.epsilon),
                Sensitivity::Clipped => None,
            },
            cost: None,
            psnr_of_expected_mse: None,
            bound_psnr: bound_psnr(all),
            gap: None,
            iterations: None,
            support: None,
            prob_full_support: None,
            energy_below_g01: None,
            f1: None,
            f2: None,
        }
    }
}

fn bound_psnr(problem: &Problem<'_>) -> f64 {
    decibels(problem.subspace_bound(), problem).unwrap_or(f64::MAX)
}

/// PSNR of a cost, rounded to 1e-9 dB: smaller digits are rounding errors of floats and the noise grid.
fn decibels(cost: f64, problem: &Problem<'_>) -> Option<f64> {
    let mse = 2.0 * cost / problem.weights.coefficients() as f64;
    psnr(mse, 255.0).map(|value| (value * 1e9).round() / 1e9)
}
