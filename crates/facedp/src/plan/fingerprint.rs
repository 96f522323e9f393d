//! The text from which the keyed noise of a plan is derived.
//!
//! Any change to this text changes the noise under every key. It is therefore spelled out here, not
//! taken from `Debug` or from names that users type. A new format gets a new number at its start.

use super::Plan;
use crate::basis::Basis;
use crate::method::{Method, Sensitivity};
use crate::rank::Ranking;
use crate::scale::Solver;

impl Plan {
    /// Everything that decides the law of the noise, as one line of text. Plans with the same law
    /// have the same fingerprint, whichever preset they started from.
    pub fn fingerprint(&self) -> String {
        text(&self.method, self.model.side(), self.model.hash())
    }
}

/// The fingerprint of a method for a model of that side and hash.
fn text(method: &Method, side: usize, model: &str) -> String {
    let Method { features, epsilon, geometric_p, .. } = method;
    format!(
        "plan 1: {}, {}, {}, {features} features, epsilon {:?}, p {geometric_p:?}, {}, model {model}",
        basis(method.basis, side),
        ranking(method.ranking),
        solver(method.solver),
        epsilon.get(),
        sensitivity(method.sensitivity),
    )
}

fn basis(basis: Basis, side: usize) -> String {
    match basis {
        Basis::Pixel => "Pixel".to_owned(),
        Basis::Dct => "Dct".to_owned(),
        Basis::Haar { levels } => {
            let levels = levels.unwrap_or(side.ilog2());
            format!("Haar {{ levels: Some({levels}) }}")
        }
    }
}

fn ranking(ranking: Ranking) -> &'static str {
    match ranking {
        Ranking::Influence => "influence",
        Ranking::Amplitude => "amplitude",
        Ranking::Energy => "energy",
    }
}

fn solver(solver: Solver) -> String {
    match solver {
        Solver::Uniform => "Uniform".to_owned(),
        Solver::Na { significance } => format!("Na {{ significance: {significance:?} }}"),
        Solver::Lmgd { eta, max_iterations, delta } => {
            format!("Lmgd {{ eta: {eta:?}, max_iterations: {max_iterations}, delta: {delta:?} }}")
        }
        Solver::LmgdLiteral { eta, max_iterations, delta } => format!(
            "LmgdLiteral {{ eta: {eta:?}, max_iterations: {max_iterations}, delta: {delta:?} }}"
        ),
        Solver::Optimal { max_gap } => format!("Optimal {{ max_gap: {max_gap:?} }}"),
    }
}

fn sensitivity(sensitivity: Sensitivity) -> &'static str {
    match sensitivity {
        Sensitivity::Normalised => "normalised",
        Sensitivity::Measured => "measured",
        Sensitivity::Clipped => "clipped",
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;
    use crate::method::{Epsilon, Preset};

    fn of(method: Method) -> String {
        text(&method, 128, "c0ffee")
    }

    fn method(preset: Preset, epsilon: f64) -> Method {
        preset.method(Epsilon::new(epsilon).unwrap(), 64)
    }

    /// Every variant, as it was first written. These lines must never change.
    #[test]
    fn fingerprints_are_fixed() {
        assert_eq!(
            of(method(Preset::PixelDp, 0.2)),
            "plan 1: Pixel, influence, Uniform, 64 features, epsilon 0.2, p 0.02, normalised, \
             model c0ffee"
        );
        assert_eq!(
            of(Method { sensitivity: Sensitivity::Measured, ..method(Preset::DctDp, 1.0) }),
            "plan 1: Dct, influence, Uniform, 64 features, epsilon 1.0, p 0.02, measured, \
             model c0ffee"
        );
        assert_eq!(
            of(Method {
                ranking: Ranking::Amplitude,
                sensitivity: Sensitivity::Clipped,
                geometric_p: 0.5,
                ..method(Preset::Rdp, 1e-7)
            }),
            "plan 1: Haar { levels: Some(7) }, amplitude, Uniform, 64 features, epsilon 1e-7, \
             p 0.5, clipped, model c0ffee"
        );
        assert_eq!(
            of(Method { basis: Basis::Haar { levels: Some(3) }, ..method(Preset::RdpNa, 1e20) }),
            "plan 1: Haar { levels: Some(3) }, influence, Na { significance: 0.5 }, 64 features, \
             epsilon 1e20, p 0.02, normalised, model c0ffee"
        );
        assert_eq!(
            of(method(Preset::RdpLmgd, 0.1 + 0.2)),
            "plan 1: Haar { levels: Some(7) }, influence, \
             Lmgd { eta: 0.1, max_iterations: 2000, delta: 0.001 }, 64 features, \
             epsilon 0.30000000000000004, p 0.02, normalised, model c0ffee"
        );
        assert_eq!(
            of(method(Preset::RdpOptimal, 0.2)),
            "plan 1: Haar { levels: Some(7) }, energy, Optimal { max_gap: 1e-5 }, 64 features, \
             epsilon 0.2, p 0.02, normalised, model c0ffee"
        );
    }
}
