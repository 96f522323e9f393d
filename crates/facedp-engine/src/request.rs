//! Requests: what to do with photos, as plain data.
//!
//! All front ends fill in the same value. It contains no secrets and no paths: keys, models and ledgers are
//! [`Resources`](crate::Resources).

use std::fmt;
use std::str::FromStr;

use facedp::basis::BasisKind;
use facedp::certified::Mechanism;
use facedp::{Epsilon, Preset, Ranking, Sensitivity};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::detect::{Faces, MIN_SCORE, Selection};
use crate::error::{Error, Result};
use crate::format::Format;
use crate::photo::{Encoding, Metadata};
use crate::steering::{Goal, Strength, Tuning};

/// Default budget of a face.
pub const DEFAULT_EPSILON: f64 = 0.2;

/// What to do with photos. A setting that is left out has its default; a setting that the method does not
/// have is an error.
///
/// ```
/// use facedp_engine::{MethodName, Request, Strength};
///
/// let request = Request::from_json(r#"{"strength": "high", "faces": [1, 3]}"#)?;
/// assert_eq!(request.method, MethodName::Steered);
/// assert_eq!(request.strength, Some(Strength::High));
/// # Ok::<(), facedp_engine::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Request {
    pub method: MethodName,

    // Settings of `steered`.
    pub strength: Option<Strength>,
    pub goal: Option<Goal>,
    /// Smallest SSIMULACRA2 score of a face; overrides the strength's.
    pub min_quality: Option<f64>,
    /// Whether the face's pixels move too, or only change their luma.
    pub shape: Option<bool>,
    /// Recognisers to steer by, all if empty.
    pub steer_by: Vec<String>,

    // Settings of methods that draw noise.
    /// Budget of each face. `steered`: the budget for drawing the target.
    pub epsilon: Option<Epsilon>,
    /// Number of features that the budget covers; all of the model's if left out.
    pub features: Option<usize>,
    pub mechanism: Option<Mechanism>,
    pub geometric_p: Option<f64>,
    pub basis: Option<BasisKind>,
    /// Levels of the Haar basis.
    pub levels: Option<u32>,
    pub ranking: Option<Ranking>,
    pub sensitivity: Option<Sensitivity>,
    /// `rdp-na`: share of a feature's largest weight from which weights count.
    pub significance: Option<f64>,
    /// `rdp-lmgd`: step length.
    pub eta: Option<f64>,
    pub experiment: Option<Experiment>,

    // Faces.
    /// Which of the detected faces.
    pub faces: Faces,
    /// Faces that the detector missed: left, top, width and height in pixels of the upright photo.
    pub boxes: Vec<[f32; 4]>,
    pub min_score: Option<f32>,
    /// The picture is a face crop: its centre square is treated, and no face is looked for.
    pub aligned: bool,
    /// Side of that square; as large as fits if left out.
    pub crop: Option<u32>,

    // Results.
    pub format: Option<Format>,
    /// 1 to 100; the source's own if left out.
    pub jpeg_quality: Option<u8>,
    pub keep_metadata: bool,
    /// Write photos without a face too, instead of refusing them.
    pub copy_faceless: bool,
    pub receipt: bool,
    pub check: Check,
    /// Whether to measure the quality of faces as written.
    pub measure: bool,
}

/// How recognisers are asked about results.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Check {
    /// Not at all.
    Off,
    /// As the method needs it: about faces as written; for `steered` also after degradation.
    #[default]
    Default,
    /// Also after JPEG 75 and at half size, whatever the method.
    Degraded,
}

/// Settings for measurements. Results that use them carry no claim.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Experiment {
    /// `steered`: internal parameters.
    pub tuning: Option<Tuning>,
    /// `steered`: margin at which steering ends early, in thresholds.
    pub margin: Option<f32>,
    /// The paper's methods: PSNR to which the noise of every draw is scaled, in dB.
    pub noise_psnr: Option<f64>,
}

/// The name of a method.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub enum MethodName {
    /// Photos are decoded and encoded.
    None,
    /// Faces change until recognisers no longer match them.
    #[default]
    Steered,
    /// Faces are replaced by others, made from public and private numbers, with a guarantee.
    Certified,
    /// The paper's noise.
    Noise(Preset),
}

impl MethodName {
    /// All methods: our own first, then the paper's, then `none`.
    pub fn all() -> Vec<Self> {
        let ours = [MethodName::Steered, MethodName::Certified];
        let presets = Preset::ALL.map(MethodName::Noise);
        ours.into_iter().chain(presets).chain([MethodName::None]).collect()
    }
}

impl fmt::Display for MethodName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            MethodName::None => f.pad("none"),
            MethodName::Steered => f.pad("steered"),
            MethodName::Certified => f.pad("certified"),
            MethodName::Noise(preset) => preset.fmt(f),
        }
    }
}

impl FromStr for MethodName {
    type Err = Error;

    fn from_str(name: &str) -> Result<Self> {
        let all = Self::all();
        let known = all.iter().find(|method| method.to_string() == name);
        known.copied().ok_or_else(|| Error::UnknownMethod {
            name: name.to_owned(),
            known: all.iter().map(Self::to_string).collect(),
        })
    }
}

impl TryFrom<String> for MethodName {
    type Error = Error;

    fn try_from(name: String) -> Result<Self> {
        name.parse()
    }
}

impl From<MethodName> for String {
    fn from(name: MethodName) -> Self {
        name.to_string()
    }
}

impl Default for Request {
    fn default() -> Self {
        Self {
            method: MethodName::default(),
            strength: None,
            goal: None,
            min_quality: None,
            shape: None,
            steer_by: Vec::new(),
            epsilon: None,
            features: None,
            mechanism: None,
            geometric_p: None,
            basis: None,
            levels: None,
            ranking: None,
            sensitivity: None,
            significance: None,
            eta: None,
            experiment: None,
            faces: Faces::All,
            boxes: Vec::new(),
            min_score: None,
            aligned: false,
            crop: None,
            format: None,
            jpeg_quality: None,
            keep_metadata: false,
            copy_faceless: false,
            receipt: false,
            check: Check::Default,
            measure: true,
        }
    }
}

impl Request {
    /// A request with every setting at its default.
    pub fn new(method: MethodName) -> Self {
        Self { method, ..Self::default() }
    }

    /// Reads a JSON object. `null` is not allowed: leave a setting out instead.
    pub fn from_json(text: &str) -> Result<Self> {
        let wrong = |problem: String| Error::Request { problem };
        let value: Value = serde_json::from_str(text).map_err(|e| wrong(e.to_string()))?;
        // Serde would accept a list as a struct.
        let Value::Object(settings) = &value else {
            return Err(wrong("a JSON object is expected".to_owned()));
        };
        if let Some((name, _)) = settings.iter().find(|(_, value)| value.is_null()) {
            return Err(wrong(format!("`{name}` is null")));
        }
        // Parse the text again, so that errors contain line and column.
        serde_json::from_str(text).map_err(|e| wrong(e.to_string()))
    }

    /// Names of the method settings that were given.
    fn given(&self) -> impl Iterator<Item = &'static str> {
        [
            (self.strength.is_some(), "strength"),
            (self.goal.is_some(), "goal"),
            (self.min_quality.is_some(), "min_quality"),
            (self.shape.is_some(), "shape"),
            (!self.steer_by.is_empty(), "steer_by"),
            (self.epsilon.is_some(), "epsilon"),
            (self.features.is_some(), "features"),
            (self.mechanism.is_some(), "mechanism"),
            (self.geometric_p.is_some(), "geometric_p"),
            (self.basis.is_some(), "basis"),
            (self.levels.is_some(), "levels"),
            (self.ranking.is_some(), "ranking"),
            (self.sensitivity.is_some(), "sensitivity"),
            (self.significance.is_some(), "significance"),
            (self.eta.is_some(), "eta"),
            (self.experiment.is_some(), "experiment"),
        ]
        .into_iter()
        .filter_map(|(given, name)| given.then_some(name))
    }

    /// Fails if a setting was given that the method does not have.
    pub(crate) fn require_settings(&self, known: &[&str]) -> Result<()> {
        match self.given().find(|name| !known.contains(name)) {
            None => Ok(()),
            Some(setting) => Err(Error::Setting { setting, of: self.method.to_string() }),
        }
    }

    pub(crate) fn epsilon(&self) -> Result<Epsilon> {
        match self.epsilon {
            Some(epsilon) => Ok(epsilon),
            None => Ok(Epsilon::new(DEFAULT_EPSILON)?),
        }
    }

    pub(crate) fn experiment(&self) -> Experiment {
        self.experiment.unwrap_or_default()
    }

    pub(crate) fn selection(&self) -> Selection {
        match self.aligned {
            true => Selection::Crop { side: self.crop },
            false => Selection::Detected {
                faces: self.faces.clone(),
                boxes: self.boxes.clone(),
                min_score: self.min_score.unwrap_or(MIN_SCORE),
            },
        }
    }

    pub(crate) fn encoding(&self) -> Encoding {
        let metadata = if self.keep_metadata { Metadata::Keep } else { Metadata::Strip };
        Encoding { format: self.format, jpeg_quality: self.jpeg_quality, metadata }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn a_request_survives_json() {
        let request = Request {
            method: MethodName::Noise(Preset::RdpLmgd),
            epsilon: Some(Epsilon::new(0.5).unwrap()),
            eta: Some(0.05),
            faces: Faces::Numbers(vec![1, 3]),
            boxes: vec![[1.0, 2.0, 30.0, 40.5]],
            format: Some(Format::Png),
            ..Request::default()
        };
        let text = serde_json::to_string(&request).unwrap();
        assert_eq!(serde_json::from_str::<Request>(&text).unwrap(), request);
    }

    #[test]
    fn what_is_no_request_is_refused() {
        for (text, words) in [
            ("[]", "JSON object"),
            ("{", "EOF"),
            (r#"{"strength": null}"#, "`strength` is null"),
            (r#"{"colours": true}"#, "unknown field `colours`"),
            (r#"{"method": "blur"}"#, "blur"),
            (r#"{"faces": "some"}"#, "all, largest"),
        ] {
            let error = Request::from_json(text).unwrap_err().to_string();
            assert!(error.contains(words), "{text}: {error}");
        }
    }

    #[test]
    fn every_method_has_a_name_of_its_own() {
        for method in MethodName::all() {
            assert_eq!(method.to_string().parse::<MethodName>().unwrap(), method);
        }
    }
}
