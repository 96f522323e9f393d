//! The parameters of methods.

use std::path::PathBuf;

use anyhow::anyhow;
use clap::{Args as ClapArgs, ValueEnum};
use facedp::scale::Solver;
use facedp::{Basis, CertifiedMethod, Epsilon, Mechanism, Method, Preset, Ranking, Sensitivity};

use super::parsers::{epsilon, geometric_p, names};
use crate::failure::Failure;

/// The names of bases.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum BasisName {
    Pixel,
    Dct,
    Haar,
}

/// The parameters of a method.
#[derive(ClapArgs)]
#[command(next_help_heading = "Noise (the paper's methods)")]
pub struct MethodArgs {
    /// Total budget of a face's noise, in the unit that --sensitivity sets; of certified, of differential
    /// privacy; of steering, the budget of the draw
    #[arg(long, visible_alias = "eps", value_name = "EPS", default_value = "0.2",
          allow_negative_numbers = true, value_parser = epsilon)]
    pub epsilon: Epsilon,
    /// Parameter p of the geometric number: noise reaches the top 1/p ranks on average [default: 0.02]
    #[arg(long, value_name = "P", allow_negative_numbers = true, value_parser = geometric_p)]
    pub geometric_p: Option<f64>,
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
    /// What epsilon is measured against [default: normalised]
    #[arg(long, value_parser = names::<Sensitivity>(Sensitivity::NAMES))]
    pub sensitivity: Option<Sensitivity>,
    /// certified: which noise features get; knorm is the least at any budget [default: knorm]
    #[arg(long, value_enum)]
    pub mechanism: Option<MechanismName>,
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

/// The names of mechanisms.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum MechanismName {
    Knorm,
    Laplace,
}

impl MethodArgs {
    /// The options that only methods of noise have and that were given.
    pub fn of_noise(&self) -> Vec<&'static str> {
        let shared = [
            (self.features.is_some(), "--features"),
            (self.model.is_some(), "--model"),
            (self.mechanism.is_some(), "--mechanism"),
        ];
        let shared = shared.into_iter().filter_map(|(given, name)| given.then_some(name));
        self.of_the_paper().into_iter().chain(shared).collect()
    }

    /// The options that only the paper's methods have and that were given.
    fn of_the_paper(&self) -> Vec<&'static str> {
        [
            (self.geometric_p.is_some(), "--geometric-p"),
            (self.basis.is_some(), "--basis"),
            (self.levels.is_some(), "--levels"),
            (self.ranking.is_some(), "--ranking"),
            (self.sensitivity.is_some(), "--sensitivity"),
            (self.significance.is_some(), "--significance"),
            (self.eta.is_some(), "--eta"),
        ]
        .into_iter()
        .filter_map(|(given, name)| given.then_some(name))
        .collect()
    }

    /// `certified` as these options describe it, for a model of that many features.
    pub fn certified(&self, available: usize) -> Result<CertifiedMethod, Failure> {
        if let Some(option) = self.of_the_paper().first() {
            return Err(misplaced(option, "the paper's methods", "certified"));
        }
        let usual = CertifiedMethod::new(self.epsilon, self.features.unwrap_or(available));
        let mechanism = match self.mechanism {
            Some(MechanismName::Laplace) => Mechanism::Laplace,
            Some(MechanismName::Knorm) => Mechanism::Knorm,
            None => usual.mechanism,
        };
        Ok(CertifiedMethod { mechanism, ..usual })
    }

    /// The method these options describe, for a model of that many features.
    ///
    /// An option that the method does not have is an error, not something to pass over.
    pub fn resolve(&self, preset: Preset, available: usize) -> Result<Method, Failure> {
        let mut method = preset.method(self.epsilon, self.features.unwrap_or(available));
        if self.mechanism.is_some() {
            return Err(misplaced("--mechanism", "certified", &preset.to_string()));
        }
        method.geometric_p = self.geometric_p.unwrap_or(method.geometric_p);
        method.sensitivity = self.sensitivity.unwrap_or(Sensitivity::Normalised);
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
