//! The options of `facedp audit`.

use std::path::PathBuf;

use clap::Args as ClapArgs;
use facedp_engine::MethodName;

use super::MethodArgs;
use super::parsers::method_names;

/// Try to refute what is claimed of a method.
///
/// The method runs many times on pairs of neighbouring faces. The audit looks for an event that is more
/// likely for one face than the claimed epsilon allows. Finding one proves, at the stated confidence, that
/// the claim is wrong; finding none proves nothing. The audit also reports how likely it is that some
/// direction of feature space gets no noise at all (then no epsilon holds), and whether the noise of
/// features has the distribution that the paper's Theorem 1 states.
///
/// Half of the runs of each pair choose the event, the other half count it. Bounds are those of Clopper
/// and Pearson; the chance of an error is shared among pairs.
#[derive(ClapArgs)]
#[command(after_help = "\
Examples:
  facedp audit --method rdp-optimal                 the paper's claim at epsilon 0.2
  facedp audit --method certified --epsilon 1 --confidence 0.999
  facedp audit --method rdp --data lfw/             also pairs of people from a folder DATA/NAME/*.jpg

The exit code is 0 whether a claim is refuted or not: --json has `refuted`.")]
pub struct Audit {
    /// The method
    #[arg(long, default_value_t = MethodName::Certified, value_parser = method_names(),
          help_heading = "Method")]
    pub method: MethodName,
    #[command(flatten)]
    pub parameters: MethodArgs,
    /// Runs per neighbour in each audit
    #[arg(long, value_name = "N", default_value_t = 100_000, help_heading = "Audit")]
    pub runs: usize,
    /// Confidence of all bounds together
    #[arg(long, value_name = "C", default_value_t = 0.95, help_heading = "Audit")]
    pub confidence: f64,
    /// Folder of people whose faces are used as pairs too: DIR/NAME/*.jpg
    #[arg(long, value_name = "DIR", help_heading = "Audit")]
    pub data: Option<PathBuf>,
    /// Seed of all noise
    #[arg(long, value_name = "N", default_value_t = 1, help_heading = "Audit")]
    pub seed: u64,
}
