//! The results of an evaluation of treated photos.

use facedp_engine::Terms;
use serde::{Deserialize, Serialize};

use crate::results::{Estimate, RecogniserRow, Rule, Skipped};

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ProtectionResults {
    /// Program and version.
    pub tool: String,
    /// The name of the data folder.
    pub data: String,
    pub seed: u64,
    /// Recognisers on untouched photos.
    pub recognisers: Vec<RecogniserRow>,
    /// One per request.
    pub rows: Vec<ProtectionRow>,
    /// Photos that could not be read or treated.
    pub skipped: Vec<Skipped>,
}

/// What one method does to photos.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ProtectionRow {
    /// The method with all its settings.
    pub terms: Terms,
    /// People whose photos were treated.
    pub people: usize,
    /// Photos that were treated.
    pub photos: usize,
    /// PSNR (dB) of the chip's region, luma, written as PNG.
    pub psnr: Estimate,
    /// The smallest of these.
    pub psnr_min: f64,
    /// PSNR in the crop of the first built-in recogniser (dlib), a tighter square that contains more of
    /// the change.
    pub psnr_crop: Estimate,
    /// SSIM of the chip's region, as scikit-image computes it by default.
    pub ssim: Estimate,
    /// SSIMULACRA2 scores of faces; where pixels moved, against the original moved in the same way.
    pub score: Quantiles,
    /// The same for the darker half of the faces and for the lighter one.
    pub score_by_brightness: [Quantiles; 2],
    /// Root mean square displacement of a face's pixels, as a share of the distance of the eyes; `None` if
    /// they stay.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub displacement: Option<Quantiles>,
    /// Largest relative change of a small length in a face.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub stretch: Option<Quantiles>,
    /// Mean number of steps; `None` for a method without steps.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub steps: Option<f64>,
    /// Share of faces that reached the margin; `None` for a method without steps.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub reached: Option<Estimate>,
    pub judges: Vec<Judge>,
}

/// The distribution of a figure over faces.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Quantiles {
    pub least: f64,
    /// The 5 % quantile.
    pub low: f64,
    pub median: f64,
    pub largest: f64,
}

impl Quantiles {
    /// All zero if there are no values.
    pub(crate) fn of(values: impl IntoIterator<Item = f64>) -> Self {
        let mut sorted: Vec<f64> = values.into_iter().collect();
        sorted.sort_by(f64::total_cmp);
        let last = sorted.len().saturating_sub(1) as f64;
        let at = |share: f64| sorted.get((share * last).round() as usize).copied().unwrap_or(0.0);
        Self { least: at(0.0), low: at(0.05), median: at(0.5), largest: at(1.0) }
    }

    /// `None` if there are no values.
    pub(crate) fn of_some(values: Vec<f64>) -> Option<Self> {
        (!values.is_empty()).then(|| Self::of(values))
    }
}

/// One recogniser with one rule.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Judge {
    pub recogniser: String,
    /// Whether the method knew the recogniser; if not, it is held out.
    pub known: bool,
    pub rule: Rule,
    /// Two untouched photos of one person: false negative rate.
    pub clean_pair_fnr: Estimate,
    /// A treated photo against untouched ones.
    pub attacks: Vec<Attacked>,
    /// Against another photo of the same person, as written: the darker half of the faces, then the lighter
    /// one. `None` if photos as written were not asked for.
    pub pair_fnr_by_brightness: Option<[Estimate; 2]>,
    /// Treated photos against each other.
    pub gallery: Option<Gallery>,
}

/// A treated photo after an attack: false negative rates.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Attacked {
    pub attack: String,
    /// Against its own original.
    pub self_fnr: Estimate,
    /// Against another photo of the same person.
    pub pair_fnr: Estimate,
}

/// Treated photos looked up among treated photos.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Gallery {
    /// Two treated photos of one person: false negative rate.
    pub pair_fnr: Estimate,
    /// Share of people whose photo is nearest to their other photo, among all.
    pub rank_1: Estimate,
    /// The same with untouched photos.
    pub clean_rank_1: Estimate,
}
