//! Solvers: proposals for the noise energy at each rank.
//!
//! A solver takes a [`Problem`](crate::budget::Problem) and returns `x` up to a factor, which
//! [`Scales::spend`](crate::budget::Scales::spend) then sets. A bad solver costs quality, never
//! budget.

pub(crate) mod lmgd;
pub(crate) mod lmgd_literal;
pub(crate) mod na;
pub(crate) mod optimal;
pub(crate) mod uniform;

use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};

/// A solver with its parameters.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case", deny_unknown_fields)]
pub enum Solver {
    /// One scale for all ranks.
    Uniform,
    /// The paper's closed form, over significant weights only.
    Na {
        /// A weight is significant if it is at least this share of the feature's largest weight.
        significance: f64,
    },
    /// The paper's iterative method, with signed steps.
    Lmgd {
        /// Step length, 0.01 to 0.1.
        eta: f64,
        max_iterations: usize,
        /// Stop when the sum of the residuals and the gap are below this.
        delta: f64,
    },
    /// The paper's iterative method as printed.
    LmgdLiteral {
        /// Step length, 0.01 to 0.1.
        eta: f64,
        max_iterations: usize,
        /// Stop when the sum of the residuals is below this.
        delta: f64,
    },
    /// The convex optimum.
    Optimal {
        /// Stop when the certified relative excess over the least cost is below this.
        max_gap: f64,
    },
}

impl Solver {
    /// `na` with the significance at which it beats uniform scales in all our measurements.
    pub const NA: Solver = Solver::Na { significance: 0.5 };
    /// The closed form as printed; weights of 0 count as 1e-12.
    pub const NA_LITERAL: Solver = Solver::Na { significance: 0.0 };
    /// `lmgd` with the largest step length of the paper's range.
    pub const LMGD: Solver = Solver::Lmgd { eta: 0.1, max_iterations: 2000, delta: 1e-3 };
    /// The same step length and limits for the method as printed.
    pub const LMGD_LITERAL: Solver =
        Solver::LmgdLiteral { eta: 0.1, max_iterations: 2000, delta: 1e-3 };
    /// `optimal` to 1e-5 of the cost: 0.00004 dB.
    pub const OPTIMAL: Solver = Solver::Optimal { max_gap: 1e-5 };

    /// The name without parameters.
    pub fn name(self) -> &'static str {
        match self {
            Solver::Uniform => "uniform",
            Solver::Na { .. } => "na",
            Solver::Lmgd { .. } => "lmgd",
            Solver::LmgdLiteral { .. } => "lmgd-literal",
            Solver::Optimal { .. } => "optimal",
        }
    }

    /// Fails if a parameter is out of range.
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
            Solver::Lmgd { eta, .. } | Solver::LmgdLiteral { eta, .. }
                if !(0.01..=0.1).contains(&eta) =>
            {
                Err(Error::Eta(eta))
            }
            Solver::Lmgd { delta, .. } | Solver::LmgdLiteral { delta, .. } => {
                tolerance("lmgd", delta)
            }
            Solver::Optimal { max_gap } => tolerance("optimal", max_gap),
        }
    }
}

#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Proposal {
    /// `x_k`, up to a common factor, one per row of the problem.
    pub x: Vec<f64>,
    /// 0 for a closed form.
    pub iterations: usize,
    /// LMGD's final residuals `F1` and `F2`.
    pub residuals: Option<(f64, f64)>,
}

impl Proposal {
    fn closed(x: Vec<f64>) -> Self {
        Self { x, iterations: 0, residuals: None }
    }
}

/// Sets energies below `1e-5` of the total to 0, which iterations approach but never reach.
fn prune(x: &[f64]) -> Vec<f64> {
    let min = 1e-5 * x.iter().sum::<f64>();
    x.iter().map(|&x| if x < min { 0.0 } else { x }).collect()
}
