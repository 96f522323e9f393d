//! `certified` with the shipped model: budgets, distortion, and what each step may see.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::sync::{Arc, LazyLock};

use facedp::certified::{CELLS, Cells, CertifiedMethod, CertifiedPlan, Mechanism};
use facedp::faces::FaceModel;
use facedp::noise::experiment;
use facedp::{Epsilon, Error};

static MODEL: LazyLock<Arc<FaceModel>> = LazyLock::new(|| {
    let bytes = include_bytes!("../../../assets/models/faces.safetensors");
    Arc::new(FaceModel::from_bytes(bytes).unwrap())
});

fn plan(epsilon: f64, features: usize, mechanism: Mechanism, shrink: bool) -> CertifiedPlan {
    let epsilon = Epsilon::new(epsilon).unwrap();
    let method = CertifiedMethod { epsilon, features, mechanism, shrink };
    CertifiedPlan::new(Arc::clone(&MODEL), method).unwrap()
}

const ALL: [Mechanism; 4] =
    [Mechanism::Best, Mechanism::Knorm, Mechanism::Staircase, Mechanism::Laplace];

/// Budgets are integers, so their sum can be compared exactly with epsilon as a double.
#[test]
fn budgets_add_up_to_at_most_epsilon() {
    for epsilon in [1e-4, 0.2, 1.0, 7.3, 64.0, 1e6] {
        for features in [1, 16, 64] {
            for (mechanism, shrink) in ALL.into_iter().flat_map(|m| [(m, false), (m, true)]) {
                let plan = plan(epsilon, features, mechanism, shrink);
                let units: u64 = plan.blocks().iter().map(|b| b.units()).sum();
                // Exact: both sides are doubles with a power of two as their denominator.
                assert!(units as f64 <= epsilon * 2f64.powi(plan.exponent() as i32));
                assert!(plan.spent() > 0.999_999 * epsilon, "{epsilon}: {}", plan.spent());
                let mut covered: Vec<usize> =
                    plan.blocks().iter().flat_map(|b| b.features().to_vec()).collect();
                covered.sort_unstable();
                covered.windows(2).for_each(|two| assert_ne!(two[0], two[1]));
                assert!(shrink || covered.len() == features);
            }
        }
    }
}

/// `2 (sum Delta^(2/3))^3 / eps0^2`: the least cost of additive Laplace noise in the features.
fn subspace_bound(plan: &CertifiedPlan, epsilon: f64) -> f64 {
    let sum: f64 = plan.grid().widths().iter().map(|w| w.cbrt().powi(2)).sum();
    2.0 * sum.powi(3) / (epsilon * epsilon)
}

#[test]
fn laplace_reaches_the_subspace_bound_and_knorm_falls_below_it() {
    for features in [4, 16, 64] {
        let laplace = plan(0.2, features, Mechanism::Laplace, false);
        let bound = subspace_bound(&laplace, 0.2);
        let cost: f64 = laplace.noise().iter().sum();
        assert!((cost / bound - 1.0).abs() < 0.01, "{features}: {cost} {bound}");
        let knorm = plan(0.2, features, Mechanism::Knorm, false);
        let below = 10.0 * (bound / knorm.noise().iter().sum::<f64>()).log10();
        println!("{features} features: knorm {below:.2} dB below the bound of laplace");
        assert!(below >= if features == 4 { 2.0 } else { 4.5 }, "{features}: {below}");
    }
}

/// Noise can be drawn at the smallest and largest budgets.
#[test]
fn all_budgets_can_be_drawn() {
    for epsilon in [1e-4, 1e3, 1e4, 1e6] {
        for (mechanism, shrink) in ALL.into_iter().flat_map(|m| [(m, false), (m, true)]) {
            let plan = plan(epsilon, 64, mechanism, shrink);
            let middle = Cells::new(vec![CELLS / 2; 64]);
            let mut random = experiment(9, "all budgets");
            for _ in 0..200 {
                let noisy = plan.mechanism(&middle, &mut random).unwrap();
                assert!(noisy.cells().iter().flatten().all(|cell| cell.abs() < 1 << 60));
            }
        }
    }
}

/// The variance of drawn noise agrees with its formula within three standard errors, each at most 2 %.
#[test]
fn distortion_agrees_with_its_formula() {
    for (mechanism, features, epsilon) in [
        (Mechanism::Knorm, 16, 0.2),
        (Mechanism::Knorm, 64, 4.0),
        (Mechanism::Laplace, 16, 1.0),
        // At larger budgets, rare draws decide the variance of staircase noise.
        (Mechanism::Staircase, 4, 2.0),
    ] {
        for shrink in [false, true] {
            let plan = plan(epsilon, features, mechanism, shrink);
            let expected: f64 = plan.noise().iter().filter(|v| v.is_finite()).sum();
            let zero = Cells::new(vec![CELLS / 2; features]);
            let mut random = experiment(1, "distortion");
            let runs = 20_000;
            let energies: Vec<f64> = (0..runs)
                .map(|_| {
                    let noisy = plan.mechanism(&zero, &mut random).unwrap();
                    let each = noisy.cells().iter().zip(plan.grid().widths());
                    let cell = |c: i64, width: f64| (c - CELLS / 2) as f64 * width / CELLS as f64;
                    each.filter_map(|(c, w)| c.map(|c| cell(c, *w).powi(2))).sum()
                })
                .collect();
            let mean = energies.iter().sum::<f64>() / f64::from(runs);
            let variance = energies.iter().map(|e| (e - mean).powi(2)).sum::<f64>();
            let error = (variance / f64::from(runs)).sqrt() / f64::from(runs).sqrt();
            println!(
                "{mechanism:?} {features} {epsilon}: {mean:.4e} of {expected:.4e} +- {error:.1e}"
            );
            assert!(error <= 0.02 * expected, "{error} of {expected}");
            assert!((mean - expected).abs() <= 3.0 * error, "{mean} {expected} +- {error}");
        }
    }
}

/// The error after shrinking agrees with its formula, over faces from the public prior.
#[test]
fn errors_after_shrinking_agree_with_their_formula() {
    let plan = plan(64.0, 16, Mechanism::Knorm, true);
    let spread = |n: usize| MODEL.spreads()[n].sqrt();
    let mut random = experiment(2, "shrinking");
    let runs = 20_000;
    let mut sum = 0.0;
    for run in 0..runs {
        // Two-point faces have the prior's mean and variance, and lie inside the boxes.
        let sign = |n: usize| if (run >> (n % 12)) & 1 == 0 { 1.0 } else { -1.0 };
        let face: Vec<f64> = (0..16).map(|n| sign(n) * spread(n)).collect();
        let noisy = plan.mechanism(&plan.grid().cells(&face), &mut random).unwrap();
        let estimate = plan.estimate(&noisy);
        sum += estimate.features().iter().zip(&face).map(|(e, f)| (e - f).powi(2)).sum::<f64>();
    }
    let (mean, formula) = (sum / f64::from(runs), plan.errors().iter().sum::<f64>());
    // Clipping to the boxes can only help, and seldom does at this budget.
    assert!((0.9 * formula..1.02 * formula).contains(&mean), "{mean} {formula}");
    let prior: f64 = (0..16).map(|n| spread(n).powi(2)).sum();
    assert!(formula < prior, "{formula} {prior}");
}

/// The plan's choice is never worse than either mechanism, and better where staircases are.
#[test]
fn the_best_noise_is_chosen() {
    let error =
        |epsilon, mechanism| -> f64 { plan(epsilon, 64, mechanism, true).errors().iter().sum() };
    for epsilon in [0.2, 1.0, 8.0, 16.0, 32.0, 64.0, 128.0] {
        let [best, knorm, staircase, laplace] = ALL.map(|mechanism| error(epsilon, mechanism));
        let gain = |other: f64| 10.0 * (other / best).log10();
        println!(
            "epsilon {epsilon}: {:.2} dB below K-norm, {:.2} below staircase, {:.2} below Laplace",
            gain(knorm),
            gain(staircase),
            gain(laplace)
        );
        assert!(best <= knorm * 1.001 && best <= staircase * 1.001 && best <= laplace * 1.001);
    }
    assert!(error(64.0, Mechanism::Best) < 0.95 * error(64.0, Mechanism::Knorm));
}

#[test]
fn features_outside_their_boxes_count_as_their_ends() {
    let plan = plan(1.0, 4, Mechanism::Knorm, true);
    let noisy =
        |cells: Vec<i64>| plan.mechanism(&Cells::new(cells), &mut experiment(5, "ends")).unwrap();
    assert_eq!(noisy(vec![-9, CELLS + 9, i64::MAX, i64::MIN]), noisy(vec![0, CELLS, CELLS, 0]));
    let strange = plan.grid().cells(&[f64::NAN, f64::INFINITY, f64::NEG_INFINITY, 0.0]);
    assert_eq!(strange.numbers()[0], CELLS / 2);
    assert!(strange.numbers()[1] > CELLS && strange.numbers()[2] < 0);
}

#[test]
fn grids_are_exact() {
    let plan = plan(1.0, 64, Mechanism::Knorm, true);
    let numbers: Vec<i64> = (0..64).map(|n| 1009 * n - 3000).collect();
    let cells = Cells::new(numbers);
    assert_eq!(plan.grid().cells(&plan.grid().values(&cells)), cells);
}

#[test]
fn bad_parameters_are_named() {
    let method = |epsilon: f64, features: usize| CertifiedMethod {
        epsilon: Epsilon::new(epsilon).unwrap(),
        features,
        mechanism: Mechanism::Knorm,
        shrink: true,
    };
    let error = |method| CertifiedPlan::new(Arc::clone(&MODEL), method).unwrap_err();
    assert_eq!(error(method(1.0, 65)), Error::Features { wanted: 65, available: 64 });
    assert!(error(method(1e-9, 4)).to_string().contains("not 0.000000001"));
    assert!(error(method(1e9, 4)).to_string().contains("1000000"));
    let plan = plan(1.0, 4, Mechanism::Knorm, true);
    let few = plan.mechanism(&Cells::new(vec![0; 3]), &mut experiment(1, "few"));
    assert_eq!(few.unwrap_err(), Error::Cells { expected: 4, found: 3 });
}
