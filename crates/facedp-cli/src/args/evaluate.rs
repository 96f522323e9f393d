//! The options of `facedp evaluate`.

use std::path::PathBuf;

use clap::Args as ClapArgs;
use facedp::{Epsilon, Preset};

use super::Identities;
use super::parsers::{assignment, attack_names, epsilon, geometric_p, images, names};
use super::protect::{GoalName, Switch};

/// Reproduce the paper's tables and figures on a folder of people, and write a report.
///
/// DATA holds one folder per person: DATA/NAME/*.jpg. The most central face of a picture counts. Only
/// people whom the embedded model was not trained on are used (--identities odd). The report is
/// REPORT_DIR/report.html, which opens offline; results.json and results.csv have every figure. The
/// same command gives the same figures.
///
/// With --steered, our own method is judged instead: photos of people are steered, and recognisers asked
/// whether they still match untouched photos, also after attacks; steered photos and steering.json are
/// kept in REPORT_DIR.
///
/// With --pairs, the recognisers are judged instead, by the View 2 protocol of Labeled Faces in the
/// Wild: ten folds, each judged at the threshold that is best for the nine others.
#[derive(ClapArgs)]
#[command(after_help = "\
Examples:
  facedp evaluate lfw/ -o report/
  facedp evaluate lfw/ -o report/ --resume                        go on after an interruption
  facedp evaluate photos/ -o report/ --identities all --images 50 --recognition 0
  facedp evaluate lfw/ --pairs pairs.txt --json                   how good are the recognisers?
  facedp evaluate lfw/ --pairs pairs.txt --recogniser mine.onnx   how good is mine?")]
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
    /// Further budgets for the paper's matching rule, where something is missed
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
    /// Draws for the law of the noise
    #[arg(long, value_name = "N", default_value_t = 10_000)]
    pub draws: usize,
    /// Runs a side of each pair that audits of the claims take; 0 leaves them out
    #[arg(long, value_name = "N", default_value_t = 10_000)]
    pub audit_runs: usize,
    /// Pictures that recognisers look at; 0 for none
    #[arg(long, value_name = "N", default_value_t = 1100)]
    pub recognition: usize,
    /// Recognisers
    #[arg(long, visible_alias = "recognizers", value_name = "LIST", value_delimiter = ',',
          default_value = "dlib,sface", value_parser = ["dlib", "sface"])]
    pub recognisers: Vec<String>,
    /// One more recogniser, an ONNX file described by a TOML file of the same name beside it; can be
    /// given again [needs a program built with --features onnx]
    #[arg(long = "recogniser", visible_alias = "recognizer", value_name = "FILE")]
    pub foreign: Vec<PathBuf>,
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
    #[command(flatten)]
    pub steering: SteeredArgs,
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

/// How steering is judged.
#[derive(ClapArgs)]
#[command(next_help_heading = "Steering (--steered)")]
pub struct SteeredArgs {
    /// Judge steering instead
    #[arg(long, conflicts_with = "pairs")]
    pub steered: bool,
    /// Judge certified in the same way, at every one of --epsilons and --features
    #[arg(long, conflicts_with_all = ["pairs", "steered"])]
    pub certified: bool,
    /// People whose photos are changed, of those with two photos
    #[arg(long, value_name = "N", default_value_t = 120, value_parser = clap::value_parser!(u32).range(1..))]
    pub people: u32,
    /// People to leave out at the head of the seeded order, so that others can tune
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub skip: usize,
    /// Floors of quality, in decibels
    #[arg(long, value_name = "LIST", value_delimiter = ',', default_value = "36")]
    pub min_psnr: Vec<f64>,
    /// Goals
    #[arg(long, value_name = "LIST", value_delimiter = ',', value_enum, default_value = "both")]
    pub goals: Vec<GoalName>,
    /// Recognisers to steer by; the others are held out [default: all]
    #[arg(long, value_name = "LIST", value_delimiter = ',', value_parser = ["dlib", "sface"])]
    pub steer_by: Vec<String>,
    /// Steer the second photo of each person too, and look people up among steered photos
    #[arg(long)]
    pub galleries: bool,
    /// Change colours too, or only how light they are
    #[arg(long, visible_alias = "color", value_enum, default_value = "on")]
    pub colour: Switch,
    /// End early once all distances are so many times their threshold; 0: never [default: medium's]
    #[arg(long, value_name = "TIMES")]
    pub margin: Option<f32>,
    /// Other numbers than those found by measuring, as in smooth=1,steps=100
    #[arg(long, value_name = "LIST", value_delimiter = ',', value_parser = assignment)]
    pub tune: Vec<(String, f64)>,
}

/// How many pictures.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Images {
    All,
    AtMost(usize),
}
