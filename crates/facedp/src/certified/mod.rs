//! `certified`: faces made from differentially private numbers.
//!
//! ```text
//! erase      photo            -> Public, Cells     the photo without its faces, and their features
//! mechanism  Cells, noise     -> Noisy             the only step that sees features
//! estimate   Noisy            -> Estimate          post-processing
//! compose    Public, Estimate -> photo             post-processing
//! ```
//!
//! Each step sees only what its signature says, and that is most of the proof (`proofs/face.md`): `Noisy` is
//! eps-differentially private in everything that was erased, and post-processing cannot undo that. Erasing
//! and composing need a photo, so they are in `facedp-engine`.

mod blocks;
mod fingerprint;
mod grid;
mod terms;

use std::sync::Arc;

use rand_core::CryptoRng;
use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};
use crate::faces::FaceModel;
use crate::method::Epsilon;
use crate::names;
use crate::noise::{knorm, staircase};
use blocks::Items;

pub use grid::{CELLS, Cells, Grid};
pub use terms::{CertifiedTerms, Name, NamedMethod};

/// The noise of the features.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Mechanism {
    /// Whichever of K-norm and staircase noise has the lower variance, block by block.
    #[default]
    Best,
    /// The l-infinity K-norm mechanism, on blocks of features.
    Knorm,
    /// The staircase mechanism on each feature.
    Staircase,
    /// Independent discrete Laplace noise on each feature: the textbook mechanism.
    Laplace,
}

names!(
    Mechanism,
    "mechanism",
    Best = "best",
    Knorm = "knorm",
    Staircase = "staircase",
    Laplace = "laplace"
);

impl Mechanism {
    /// The name in prose.
    pub fn in_words(self) -> &'static str {
        match self {
            Mechanism::Best => "K-norm or staircase",
            Mechanism::Knorm => "K-norm",
            Mechanism::Staircase => "staircase",
            Mechanism::Laplace => "Laplace",
        }
    }
}

/// `certified` with its parameters.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CertifiedMethod {
    /// The total budget, `eps0`, within [`CertifiedMethod::EPSILONS`].
    pub epsilon: Epsilon,
    /// The number of features that get noise, `M_F`.
    pub features: usize,
    pub mechanism: Mechanism,
    /// Whether noisy features are shrunk towards the mean face, by the public variances.
    pub shrink: bool,
}

impl CertifiedMethod {
    /// The range of budgets that the arithmetic supports.
    pub const EPSILONS: [f64; 2] = [1e-4, 1e6];

    /// The method with its defaults: the least noise, shrunk.
    pub fn new(epsilon: Epsilon, features: usize) -> Self {
        Self { epsilon, features, mechanism: Mechanism::default(), shrink: true }
    }
}

/// Features that share noise. Their budget is exactly `units * 2^-exponent`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Block {
    features: Vec<usize>,
    units: u64,
    exponent: u32,
    /// The first step of staircase noise, in cells; none for K-norm noise.
    first_step: Option<u64>,
}

impl Block {
    pub fn features(&self) -> &[usize] {
        &self.features
    }

    /// The budget, in units of `2^-exponent`.
    pub fn units(&self) -> u64 {
        self.units
    }

    /// The first step of staircase noise, in cells; none for K-norm noise.
    pub fn first_step(&self) -> Option<u64> {
        self.first_step
    }

    pub fn epsilon(&self) -> f64 {
        self.units as f64 * 0.5f64.powi(self.exponent as i32)
    }
}

/// Cells, blocks and budgets, decided from the model and the method alone. Built once for many photos.
#[derive(Debug, Clone)]
pub struct CertifiedPlan {
    method: CertifiedMethod,
    model: Arc<FaceModel>,
    grid: Grid,
    blocks: Vec<Block>,
    exponent: u32,
    /// Variance of each feature's noise; infinite if the feature gets no budget.
    noise: Vec<f64>,
    /// Variance of each feature over people. Public.
    spreads: Vec<f64>,
    /// The factor by which each noisy feature is shrunk.
    kept: Vec<f64>,
    /// Expected squared error of each feature, before clipping to its box.
    errors: Vec<f64>,
}

/// Noisy features as cell numbers; `None` for a feature without a budget. **Differentially private in
/// the features, at the plan's budget.**
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Noisy(Vec<Option<i64>>);

impl Noisy {
    pub fn cells(&self) -> &[Option<i64>] {
        &self.0
    }
}

/// Features estimated from noisy ones and public knowledge.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Estimate(Vec<f64>);

impl Estimate {
    pub fn features(&self) -> &[f64] {
        &self.0
    }
}

/// A block has a budget of at least `2^-MIN_BITS` and at most `MAX_FEATURES` features. Beyond that, its
/// noise would not fit a word (proofs/mechanisms.md).
const MIN_BITS: u32 = 30;
const MAX_FEATURES: usize = 4096;
/// Bits of the total budget.
const BITS: i32 = 30;
/// The maximum of the exponent: the denominator times [`CELLS`] must fit a word.
const MAX_EXPONENT: i32 = 46;

impl CertifiedPlan {
    pub fn new(model: Arc<FaceModel>, method: CertifiedMethod) -> Result<Self> {
        let (wanted, available) = (method.features, model.features());
        if !(1..=available).contains(&wanted) {
            return Err(Error::Features { wanted, available });
        }
        let epsilon = method.epsilon.get();
        let [low, high] = CertifiedMethod::EPSILONS;
        if !(low..=high).contains(&epsilon) {
            return Err(Error::CertifiedEpsilon { given: epsilon, low, high });
        }
        let grid = Grid::new(&model, wanted)?;
        let spreads = model.spreads()[..wanted].to_vec();
        let mut order: Vec<usize> = (0..wanted).collect();
        order.sort_by(|a, b| grid.widths()[*b].total_cmp(&grid.widths()[*a]));
        let items = Items {
            widths: order.iter().map(|n| grid.widths()[*n].powi(2)).collect(),
            spreads: method.shrink.then(|| order.iter().map(|n| spreads[*n]).collect()),
            max_block: match method.mechanism {
                Mechanism::Best | Mechanism::Knorm => wanted.min(largest_block(epsilon)),
                Mechanism::Staircase | Mechanism::Laplace => 1,
            },
            mechanism: method.mechanism,
        };
        let exponent = (BITS - epsilon.log2().floor() as i32).clamp(0, MAX_EXPONENT) as u32;
        let scale = 2f64.powi(exponent as i32);
        // All budgets are rounded down, so their sum never exceeds epsilon (proofs/face.md).
        let mut left = (epsilon * scale).floor() as u64;
        let min = 1u64 << exponent.saturating_sub(MIN_BITS);
        let mut blocks = Vec::new();
        for (range, share) in items.best(epsilon) {
            let units = ((share * scale).floor() as u64).min(left);
            left -= units;
            let features = order[range].to_vec();
            if units >= min {
                let spent = units as f64 / scale;
                let (_, share) = blocks::noise(method.mechanism, features.len(), spent);
                let cells = |share: f64| (share * CELLS as f64).round().clamp(1.0, CELLS as f64);
                let first_step = share.map(|share| cells(share) as u64);
                blocks.push(Block { features, units, exponent, first_step });
            } else if !method.shrink {
                return Err(Error::CertifiedEpsilon { given: epsilon, low, high });
            }
        }
        let mut noise = vec![f64::INFINITY; wanted];
        for block in &blocks {
            let (factor, _) =
                blocks::noise(method.mechanism, block.features.len(), block.epsilon());
            for &n in &block.features {
                noise[n] = factor * grid.widths()[n].powi(2);
            }
        }
        let kept = |n: usize| match (method.shrink, noise[n].is_finite()) {
            (_, false) => 0.0,
            (false, true) => 1.0,
            (true, true) => spreads[n] / (spreads[n] + noise[n]),
        };
        let kept: Vec<f64> = (0..wanted).map(kept).collect();
        let error = |n: usize| match noise[n].is_finite() {
            true => (1.0 - kept[n]).powi(2) * spreads[n] + kept[n].powi(2) * noise[n],
            false => spreads[n],
        };
        let errors = (0..wanted).map(error).collect();
        Ok(Self { method, model, grid, blocks, exponent, noise, spreads, kept, errors })
    }

    /// Draws noisy features. The only step that sees the features of a face.
    ///
    /// Features are clipped to their boxes first, so those of any two faces differ by at most
    /// [`CELLS`]. The proof is in proofs/mechanisms.md.
    pub fn mechanism<R: CryptoRng + ?Sized>(&self, cells: &Cells, noise: &mut R) -> Result<Noisy> {
        let (expected, found) = (self.method.features, cells.0.len());
        if expected != found {
            return Err(Error::Cells { expected, found });
        }
        let mut noisy = vec![None; expected];
        let whole = (CELLS as u64) << self.exponent;
        // Blocks are independent: their budgets add up (proofs/face.md).
        for block in &self.blocks {
            let draws = match block.first_step {
                Some(first) => {
                    vec![staircase(CELLS as u64, first, block.units, 1 << self.exponent, noise)?]
                }
                None => knorm(block.features.len(), block.units, whole, noise)?,
            };
            for (&n, draw) in block.features.iter().zip(draws) {
                noisy[n] = Some(cells.0[n].clamp(0, CELLS) + draw);
            }
        }
        Ok(Noisy(noisy))
    }

    /// Estimates features from noisy ones alone (proofs/face.md).
    pub fn estimate(&self, noisy: &Noisy) -> Estimate {
        let estimate = |(n, cell): (usize, &Option<i64>)| {
            let value = cell.map_or(0.0, |cell| self.kept[n] * self.grid.value(n, cell));
            self.grid.clip(n, value)
        };
        Estimate(noisy.0.iter().enumerate().map(estimate).collect())
    }

    pub fn method(&self) -> &CertifiedMethod {
        &self.method
    }

    pub fn model(&self) -> &Arc<FaceModel> {
        &self.model
    }

    pub fn grid(&self) -> &Grid {
        &self.grid
    }

    pub fn blocks(&self) -> &[Block] {
        &self.blocks
    }

    /// Budgets are multiples of `2^-exponent`.
    pub fn exponent(&self) -> u32 {
        self.exponent
    }

    /// The budget spent, at most the method's epsilon.
    pub fn spent(&self) -> f64 {
        self.blocks.iter().map(|b| b.units).sum::<u64>() as f64 * 0.5f64.powi(self.exponent as i32)
    }

    /// Variance of each feature's noise, in grey levels squared; infinite for a feature that is not
    /// released.
    pub fn noise(&self) -> &[f64] {
        &self.noise
    }

    /// Variance of each feature over the training set.
    pub fn spreads(&self) -> &[f64] {
        &self.spreads
    }

    /// Expected mean squared error of a face's values in these features, for a face from the public prior
    /// and before features are clipped to their boxes.
    pub fn expected_mse(&self) -> f64 {
        self.errors.iter().sum::<f64>() / self.model.values() as f64
    }

    /// Expected squared error of each feature's estimate, for a face from the public prior and before
    /// clipping to the box.
    pub fn errors(&self) -> &[f64] {
        &self.errors
    }
}

/// The largest block whose noise is fast to draw: the radius is `(m + 1) CELLS / epsilon` on average, and
/// is accepted with a probability of about `e^(-m^2 / 2 radius)`. The limit matters only for budgets in
/// the hundreds (proofs/mechanisms.md).
fn largest_block(epsilon: f64) -> usize {
    ((2.0 * CELLS as f64 / epsilon) as usize).clamp(1, MAX_FEATURES)
}
