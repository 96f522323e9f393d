//! Receipts: what was done to a photo and what may be claimed of it.

use facedp::{Drawn, Quality, Terms};
use serde::{Deserialize, Serialize};

use crate::eyes::{Spot, Verdict};

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

/// The part that tells something of the original.
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
    /// What was drawn for it.
    #[serde(flatten)]
    pub drawn: Drawn,
    /// Its region as written, against the original.
    pub quality: Option<Quality>,
    /// What recognisers say of it.
    pub recognisers: Vec<Verdict>,
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
