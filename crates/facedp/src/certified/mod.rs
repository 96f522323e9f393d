//! `certified`: noise on the features themselves, with a guarantee that holds.
//!
//! ```text
//! split      photo            -> Public, Cells     the photo without its features, and these
//! mechanism  Cells, noise     -> Noisy             the only step that sees features
//! estimate   Noisy            -> Estimate          post-processing
//! compose    Public, Estimate -> photo             post-processing
//! ```
//!
//! Each step sees what its signature says, which is most of the proof: `Noisy` is eps-differentially
//! private in the features (`proofs/mechanisms.md`), what follows cannot take that back
//! (`proofs/post-processing.md`), and nothing is claimed of what `Public` reveals
//! (`proofs/public.md`). Splitting and composing need a photo, so they are in `facedp-engine`.

mod blocks;
mod grid;
mod terms;

use std::sync::Arc;

use rand_core::CryptoRng;
use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};
use crate::features::FeatureModel;
use crate::method::Epsilon;
use crate::noise::knorm;
use blocks::{Items, variance};

pub use grid::{CELLS, Cells, Grid};
pub use terms::{CertifiedTerms, Name, NamedMethod};

/// Which noise features get.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Mechanism {
    /// The l-infinity K-norm mechanism, on blocks of features: least noise.
    #[default]
    Knorm,
    /// Independent discrete Laplace noise on each feature: the textbook's.
    Laplace,
}

impl Mechanism {
    /// The name of its noise, for people.
    pub fn in_words(self) -> &'static str {
        match self {
            Mechanism::Knorm => "K-norm",
            Mechanism::Laplace => "Laplace",
        }
    }
}

/// `certified` with its parameters.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CertifiedMethod {
    /// The total budget, `eps0`.
    pub epsilon: Epsilon,
    /// How many features are noised, `M_F`.
    pub features: usize,
    /// The noise.
    pub mechanism: Mechanism,
    /// Whether noisy features are shrunk towards what is public of faces.
    pub shrink: bool,
}

impl CertifiedMethod {
    /// Budgets that its arithmetic can hold.
    pub const EPSILONS: [f64; 2] = [1e-4, 1e6];

    /// The method as it is used: the least noise, shrunk towards what is public of faces.
    pub fn new(epsilon: Epsilon, features: usize) -> Self {
        Self { epsilon, features, mechanism: Mechanism::default(), shrink: true }
    }
}

/// Features that share noise. Their budget is `units * 2^-exponent`, exactly.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Block {
    features: Vec<usize>,
    units: u64,
    exponent: u32,
}

impl Block {
    /// The features.
    pub fn features(&self) -> &[usize] {
        &self.features
    }

    /// The budget in units of `2^-exponent`.
    pub fn units(&self) -> u64 {
        self.units
    }

    /// The budget.
    pub fn epsilon(&self) -> f64 {
        self.units as f64 * 0.5f64.powi(self.exponent as i32)
    }
}

/// Everything decided from public things. Built once for many photos.
#[derive(Debug, Clone)]
pub struct CertifiedPlan {
    method: CertifiedMethod,
    model: Arc<FeatureModel>,
    grid: Grid,
    blocks: Vec<Block>,
    exponent: u32,
    /// Variance of each feature's noise; infinite if it gets no budget.
    noise: Vec<f64>,
    /// Variance of each feature over people, which is public.
    spreads: Vec<f64>,
    /// What is left of each noisy feature after shrinking.
    kept: Vec<f64>,
    /// Expected squared error of each feature before it is cut to its box.
    errors: Vec<f64>,
}

/// Noisy features by number of cell; none where a feature got no budget. **Differentially private in
/// the features, at the plan's budget.**
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Noisy(Vec<Option<i64>>);

impl Noisy {
    /// The numbers of cells.
    pub fn cells(&self) -> &[Option<i64>] {
        &self.0
    }
}

/// What features are taken to be, from noisy ones and public knowledge.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Estimate(Vec<f64>);

impl Estimate {
    /// The features.
    pub fn features(&self) -> &[f64] {
        &self.0
    }
}

/// The least budget of a block is `2^-LEAST_BITS`, and the most features of one: noise for less, or for more
/// of them, would not fit a word (proofs/mechanisms.md).
const LEAST_BITS: u32 = 30;
const MOST_FEATURES: usize = 4096;
/// Bits of the total budget.
const BITS: i32 = 30;
/// Most bits of the denominator, so that it fits a word together with [`CELLS`].
const MOST_EXPONENT: i32 = 46;

impl CertifiedPlan {
    /// Decides cells, blocks and budgets. Sees no photo.
    pub fn new(model: Arc<FeatureModel>, method: CertifiedMethod) -> Result<Self> {
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
        let spreads = spreads(&model, wanted);
        let mut order: Vec<usize> = (0..wanted).collect();
        order.sort_by(|a, b| grid.widths()[*b].total_cmp(&grid.widths()[*a]));
        let items = Items {
            widths: order.iter().map(|n| grid.widths()[*n].powi(2)).collect(),
            spreads: method.shrink.then(|| order.iter().map(|n| spreads[*n]).collect()),
            most: match method.mechanism {
                Mechanism::Knorm => wanted.min(largest_block(epsilon)),
                Mechanism::Laplace => 1,
            },
        };
        let exponent = (BITS - epsilon.log2().floor() as i32).clamp(0, MOST_EXPONENT) as u32;
        let scale = 2f64.powi(exponent as i32);
        // Rounded down, all of them: what is spent never exceeds what was given (proofs/composition.md).
        let mut left = (epsilon * scale).floor() as u64;
        let least = 1u64 << exponent.saturating_sub(LEAST_BITS);
        let mut blocks = Vec::new();
        for (range, share) in items.best(epsilon) {
            let units = ((share * scale).floor() as u64).min(left);
            left -= units;
            let features = order[range].to_vec();
            if units >= least {
                blocks.push(Block { features, units, exponent });
            } else if !method.shrink {
                return Err(Error::CertifiedEpsilon { given: epsilon, low, high });
            }
        }
        let mut noise = vec![f64::INFINITY; wanted];
        for block in &blocks {
            let factor = variance(block.features.len()) / block.epsilon().powi(2);
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

    /// Draws noisy features: the only step that sees features of a face.
    ///
    /// Features are cut to their boxes first, so that those of any two faces differ by [`CELLS`] at
    /// most; proofs/mechanisms.md goes on from there.
    pub fn mechanism<R: CryptoRng + ?Sized>(&self, cells: &Cells, noise: &mut R) -> Result<Noisy> {
        let (expected, found) = (self.method.features, cells.0.len());
        if expected != found {
            return Err(Error::Cells { expected, found });
        }
        let mut noisy = vec![None; expected];
        let whole = (CELLS as u64) << self.exponent;
        // Blocks are independent: their budgets add up (proofs/composition.md).
        for block in &self.blocks {
            let draws = knorm(block.features.len(), block.units, whole, noise);
            for (&n, draw) in block.features.iter().zip(draws) {
                noisy[n] = Some(cells.0[n].clamp(0, CELLS) + draw);
            }
        }
        Ok(Noisy(noisy))
    }

    /// What features are taken to be. Sees nothing but noisy ones (proofs/post-processing.md).
    pub fn estimate(&self, noisy: &Noisy) -> Estimate {
        let estimate = |(n, cell): (usize, &Option<i64>)| {
            let value = cell.map_or(0.0, |cell| self.kept[n] * self.grid.value(n, cell));
            self.grid.clip(n, value)
        };
        Estimate(noisy.0.iter().enumerate().map(estimate).collect())
    }

    /// The method.
    pub fn method(&self) -> &CertifiedMethod {
        &self.method
    }

    /// The model.
    pub fn model(&self) -> &Arc<FeatureModel> {
        &self.model
    }

    /// Where the cells of features lie.
    pub fn grid(&self) -> &Grid {
        &self.grid
    }

    /// Blocks and their budgets.
    pub fn blocks(&self) -> &[Block] {
        &self.blocks
    }

    /// Units of budgets are `2^-exponent`.
    pub fn exponent(&self) -> u32 {
        self.exponent
    }

    /// What is spent: at most the method's epsilon.
    pub fn spent(&self) -> f64 {
        self.blocks.iter().map(|b| b.units).sum::<u64>() as f64 * 0.5f64.powi(self.exponent as i32)
    }

    /// Variance of the noise of each feature, in grey levels squared; infinite where a feature is not
    /// released at all.
    pub fn noise(&self) -> &[f64] {
        &self.noise
    }

    /// Variance of each feature over the people that the model was trained on.
    pub fn spreads(&self) -> &[f64] {
        &self.spreads
    }

    /// Mean squared error of the chip that is expected of a face from the public prior, before features
    /// are cut to their boxes.
    pub fn expected_mse(&self) -> f64 {
        self.errors.iter().sum::<f64>() / self.model.pixels() as f64
    }

    /// Expected squared error of each feature's estimate for a face from the public prior, before it
    /// is cut to its box.
    pub fn errors(&self) -> &[f64] {
        &self.errors
    }

    /// Everything that decides the law of its noise, in a line.
    pub fn name(&self) -> String {
        let CertifiedMethod { epsilon, features, mechanism, shrink } = self.method;
        let (epsilon, exponent, model) = (epsilon.get(), self.exponent, self.model.hash());
        let block = |block: &Block| format!("{:?}: {}", block.features, block.units);
        let blocks: Vec<String> = self.blocks.iter().map(block).collect();
        format!(
            "certified 1: {mechanism:?}, {features} features, epsilon {epsilon:?}, shrink {shrink}, \
             {CELLS} cells, 2^-{exponent}, {}, model {model}",
            blocks.join("; ")
        )
    }
}

/// The largest block whose noise is quickly drawn: its radius is `(m + 1) CELLS / epsilon` on average, and
/// is accepted with a probability of about `e^(-m^2 / 2 radius)`. Only budgets in the hundreds are limited
/// by it (proofs/mechanisms.md).
fn largest_block(epsilon: f64) -> usize {
    ((2.0 * CELLS as f64 / epsilon) as usize).clamp(1, MOST_FEATURES)
}

/// Variances of features over the people a model was trained on: public.
fn spreads(model: &FeatureModel, features: usize) -> Vec<f64> {
    let pictures = model.provenance().pictures.max(2) as f64;
    model.singular_values()[..features].iter().map(|s| s * s / (pictures - 1.0)).collect()
}
