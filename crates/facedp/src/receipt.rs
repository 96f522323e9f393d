//! Receipts: what was done, and what may be claimed of it.
//!
//! Words on the screen follow from the claim. A receipt has a public part, which may go along
//! with the photo, and a private part, whose numbers depend on the original.

use serde::{Deserialize, Serialize};

use crate::error::Result;
use crate::features::FeatureModel;
use crate::method::{Method, Sensitivity};
use crate::metrics::Quality;
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
        }
    }
}

/// What was done to one face.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Receipt {
    /// May be published with the photo.
    pub public: PublicPart,
    /// Depends on the original photo.
    pub private: PrivatePart,
}

/// The part that depends neither on pixels nor on the draw.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PublicPart {
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
    /// What was left out of the file.
    pub stripped: Vec<String>,
}

/// The part that tells something of the original.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PrivatePart {
    /// A warning for whoever opens the file.
    pub notice: String,
    /// `K` as drawn.
    pub geometric_number: usize,
    /// The paper's `sigma_t^2` given K.
    pub theoretical_variance: f64,
    /// The paper's `sigma_r^2` before rounding.
    pub real_variance: f64,
    /// The noisy features, as the paper's Algorithm 1 returns them.
    pub noisy_features: Vec<f64>,
    /// The picture as written against its original.
    pub quality: Option<Quality>,
}

impl PublicPart {
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
            stripped: Vec::new(),
        }
    }
}

impl Receipt {
    /// The receipt of a release, written as a picture of that quality without what was stripped.
    pub fn new(release: &Release, quality: Option<Quality>, stripped: Vec<String>) -> Result<Self> {
        let planned = &release.terms;
        let claim = match release.randomness {
            Randomness::System => planned.claim,
            Randomness::Experiment => Claim::None,
        };
        let randomness = release.randomness;
        let public = PublicPart { claim, randomness, stripped, ..PublicPart::clone(planned) };
        let private = PrivatePart {
            notice: "Do not publish: these numbers depend on the original picture.".to_owned(),
            geometric_number: release.geometric_number,
            theoretical_variance: release.theoretical_variance,
            real_variance: release.real_variance(),
            noisy_features: release.features()?,
            quality,
        };
        Ok(Self { public, private })
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
