//! Methods as plain data, the same on the command line, in JSON and in receipts.

use serde::{Deserialize, Serialize};

use crate::basis::Basis;
use crate::error::{Error, Result};
use crate::names;
use crate::rank::Ranking;
use crate::scale::Solver;

/// A privacy budget: finite and above 0.
#[derive(Debug, Clone, Copy, PartialEq, PartialOrd, Serialize, Deserialize)]
#[serde(try_from = "f64", into = "f64")]
pub struct Epsilon(f64);

impl Epsilon {
    pub fn new(value: f64) -> Result<Self> {
        let good = value.is_finite() && value > 0.0;
        if good { Ok(Self(value)) } else { Err(Error::Epsilon(value)) }
    }

    pub fn get(self) -> f64 {
        self.0
    }
}

impl TryFrom<f64> for Epsilon {
    type Error = Error;

    fn try_from(value: f64) -> Result<Self> {
        Self::new(value)
    }
}

impl From<Epsilon> for f64 {
    fn from(epsilon: Epsilon) -> f64 {
        epsilon.0
    }
}

/// The sensitivities that the budget is measured against. They set its unit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Sensitivity {
    /// The measured sensitivities divided by their sum: the only scale at which budgets of 0.2 to 1
    /// give the paper's picture quality.
    Normalised,
    /// The measured sensitivities, in grey levels.
    Measured,
    /// The widths of the model's public boxes, in grey levels. The paper's methods do not clip
    /// features to the boxes, so this too is accounting and not a guarantee.
    Clipped,
}

impl Sensitivity {
    /// The unit of epsilon in words.
    pub fn epsilon_unit(self) -> &'static str {
        match self {
            Sensitivity::Normalised => {
                "relative: sensitivities divided by their sum, as we infer from the paper's figures"
            }
            Sensitivity::Measured => "against sensitivities measured on the training set",
            Sensitivity::Clipped => "against the widths of the model's public boxes",
        }
    }
}

/// The paper's methods and ours, which differ only in basis, ranking and scales.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Preset {
    /// Uniform noise on ranked pixels.
    PixelDp,
    /// Uniform noise on ranked DCT coefficients.
    DctDp,
    /// Uniform noise on ranked Haar coefficients.
    Rdp,
    /// Our version of the paper's closed form on Haar coefficients: significant weights only.
    RdpNa,
    /// Our version of the paper's iterative method on Haar coefficients: signed steps.
    RdpLmgd,
    /// The convex optimum on Haar coefficients (ours).
    RdpOptimal,
    /// The paper's closed form as printed.
    RdpNaLiteral,
    /// The paper's iterative method as printed.
    RdpLmgdLiteral,
}

impl Preset {
    /// In the order of the paper's tables, then ours, then what the paper prints.
    pub const ALL: [Preset; 8] = [
        Preset::PixelDp,
        Preset::DctDp,
        Preset::Rdp,
        Preset::RdpNa,
        Preset::RdpLmgd,
        Preset::RdpOptimal,
        Preset::RdpNaLiteral,
        Preset::RdpLmgdLiteral,
    ];

    /// Whether it takes the paper's formulas as printed.
    pub fn is_literal(self) -> bool {
        matches!(self, Preset::RdpNaLiteral | Preset::RdpLmgdLiteral)
    }

    pub fn parts(self) -> (Basis, Ranking, Solver) {
        let haar = Basis::Haar { levels: None };
        match self {
            Preset::PixelDp => (Basis::Pixel, Ranking::Influence, Solver::Uniform),
            Preset::DctDp => (Basis::Dct, Ranking::Influence, Solver::Uniform),
            Preset::Rdp => (haar, Ranking::Influence, Solver::Uniform),
            Preset::RdpNa => (haar, Ranking::Influence, Solver::NA),
            Preset::RdpLmgd => (haar, Ranking::Influence, Solver::LMGD),
            Preset::RdpOptimal => (haar, Ranking::Energy, Solver::OPTIMAL),
            Preset::RdpNaLiteral => (haar, Ranking::Influence, Solver::NA_LITERAL),
            Preset::RdpLmgdLiteral => (haar, Ranking::Influence, Solver::LMGD_LITERAL),
        }
    }

    /// The method with the paper's p and normalised sensitivities.
    pub fn method(self, epsilon: Epsilon, features: usize) -> Method {
        let (basis, ranking, solver) = self.parts();
        Method {
            preset: self,
            basis,
            ranking,
            solver,
            features,
            epsilon,
            geometric_p: 0.02,
            sensitivity: Sensitivity::Normalised,
        }
    }
}

/// A preset with all parameters, which may differ from the preset's own.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Method {
    /// Where the parameters come from. It does not affect the noise.
    pub preset: Preset,
    pub basis: Basis,
    pub ranking: Ranking,
    pub solver: Solver,
    /// The number of features that the budget covers, `M_F`.
    pub features: usize,
    /// The total budget, `eps0`.
    pub epsilon: Epsilon,
    /// The parameter p of the geometric number.
    pub geometric_p: f64,
    pub sensitivity: Sensitivity,
}

impl Method {
    /// Fails if a solver's parameter is out of range, or if ranking and solver do not go together.
    pub fn validate(&self) -> Result<()> {
        self.solver.validate()?;
        let reason = match (self.ranking, self.solver) {
            (
                Ranking::Amplitude,
                Solver::Lmgd { .. } | Solver::LmgdLiteral { .. } | Solver::Optimal { .. },
            ) => {
                "the order of amplitudes is known only once the photo is, and these scales are \
                 chosen before"
            }
            (
                Ranking::Energy,
                Solver::Uniform
                | Solver::Na { .. }
                | Solver::Lmgd { .. }
                | Solver::LmgdLiteral { .. },
            ) => "only rdp-optimal knows the energies before it ranks",
            _ => return Ok(()),
        };
        let (ranking, solver) = (self.ranking, self.solver.name());
        Err(Error::Combination { ranking, solver, reason })
    }
}

names!(
    Preset,
    "method",
    PixelDp = "pixel-dp",
    DctDp = "dct-dp",
    Rdp = "rdp",
    RdpNa = "rdp-na",
    RdpLmgd = "rdp-lmgd",
    RdpOptimal = "rdp-optimal",
    RdpNaLiteral = "rdp-na-literal",
    RdpLmgdLiteral = "rdp-lmgd-literal"
);
names!(
    Sensitivity,
    "sensitivity",
    Normalised = "normalised" | "normalized",
    Measured = "measured",
    Clipped = "clipped"
);
