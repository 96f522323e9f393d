//! What an evaluation of steering finds.

use facedp::CertifiedMethod;
use facedp_engine::Steering;
use serde::{Deserialize, Serialize};

use super::Way;
use crate::results::{Estimate, RecogniserRow, Rule, Skipped};

/// Everything that is found.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SteeringResults {
    /// Program and version.
    pub tool: String,
    /// The name of the data folder.
    pub data: String,
    /// The seed.
    pub seed: u64,
    /// Judges on untouched photos.
    pub recognisers: Vec<RecogniserRow>,
    /// One for each way of steering.
    pub rows: Vec<SteeringRow>,
    /// Pictures that were left out, and why.
    pub skipped: Vec<Skipped>,
}

/// What one way of changing photos does.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SteeringRow {
    /// The way, if it is steering.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub steering: Option<Steering>,
    /// The way, if features are replaced.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub certified: Option<CertifiedMethod>,
    /// People whose photos were steered.
    pub people: usize,
    /// Photos that were steered.
    pub photos: usize,
    /// PSNR of the chip's region, luma, written as PNG.
    pub psnr: Estimate,
    /// The least of them.
    pub psnr_least: f64,
    /// PSNR where dlib looks: a tighter square, in which more of the change lies.
    pub psnr_tight: Estimate,
    /// SSIM of the chip's region (scikit-image's default).
    pub ssim: Estimate,
    /// Mean number of steps, if there are any.
    pub steps: f64,
    /// Share of faces that came as far as the margin asks.
    pub reached: Estimate,
    /// What each recogniser says, by rule.
    pub judges: Vec<Judge>,
}

/// One recogniser, one rule.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Judge {
    /// The recogniser.
    pub recogniser: String,
    /// Whether photos were steered by it.
    pub known: bool,
    /// The rule.
    pub rule: Rule,
    /// Two untouched photos of one person.
    pub clean_pair_fnr: Estimate,
    /// A steered photo against untouched ones.
    pub attacks: Vec<Attacked>,
    /// Steered photos against each other.
    pub gallery: Option<Gallery>,
}

/// A steered photo after an attack.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Attacked {
    /// The attack.
    pub attack: String,
    /// Against its own original.
    pub self_fnr: Estimate,
    /// Against another photo of the same person.
    pub pair_fnr: Estimate,
}

/// Steered photos looked up among steered photos.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Gallery {
    /// Two steered photos of one person that do not match.
    pub pair_fnr: Estimate,
    /// People whose photo is nearest to their other photo, among all.
    pub rank_1: Estimate,
    /// The same with untouched photos.
    pub clean_rank_1: Estimate,
}

impl SteeringRow {
    /// The way.
    pub fn way(&self) -> Option<Way> {
        let steered = self.steering.clone().map(Way::Steered);
        steered.or(self.certified.map(Way::Certified))
    }
}
