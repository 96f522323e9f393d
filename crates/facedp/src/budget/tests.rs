//! Properties of budget, cost and solvers on random problems.
#![allow(clippy::unwrap_used)]

use proptest::prelude::*;
use proptest::test_runner::RngSeed;

use super::{Problem, Scales};
use crate::basis::Pixel;
use crate::error::Error;
use crate::geometric::Geometric;
use crate::scale::{lmgd, na, optimal, uniform};
use crate::weights::Weights;

/// A random problem: weights, sensitivities, budget and the survivals of a geometric law.
#[derive(Debug)]
struct Case {
    weights: Weights,
    sensitivities: Vec<f64>,
    epsilon: f64,
    survivals: Vec<f64>,
}

impl Case {
    fn problem(&self) -> Problem<'_> {
        Problem {
            weights: &self.weights,
            sensitivities: &self.sensitivities,
            epsilon: self.epsilon,
        }
    }
}

prop_compose! {
    fn case()(features in 1usize..6, ranks in 6usize..40)(
        weights in prop::collection::vec(-1.0..1.0f64, features * ranks),
        sensitivities in prop::collection::vec(0.01..10.0f64, features),
        epsilon in 0.01..10.0f64,
        p in 0.01..0.5f64,
        features in Just(features),
        ranks in Just(ranks),
    ) -> Case {
        let weights = Weights::new(&weights, ranks, features, &Pixel);
        let survivals = (1..=ranks).map(|k| Geometric::new(p, ranks).unwrap().survival(k));
        Case { weights, sensitivities, epsilon, survivals: survivals.collect() }
    }
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 64,
        // The same cases every time.
        rng_seed: RngSeed::Fixed(1),
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    /// Whatever is proposed, the scales spend the budget to 1e-9, and never more.
    #[test]
    fn scales_spend_the_budget(
        case in case(),
        proposal in prop::collection::vec(1e-6..1e6f64, 40),
    ) {
        let problem = case.problem();
        let x = &proposal[..case.survivals.len()];
        let scales = Scales::spend(&problem, x, &case.survivals).unwrap();
        prop_assert!(scales.spent() <= case.epsilon * (1.0 + 1e-14));
        prop_assert!(scales.spent() >= case.epsilon * (1.0 - 1e-9));
        // The paper's eq. 4.1, written out in b and w.
        let paper: f64 = (0..case.sensitivities.len()).map(|i| {
            let v: f64 = (0..x.len())
                .map(|k| case.weights.row(k)[i] * scales.scale(k).powi(2) * case.survivals[k])
                .sum();
            case.sensitivities[i] / v.sqrt()
        }).sum();
        prop_assert!((paper / scales.spent() - 1.0).abs() < 1e-12);
    }

    /// dL/dlog b of the Lagrangian f + lambda (eps - eps0), against central differences.
    ///
    /// At a step of 1e-5, the error of the differences is about step^2 (1e-10) plus rounding / step
    /// (1e-11), relative to the largest part of L. A tolerance of 1e-6 leaves room for curvature.
    #[test]
    fn lmgd_gradient_equals_finite_differences(case in case(), lambda in 0.1..100.0f64) {
        let problem = case.problem();
        let lagrangian = |x: &[f64]| {
            x.iter().sum::<f64>() + lambda * (problem.spent(&problem.variances(x)) - case.epsilon)
        };
        let x = case.survivals.clone();
        let gradient = lmgd::gradient(&problem, &x, lambda);
        let size = gradient.iter().fold(lagrangian(&x).abs(), |a, g| a.max(g.abs()));
        let step = 1e-5f64;
        for k in 0..x.len() {
            let moved = |sign: f64| {
                let mut x = x.clone();
                x[k] *= (2.0 * sign * step).exp(); // x = b^2 g
                lagrangian(&x)
            };
            let difference = (moved(1.0) - moved(-1.0)) / (2.0 * step);
            prop_assert!((difference - gradient[k]).abs() < 1e-6 * size,
                "rank {}: {} against {}", k + 1, gradient[k], difference);
        }
    }

    /// LMGD is never worse than the uniform scales it starts from, however few steps it takes.
    #[test]
    fn lmgd_is_never_worse_than_its_start(
        case in case(),
        eta in 0.01..=0.1f64,
        steps in 0usize..300,
    ) {
        let problem = case.problem();
        let start = problem.cost_at_budget(&uniform::solve(&case.survivals).x);
        let found = lmgd::solve(&problem, &case.survivals, eta, steps, 1e-3);
        prop_assert!(problem.cost_at_budget(&found.x) <= start * (1.0 + 1e-12));
        prop_assert!(found.iterations <= steps);
    }

    /// The optimum is not worse than any other solver, and the certificate of every solution bounds it.
    #[test]
    fn the_optimum_is_the_least(case in case(), significance in 0.0..=1.0f64) {
        let problem = case.problem();
        let best = optimal::solve(&problem, 1e-3);
        prop_assert!(problem.gap(&best.x) <= 1e-3);
        let min = problem.cost_at_budget(&best.x);
        let peaks = case.weights.peaks();
        for x in [
            uniform::solve(&case.survivals).x,
            na::solve(&problem, &case.survivals, &peaks, significance).x,
            lmgd::solve(&problem, &case.survivals, 0.1, 200, 1e-3).x,
        ] {
            let cost = problem.cost_at_budget(&x);
            prop_assert!(min <= cost * (1.0 + 1e-3));
            prop_assert!(cost / (1.0 + problem.gap(&x)) <= min * (1.0 + 1e-9));
        }
    }

    /// Multiplying all scales by c divides the budget by c.
    #[test]
    fn budget_scales_inversely(case in case(), c in 0.1..10.0f64) {
        let problem = case.problem();
        let x = &case.survivals;
        let scaled: Vec<f64> = x.iter().map(|x| c * c * x).collect();
        let ratio = problem.spent(&problem.variances(x)) / problem.spent(&problem.variances(&scaled));
        prop_assert!((ratio / c - 1.0).abs() < 1e-12);
    }
}

#[test]
fn values_that_do_not_fit_the_ranks_are_an_error() {
    let weights = Weights::new(&[1.0, 0.5, 0.25], 3, 1, &Pixel);
    let problem = Problem { weights: &weights, sensitivities: &[1.0], epsilon: 1.0 };
    for (x, g) in [(2, 3), (4, 4), (3, 2)] {
        let error = Scales::spend(&problem, &vec![1.0; x], &vec![0.5; g]).unwrap_err();
        assert!(matches!(error, Error::Ranks { expected: 3, .. }), "{x} {g}");
    }
    assert!(Geometric::new(0.5, 0).is_err());
}

#[test]
fn a_feature_without_noise_is_an_error() {
    let weights = Weights::new(&[1.0, 0.0, 0.0, 1.0], 2, 2, &Pixel);
    let problem = Problem { weights: &weights, sensitivities: &[1.0, 1.0], epsilon: 1.0 };
    let error = Scales::spend(&problem, &[1.0, 0.0], &[1.0, 0.5]).unwrap_err();
    assert_eq!(error, Error::Uncovered { feature: 2 });
}
