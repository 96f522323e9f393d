//! The command line.

mod audit;
mod evaluate;
mod method;
mod parsers;
mod protect;
mod serve;

use std::path::PathBuf;

use clap::{Args as ClapArgs, Parser, Subcommand, ValueEnum};
use facedp::Preset;
use facedp_engine::{MIN_SCORE, MethodName};
use facedp_eval::dataset::Half;

pub use audit::Audit;
pub use evaluate::{
    Certified, DataArgs, Evaluate, Images, Paper, PhotoArgs, ReportArgs, Steered, Verification,
};
pub use method::MethodArgs;
pub use protect::{Protect, RunArgs};
pub use serve::Serve;

use parsers::{method_names, share};

/// Change the faces in photos before they are published, so that recognisers no longer match them.
///
/// Also a complete implementation of ranked differential privacy noise (`protect --method rdp-lmgd`), with
/// every deviation from the paper listed. Nothing leaves this machine, and nothing is downloaded: the
/// networks and the feature model are inside the program.
#[derive(Parser)]
#[command(
    name = "facedp",
    version,
    max_term_width = 100,
    after_help = "\
Examples:
  facedp protect photos/ -o out/             change every face in a folder of photos
  facedp serve                               the same in your browser, on this machine only
  facedp check me.jpg out/me.jpg             how much did it change, and does it still match?
  facedp inspect group.jpg                   where are the faces?
  facedp plan --all                          what would each of the paper's methods do?
  facedp train people/ -o my.safetensors     fit a feature model of your own

See `facedp COMMAND --help` for details. Exit codes: 0 done, 1 something failed or had no face, 2 usage,
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
    Serve(Serve),
    Check(Check),
    Inspect(Inspect),
    Plan(Plan),
    Audit(Audit),
    Train(Train),
    #[command(subcommand)]
    Evaluate(Evaluate),
    #[command(subcommand)]
    Receipt(Receipt),
    #[command(subcommand)]
    Key(Key),
    /// Print completions for a shell.
    ///
    /// bash: facedp completions bash > ~/.local/share/bash-completion/completions/facedp
    Completions {
        /// The shell
        shell: clap_complete::Shell,
    },
    Man(Man),
}

/// Print the manual page, or write the pages of all commands to a folder.
#[derive(ClapArgs)]
#[command(after_help = "\
Examples:
  facedp man | man -l -
  facedp man -o ~/.local/share/man/man1")]
pub struct Man {
    /// Folder for the pages; made if missing
    #[arg(short, long, value_name = "DIR")]
    pub output: Option<PathBuf>,
}

/// Receipts: what was done to a photo and what may be claimed.
#[derive(Subcommand)]
pub enum Receipt {
    /// Explain a receipt.
    Show {
        /// A file that `facedp protect --receipt` wrote
        receipt: PathBuf,
    },
    /// Add up what all releases of each photo have spent.
    Total {
        /// Photos to look up [default: all in the ledger, by their hashes]
        photos: Vec<PathBuf>,
        /// The ledger [default: your own]
        #[arg(long, value_name = "FILE")]
        ledger: Option<PathBuf>,
    },
    /// Print the part of a receipt that may be published with the photo, as JSON.
    Public {
        /// A file that `facedp protect --receipt` wrote
        receipt: PathBuf,
    },
}

/// Your secret key, from which the noise of photos follows.
///
/// The same key and photo give the same noise. Whoever has the key can take the noise off again.
#[derive(Subcommand)]
pub enum Key {
    /// Make a key. `facedp protect` makes one on first use.
    New {
        /// Where to write it [default: where `facedp key path` says]
        file: Option<PathBuf>,
        /// Replace an existing key: photos treated again will get other noise
        #[arg(long)]
        force: bool,
    },
    /// Print where your key is, or would be.
    Path,
}

/// Compare a picture with its original: how much changed, and does it still match?
///
/// Quality is measured on luma. For every face of the original, each recogniser says how far the changed
/// face is from it and whether that is a match, also after JPEG 75 and at half size.
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

/// Find the faces of a photo, and list the metadata that `protect` would leave out.
///
/// The exit code is 1 if there is no face.
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
    /// Smallest score of a face, 0 to 1
    #[arg(long, value_name = "S", default_value_t = MIN_SCORE, allow_negative_numbers = true,
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
gap                    how far the cost can be above the smallest possible one in this basis
support                coefficients that can get noise
prob_full_support      chance that a draw reaches all of them
energy_below_g01       share of the energy at ranks that under 1 % of draws reach")]
pub struct Plan {
    /// One table of the paper's methods and ours
    #[arg(long, conflicts_with_all = ["method", "basis", "ranking", "levels", "significance", "eta"])]
    pub all: bool,
    /// The method
    #[arg(long, default_value_t = MethodName::Noise(Preset::RdpOptimal), value_parser = method_names(),
          help_heading = "Method")]
    pub method: MethodName,
    #[command(flatten)]
    pub parameters: MethodArgs,
}

/// Fit a feature model (eigenfaces) on a folder of identities.
///
/// DIR holds one folder per person with that person's pictures: DIR/NAME/*.jpg. The most central face
/// of each picture is found and aligned.
///
/// With --faces, the command fits the model from which `certified` makes faces. It takes effect once it replaces
/// assets/models/faces.safetensors and the program is built.
///
/// With --prior, the command fits statistics of embeddings instead, from one picture of each person:
/// `steered` draws its targets from them. They take effect once they replace assets/models/prior.safetensors and
/// the program is built.
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
    /// Fit statistics of embeddings instead of eigenfaces
    #[arg(long, conflicts_with_all = ["aligned", "features", "size"])]
    pub prior: bool,
    /// Fit the colour faces of certified instead of eigenfaces
    #[arg(long, conflicts_with_all = ["aligned", "prior", "size"])]
    pub faces: bool,
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
    /// Where the pictures come from, kept in the model
    #[arg(long, value_name = "TEXT", default_value = "")]
    pub source: String,
    /// Replace the model if it exists already
    #[arg(long)]
    pub force: bool,
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
