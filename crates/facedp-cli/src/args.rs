//! The command line.

use std::path::PathBuf;

use anyhow::anyhow;
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use clap::{Args as ClapArgs, Parser, Subcommand, ValueEnum};
use facedp::scale::Solver;
use facedp::{Basis, Epsilon, Method, Preset, Ranking, Sensitivity};

use crate::failure::Failure;

/// Add ranked differential privacy noise to face pictures before they are published.
///
/// Nothing leaves this machine, and nothing is downloaded: the feature model is inside the
/// program.
#[derive(Parser)]
#[command(
    name = "facedp",
    version,
    max_term_width = 100,
    after_help = "\
Examples:
  facedp protect portrait.png -o noisy/ --aligned    add noise to a face crop
  facedp check portrait.png noisy/portrait.png       how much did it change?
  facedp inspect group.jpg                           where are the faces?
  facedp plan --all                                  what would each method do?
  facedp train people/ -o my.safetensors             fit a feature model of your own

`facedp COMMAND --help` tells more. Exit codes: 0 done, 1 something failed, 2 usage."
)]
pub struct Args {
    #[command(flatten)]
    pub output: Output,
    #[command(subcommand)]
    pub command: Command,
}

/// How results are shown.
#[derive(ClapArgs)]
#[command(next_help_heading = "Output")]
pub struct Output {
    /// Print results as JSON
    #[arg(long, global = true)]
    pub json: bool,
    /// Print errors only
    #[arg(short, long, global = true)]
    pub quiet: bool,
}

#[derive(Subcommand)]
pub enum Command {
    Protect(Protect),
    Check(Check),
    Inspect(Inspect),
    Plan(Plan),
    Train(Train),
    Evaluate(Evaluate),
}

/// Add noise to face crops, and write them to another folder.
///
/// The noise is made at the model's size and lifted to the picture's centre square, on all
/// colour channels alike. Pictures are written as PNG, so that nothing but the noise changes
/// them; metadata (EXIF, XMP) is left out, a colour profile is kept. Originals are never
/// overwritten.
#[derive(ClapArgs)]
#[command(after_help = "\
Examples:
  facedp protect portrait.png -o noisy/ --aligned
  facedp protect crops/ -o noisy/ --aligned --method rdp-lmgd --epsilon 0.5
  facedp protect crops/ -o noisy/ --aligned --seed 7 --json    a repeatable experiment")]
pub struct Protect {
    /// Pictures (JPEG, PNG, WebP), or folders of them
    #[arg(required = true, value_name = "PATHS")]
    pub paths: Vec<PathBuf>,
    /// Folder for the results; made if missing
    #[arg(short, long, value_name = "DIR")]
    pub output: PathBuf,
    /// The pictures are face crops
    #[arg(long)]
    pub aligned: bool,
    /// Use the centre N x N pixels of each picture, not its largest centre square
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub crop: Option<u32>,
    /// Repeatable noise for experiments; whoever knows the seed can take the noise off again
    #[arg(long, value_name = "N")]
    pub seed: Option<u64>,
    /// Also write a receipt of each picture, into the folder DIR.receipts beside DIR
    #[arg(long)]
    pub receipt: bool,
    /// Replace results that exist already
    #[arg(long)]
    pub force: bool,
    /// Pictures worked on at once [default: one per core]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    pub jobs: Option<u16>,
    #[command(flatten)]
    pub method: MethodArgs,
}

/// Compare a picture with its original: how much changed, and does it still match?
///
/// Quality is that of the luma. For every face of the original, each recogniser says how far the
/// changed face is from it and whether that is a match, also after JPEG 75 and at half size.
#[derive(ClapArgs)]
#[command(after_help = "\
Example:
  facedp check portrait.png noisy/portrait.png --json

psnr         peak 255; null if the pictures are equal
psnr_paper   peak = the largest grey level of the second picture, as the paper defines it
ssim         as scikit-image computes it by default (7x7 uniform window)
ssim_wang    Wang et al. 2004 (Gaussian window, sigma 1.5)
variance     sum of squared differences
distance     dlib: Euclidean; sface: one minus the cosine")]
pub struct Check {
    /// The original
    pub original: PathBuf,
    /// The picture to compare with it
    pub released: PathBuf,
}

/// Find the faces of a photo, and name the metadata that would be left out.
///
/// Exit code 1 if there is no face.
#[derive(ClapArgs)]
#[command(after_help = "\
Example:
  facedp inspect group.jpg --annotate faces.png")]
pub struct Inspect {
    /// The photo
    pub photo: PathBuf,
    /// Write the photo with its faces marked, as PNG
    #[arg(long, value_name = "OUT")]
    pub annotate: Option<PathBuf>,
    /// The least score of a face, 0 to 1
    #[arg(long, value_name = "S", default_value_t = crate::eyes::MIN_SCORE, allow_negative_numbers = true,
          value_parser = share)]
    pub min_score: f32,
}

/// Show what a method will do, before any photo.
#[derive(ClapArgs)]
#[command(after_help = "\
Examples:
  facedp plan --all --features 16
  facedp plan --method rdp-optimal --basis dct --json

budget_spent           what the noise spends of epsilon (the paper's eq. 4.1)
budget_measured        what it spends against the sensitivities as measured
cost                   half the expected energy of the noise (eq. 4.2)
psnr_of_expected_mse   dB; of the mean energy over draws, not the mean of decibels
bound_psnr             dB that no additive noise exceeds under this accounting
gap                    how far the cost can be from the least possible one in this basis
support                coefficients that can get noise
prob_full_support      chance that a draw reaches all of them
energy_below_g01       share of the energy at ranks that under 1 % of draws reach")]
pub struct Plan {
    /// One table of the six methods
    #[arg(long, conflicts_with_all = ["method", "basis", "ranking", "levels", "significance", "eta"])]
    pub all: bool,
    #[command(flatten)]
    pub method: MethodArgs,
}

/// Fit a feature model (eigenfaces) on a folder of identities.
///
/// DIR holds one folder per person with that person's pictures: DIR/NAME/*.jpg. The most central face
/// of each picture is found and aligned.
#[derive(ClapArgs)]
#[command(after_help = "\
Examples:
  facedp train people/ -o my.safetensors
  facedp train crops/ -o my.safetensors --aligned --features 32")]
pub struct Train {
    /// Folder of identities
    pub dir: PathBuf,
    /// The model file to write
    #[arg(short, long, value_name = "MODEL")]
    pub output: PathBuf,
    /// The pictures are face crops: take their centre square instead of looking for a face
    #[arg(long)]
    pub aligned: bool,
    /// Use the centre N x N pixels of each picture, not its largest centre square
    #[arg(long, value_name = "N", requires = "aligned", value_parser = clap::value_parser!(u32).range(1..))]
    pub crop: Option<u32>,
    /// Number of features
    #[arg(long, value_name = "N", default_value_t = 64,
          value_parser = clap::value_parser!(u32).range(1..))]
    pub features: u32,
    /// Side of the face chips in pixels, a power of two
    #[arg(long, value_name = "N", default_value_t = 128)]
    pub size: usize,
    /// Which people, by the last bit of SHA-256 of the folder's name
    #[arg(long, value_enum, default_value_t = Identities::All)]
    pub identities: Identities,
    /// A word on where the pictures come from, kept in the model
    #[arg(long, value_name = "TEXT", default_value = "")]
    pub source: String,
    /// Replace the model if it exists already
    #[arg(long)]
    pub force: bool,
}

/// Measure how well the recognisers tell people apart, on pairs of pictures.
///
/// The View 2 protocol of Labeled Faces in the Wild: ten folds, each judged at the threshold that is
/// best for the nine others. The most central face of a picture counts; pairs with a picture without
/// a face count as no match.
#[derive(ClapArgs)]
#[command(after_help = "\
Example:
  facedp evaluate lfw/ --pairs pairs.txt --json")]
pub struct Evaluate {
    /// Folder of people: DATA/NAME/NAME_0001.jpg
    pub data: PathBuf,
    /// Pairs in the format of LFW's pairs.txt
    #[arg(long, value_name = "FILE")]
    pub pairs: PathBuf,
    /// Pictures worked on at once [default: one per core]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    pub jobs: Option<u16>,
}

/// A half of the people, or all of them.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Identities {
    Even,
    Odd,
    All,
}

/// The names of bases.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum BasisName {
    Pixel,
    Dct,
    Haar,
}

/// Which method, and its parameters.
#[derive(ClapArgs)]
#[command(next_help_heading = "Method")]
pub struct MethodArgs {
    /// How the noise is spread
    #[arg(long, default_value_t = Preset::RdpOptimal, value_parser = names::<Preset>(Preset::NAMES))]
    pub method: Preset,
    /// Total budget; its unit is set by --sensitivity
    #[arg(long, visible_alias = "eps", value_name = "EPS", default_value = "0.2",
          allow_negative_numbers = true, value_parser = epsilon)]
    pub epsilon: Epsilon,
    /// Parameter p of the geometric number: noise reaches the top 1/p ranks on average
    #[arg(long, value_name = "P", default_value_t = 0.02,
          allow_negative_numbers = true, value_parser = geometric_p)]
    pub geometric_p: f64,
    /// Features that the budget covers [default: all of the model's]
    #[arg(long, value_name = "N")]
    pub features: Option<usize>,
    /// Coefficients that carry the noise [default: the method's]
    #[arg(long)]
    pub basis: Option<BasisName>,
    /// Levels of the Haar basis [default: as many as the size allows]
    #[arg(long, value_name = "N")]
    pub levels: Option<u32>,
    /// Order in which coefficients get noise [default: the method's]
    #[arg(long, value_parser = names::<Ranking>(Ranking::NAMES))]
    pub ranking: Option<Ranking>,
    /// What epsilon is measured against
    #[arg(long, default_value_t = Sensitivity::Normalised,
          value_parser = names::<Sensitivity>(Sensitivity::NAMES))]
    pub sensitivity: Sensitivity,
    /// rdp-na: the share of a feature's largest weight from which weights count; 0 is the
    /// paper's literal formula [default: 0.5]
    #[arg(long, value_name = "S", allow_negative_numbers = true)]
    pub significance: Option<f64>,
    /// rdp-lmgd: step length, 0.01 to 0.1 [default: 0.1]
    #[arg(long, allow_negative_numbers = true)]
    pub eta: Option<f64>,
    /// A model file made by `facedp train` [default: the one inside the program]
    #[arg(long, value_name = "FILE")]
    pub model: Option<PathBuf>,
}

impl MethodArgs {
    /// The method these options describe, for a model of that many features.
    ///
    /// An option that the method does not have is an error, not something to pass over.
    pub fn resolve(&self, preset: Preset, available: usize) -> Result<Method, Failure> {
        let mut method = preset.method(self.epsilon, self.features.unwrap_or(available));
        method.geometric_p = self.geometric_p;
        method.sensitivity = self.sensitivity;
        method.ranking = self.ranking.unwrap_or(method.ranking);
        match self.basis {
            Some(BasisName::Pixel) => method.basis = Basis::Pixel,
            Some(BasisName::Dct) => method.basis = Basis::Dct,
            Some(BasisName::Haar) => method.basis = Basis::Haar { levels: None },
            None => {}
        }
        match (&mut method.basis, self.levels) {
            (Basis::Haar { levels }, given) => *levels = given,
            (_, None) => {}
            (other, Some(_)) => return Err(misplaced("--levels", "the Haar basis", other.name())),
        }
        match (&mut method.solver, self.significance) {
            (Solver::Na { significance }, Some(given)) => *significance = given,
            (other, Some(_)) => return Err(misplaced("--significance", "rdp-na", other.name())),
            (_, None) => {}
        }
        match (&mut method.solver, self.eta) {
            (Solver::Lmgd { eta, .. }, Some(given)) => *eta = given,
            (other, Some(_)) => return Err(misplaced("--eta", "rdp-lmgd", other.name())),
            (_, None) => {}
        }
        Ok(method)
    }
}

fn misplaced(option: &str, owner: &str, found: &str) -> Failure {
    Failure::usage(anyhow!("{option} belongs to {owner}, not to `{found}`: leave it out"))
}

/// A parser that lists the names in the help and hands them to the library.
fn names<T>(known: &[(&'static str, &'static [&'static str])]) -> impl TypedValueParser<Value = T>
where
    T: std::str::FromStr<Err = facedp::Error> + Clone + Send + Sync + 'static,
{
    let value = |(name, aliases): &(&'static str, &'static [&'static str])| {
        PossibleValue::new(*name).aliases(*aliases)
    };
    PossibleValuesParser::new(known.iter().map(value)).try_map(|name| name.parse::<T>())
}

fn epsilon(text: &str) -> Result<Epsilon, String> {
    Epsilon::new(number(text)?).map_err(|e| e.to_string())
}

fn geometric_p(text: &str) -> Result<f64, String> {
    let p = number(text)?;
    facedp::Geometric::new(p, 1).map(|_| p).map_err(|e| e.to_string())
}

fn share(text: &str) -> Result<f32, String> {
    let value = number(text)? as f32;
    if (0.0..=1.0).contains(&value) { Ok(value) } else { Err("not between 0 and 1".to_owned()) }
}

fn number(text: &str) -> Result<f64, String> {
    text.parse().map_err(|_| "not a number".to_owned())
}
