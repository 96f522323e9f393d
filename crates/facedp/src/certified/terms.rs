//! What may be said of `certified`.

use serde::{Deserialize, Serialize};

use super::{CertifiedMethod, CertifiedPlan};
use crate::noise::Randomness;
use crate::receipt::Claim;

/// What was agreed before any photo. It depends neither on pixels nor on the draw.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CertifiedTerms {
    /// Program and version.
    pub tool: String,
    /// The method with all parameters.
    pub method: NamedMethod,
    /// SHA-256 of the feature model.
    pub model_sha256: String,
    /// What one unit of epsilon is.
    pub epsilon_unit: String,
    /// What is spent on each face: at most the method's epsilon.
    pub epsilon_spent: f64,
    /// Which photos are hard to tell apart.
    pub neighbours: String,
    /// What the claim does not cover.
    pub assumptions: Vec<String>,
    /// What may be claimed.
    pub claim: Claim,
    /// Where the randomness came from.
    pub randomness: Randomness,
}

/// `certified` and its parameters.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct NamedMethod {
    /// Its name.
    pub preset: Name,
    /// The parameters.
    #[serde(flatten)]
    pub method: CertifiedMethod,
}

/// The name of the method.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Name {
    /// `certified`.
    #[serde(rename = "certified")]
    Certified,
}

impl CertifiedPlan {
    /// What may be said of a release made with that randomness: nothing, if others can know its seed.
    pub fn terms(&self, randomness: Randomness) -> CertifiedTerms {
        let (claim, keyed) = match randomness {
            Randomness::System => (
                Claim::EpsDpFeatures,
                Some("the system's entropy cannot be guessed, nor ChaCha20 told from random bits"),
            ),
            Randomness::Keyed => (
                Claim::EpsDpFeatures,
                Some("for those who do not have the key and cannot break BLAKE3 or ChaCha20"),
            ),
            Randomness::Experiment => (Claim::None, None),
        };
        // proofs/not-covered.md has them all.
        let assumptions = [
            "the rest of the picture (what is left without these features, colours, where faces are) is \
             the same; it can show who it is, and wherever its content can be guessed (a plain \
             background, a black border) or follows from how the source was stored (a JPEG file's \
             quantisation) it gives the features away",
            "one release of one face, published whatever it looks like; budgets add up over releases with \
             the same features and faces, and over faces of one person; releases with other features, \
             faces or boxes, or by another method, can together show everything",
            "people whose photos trained the model are not covered",
        ];
        let assumptions = assumptions.into_iter().chain(keyed).map(str::to_owned).collect();
        CertifiedTerms {
            tool: concat!("facedp ", env!("CARGO_PKG_VERSION")).to_owned(),
            method: NamedMethod { preset: Name::Certified, method: self.method },
            model_sha256: self.model.hash().to_owned(),
            epsilon_unit:
                "differential privacy (delta below 2^-300, of overflow), against the widths of the model's \
                 public boxes"
                    .to_owned(),
            epsilon_spent: self.spent(),
            neighbours: "pictures in fixed point that are equal but for the features of one face, by any \
                         amount; files as cameras write them hardly ever are"
                .to_owned(),
            assumptions,
            claim,
            randomness,
        }
    }
}
