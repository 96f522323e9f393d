//! Receipts: what was done to a photo, and what may be claimed about the result.

use facedp::certified::{CertifiedTerms, Estimate};
use facedp::metrics::Quality;
use facedp::noise::Randomness;
use facedp::{Claim, Drawn};
use serde::{Deserialize, Serialize};

use crate::detect::DetectedFace;
use crate::error::{Error, Result};
use crate::recognise::Verdict;
use crate::steering::Steering;

/// Version of the receipt format.
const SCHEMA: u32 = 2;

/// The terms of a release: method, claim, randomness. They depend on neither pixels nor noise.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "lowercase")]
pub enum Terms {
    Noise(facedp::Terms),
    Certified(Box<CertifiedTerms>),
    Steered(SteeredTerms),
}

/// The terms of `steered`. Its epsilon is the budget for drawing the target; it claims nothing about the
/// picture.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SteeredTerms {
    /// Program and version.
    pub tool: String,
    pub method: SteeredMethod,
    /// Always `none`.
    pub claim: Claim,
    pub randomness: Randomness,
}

/// `steered` and its parameters.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SteeredMethod {
    pub preset: SteeredName,
    #[serde(flatten)]
    pub steering: Steering,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum SteeredName {
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

    pub fn claim(&self) -> Claim {
        match self {
            Terms::Noise(terms) => terms.claim,
            Terms::Certified(terms) => terms.claim,
            Terms::Steered(terms) => terms.claim,
        }
    }

    pub fn randomness(&self) -> Randomness {
        match self {
            Terms::Noise(terms) => terms.randomness,
            Terms::Certified(terms) => terms.randomness,
            Terms::Steered(terms) => terms.randomness,
        }
    }
}

/// What was done to a face.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "lowercase")]
pub enum Details {
    Noise(Drawn),
    Certified(Certificate),
    Steered(SteeringOutcome),
}

/// The draw of `certified` for a face.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Certificate {
    /// None where a feature had no budget.
    pub noisy_features: Vec<Option<f64>>,
    /// Features of the face that was put there.
    pub estimate: Estimate,
}

/// The outcome of steering a face.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct SteeringOutcome {
    pub steps: usize,
    /// Whether all distances exceeded their thresholds by the margin, also after JPEG and at half size, before
    /// encoding.
    pub reached: bool,
    /// None if the face kept its shape.
    pub shape: Option<Displacement>,
}

/// How far the pixels of a face were moved.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Displacement {
    /// Root mean square over the face, as a share of the distance of the eyes.
    pub displacement: f64,
    pub max_displacement: f64,
    /// Largest relative change of a small length.
    pub stretch: f64,
}

/// What was done to one photo.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Receipt {
    schema: u32,
    /// May be published with the photo.
    pub public: PublicPart,
    /// Depends on the original photo.
    pub private: PrivatePart,
}

/// The part that reveals nothing about the original except the kinds of its metadata.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PublicPart {
    /// Method, units and claim. Budgets are per face.
    #[serde(flatten)]
    pub terms: Terms,
    /// SHA-256 of the written file.
    pub file_sha256: String,
    /// Metadata that was left out of the file.
    pub stripped: Vec<String>,
    /// Other differences from the source file.
    pub notes: Vec<String>,
    /// Recognisers that were asked whether the result still matches; what they say is private.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub recognisers_asked: Vec<String>,
}

/// The part that reveals something about the original (proofs/not-covered.md).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PrivatePart {
    /// A warning to readers of the file.
    pub notice: String,
    pub faces: Vec<FaceRecord>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct FaceRecord {
    /// None for a face crop.
    pub face: Option<DetectedFace>,
    pub details: Option<Details>,
    /// Quality of the chip's region as written, compared with the original.
    pub quality: Option<Quality>,
    /// SSIMULACRA2 score of the face as written, compared with the original; where pixels moved, with the
    /// original moved in the same way.
    pub ssimulacra2: Option<f64>,
    pub recognisers: Vec<Verdict>,
    /// Verdicts on the original after degradation.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub before: Vec<Verdict>,
}

impl Receipt {
    pub(crate) fn new(
        terms: Terms,
        file_sha256: String,
        stripped: Vec<String>,
        notes: Vec<String>,
        recognisers_asked: Vec<String>,
        faces: Vec<FaceRecord>,
    ) -> Self {
        let notice = "Do not publish: these numbers depend on the original picture.".to_owned();
        let public = PublicPart { terms, file_sha256, stripped, notes, recognisers_asked };
        Self { schema: SCHEMA, public, private: PrivatePart { notice, faces } }
    }

    /// Reads a receipt. Fails if its format version is unknown.
    pub fn from_json(text: &str) -> Result<Self> {
        #[derive(Deserialize)]
        struct Version {
            schema: u32,
        }
        let wrong = |e: serde_json::Error| Error::Receipt { problem: e.to_string() };
        let Version { schema } = serde_json::from_str(text).map_err(wrong)?;
        if schema != SCHEMA {
            return Err(Error::Schema { what: "receipt", found: schema, known: SCHEMA });
        }
        serde_json::from_str(text).map_err(wrong)
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use crate::request::Request;

    /// Receipts must stay readable: the golden file holds the exact text.
    #[test]
    fn receipts_keep_their_format() {
        let steering = Steering::of(&Request::default()).unwrap();
        let terms = Terms::steered(&steering, Randomness::Keyed);
        let record = FaceRecord {
            face: None,
            details: Some(Details::Steered(SteeringOutcome {
                steps: 8,
                reached: true,
                shape: None,
            })),
            quality: None,
            ssimulacra2: Some(75.5),
            recognisers: Vec::new(),
            before: Vec::new(),
        };
        let asked = vec!["dlib".to_owned(), "sface".to_owned()];
        let receipt =
            Receipt::new(terms, "00".to_owned(), Vec::new(), Vec::new(), asked, vec![record]);
        let text = serde_json::to_string(&receipt).unwrap();
        assert_eq!(text, include_str!("../tests/golden/receipt-2.json").trim_end());
        assert_eq!(Receipt::from_json(&text).unwrap(), receipt);
        // Receipts from before they named the recognisers are read, too.
        let earlier = text.replace(r#","recognisers_asked":["dlib","sface"]"#, "");
        assert!(Receipt::from_json(&earlier).unwrap().public.recognisers_asked.is_empty());
        // And those from before these numbers could be set.
        let mut earlier: serde_json::Value = serde_json::from_str(&text).unwrap();
        let tuning = earlier["public"]["method"]["tuning"].as_object_mut().unwrap();
        let later =
            ["asked", "outline", "bend", "symmetry", "parts", "retreat", "level", "masking"];
        for name in later {
            assert!(tuning.remove(name).is_some(), "{name}");
        }
        let earlier = Receipt::from_json(&earlier.to_string()).unwrap();
        let earlier = serde_json::to_string(&earlier).unwrap();
        for then in [
            r#""asked":1,"#,
            r#""outline":0.3,"bend":0.0,"symmetry":0.0,"parts":0.0,"retreat":0.9,"#,
            r#""level":255.0,"masking":0.0"#,
        ] {
            assert!(earlier.contains(then), "{earlier}");
        }
        let newer = text.replacen("\"schema\":2", "\"schema\":3", 1);
        let error = Receipt::from_json(&newer).unwrap_err().to_string();
        assert!(error.contains("receipt") && error.contains('3'), "{error}");
        assert!(Receipt::from_json("{}").is_err());
    }
}
