//! The command line.

use std::fmt::{self, Display};
use std::path::PathBuf;

use anyhow::anyhow;
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use clap::{Args as ClapArgs, Parser, Subcommand, ValueEnum};
use facedp::scale::Solver;
use facedp::{Basis, Epsilon, Method, Preset, Ranking, Sensitivity};
use facedp_engine::{Faces, Format};
use facedp_eval::attacks;
use facedp_eval::dataset::Half;

use crate::failure::Failure;

/// Add ranked differential privacy noise to the faces in photos before they are published.
///
/// Nothing leaves this machine, and nothing is downloaded: networks and feature model are inside
/// the program.
#[derive(Parser)]
#[command(
    name = "facedp",
    version,
    max_term_width = 100,
    after_help = "\
Examples:
  facedp protect photos/ -o out/             add noise to every face of a folder of photos
  facedp check me.jpg out/me.jpg             how much did it change, and does it still match?
  facedp inspect group.jpg                   where are the faces?
  facedp plan --all                          what would each method do?
  facedp train people/ -o my.safetensors     fit a feature model of your own

`facedp COMMAND --help` tells more. Exit codes: 0 done, 1 something failed or had no face, 2 usage,
3 a face still matches under --require-no-match, 130 interrupted."
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
    #[command(subcommand)]
    Receipt(Receipt),
    #[command(subcommand)]
    Key(Key),
}

/// Add noise to the faces in photos, and write them to another folder.
///
/// Faces are found and aligned; the noise is made at the model's size and lifted back to each face at
/// full resolution, on all colour channels alike. The rest of a photo stays as it is. Results have
/// the names, formats and compression of their originals, which are never overwritten. Metadata (EXIF,
/// GPS position, XMP, thumbnails) is left out, a colour profile is kept, the orientation is applied.
///
/// A photo in which no face is found is not written: it could hold one that was missed. What may be
/// claimed of results is printed at the end.
#[derive(ClapArgs)]
#[command(after_help = "\
Examples:
  facedp protect photos/ -o out/ 
  facedp protect photos/ -o out/  --resume                  go on after an interruption
  facedp protect 'photos/**/*.jpg' -o out/  --dry-run       what would be done?
  facedp protect group.jpg -o out/  --faces 1,3             faces as `facedp inspect` numbers them
  facedp protect crops/ -o noisy/ --aligned --seed 7 --json a repeatable experiment

Noise follows from your key (`facedp key path`), the photo, the method and the face: treating a
photo again gives the same result, so there is nothing to average. Keep the key secret: who has it
can take the noise off again.")]
pub struct Protect {
    /// Photos (JPEG, PNG, WebP), folders of them, or patterns such as 'photos/**/*.jpg'
    #[arg(required = true, value_name = "PATHS")]
    pub paths: Vec<PathBuf>,
    /// Folder for the results; made if missing
    #[arg(short, long, value_name = "DIR")]
    pub output: PathBuf,
    #[command(flatten)]
    pub look: LookArgs,
    #[command(flatten)]
    pub write: WriteArgs,
    #[command(flatten)]
    pub run: RunArgs,
    /// How the noise is spread; none: decode and encode only
    #[arg(long, default_value_t = MethodName::Preset(Preset::RdpOptimal), value_parser = method_names(),
          help_heading = "Method")]
    pub method: MethodName,
    #[command(flatten)]
    pub parameters: MethodArgs,
    /// File with the secret key [default: your own, made on first use]
    #[arg(long, value_name = "FILE", help_heading = "Method")]
    pub key: Option<PathBuf>,
    /// Repeatable noise for experiments; whoever knows the seed can take the noise off again
    #[arg(long, value_name = "N", conflicts_with = "key", help_heading = "Method")]
    pub seed: Option<u64>,
}

/// Where faces are.
#[derive(ClapArgs)]
#[command(next_help_heading = "Faces")]
pub struct LookArgs {
    /// Which faces: all, largest, or numbers as in 1,3
    #[arg(long, value_name = "WHICH", default_value = "all", value_parser = faces)]
    pub faces: Faces,
    /// A face that the detector missed, in pixels of the upright photo; can be repeated
    #[arg(long = "box", value_name = "X,Y,W,H", allow_hyphen_values = true, value_parser = rectangle)]
    pub boxes: Vec<[f32; 4]>,
    /// The least score of a face, 0 to 1
    #[arg(long, value_name = "S", default_value_t = facedp_engine::MIN_SCORE,
          allow_negative_numbers = true, value_parser = share)]
    pub min_score: f32,
    /// The pictures are face crops: take their centre square instead of looking for faces
    #[arg(long, conflicts_with_all = ["faces", "boxes", "min_score", "copy_faceless"])]
    pub aligned: bool,
    /// Use the centre N x N pixels of each crop, not its largest centre square
    #[arg(long, value_name = "N", requires = "aligned", value_parser = clap::value_parser!(u32).range(1..))]
    pub crop: Option<u32>,
}

/// How results are written.
#[derive(ClapArgs)]
#[command(next_help_heading = "Results")]
pub struct WriteArgs {
    /// The format of results
    #[arg(long, value_enum, default_value_t = FormatName::Keep)]
    pub format: FormatName,
    /// Quality of JPEG results, 1 to 100 [default: each source's own]
    #[arg(long, value_name = "Q", value_parser = clap::value_parser!(u8).range(1..=100))]
    pub jpeg_quality: Option<u8>,
    /// Keep the usual fields of EXIF (also the GPS position), and XMP without pictures; no thumbnails,
    /// no maker notes
    #[arg(long)]
    pub keep_metadata: bool,
    /// Write photos without a face too, without noise (the exit code is still 1)
    #[arg(long)]
    pub copy_faceless: bool,
    /// Also write a receipt of each photo, into the folder DIR.receipts beside DIR
    #[arg(long)]
    pub receipt: bool,
}

/// How a run goes.
#[derive(ClapArgs)]
#[command(next_help_heading = "Run")]
pub struct RunArgs {
    /// Leave photos whose results are there already: go on with an interrupted run
    #[arg(long, conflicts_with = "force")]
    pub resume: bool,
    /// Replace results that exist already
    #[arg(long)]
    pub force: bool,
    /// Look for faces and say what would be done, but write nothing
    #[arg(long)]
    pub dry_run: bool,
    /// Do not ask the recognisers whether faces still match
    #[arg(long)]
    pub no_check: bool,
    /// Do not measure the quality of the results
    #[arg(long)]
    pub no_metrics: bool,
    /// Exit code 3 if a recogniser still matches a face, or could not look at one; results are
    /// written all the same
    #[arg(long, conflicts_with_all = ["no_check", "dry_run"])]
    pub require_no_match: bool,
    /// Photos worked on at once [default: one per core]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    pub jobs: Option<u16>,
}

/// The names of formats.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum FormatName {
    Keep,
    Jpeg,
    Png,
    Webp,
}

impl FormatName {
    pub fn format(self) -> Option<Format> {
        match self {
            FormatName::Keep => None,
            FormatName::Jpeg => Some(Format::Jpeg),
            FormatName::Png => Some(Format::Png),
            FormatName::Webp => Some(Format::WebP),
        }
    }
}

/// A method of `protect`.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum MethodName {
    None,
    Preset(Preset),
}

impl Display for MethodName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            MethodName::None => f.write_str("none"),
            MethodName::Preset(preset) => preset.fmt(f),
        }
    }
}

/// Receipts: what was done to a photo and what may be claimed.
#[derive(Subcommand)]
pub enum Receipt {
    /// Explain a receipt.
    Show {
        /// A file that `facedp protect --receipt` wrote
        receipt: PathBuf,
    },
    /// Print the part of a receipt that may be published with the photo, as JSON.
    Public {
        /// A file that `facedp protect --receipt` wrote
        receipt: PathBuf,
    },
}

/// Your secret key, from which the noise of photos follows.
///
/// The same key and photo give the same noise. Who has the key can take the noise off again.
#[derive(Subcommand)]
pub enum Key {
    /// Make a key. `facedp protect` does so by itself on first use.
    New {
        /// Where to write it [default: where `facedp key path` says]
        file: Option<PathBuf>,
        /// Replace a key that exists: photos treated again will get other noise
        #[arg(long)]
        force: bool,
    },
    /// Print where your key is, or would be.
    Path,
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
    /// Write the photo with its faces marked and numbered, as PNG
    #[arg(long, value_name = "OUT")]
    pub annotate: Option<PathBuf>,
    /// Replace OUT if it exists already
    #[arg(long, requires = "annotate")]
    pub force: bool,
    /// The least score of a face, 0 to 1
    #[arg(long, value_name = "S", default_value_t = facedp_engine::MIN_SCORE, allow_negative_numbers = true,
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
    /// How the noise is spread
    #[arg(long, default_value_t = Preset::RdpOptimal, value_parser = names::<Preset>(Preset::NAMES),
          help_heading = "Method")]
    pub method: Preset,
    #[command(flatten)]
    pub parameters: MethodArgs,
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

/// Reproduce the paper's tables and figures on a folder of people, and write a report.
///
/// DATA holds one folder per person: DATA/NAME/*.jpg. The most central face of a picture counts. Only
/// people whom the embedded model was not trained on are used (--identities odd). The report is
/// REPORT_DIR/report.html, which opens offline; results.json and results.csv have every figure. The
/// same command gives the same figures.
///
/// With --pairs, the recognisers are judged instead, by the View 2 protocol of Labeled Faces in the
/// Wild: ten folds, each judged at the threshold that is best for the nine others.
#[derive(ClapArgs)]
#[command(after_help = "\
Examples:
  facedp evaluate lfw/ -o report/
  facedp evaluate lfw/ -o report/ --resume                        go on after an interruption
  facedp evaluate photos/ -o report/ --identities all --images 50 --recognition 0
  facedp evaluate lfw/ --pairs pairs.txt --json                   how good are the recognisers?")]
pub struct Evaluate {
    /// Folder of people
    pub data: PathBuf,
    /// Folder for the report; made if missing
    #[arg(short, long, value_name = "REPORT_DIR", required_unless_present = "pairs")]
    pub output: Option<PathBuf>,
    /// Judge the recognisers on pairs in the format of LFW's pairs.txt
    #[arg(long, value_name = "FILE", conflicts_with = "output")]
    pub pairs: Option<PathBuf>,
    /// Methods, separated by commas [default: all]
    #[arg(long, value_name = "LIST", value_delimiter = ',', value_parser = names::<Preset>(Preset::NAMES))]
    pub methods: Vec<Preset>,
    /// Budgets
    #[arg(long, value_name = "LIST", value_delimiter = ',', default_value = "0.2,0.4,0.6,0.8,1.0",
          value_parser = epsilon)]
    pub epsilons: Vec<Epsilon>,
    /// Numbers of features
    #[arg(long, value_name = "LIST", value_delimiter = ',', default_value = "4,16,64")]
    pub features: Vec<usize>,
    /// Parameter p of the geometric number
    #[arg(long, value_name = "P", default_value_t = 0.02, allow_negative_numbers = true,
          value_parser = geometric_p)]
    pub geometric_p: f64,
    /// Pictures whose chips are released: a seeded sample, or all
    #[arg(long, value_name = "N|all", default_value = "1000", value_parser = images)]
    pub images: Images,
    /// Releases of each chip
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..))]
    pub repeats: u32,
    /// Pictures that are also ranked by amplitude, where the method allows it; 0 for none
    #[arg(long, value_name = "N", default_value_t = 100)]
    pub amplitude: usize,
    /// Draws for the law of the noise
    #[arg(long, value_name = "N", default_value_t = 10_000)]
    pub draws: usize,
    /// Pictures that recognisers look at; 0 for none
    #[arg(long, value_name = "N", default_value_t = 1100)]
    pub recognition: usize,
    /// Recognisers
    #[arg(long, visible_alias = "recognizers", value_name = "LIST", value_delimiter = ',',
          default_value = "dlib,sface", value_parser = ["dlib", "sface"])]
    pub recognisers: Vec<String>,
    /// Decibels that all methods are brought to for recognisers
    #[arg(long, value_name = "LIST", value_delimiter = ',', default_value = "40,30,20,15")]
    pub psnr: Vec<f64>,
    /// Attacks [default: all]
    #[arg(long, value_name = "LIST", value_delimiter = ',', value_parser = attack_names())]
    pub attacks: Vec<String>,
    /// Pictures that are attacked; 0 for no attacks
    #[arg(long, value_name = "N", default_value_t = 300)]
    pub attack_images: usize,
    /// Decibels of the noise that is attacked
    #[arg(long, value_name = "DB", default_value_t = 20.0)]
    pub attack_psnr: f64,
    /// Which people, by the last bit of SHA-256 of the folder's name
    #[arg(long, value_enum, default_value_t = Identities::Odd)]
    pub identities: Identities,
    /// The seed of everything random
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub seed: u64,
    /// A model file made by `facedp train` [default: the one inside the program]
    #[arg(long, value_name = "FILE")]
    pub model: Option<PathBuf>,
    /// Go on with a report that was interrupted
    #[arg(long, conflicts_with = "force")]
    pub resume: bool,
    /// Replace a report that exists already
    #[arg(long)]
    pub force: bool,
    /// Threads [default: one per core]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    pub jobs: Option<u16>,
}

/// How many pictures.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Images {
    All,
    AtMost(usize),
}

/// A half of the people, or all of them.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Identities {
    Even,
    Odd,
    All,
}

impl Identities {
    pub fn half(self) -> Half {
        match self {
            Identities::Even => Half::Even,
            Identities::Odd => Half::Odd,
            Identities::All => Half::All,
        }
    }
}

/// The names of bases.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum BasisName {
    Pixel,
    Dct,
    Haar,
}

/// The parameters of a method.
#[derive(ClapArgs)]
#[command(next_help_heading = "Method")]
pub struct MethodArgs {
    /// Total budget of a face; its unit is set by --sensitivity
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

/// The methods of `protect`.
fn method_names() -> impl TypedValueParser<Value = MethodName> {
    let presets =
        Preset::NAMES.iter().map(|(name, aliases)| PossibleValue::new(*name).aliases(*aliases));
    let known = PossibleValuesParser::new(presets.chain([PossibleValue::new("none")]));
    known.try_map(|name| match name.as_str() {
        "none" => Ok::<_, facedp::Error>(MethodName::None),
        name => name.parse().map(MethodName::Preset),
    })
}

fn attack_names() -> impl TypedValueParser<Value = String> {
    PossibleValuesParser::new(attacks::all().iter().map(|attack| attack.name()).collect::<Vec<_>>())
}

fn images(text: &str) -> Result<Images, String> {
    match text.parse() {
        _ if text == "all" => Ok(Images::All),
        Ok(n) if n > 0 => Ok(Images::AtMost(n)),
        _ => Err("neither a number above 0 nor all".to_owned()),
    }
}

fn faces(text: &str) -> Result<Faces, String> {
    match text {
        "all" => return Ok(Faces::All),
        "largest" => return Ok(Faces::Largest),
        _ => {}
    }
    let number = |part: &str| part.trim().parse::<usize>().ok().filter(|number| *number > 0);
    let numbers: Option<std::collections::BTreeSet<usize>> = text.split(',').map(number).collect();
    let numbers = numbers.ok_or("neither all, largest nor numbers from 1 on, as in 1,3")?;
    Ok(Faces::Numbers(numbers.into_iter().collect()))
}

fn rectangle(text: &str) -> Result<[f32; 4], String> {
    let numbers: Vec<f32> = text.split(',').map_while(|part| part.trim().parse().ok()).collect();
    let parts = text.split(',').count();
    let four =
        <[f32; 4]>::try_from(numbers).ok().filter(|n| parts == 4 && n[2] > 0.0 && n[3] > 0.0);
    four.filter(|n| n.iter().all(|v| v.is_finite())).ok_or_else(|| {
        "not a box: left, top, width and height in pixels, as in 120,80,60,75".to_owned()
    })
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
