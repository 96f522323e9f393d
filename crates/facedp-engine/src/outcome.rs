//! What an engine finds and makes.

use facedp::Quality;
use serde::Serialize;

use crate::eyes::{Spot, Verdict};
use crate::ledger::Total;
use crate::photo::Format;
use crate::receipt::{Course, Receipt};

/// A photo as it is to be published, and what was done to it.
#[derive(Serialize)]
pub struct Protected {
    /// The file.
    #[serde(skip)]
    pub file: Vec<u8>,
    /// Its format.
    pub format: Format,
    /// The faces that were changed.
    pub faces: Vec<FaceReport>,
    /// Faces that were found but left as they are.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub left: Vec<Left>,
    /// Whether no sample changed: all noise was rounded away, or none was added.
    pub unchanged: bool,
    /// Metadata that was left out.
    pub stripped: Vec<String>,
    /// What else differs from the source.
    pub notes: Vec<String>,
    /// What the photo has cost over all releases that the ledger knows, this one included.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub total: Option<Total>,
    /// Time that it took, from decoding to the last look.
    pub seconds: f64,
    /// Written apart from the photo.
    #[serde(skip)]
    pub receipt: Option<Receipt>,
}

/// A face that was left as it is.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Left {
    /// Where it is.
    #[serde(flatten)]
    pub spot: Spot,
    /// Why.
    pub reason: String,
}

/// One face.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct FaceReport {
    /// Where it is; none for a face crop.
    #[serde(flatten)]
    pub spot: Option<Spot>,
    /// Mean squared change of the chip, before lifting and rounding: comparable with theory.
    pub mse: f64,
    /// What the plan expects of it, if there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub expected_mse: Option<f64>,
    /// How it was steered, if it was.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub steered: Option<Course>,
    /// The chip's region of the photo as written, against the original.
    #[serde(flatten)]
    pub quality: Option<Quality>,
    /// What recognisers say of it, if they were asked and saw it.
    pub recognisers: Vec<Verdict>,
    /// What they say of the original, if its degraded twins were looked at too: what JPEG and a
    /// smaller size do by themselves.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub before: Vec<Verdict>,
}

/// What is found in a photo before anything is done.
#[derive(Serialize)]
pub struct Seen {
    /// Pixels in a row.
    pub width: usize,
    /// Rows.
    pub height: usize,
    /// The file's format.
    pub format: Format,
    /// Metadata that would be left out.
    pub stripped: Vec<String>,
    /// Faces that would be treated; null for a face crop.
    pub faces: Vec<Option<Spot>>,
}

/// A photo and its result, as recognisers see them.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Compared {
    /// What they say of each face of the photo.
    pub faces: Vec<Vec<Verdict>>,
}
