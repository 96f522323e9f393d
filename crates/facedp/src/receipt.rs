//! Receipts: what was done, and what may be claimed about it.
//!
//! A receipt has a public part, the [`Terms`], which may be published with the photo, and a private
//! part, [`Drawn`], which depends on the original. Front ends derive their wording from the [`Claim`].

use serde::{Deserialize, Serialize};

use crate::error::Result;
use crate::features::FeatureModel;
use crate::method::Method;
use crate::noise::Randomness;
use crate::plan::{PlanReport, Release};

/// What may be claimed about a release.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Claim {
    None,
    /// The noise as drawn, at the model's size and before lifting and rounding, spends the budget by
    /// the paper's accounting (eq. 4.1). This is not differential privacy: the paper's proof does not
    /// hold.
    PaperAccounting,
    /// What an earlier version claimed: features drawn for each face are eps-differentially private among
    /// photos that differ only in these features. Kept for its receipts and ledgers.
    EpsDpFeatures,
    /// Each result is eps-differentially private in everything inside the outline of a face
    /// (`proofs/face.md`). Nothing is promised about what is outside.
    EpsDpFace,
}

impl Claim {
    /// Whether it is a guarantee of differential privacy.
    pub fn is_private(self) -> bool {
        matches!(self, Claim::EpsDpFeatures | Claim::EpsDpFace)
    }

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
            Claim::EpsDpFace => {
                "eps-dp-face: whatever face with the same rounded landmarks had been inside the outline, this \
                 result would have been at most e^epsilon times as likely, so it matches its own person at \
                 most e^epsilon times as often as if somebody else had been there; nothing is promised about what is outside the \
                 outline (hair, neck, clothes, background, where the face is), which can show who it is"
            }
        }
    }
}

/// The method, its unit, and what may be claimed. Terms are fixed before any photo: they depend neither
/// on pixels nor on the draw, and may be published with the photo.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Terms {
    /// Program name and version.
    pub tool: String,
    pub method: Method,
    pub model_sha256: String,
    /// The unit of epsilon in words.
    pub epsilon_unit: String,
    /// The budget that the same noise spends against the measured sensitivities.
    pub epsilon_measured: Option<f64>,
    pub claim: Claim,
    pub randomness: Randomness,
}

impl Terms {
    /// For a release made with system entropy.
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
            epsilon_unit: method.sensitivity.epsilon_unit().to_owned(),
            epsilon_measured: report.budget_measured,
            claim,
            randomness: Randomness::System,
        }
    }

    /// The terms of a release made with this randomness. A seed that others may know voids the claim.
    pub fn with_randomness(&self, randomness: Randomness) -> Self {
        let claim = match randomness {
            Randomness::System | Randomness::Keyed => self.claim,
            Randomness::Experiment => Claim::None,
        };
        Self { claim, randomness, ..self.clone() }
    }
}

/// What was drawn for one face. Private: it depends on the original photo.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Drawn {
    /// `K`.
    pub geometric_number: usize,
    /// The paper's `sigma_t^2`, given K.
    pub theoretical_variance: f64,
    /// The paper's `sigma_r^2` before rounding.
    pub real_variance: f64,
    /// The noisy features, as the paper's Algorithm 1 returns them.
    pub noisy_features: Vec<f64>,
}

impl Drawn {
    pub fn of(release: &Release) -> Result<Self> {
        Ok(Self {
            geometric_number: release.geometric_number,
            theoretical_variance: release.theoretical_variance,
            real_variance: release.real_variance(),
            noisy_features: release.features()?,
        })
    }
}
