//! The options of `facedp evaluate`.

use std::path::PathBuf;

use clap::{Args as ClapArgs, Subcommand};
use facedp::{Epsilon, Preset};
use facedp_engine::{Goal, Strength};

use super::Identities;
use super::parsers::{assignment, attack_names, epsilon, geometric_p, images, names, switches};

/// Measure methods and recognisers on a folder of people.
///
/// DATA holds one folder per person: DATA/NAME/*.jpg. The most central face of each picture counts.
#[derive(Subcommand)]
#[command(after_help = "\
Examples:
  facedp evaluate paper lfw/ -o report/                       the paper's tables and figures
  facedp evaluate steered lfw/ -o report/                     do recognisers still match?
  facedp evaluate certified lfw/ -o report/                   the price of a guarantee
  facedp evaluate recognisers lfw/ --pairs pairs.txt          how good are the recognisers?")]
pub enum Evaluate {
    Paper(Paper),
    Steered(Steered),
    Certified(Certified),
    #[command(visible_alias = "recognizers")]
    Recognisers(Verification),
}

/// Reproduce the paper's tables and figures, and write a report.
///
/// The report is REPORT_DIR/report.html, which opens offline; results.json and results.csv have every
/// figure. The same command gives the same figures.
#[derive(ClapArgs)]
#[command(after_help = "\
Examples:
  facedp evaluate paper lfw/ -o report/
  facedp evaluate paper lfw/ -o report/ --resume              continue after an interruption
  facedp evaluate paper photos/ -o report/ --identities all --images 50 --recognition 0")]
pub struct Paper {
    #[command(flatten)]
    pub report: ReportArgs,
    /// Methods, separated by commas [default: all]
    #[arg(long, value_name = "LIST", value_delimiter = ',', value_parser = names::<Preset>(Preset::NAMES))]
    pub methods: Vec<Preset>,
    /// Budgets
    #[arg(long, value_name = "LIST", value_delimiter = ',', default_value = "0.2,0.4,0.6,0.8,1.0",
          value_parser = epsilon)]
    pub epsilons: Vec<Epsilon>,
    /// Further budgets for the paper's matching rule, small enough for misses
    #[arg(long, value_name = "LIST", value_delimiter = ',', default_value = "0.001,0.0003,0.0001",
          value_parser = epsilon)]
    pub matcher_epsilons: Vec<Epsilon>,
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
    /// Draws for the law of the noise; 0 for none
    #[arg(long, value_name = "N", default_value_t = 10_000)]
    pub draws: usize,
    /// Runs per neighbour in each audit; 0 for no audits
    #[arg(long, value_name = "N", default_value_t = 10_000)]
    pub audit_runs: usize,
    /// Pictures for recognisers; 0 for none
    #[arg(long, value_name = "N", default_value_t = 1100)]
    pub recognition: usize,
    /// PSNRs in dB that the noise of all methods is scaled to for recognisers
    #[arg(long, value_name = "LIST", value_delimiter = ',', default_value = "40,30,20,15")]
    pub psnr: Vec<f64>,
    /// Attacks [default: all]
    #[arg(long, value_name = "LIST", value_delimiter = ',', value_parser = attack_names())]
    pub attacks: Vec<String>,
    /// Pictures that are attacked; 0 for no attacks
    #[arg(long, value_name = "N", default_value_t = 300)]
    pub attack_images: usize,
    /// PSNR in dB of the noise that is attacked
    #[arg(long, value_name = "DB", default_value_t = 20.0)]
    pub attack_psnr: f64,
    #[command(flatten)]
    pub model: ModelArgs,
}

/// Steer photos of people, and ask recognisers whether they still match untouched photos.
///
/// Recognisers are also asked after attacks. REPORT_DIR keeps the steered photos and results.json. The
/// same command gives the same figures.
#[derive(ClapArgs)]
#[command(after_help = "\
Examples:
  facedp evaluate steered lfw/ -o report/ --people 60
  facedp evaluate steered lfw/ -o report/ --goals away,both,draw --galleries
  facedp evaluate steered lfw/ -o report/ --steer-by dlib     SFace is held out")]
pub struct Steered {
    #[command(flatten)]
    pub report: ReportArgs,
    #[command(flatten)]
    pub photos: PhotoArgs,
    /// How much faces may change [default: medium]
    #[arg(long, value_name = "STRENGTH", value_parser = names::<Strength>(Strength::NAMES), help_heading = "Steering")]
    pub strength: Option<Strength>,
    /// Smallest SSIMULACRA2 scores of a face, 30 to 95 [default: that of the strength]
    #[arg(long, value_name = "LIST", value_delimiter = ',', help_heading = "Steering")]
    pub min_quality: Vec<f64>,
    /// Where faces go
    #[arg(long, value_name = "LIST", value_delimiter = ',', default_value = "both",
          value_parser = names::<Goal>(Goal::NAMES), help_heading = "Steering")]
    pub goals: Vec<Goal>,
    /// Recognisers to steer by; the others are held out [default: all]
    #[arg(long, value_name = "LIST", value_delimiter = ',', value_parser = ["dlib", "facexzoo", "intel", "mobilefacenet", "sface"],
          help_heading = "Steering")]
    pub steer_by: Vec<String>,
    /// Move the face's pixels too, or change only their luma [default: on]
    #[arg(long, value_parser = switches(), help_heading = "Steering")]
    pub shape: Option<bool>,
    /// End early once all distances are this many times their threshold; 0: never [default: medium's]
    #[arg(long, value_name = "TIMES", allow_negative_numbers = true, help_heading = "Steering")]
    pub margin: Option<f32>,
    /// Change numbers that were found by measuring, as in smooth=1,steps=100
    #[arg(long, value_name = "LIST", value_delimiter = ',', value_parser = assignment,
          help_heading = "Steering")]
    pub tune: Vec<(String, f64)>,
}

/// Treat photos of people with `certified`, and ask recognisers whether they still match.
///
/// Every budget is combined with every number of features. REPORT_DIR keeps the treated photos and
/// results.json. The same command gives the same figures.
#[derive(ClapArgs)]
#[command(after_help = "\
Example:
  facedp evaluate certified lfw/ -o report/ --epsilons 1,16,64 --features 16 --people 60")]
pub struct Certified {
    #[command(flatten)]
    pub report: ReportArgs,
    #[command(flatten)]
    pub photos: PhotoArgs,
    /// Budgets
    #[arg(long, value_name = "LIST", value_delimiter = ',', default_value = "0.2,1,4,16,64",
          value_parser = epsilon)]
    pub epsilons: Vec<Epsilon>,
    /// Numbers of features
    #[arg(long, value_name = "LIST", value_delimiter = ',', default_value = "16,64")]
    pub features: Vec<usize>,
    #[command(flatten)]
    pub model: ModelArgs,
}

/// Measure recognisers on pairs of pictures.
///
/// The protocol is View 2 of Labeled Faces in the Wild: ten folds, each at the threshold that is best for
/// the nine others.
#[derive(ClapArgs)]
#[command(after_help = "\
Examples:
  facedp evaluate recognisers lfw/ --pairs pairs.txt --json
  facedp evaluate recognisers lfw/ --pairs pairs.txt --recogniser mine.onnx")]
pub struct Verification {
    #[command(flatten)]
    pub data: DataArgs,
    /// Pairs in the format of LFW's pairs.txt
    #[arg(long, value_name = "FILE")]
    pub pairs: PathBuf,
}

/// What all evaluations share.
#[derive(ClapArgs)]
pub struct DataArgs {
    /// Folder of people
    pub data: PathBuf,
    /// Add a recogniser: an ONNX file with a TOML file of the same name beside it; can be repeated
    /// [needs a program built with --features onnx]
    #[arg(long = "recogniser", visible_alias = "recognizer", value_name = "FILE")]
    pub recogniser_files: Vec<PathBuf>,
    /// Threads [default: one per core]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    pub jobs: Option<u16>,
}

/// What evaluations that write a report share.
#[derive(ClapArgs)]
pub struct ReportArgs {
    #[command(flatten)]
    pub data: DataArgs,
    /// Folder for the report; made if missing
    #[arg(short, long, value_name = "REPORT_DIR")]
    pub output: PathBuf,
    /// Recognisers inside the program that judge photos
    #[arg(long, visible_alias = "recognizers", value_name = "LIST", value_delimiter = ',',
          default_value = "dlib,sface", value_parser = ["dlib", "facexzoo", "intel", "mobilefacenet", "sface"])]
    pub recognisers: Vec<String>,
    /// Which people, by the last bit of SHA-256 of the folder's name; the embedded model was trained on
    /// even ones
    #[arg(long, value_enum, default_value_t = Identities::Odd)]
    pub identities: Identities,
    /// Seed of everything random
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub seed: u64,
    /// Continue an interrupted report
    #[arg(long, conflicts_with = "force")]
    pub resume: bool,
    /// Replace an existing report
    #[arg(long)]
    pub force: bool,
}

/// What evaluations of treated photos share.
#[derive(ClapArgs)]
#[command(next_help_heading = "Photos")]
pub struct PhotoArgs {
    /// People whose photos are treated, of those with several photos
    #[arg(long, value_name = "N", default_value_t = 120, value_parser = clap::value_parser!(u32).range(1..))]
    pub people: u32,
    /// People to leave out at the start of the seeded order, so that methods can be tuned on others
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub skip: usize,
    /// Smallest number of untouched photos that thresholds are measured on
    #[arg(long, value_name = "N", default_value_t = 1100)]
    pub threshold_images: usize,
    /// Treat the second photo of each person too, and look people up among treated photos
    #[arg(long)]
    pub galleries: bool,
    /// Attacks [default: all]
    #[arg(long, value_name = "LIST", value_delimiter = ',', value_parser = attack_names())]
    pub attacks: Vec<String>,
}

#[derive(ClapArgs)]
pub struct ModelArgs {
    /// A model file made by `facedp train` [default: the one inside the program]
    #[arg(long, value_name = "FILE")]
    pub model: Option<PathBuf>,
}

/// How many pictures.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Images {
    All,
    AtMost(usize),
}
