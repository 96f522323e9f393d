//! Receipts: what was done to a photo and what may be claimed of it.

use facedp::certified::{CertifiedTerms, Estimate};
use facedp::{Claim, Drawn, Quality, Randomness};
use serde::{Deserialize, Serialize};

use crate::eyes::{Spot, Verdict};
use crate::steer::Steering;

/// What was agreed before any photo. It depends neither on pixels nor on what was drawn.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Terms {
    /// Noise by a plan.
    Noise(facedp::Terms),
    /// Features with a guarantee.
    Certified(Box<CertifiedTerms>),
    /// Steering.
    Steered(SteeredTerms),
}

/// The terms of steering. Its epsilon is that of the draw of where to, and no claim for the picture.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SteeredTerms {
    /// Program and version.
    pub tool: String,
    /// The method with all parameters.
    pub method: SteeredMethod,
    /// What may be claimed: nothing.
    pub claim: Claim,
    /// Where the randomness came from.
    pub randomness: Randomness,
}

/// `steered` and its parameters.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SteeredMethod {
    /// Its name.
    pub preset: SteeredName,
    /// The parameters.
    #[serde(flatten)]
    pub steering: Steering,
}

/// The name of the method.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum SteeredName {
    /// `steered`.
    #[serde(rename = "steered")]
    Steered,
}

impl Terms {
    pub(crate) fn steered(steering: &Steering, randomness: Randomness) -> Self {
        let method = SteeredMethod { preset: SteeredName::Steered, steering: steering.clone() };
        let tool = concat!("facedp ", env!("CARGO_PKG_VERSION")).to_owned();
        Self::Steered(SteeredTerms { tool, method, claim: Claim::None, randomness })
    }

    /// The name of the method.
    pub fn method(&self) -> String {
        match self {
            Terms::Noise(terms) => terms.method.preset.to_string(),
            Terms::Certified(_) => "certified".to_owned(),
            Terms::Steered(_) => "steered".to_owned(),
        }
    }

    /// Program and version.
    pub fn tool(&self) -> &str {
        match self {
            Terms::Noise(terms) => &terms.tool,
            Terms::Certified(terms) => &terms.tool,
            Terms::Steered(terms) => &terms.tool,
        }
    }

    /// What may be claimed.
    pub fn claim(&self) -> Claim {
        match self {
            Terms::Noise(terms) => terms.claim,
            Terms::Certified(terms) => terms.claim,
            Terms::Steered(terms) => terms.claim,
        }
    }

    /// Where the randomness came from.
    pub fn randomness(&self) -> Randomness {
        match self {
            Terms::Noise(terms) => terms.randomness,
            Terms::Certified(terms) => terms.randomness,
            Terms::Steered(terms) => terms.randomness,
        }
    }
}

/// What was drawn for a face by `certified`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Certificate {
    /// Noisy features; none where a feature had no budget.
    pub noisy_features: Vec<Option<f64>>,
    /// What the released face was given instead of its own.
    pub estimate: Estimate,
    /// How far the features of the released face are from that at the most, in grey levels, before its
    /// file is written: rounding, and cutting to the range of samples.
    pub residual: f64,
}

/// How far a face was steered.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Course {
    /// Steps taken.
    pub steps: usize,
    /// Whether all distances came past their thresholds by the margin, also after JPEG and at half
    /// size, before it was written.
    pub reached: bool,
}

/// What was done to one photo.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Receipt {
    /// May be published with the photo.
    pub public: PublicPart,
    /// Depends on the original photo.
    pub private: PrivatePart,
}

/// The part that says nothing of the original but what metadata it had.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PublicPart {
    /// Method, units and claim. Budgets are per face.
    #[serde(flatten)]
    pub terms: Terms,
    /// SHA-256 of the photo's file as written, which this receipt belongs to.
    pub file_sha256: String,
    /// Metadata that was left out of the file.
    pub stripped: Vec<String>,
    /// What else differs from the source file.
    pub notes: Vec<String>,
}

/// The part that tells something of the original (proofs/not-covered.md).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PrivatePart {
    /// A warning for whoever opens the file.
    pub notice: String,
    /// The faces.
    pub faces: Vec<FaceRecord>,
}

/// One face.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct FaceRecord {
    /// Where it is; none for a face crop.
    pub spot: Option<Spot>,
    /// What was drawn for it, if noise was.
    #[serde(flatten, skip_serializing_if = "Option::is_none")]
    pub drawn: Option<Drawn>,
    /// What was drawn for it, if its features were replaced.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub certified: Option<Certificate>,
    /// How it was steered, if it was.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub steered: Option<Course>,
    /// Its region as written, against the original.
    pub quality: Option<Quality>,
    /// What recognisers say of it.
    pub recognisers: Vec<Verdict>,
    /// What they say of the original and its degraded twins.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub before: Vec<Verdict>,
}

impl Receipt {
    pub(crate) fn new(
        terms: Terms,
        file_sha256: String,
        stripped: Vec<String>,
        notes: Vec<String>,
        faces: Vec<FaceRecord>,
    ) -> Self {
        let notice = "Do not publish: these numbers depend on the original picture.".to_owned();
        let public = PublicPart { terms, file_sha256, stripped, notes };
        Self { public, private: PrivatePart { notice, faces } }
    }
}
