//! Receipts: what was done, and what may be claimed of it.
//!
//! Words on the screen follow from the claim. A receipt has a public part, the [`Terms`], which may
//! go along with the photo, and a private part, whose numbers depend on the original.

use serde::{Deserialize, Serialize};

use crate::error::Result;
use crate::features::FeatureModel;
use crate::method::{Method, Sensitivity};
use crate::noise::Randomness;
use crate::plan::{PlanReport, Release};

/// What may be claimed of a release.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Claim {
    /// Nothing.
    None,
    /// The noise, as drawn at the model's size and before anything is lifted or rounded, spends the
    /// budget as the paper accounts for it (its eq. 4.1). This is not differential privacy: the
    /// paper's proof does not hold.
    PaperAccounting,
    /// The features drawn for each face are eps-differentially private in its features, among photos that
    /// are equal but for these (`proofs/`). Nothing is promised about the rest of the picture.
    EpsDpFeatures,
}

impl Claim {
    /// The claim in a sentence.
    pub fn in_words(self) -> &'static str {
        match self {
            Claim::None => "none: nothing is promised about what the picture reveals",
            Claim::PaperAccounting => {
                "paper-accounting: the noise as drawn spends the budget by the paper's formula \
                 (eq. 4.1), which is not a differential privacy guarantee"
            }
            Claim::EpsDpFeatures => {
                "eps-dp-features: the numbers drawn for each face's features are epsilon-differentially \
                 private among photos that are equal otherwise; nothing is promised about the rest of the \
                 picture, which can show who it is and give these features away"
            }
        }
    }
}

/// What was agreed before any photo: the method, its unit, and what may be claimed. It depends
/// neither on pixels nor on the draw, and may be published with the photo.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Terms {
    /// Program and version.
    pub tool: String,
    /// The method with all parameters.
    pub method: Method,
    /// SHA-256 of the feature model.
    pub model_sha256: String,
    /// What one unit of epsilon is.
    pub epsilon_unit: String,
    /// What the same noise spends against the measured sensitivities.
    pub epsilon_measured: Option<f64>,
    /// What may be claimed.
    pub claim: Claim,
    /// Where the randomness came from.
    pub randomness: Randomness,
}

impl Terms {
    /// The terms of a plan, for a release made with system entropy.
    pub(crate) fn new(
        method: &Method,
        model: &FeatureModel,
        report: &PlanReport,
        claim: Claim,
    ) -> Self {
        Self {
            tool: concat!("facedp ", env!("CARGO_PKG_VERSION")).to_owned(),
            method: method.clone(),
            model_sha256: model.hash().to_owned(),
            epsilon_unit: unit(method.sensitivity).to_owned(),
            epsilon_measured: report.budget_measured,
            claim,
            randomness: Randomness::System,
        }
    }

    /// The same terms with the randomness that was used: a seed that others can know claims
    /// nothing.
    pub fn with_randomness(&self, randomness: Randomness) -> Self {
        let claim = match randomness {
            Randomness::System | Randomness::Keyed => self.claim,
            Randomness::Experiment => Claim::None,
        };
        Self { claim, randomness, ..self.clone() }
    }
}

/// What was drawn for one face. It depends on the original photo: private.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Drawn {
    /// `K`.
    pub geometric_number: usize,
    /// The paper's `sigma_t^2` given K.
    pub theoretical_variance: f64,
    /// The paper's `sigma_r^2` before rounding.
    pub real_variance: f64,
    /// The noisy features, as the paper's Algorithm 1 returns them.
    pub noisy_features: Vec<f64>,
}

impl Drawn {
    /// What a release holds.
    pub fn of(release: &Release) -> Result<Self> {
        Ok(Self {
            geometric_number: release.geometric_number,
            theoretical_variance: release.theoretical_variance,
            real_variance: release.real_variance(),
            noisy_features: release.features()?,
        })
    }
}

/// The unit of epsilon in words.
pub fn unit(sensitivity: Sensitivity) -> &'static str {
    match sensitivity {
        Sensitivity::Normalised => "relative: sensitivities divided by their sum, as in the paper",
        Sensitivity::Measured => "against sensitivities measured on the training set",
        Sensitivity::Clipped => "against the widths of the model's public boxes",
    }
}
