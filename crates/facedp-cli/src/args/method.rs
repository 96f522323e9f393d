//! The parameters of methods.

use std::path::PathBuf;

use clap::Args as ClapArgs;
use facedp::basis::BasisKind;
use facedp::certified::Mechanism;
use facedp::{Epsilon, Ranking, Sensitivity};
use facedp_engine::Request;

use super::parsers::{epsilon, geometric_p, names};

/// The parameters of methods that draw noise.
#[derive(ClapArgs)]
#[command(next_help_heading = "Noise")]
pub struct MethodArgs {
    /// Budget of each face. The paper's methods: in the unit that --sensitivity sets. `certified`: the
    /// differential-privacy budget. `steered`: the budget for drawing the target [default: 0.2]
    #[arg(long, visible_alias = "eps", value_name = "EPS", allow_negative_numbers = true,
          value_parser = epsilon)]
    pub epsilon: Option<Epsilon>,
    /// Parameter p of the geometric number: noise reaches the top 1/p ranks on average [default: 0.02]
    #[arg(long, value_name = "P", allow_negative_numbers = true, value_parser = geometric_p)]
    pub geometric_p: Option<f64>,
    /// Features that the budget covers [default: all of the model's]
    #[arg(long, value_name = "N")]
    pub features: Option<usize>,
    /// Coefficients that carry the noise [default: the method's]
    #[arg(long, value_parser = names::<BasisKind>(BasisKind::NAMES))]
    pub basis: Option<BasisKind>,
    /// Levels of the Haar basis [default: as many as the size allows]
    #[arg(long, value_name = "N")]
    pub levels: Option<u32>,
    /// Order in which coefficients get noise [default: the method's]
    #[arg(long, value_parser = names::<Ranking>(Ranking::NAMES))]
    pub ranking: Option<Ranking>,
    /// What epsilon is measured against [default: normalised]
    #[arg(long, value_parser = names::<Sensitivity>(Sensitivity::NAMES))]
    pub sensitivity: Option<Sensitivity>,
    /// `certified`: the noise that features get [default: best, block by block]
    #[arg(long, value_parser = names::<Mechanism>(Mechanism::NAMES))]
    pub mechanism: Option<Mechanism>,
    /// `rdp-na`: share of a feature's largest weight from which weights count; 0 is the paper's literal
    /// formula [default: 0.5]
    #[arg(long, value_name = "S", allow_negative_numbers = true)]
    pub significance: Option<f64>,
    /// `rdp-lmgd`: step length, 0.01 to 0.1 [default: 0.1]
    #[arg(long, allow_negative_numbers = true)]
    pub eta: Option<f64>,
    /// A model file made by `facedp train` [default: the one inside the program]
    #[arg(long, value_name = "FILE")]
    pub model: Option<PathBuf>,
}

impl MethodArgs {
    /// The request with these parameters.
    pub fn fill(&self, request: Request) -> Request {
        Request {
            epsilon: self.epsilon,
            features: self.features,
            mechanism: self.mechanism,
            geometric_p: self.geometric_p,
            basis: self.basis,
            levels: self.levels,
            ranking: self.ranking,
            sensitivity: self.sensitivity,
            significance: self.significance,
            eta: self.eta,
            ..request
        }
    }
}
