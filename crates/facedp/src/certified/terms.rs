//! The terms of `certified`.

use serde::{Deserialize, Serialize};

use super::{CertifiedMethod, CertifiedPlan};
use crate::noise::Randomness;
use crate::receipt::Claim;

/// The public part of a receipt. It is fixed before any photo and depends neither on pixels nor on the
/// draw.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CertifiedTerms {
    /// Program name and version.
    pub tool: String,
    pub method: NamedMethod,
    pub model_sha256: String,
    /// The unit of epsilon in words.
    pub epsilon_unit: String,
    /// The budget spent on each face, at most the method's epsilon.
    pub epsilon_spent: f64,
    /// The neighbouring relation of the guarantee.
    pub neighbours: String,
    /// What the claim does not cover.
    pub assumptions: Vec<String>,
    pub claim: Claim,
    pub randomness: Randomness,
}

/// The parameters of `certified`, with its name.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct NamedMethod {
    pub preset: Name,
    #[serde(flatten)]
    pub method: CertifiedMethod,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Name {
    #[serde(rename = "certified")]
    Certified,
}

impl CertifiedPlan {
    /// The terms of a release made with this randomness. A seed that others may know voids the claim.
    pub fn terms(&self, randomness: Randomness) -> CertifiedTerms {
        let (claim, keyed) = match randomness {
            Randomness::System => (
                Claim::EpsDpFace,
                Some(
                    "the system's entropy cannot be guessed, and ChaCha20 cannot be told from random bits",
                ),
            ),
            Randomness::Keyed => (
                Claim::EpsDpFace,
                Some("against those who do not have the key and cannot break BLAKE3 or ChaCha20"),
            ),
            Randomness::Experiment => (Claim::None, None),
        };
        // The full list is in proofs/not-covered.md.
        let assumptions = [
            "what is outside the outline of a face (hair, neck, clothes, background, shadows, reflections) \
             and its five landmarks, rounded to 2 to 3 % of the distance between the eyes, are public: they \
             can show who the person is",
            "one release of one face, published whatever it looks like; budgets add up over releases with \
             the same outlines, and over faces of one person; releases with other outlines, or by another \
             method, can together reveal everything",
            "people whose photos trained the model are not covered",
        ];
        let assumptions = assumptions.into_iter().chain(keyed).map(str::to_owned).collect();
        CertifiedTerms {
            tool: concat!("facedp ", env!("CARGO_PKG_VERSION")).to_owned(),
            method: NamedMethod { preset: Name::Certified, method: self.method },
            model_sha256: self.model.hash().to_owned(),
            epsilon_unit:
                "differential privacy (delta below 2^-300, from overflow), against the widths of the \
                 model's public boxes"
                    .to_owned(),
            epsilon_spent: self.spent(),
            neighbours: "any two photos that are equal in everything but samples inside the outline of one \
                         face, and whose treated faces have the same rounded landmarks"
                .to_owned(),
            assumptions,
            claim,
            randomness,
        }
    }
}
