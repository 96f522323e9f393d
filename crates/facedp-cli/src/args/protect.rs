//! The options of `facedp protect`.

use std::fmt::{self, Display};
use std::path::PathBuf;

use clap::{Args as ClapArgs, ValueEnum};
use facedp::Preset;
use facedp_engine::{Faces, Format, Goal};

use super::MethodArgs;
use super::parsers::{faces, method_names, rectangle, share};

/// Change the faces in photos so that recognisers no longer match them, and write the photos to
/// another folder.
///
/// Faces are found and aligned; the change is made at a size of 128 pixels and lifted back to each face
/// at full resolution. The rest of a photo stays as it is. Results have the names, formats and
/// compression of their originals, which are never overwritten. Metadata (EXIF, GPS position, XMP,
/// thumbnails) is left out, a colour profile is kept, the orientation is applied.
///
/// The method `steered` changes a face, as little as possible, until the recognisers inside the program
/// (dlib, SFace) no longer match it; others may still. The paper's methods (`rdp-optimal` and so on) add
/// noise instead, which modern recognisers see through. `certified` replaces the facial features by noisy
/// ones, with a proven guarantee for these; the rest of the picture has none, and can give them away.
///
/// A photo in which no face is found is not written: it could hold one that was missed. What may be
/// claimed of results is printed at the end.
#[derive(ClapArgs)]
#[command(after_help = "\
Examples:
  facedp protect photos/ -o out/
  facedp protect photos/ -o out/ --resume                   go on after an interruption
  facedp protect photos/ -o out/ --strength high            change more: fewer recognisers match
  facedp protect 'photos/**/*.jpg' -o out/ --dry-run        what would be done?
  facedp protect group.jpg -o out/ --faces 1,3              faces as `facedp inspect` numbers them
  facedp protect photos/ -o out/ --method rdp-optimal       the paper's noise instead

Randomness follows from your key (`facedp key path`), the photo, the method and the face: treating a
photo again gives the same result, so there is nothing to average. Keep the key secret: who has it
can take noise off again.")]
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
    /// What is done to faces; none: decode and encode only
    #[arg(long, default_value_t = MethodName::Steered, value_parser = method_names(),
          help_heading = "Method")]
    pub method: MethodName,
    #[command(flatten)]
    pub steer: SteerArgs,
    #[command(flatten)]
    pub parameters: MethodArgs,
    /// File in which what was spent on each photo is added up [default: certified: your own, others: none]
    #[arg(long, value_name = "FILE", help_heading = "Method")]
    pub ledger: Option<PathBuf>,
    /// Do not write down what certified spends
    #[arg(long, conflicts_with = "ledger", help_heading = "Method")]
    pub no_ledger: bool,
    /// File with the secret key [default: your own, made on first use; certified: fresh entropy]
    #[arg(long, value_name = "FILE", help_heading = "Method")]
    pub key: Option<PathBuf>,
    /// Repeatable results for experiments; whoever knows the seed can take noise off again
    #[arg(long, value_name = "N", conflicts_with = "key", help_heading = "Method")]
    pub seed: Option<u64>,
}

/// How faces are steered.
#[derive(ClapArgs)]
#[command(next_help_heading = "Steering (--method steered)")]
pub struct SteerArgs {
    /// How much faces may change: at least 39, 36 or 34 dB [default: medium]
    #[arg(long, value_enum)]
    pub strength: Option<StrengthName>,
    /// Where faces go: away from themselves, towards a person drawn for each, or both [default: both]
    #[arg(long, value_enum)]
    pub goal: Option<GoalName>,
    /// The least PSNR of a face's region, 25 to 50 dB [default: the strength's]
    #[arg(long, value_name = "DB", allow_negative_numbers = true)]
    pub min_psnr: Option<f64>,
    /// Change colours too, or only how light they are [default: on]
    #[arg(long, visible_alias = "color", value_enum)]
    pub colour: Option<Switch>,
    /// Recognisers to steer by [default: all]
    #[arg(long, value_name = "LIST", value_delimiter = ',', value_parser = ["dlib", "sface"])]
    pub steer_by: Vec<String>,
}

/// On or off.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Switch {
    On,
    Off,
}

/// The names of goals.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum GoalName {
    Away,
    Both,
    Draw,
}

impl GoalName {
    pub fn goal(self) -> Goal {
        match self {
            GoalName::Away => Goal::Away,
            GoalName::Both => Goal::Both,
            GoalName::Draw => Goal::Draw,
        }
    }
}

/// The names of strengths.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum StrengthName {
    Low,
    Medium,
    High,
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
    /// Write photos without a face too, unchanged (the exit code is still 1)
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
    Steered,
    Certified,
    Preset(Preset),
}

impl Display for MethodName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            MethodName::None => f.write_str("none"),
            MethodName::Steered => f.write_str("steered"),
            MethodName::Certified => f.write_str("certified"),
            MethodName::Preset(preset) => preset.fmt(f),
        }
    }
}
