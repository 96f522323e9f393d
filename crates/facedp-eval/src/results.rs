//! Everything an evaluation finds: what the files hold and the report shows.
//!
//! Nothing here depends on the time, the machine or the number of threads: the same command gives the
//! same results.

use facedp::{Preset, Ranking};
use serde::{Deserialize, Serialize};

use crate::audit::Audit;

/// All results of one run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Results {
    /// What was evaluated, and how.
    pub about: About,
    /// Quality by method, ranking, number of features and budget: the paper's tables and curves.
    pub quality: Vec<QualityRow>,
    /// Whether the energy of the noise is what theory says.
    pub law: Vec<LawRow>,
    /// The paper's own matching rule on eigenface features (its eq. 3.1).
    pub matcher: Vec<MatcherRow>,
    /// How recognisers do on untouched photos.
    pub recognisers: Vec<RecogniserRow>,
    /// Whether recognisers still match, all methods brought to the same PSNR.
    pub recognition: Vec<RecognitionRow>,
    /// The same after an attacker has treated the photo.
    pub attacks: Vec<AttackRow>,
    /// What averaging several releases of one photo brings back.
    pub averaging: Vec<AveragingRow>,
    /// An attacker whose gallery is of noisy photos too.
    pub gallery: Vec<GalleryRow>,
    /// Whether what is claimed of methods can be refuted.
    #[serde(default)]
    pub audits: Vec<Audit>,
    /// Pictures that were left out, and why.
    pub skipped: Vec<Skipped>,
}

/// What was evaluated, and how.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct About {
    /// Program and version.
    pub tool: String,
    /// The name of the data folder.
    pub data: String,
    /// SHA-256 of the feature model.
    pub model_sha256: String,
    /// The seed of everything random.
    pub seed: u64,
    /// People and pictures whose chips were used.
    pub identities: usize,
    /// Pictures whose chips were used.
    pub images: usize,
    /// Releases drawn of each chip.
    pub repeats: usize,
    /// Pictures that recognisers looked at, and how many of them have another of the same person.
    pub recognition_images: usize,
    /// Those of them with another picture of the same person.
    pub recognition_pairs: usize,
    /// Parameter p of the geometric number.
    pub geometric_p: f64,
    /// Side of the chips.
    pub side: usize,
    /// Budgets.
    pub epsilons: Vec<f64>,
    /// Numbers of features.
    pub features: Vec<usize>,
    /// Decibels that methods were brought to.
    pub decibels: Vec<f64>,
}

/// A rate or a mean with its 95 % interval.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Estimate {
    /// The estimate.
    pub value: f64,
    /// Lower end of the interval.
    pub low: f64,
    /// Upper end of the interval.
    pub high: f64,
    /// Number of cases.
    pub n: usize,
}

/// Quality of one method at one budget.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct QualityRow {
    /// The method.
    pub method: Preset,
    /// Its ranking.
    pub ranking: Ranking,
    /// Features that the budget covers.
    pub features: usize,
    /// The budget.
    pub epsilon: f64,
    /// PSNR (dB) of the expected squared error; none where it depends on the photo.
    pub psnr_expected: Option<f64>,
    /// PSNR of the mean squared error before rounding; comparable with theory.
    pub psnr_mean_mse: Option<f64>,
    /// Mean squared error before rounding.
    pub mse: Estimate,
    /// Median PSNR after rounding to 8 bits; none if infinite (at least half are unchanged).
    pub psnr_median: Option<f64>,
    /// The same by the paper's definition, whose peak is the largest level of the released chip.
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

/// Energy of the noise over many draws.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct LawRow {
    /// The method.
    pub method: Preset,
    /// Its ranking.
    pub ranking: Ranking,
    /// Features that the budget covers.
    pub features: usize,
    /// The budget.
    pub epsilon: f64,
    /// Number of draws.
    pub draws: usize,
    /// What theory says of the mean energy.
    pub expected: f64,
    /// The mean energy.
    pub mean: f64,
    /// Standard error of the mean.
    pub standard_error: f64,
    /// (mean - expected) / standard error.
    pub z: f64,
    /// Mean over draws of |real - theoretical given K| / theoretical: the paper's difference.
    pub difference: f64,
}

/// The paper's matching rule.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct MatcherRow {
    /// The method.
    pub method: Preset,
    /// Its ranking.
    pub ranking: Ranking,
    /// Features that are compared.
    pub features: usize,
    /// The budget.
    pub epsilon: f64,
    /// Share of releases whose features lie outside of the radii of their original's.
    pub miss: Estimate,
    /// What the paper's assumptions make of it.
    pub theory: f64,
}

/// A recogniser on untouched photos.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RecogniserRow {
    /// The recogniser.
    pub recogniser: String,
    /// Its file and rule, if it is not one of those inside the program.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub identity: Option<String>,
    /// Pairs of different people that the threshold for a false accept rate of 1e-3 is from.
    pub impostor_pairs: usize,
    /// That threshold.
    pub far_1e3_threshold: f32,
    /// By rule: pairs of one person that do not match.
    pub clean_pair_fnr: Vec<(Rule, Estimate)>,
}

/// When two faces count as one person's.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Rule {
    /// What it is called: `standard`, `paper` or `far-1e-3`.
    pub name: String,
    /// The largest distance that matches.
    pub threshold: f32,
}

/// One recogniser, one rule, one method, all at one PSNR.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RecognitionRow {
    /// The recogniser.
    pub recogniser: String,
    /// The rule.
    pub rule: Rule,
    /// The method.
    pub method: Preset,
    /// PSNR (dB) of the noise on the chip, the same for all methods.
    pub psnr: f64,
    /// Noisy photo against its own original: share of no match; undetected faces count as no match.
    pub self_fnr: Estimate,
    /// Noisy photo against another photo of the same person, likewise.
    pub pair_fnr: Estimate,
    /// The same, undetected faces left out.
    pub self_fnr_detected: Estimate,
    /// The same, undetected faces left out.
    pub pair_fnr_detected: Estimate,
    /// Share of noisy photos in which the detector does not find the face any more.
    pub undetected: Estimate,
    /// Two untouched photos of one person.
    pub clean_pair_fnr: Estimate,
}

/// A noisy photo after an attack.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct AttackRow {
    /// The attack.
    pub attack: String,
    /// The recogniser.
    pub recogniser: String,
    /// The rule.
    pub rule: Rule,
    /// The method; none for untouched photos.
    pub method: Option<Preset>,
    /// PSNR of the noise; none for untouched photos.
    pub psnr: Option<f64>,
    /// Against its own original.
    pub self_fnr: Estimate,
    /// Against another photo of the same person.
    pub pair_fnr: Estimate,
    /// Mean distance to its own original.
    pub self_distance: Estimate,
}

/// Several releases of one chip, averaged.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct AveragingRow {
    /// The method.
    pub method: Preset,
    /// The budget of each release.
    pub epsilon: f64,
    /// Number of releases.
    pub releases: usize,
    /// Whether all were made with one secret key (and are equal) or with fresh noise.
    pub keyed: bool,
    /// PSNR of the mean squared error of one release.
    pub psnr_one: Option<f64>,
    /// PSNR of the mean squared error of the average.
    pub psnr_average: Option<f64>,
    /// Number of chips.
    pub images: usize,
}

/// Noisy photos looked up in a gallery of noisy photos.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct GalleryRow {
    /// The recogniser.
    pub recogniser: String,
    /// The rule.
    pub rule: Rule,
    /// The method; none for untouched photos.
    pub method: Option<Preset>,
    /// PSNR of the noise; none for untouched photos.
    pub psnr: Option<f64>,
    /// Two noisy photos of one person that do not match.
    pub pair_fnr: Estimate,
    /// People whose photo is nearest to their other photo, among all.
    pub rank_1: Estimate,
}

/// A picture that was left out.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Skipped {
    /// Its path in the data folder.
    pub file: String,
    /// Why.
    pub reason: String,
}
