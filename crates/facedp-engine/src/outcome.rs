//! Results of an engine.

use facedp::metrics::Quality;
use serde::Serialize;

use crate::detect::{DetectedFace, Doubt};
use crate::format::Format;
use crate::ledger::Total;
use crate::receipt::{Receipt, SteeringOutcome};
use crate::recognise::Verdict;

/// A photo to publish, and what was done to it.
#[derive(Serialize)]
pub struct Protected {
    /// The file to publish; for pixels in memory, their samples.
    #[serde(skip)]
    pub file: Vec<u8>,
    pub format: Format,
    /// Faces that were treated.
    pub faces: Vec<FaceReport>,
    /// Faces that were found but not treated.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub skipped: Vec<SkippedFace>,
    /// Places that may be faces and were left as they are.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub doubts: Vec<Doubt>,
    /// Faces found in the result that were neither treated nor left out.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub untreated: Vec<DetectedFace>,
    /// Whether no sample changed: nothing was added, or rounding removed it.
    pub unchanged: bool,
    /// Metadata that was left out.
    pub stripped: Vec<String>,
    /// What else differs from the source.
    pub notes: Vec<String>,
    /// Total cost of all releases of the photo in the ledger, including this one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub total: Option<Total>,
    /// Duration from decoding to the last check.
    pub seconds: f64,
    /// Written apart from the photo.
    #[serde(skip)]
    pub receipt: Option<Receipt>,
}

/// A face that was found but not treated.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct SkippedFace {
    #[serde(flatten)]
    pub face: DetectedFace,
    pub reason: String,
}

/// A face that was treated.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct FaceReport {
    /// None for a face crop.
    #[serde(flatten)]
    pub face: Option<DetectedFace>,
    /// Mean squared change of the chip, before lifting and rounding: comparable with theory.
    pub mse: f64,
    /// Expected value of `mse` under the plan.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub expected_mse: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub steered: Option<SteeringOutcome>,
    /// Quality of the chip's region as written, compared with the original.
    #[serde(flatten)]
    pub quality: Option<Quality>,
    /// SSIMULACRA2 score of the face as written, compared with the original; where pixels moved, with the
    /// original moved in the same way.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ssimulacra2: Option<f64>,
    /// Whether the detector finds the face in the result; none if it did not look.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub found_again: Option<bool>,
    /// Empty if recognisers were not asked, or saw no face.
    pub recognisers: Vec<Verdict>,
    /// Verdicts on the original after JPEG and at half size: the effect of degradation alone.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub before: Vec<Verdict>,
}

/// A photo before treatment.
#[derive(Serialize)]
pub struct Inspection {
    pub width: usize,
    pub height: usize,
    pub format: Format,
    /// Metadata that would be left out.
    pub stripped: Vec<String>,
    /// Faces that would be treated; null for a face crop.
    pub faces: Vec<Option<DetectedFace>>,
    /// Faces that the method would skip.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub skipped: Vec<SkippedFace>,
    /// Places that may be faces and would be left as they are.
    pub doubts: Vec<Doubt>,
}

/// The verdicts of recognisers on a photo and its result.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Compared {
    /// For each face of the photo, one verdict per recogniser.
    pub faces: Vec<Vec<Verdict>>,
}
