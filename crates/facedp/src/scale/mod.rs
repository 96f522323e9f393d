//! Solvers that propose how the noise energy is spread over the ranks.
//!
//! Each takes a [`Problem`](crate::budget::Problem) and returns `x` up to a factor; the budget
//! step ([`Scales::spend`](crate::budget::Scales::spend)) then sets the factor. A bad solver
//! costs quality, never budget.

pub mod lmgd;
pub mod na;
pub mod optimal;
pub mod uniform;

use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};

/// Which solver chooses the scales, with its parameters.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case", deny_unknown_fields)]
pub enum Solver {
    /// One scale for all ranks.
    Uniform,
    /// The paper's closed form, over weights of interest only.
    Na {
        /// A weight counts if it is at least this share of the feature's largest one.
        significance: f64,
    },
    /// The paper's iterative method.
    Lmgd {
        /// Step length, 0.01 to 0.1.
        eta: f64,
        /// The most steps.
        max_iterations: usize,
        /// Stop when both residuals and the gap are below this.
        delta: f64,
    },
    /// The convex optimum.
    Optimal {
        /// Stop when the certified distance from the least cost is below this.
        max_gap: f64,
    },
}

impl Solver {
    /// `na` as it beats uniform scales everywhere we measured.
    pub const NA: Solver = Solver::Na { significance: 0.5 };
    /// `lmgd` with the longest step of the paper's range.
    pub const LMGD: Solver = Solver::Lmgd { eta: 0.1, max_iterations: 2000, delta: 1e-3 };
    /// `optimal` to a hundred-thousandth of the cost: 0.00004 dB.
    pub const OPTIMAL: Solver = Solver::Optimal { max_gap: 1e-5 };

    /// The name without parameters.
    pub fn name(self) -> &'static str {
        match self {
            Solver::Uniform => "uniform",
            Solver::Na { .. } => "na",
            Solver::Lmgd { .. } => "lmgd",
            Solver::Optimal { .. } => "optimal",
        }
    }

    /// Fails on a parameter out of range.
    pub fn validate(self) -> Result<()> {
        let tolerance = |solver, value: f64| {
            let good = value.is_finite() && value > 0.0;
            if good { Ok(()) } else { Err(Error::Tolerance { solver, value }) }
        };
        match self {
            Solver::Uniform => Ok(()),
            Solver::Na { significance } if !(0.0..=1.0).contains(&significance) => {
                Err(Error::Significance(significance))
            }
            Solver::Na { .. } => Ok(()),
            Solver::Lmgd { eta, .. } if !(0.01..=0.1).contains(&eta) => Err(Error::Eta(eta)),
            Solver::Lmgd { delta, .. } => tolerance("lmgd", delta),
            Solver::Optimal { max_gap } => tolerance("optimal", max_gap),
        }
    }
}

/// What a solver proposes.
#[derive(Debug, Clone, PartialEq)]
pub struct Proposal {
    /// `x_k`, up to a common factor, one per row of the problem.
    pub x: Vec<f64>,
    /// Steps taken; 0 for a closed form.
    pub iterations: usize,
    /// The residuals `F1` and `F2` that LMGD stopped at.
    pub residuals: Option<(f64, f64)>,
}

impl Proposal {
    /// The answer of a closed form.
    fn closed(x: Vec<f64>) -> Self {
        Self { x, iterations: 0, residuals: None }
    }
}

/// Drops energies below `1e-5` of the whole: iterations approach zero but never reach it.
fn prune(x: &[f64]) -> Vec<f64> {
    let least = 1e-5 * x.iter().sum::<f64>();
    x.iter().map(|&x| if x < least { 0.0 } else { x }).collect()
}
