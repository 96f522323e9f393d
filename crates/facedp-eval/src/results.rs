//! The results of an evaluation, as written to `results.json` and shown in the report.
//!
//! Results do not depend on the time, the machine or the number of threads: the same command gives the
//! same results.

use facedp::{Preset, Ranking};
use serde::{Deserialize, Serialize};

use crate::audit::Audit;

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Results {
    pub about: About,
    /// Quality by method, ranking, number of features and budget: the paper's tables and curves.
    pub quality: Vec<QualityRow>,
    /// Whether the mean energy of the noise agrees with theory.
    pub law: Vec<LawRow>,
    /// The paper's matching rule on eigenface features (its eq. 3.1).
    pub matcher: Vec<MatcherRow>,
    /// Recognisers on untouched photos.
    pub recognisers: Vec<RecogniserRow>,
    /// Recognisers on noisy photos, with all methods scaled to the same PSNR.
    pub recognition: Vec<RecognitionRow>,
    /// Recognisers on noisy photos that an attacker has treated.
    pub attacks: Vec<AttackRow>,
    /// The gain from averaging several releases of one photo.
    pub averaging: Vec<AveragingRow>,
    /// Recognisers with a gallery of noisy photos.
    pub gallery: Vec<GalleryRow>,
    /// Attempts to refute the claims of the methods.
    #[serde(default)]
    pub audits: Vec<Audit>,
    pub skipped: Vec<Skipped>,
}

/// The data and options of the run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct About {
    /// Program and version.
    pub tool: String,
    /// The name of the data folder.
    pub data: String,
    /// SHA-256 of the feature model.
    pub model_sha256: String,
    pub seed: u64,
    /// People in the data folder.
    #[serde(default)]
    pub people_given: usize,
    /// Those of them in the half that is evaluated; the others may have trained the model.
    #[serde(default)]
    pub people_eligible: usize,
    /// Pictures of the people who are eligible.
    #[serde(default)]
    pub images_eligible: usize,
    /// People whose chips were used.
    pub identities: usize,
    /// Pictures whose chips were used.
    pub images: usize,
    /// Releases of each chip.
    pub repeats: usize,
    /// Pictures that recognisers were given.
    pub recognition_images: usize,
    /// Pictures among these that have another picture of the same person.
    pub recognition_pairs: usize,
    /// Parameter p of the geometric distribution of K.
    pub geometric_p: f64,
    /// Side of the chips in pixels.
    pub side: usize,
    pub epsilons: Vec<f64>,
    pub features: Vec<usize>,
    /// PSNRs (dB) that noise was scaled to for recognisers.
    pub decibels: Vec<f64>,
}

impl About {
    /// Who and what was left out, and why; empty if nothing was.
    pub fn left_out(&self) -> Vec<String> {
        let mut reasons = Vec::new();
        let others = self.people_given.saturating_sub(self.people_eligible);
        if others > 0 {
            reasons.push(format!(
                "{others} of {} people belong to the other half, on which models are trained",
                self.people_given
            ));
        }
        let pictures = self.images_eligible.saturating_sub(self.images);
        if pictures > 0 {
            reasons.push(format!(
                "{pictures} of {} pictures of the others were not drawn for the sample, or were skipped",
                self.images_eligible
            ));
        }
        reasons
    }
}

/// A rate or a mean with its 95 % interval.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Estimate {
    pub value: f64,
    pub low: f64,
    pub high: f64,
    /// Number of cases.
    pub n: usize,
}

/// The quality of one method at one budget.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct QualityRow {
    pub method: Preset,
    pub ranking: Ranking,
    /// The number of features that the budget covers.
    pub features: usize,
    pub epsilon: f64,
    /// PSNR (dB) of the expected squared error; `None` if it depends on the photo.
    pub psnr_expected: Option<f64>,
    /// PSNR of the mean squared error before rounding; comparable with `psnr_expected`.
    pub psnr_mean_mse: Option<f64>,
    /// Mean squared error before rounding.
    pub mse: Estimate,
    /// Median PSNR after rounding to 8 bits; `None` if infinite (at least half are unchanged).
    pub psnr_median: Option<f64>,
    /// Median PSNR as the paper defines it: the peak is the largest level of the released chip.
    pub psnr_paper_median: Option<f64>,
    /// Mean SSIM after rounding, as scikit-image computes it by default.
    pub ssim: Estimate,
    /// Mean SSIM after rounding, Wang et al. 2004.
    pub ssim_wang: Estimate,
    /// Mean of log10 of the real variance (energy of the noise before rounding).
    pub log10_variance: Estimate,
    /// Mean over releases of |real - theoretical given K| / theoretical variance.
    pub difference: Estimate,
    /// |mean real - mean theoretical given K| / mean theoretical variance.
    pub difference_of_means: f64,
    /// Share of releases that equal their original after rounding.
    pub unchanged: Estimate,
}

impl QualityRow {
    /// The lower of the measured and the expected PSNR: a sample can miss the few draws that have nearly all of
    /// the noise.
    pub(crate) fn reliable_psnr(&self) -> Option<f64> {
        let measured = self.psnr_mean_mse?;
        Some(self.psnr_expected.map_or(measured, |expected| expected.min(measured)))
    }

    /// The log variance, raised by as much as the expected noise exceeds that of the sample.
    pub(crate) fn reliable_log10_variance(&self) -> f64 {
        let missed = |reliable: f64| (self.psnr_mean_mse.unwrap_or(reliable) - reliable) / 10.0;
        self.log10_variance.value + self.reliable_psnr().map_or(0.0, missed)
    }
}

/// Energy of the noise over many draws.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct LawRow {
    pub method: Preset,
    pub ranking: Ranking,
    /// The number of features that the budget covers.
    pub features: usize,
    pub epsilon: f64,
    pub draws: usize,
    /// The expected energy.
    pub expected: f64,
    /// The mean energy of the draws.
    pub mean: f64,
    /// Standard error of the mean.
    pub standard_error: f64,
    /// (mean - expected) / standard error.
    pub z: f64,
    /// Mean over draws of |real - theoretical given K| / theoretical, the paper's normalised difference.
    pub difference: f64,
}

/// The paper's matching rule.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct MatcherRow {
    pub method: Preset,
    pub ranking: Ranking,
    pub features: usize,
    pub epsilon: f64,
    /// Share of releases with a feature outside the radius around that of the original.
    pub miss: Estimate,
    /// The miss rate under the paper's assumptions.
    pub theory: f64,
}

/// One recogniser on untouched photos.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RecogniserRow {
    pub recogniser: String,
    /// File and rule of a recogniser loaded from a file; `None` for a built-in one.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub identity: Option<String>,
    /// Pairs of different people that determine `far_1e3_threshold`.
    pub impostor_pairs: usize,
    /// The threshold at a false accept rate of 1e-3.
    pub far_1e3_threshold: f32,
    /// By rule: share of pairs of one person that do not match.
    pub clean_pair_fnr: Vec<(Rule, Estimate)>,
}

impl RecogniserRow {
    /// Whether so few pairs of different people were compared that a false accept rate of 1e-3 means
    /// little: fewer than ten false accepts are expected.
    pub fn too_few_impostors(&self) -> bool {
        self.impostor_pairs < 10_000
    }
}

/// When two faces count as the same person.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Rule {
    /// `standard`, `paper` or `far-1e-3`.
    pub name: String,
    /// The largest distance that matches.
    pub threshold: f32,
}

/// One recogniser, rule and method at one PSNR.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RecognitionRow {
    pub recogniser: String,
    pub rule: Rule,
    pub method: Preset,
    /// PSNR (dB) of the noise on the chip, the same for all methods.
    pub psnr: f64,
    /// Noisy photo against its own original: false negative rate. Undetected faces count as misses.
    pub self_fnr: Estimate,
    /// Noisy photo against another photo of the same person: false negative rate, counted alike.
    pub pair_fnr: Estimate,
    /// `self_fnr` without undetected faces.
    pub self_fnr_detected: Estimate,
    /// `pair_fnr` without undetected faces.
    pub pair_fnr_detected: Estimate,
    /// Share of noisy photos in which the detector no longer finds the face.
    pub undetected: Estimate,
    /// Two untouched photos of one person: false negative rate.
    pub clean_pair_fnr: Estimate,
}

/// A noisy photo after an attack.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct AttackRow {
    pub attack: String,
    pub recogniser: String,
    pub rule: Rule,
    /// `None` for untouched photos.
    pub method: Option<Preset>,
    /// PSNR of the noise; `None` for untouched photos.
    pub psnr: Option<f64>,
    /// Against the own original: false negative rate.
    pub self_fnr: Estimate,
    /// Against another photo of the same person: false negative rate.
    pub pair_fnr: Estimate,
    /// Mean distance to the own original.
    pub self_distance: Estimate,
}

/// Several releases of one chip, averaged.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct AveragingRow {
    pub method: Preset,
    /// The budget of each release.
    pub epsilon: f64,
    pub releases: usize,
    /// Whether all releases were made with one secret key, and so are equal, or with fresh noise.
    pub keyed: bool,
    /// PSNR of the mean squared error of one release.
    pub psnr_one: Option<f64>,
    /// PSNR of the mean squared error of the average.
    pub psnr_average: Option<f64>,
    /// Number of chips.
    pub images: usize,
}

/// Noisy photos searched in a gallery of noisy photos.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct GalleryRow {
    pub recogniser: String,
    pub rule: Rule,
    /// `None` for untouched photos.
    pub method: Option<Preset>,
    /// PSNR of the noise; `None` for untouched photos.
    pub psnr: Option<f64>,
    /// Two noisy photos of one person: false negative rate.
    pub pair_fnr: Estimate,
    /// Share of people whose photo is nearer to their own gallery photo than to all others.
    pub rank_1: Estimate,
}

/// A picture that could not be used.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Skipped {
    /// The path relative to the data folder.
    pub file: String,
    pub reason: String,
}
