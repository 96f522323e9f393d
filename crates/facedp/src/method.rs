//! A method: plain data, the same on the command line, in JSON and in receipts.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::basis::Basis;
use crate::error::{Error, Result};
use crate::rank::Ranking;
use crate::scale::Solver;

/// A privacy budget: finite and above 0.
#[derive(Debug, Clone, Copy, PartialEq, PartialOrd, Serialize, Deserialize)]
#[serde(try_from = "f64", into = "f64")]
pub struct Epsilon(f64);

impl Epsilon {
    /// Checks the value.
    pub fn new(value: f64) -> Result<Self> {
        let good = value.is_finite() && value > 0.0;
        if good { Ok(Self(value)) } else { Err(Error::Epsilon(value)) }
    }

    /// The number.
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

/// Which sensitivities the budget is measured against, and so its unit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Sensitivity {
    /// The measured ones divided by their sum: the only scale at which budgets of 0.2 to 1 give
    /// the paper's picture quality.
    Normalised,
    /// The measured ones, in grey levels.
    Measured,
    /// Widths of the model's public boxes, in grey levels. These methods do not clip features to
    /// the boxes, so this, too, is accounting and no guarantee.
    Clipped,
}

/// The six methods that differ only in basis, ranking and scales.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Preset {
    /// Uniform noise on ranked pixels.
    PixelDp,
    /// Uniform noise on ranked DCT coefficients.
    DctDp,
    /// Uniform noise on ranked Haar coefficients.
    Rdp,
    /// The paper's closed form on Haar coefficients.
    RdpNa,
    /// The paper's iterative method on Haar coefficients.
    RdpLmgd,
    /// The convex optimum on Haar coefficients (ours).
    RdpOptimal,
}

impl Preset {
    /// All six, in the order of the paper's tables, ours last.
    pub const ALL: [Preset; 6] = [
        Preset::PixelDp,
        Preset::DctDp,
        Preset::Rdp,
        Preset::RdpNa,
        Preset::RdpLmgd,
        Preset::RdpOptimal,
    ];

    /// Its parts: basis, ranking and scales.
    pub fn parts(self) -> (Basis, Ranking, Solver) {
        let haar = Basis::Haar { levels: None };
        match self {
            Preset::PixelDp => (Basis::Pixel, Ranking::Influence, Solver::Uniform),
            Preset::DctDp => (Basis::Dct, Ranking::Influence, Solver::Uniform),
            Preset::Rdp => (haar, Ranking::Influence, Solver::Uniform),
            Preset::RdpNa => (haar, Ranking::Influence, Solver::NA),
            Preset::RdpLmgd => (haar, Ranking::Influence, Solver::LMGD),
            Preset::RdpOptimal => (haar, Ranking::Energy, Solver::OPTIMAL),
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

/// A method with all its parameters.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Method {
    /// The method this one started from.
    pub preset: Preset,
    /// Which coefficients carry the noise.
    pub basis: Basis,
    /// In which order they get it.
    pub ranking: Ranking,
    /// How much each gets.
    pub solver: Solver,
    /// How many features the budget covers, `M_F`.
    pub features: usize,
    /// The total budget, `eps0`.
    pub epsilon: Epsilon,
    /// The parameter p of the geometric number.
    pub geometric_p: f64,
    /// What the budget is measured against.
    pub sensitivity: Sensitivity,
}

impl Method {
    /// Fails on values out of range and on parts that do not go together.
    pub fn validate(&self) -> Result<()> {
        self.solver.validate()?;
        let remedy = match (self.ranking, self.solver) {
            (Ranking::Amplitude, Solver::Lmgd { .. } | Solver::Optimal { .. }) => {
                "an amplitude ranking is known only once the photo is; \
                 use ranking `influence`, or the methods pixel-dp, dct-dp, rdp or rdp-na"
            }
            (Ranking::Energy, Solver::Uniform | Solver::Na { .. } | Solver::Lmgd { .. }) => {
                "only rdp-optimal knows its energies before ranking; use ranking `influence`"
            }
            _ => return Ok(()),
        };
        let (ranking, solver) = (self.ranking, self.solver.name());
        Err(Error::Combination { ranking, solver, remedy })
    }
}

/// Gives an enum of plain names `NAMES`, `Display` and `FromStr`.
macro_rules! names {
    ($kind:ident, $what:literal, $($variant:ident = $name:literal $(| $alias:literal)*),+) => {
        impl $kind {
            /// The names, as written on the command line, each with other spellings that are read.
            pub const NAMES: &[(&str, &[&str])] = &[$(($name, &[$($alias),*])),+];
        }

        impl fmt::Display for $kind {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.pad(match self { $($kind::$variant => $name),+ })
            }
        }

        impl FromStr for $kind {
            type Err = Error;

            fn from_str(name: &str) -> Result<Self> {
                match name {
                    $($name $(| $alias)* => Ok($kind::$variant),)+
                    _ => Err(Error::Name {
                        kind: $what,
                        name: name.to_owned(),
                        known: [$($name),+].join(", "),
                    }),
                }
            }
        }
    };
}

names!(
    Preset,
    "method",
    PixelDp = "pixel-dp",
    DctDp = "dct-dp",
    Rdp = "rdp",
    RdpNa = "rdp-na",
    RdpLmgd = "rdp-lmgd",
    RdpOptimal = "rdp-optimal"
);
names!(Ranking, "ranking", Influence = "influence", Amplitude = "amplitude", Energy = "energy");
names!(
    Sensitivity,
    "sensitivity",
    Normalised = "normalised" | "normalized",
    Measured = "measured",
    Clipped = "clipped"
);
