//! Plans and releases with the shipped model.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::sync::{Arc, LazyLock};

use facedp::basis::Basis;
use facedp::noise::{ChaCha, Randomness, Source, experiment, keyed};
use facedp::{
    Claim, Drawn, Epsilon, Error, FeatureModel, Method, Plan, Plane, Preset, Ranking, Sensitivity,
    Solver, Terms, TrainingSet,
};
use rand_core::{Rng, SeedableRng};

static MODEL: LazyLock<Arc<FeatureModel>> = LazyLock::new(|| {
    let bytes = include_bytes!("../../../assets/models/eigenfaces.safetensors");
    Arc::new(FeatureModel::from_bytes(bytes).unwrap())
});

const HAAR: Basis = Basis::Haar { levels: None };

fn method(preset: Preset, features: usize) -> Method {
    preset.method(Epsilon::new(0.2).unwrap(), features)
}

fn plan(method: Method) -> Plan {
    Plan::new(Arc::clone(&MODEL), method).unwrap()
}

/// A chip with some structure: the mean face.
fn face() -> Plane {
    Plane::new(128, 128, MODEL.mean().to_vec()).unwrap()
}

#[test]
fn methods_spend_the_budget_and_rank_as_they_should() {
    for features in [4, 16, 64] {
        let reports = Preset::ALL.map(|preset| plan(method(preset, features)).report().clone());
        for report in &reports {
            assert!((report.budget_spent - 0.2).abs() < 1e-9, "{}", report.budget_spent);
            assert!(report.budget_spent <= 0.2 * (1.0 + 1e-14));
        }
        let [_, _, uniform, na, lmgd, optimal, na_literal, lmgd_literal] =
            reports.each_ref().map(|report| report.psnr_of_expected_mse.unwrap());
        let bound = reports[0].bound_psnr;
        assert!(bound >= optimal && optimal >= lmgd && lmgd >= na && na >= uniform);
        assert!(reports[5].gap.unwrap() <= 1e-3);
        let closed = (lmgd - uniform) / (optimal - uniform);
        assert!(closed >= 0.95, "M_F {features}: LMGD closes {closed}");
        assert!(reports[4].f1.is_some() && reports[4].f2.is_some());
        // As printed, the closed form is far worse than uniform scales, and the iteration no better.
        println!("{features} features, as printed: NA {na_literal:.2}, LMGD {lmgd_literal:.2} dB");
        assert!(na_literal < uniform - 20.0, "{na_literal}");
        assert!(lmgd_literal < uniform + 0.5, "{lmgd_literal} {uniform}");
        assert_eq!(reports[7].iterations, Some(2000));
    }
}

/// The prototype's figures. It used other training pictures of the same data set, hence the tolerance
/// of 1 dB, or 1.5 where the prototype said "about 65". docs/measurements/training-spread.md shows how
/// much training sets differ.
#[test]
fn figures_of_the_prototype_are_reproduced() {
    /// Features, dB, tolerance.
    type Figure = (usize, f64, f64);
    let figures: [(Preset, Basis, &[Figure]); 6] = [
        (Preset::Rdp, HAAR, &[(4, 55.85, 1.0), (16, 54.83, 1.0), (64, 52.59, 1.0)]),
        (Preset::RdpNa, HAAR, &[(4, 64.62, 1.0), (16, 57.97, 1.0), (64, 53.31, 1.0)]),
        (Preset::RdpOptimal, HAAR, &[(4, 65.0, 1.5), (16, 59.13, 1.0), (64, 53.87, 1.0)]),
        (Preset::DctDp, Basis::Dct, &[(16, 55.50, 1.0), (64, 53.64, 1.0)]),
        (Preset::RdpOptimal, Basis::Dct, &[(16, 60.69, 1.0), (64, 54.93, 1.0)]),
        (Preset::PixelDp, Basis::Pixel, &[(16, 30.11, 1.0), (64, 32.06, 1.0)]),
    ];
    for (preset, basis, figures) in figures {
        for &(features, expected, within) in figures {
            let method = Method { basis, ..method(preset, features) };
            let found = plan(method).report().psnr_of_expected_mse.unwrap();
            assert!(
                (found - expected).abs() < within,
                "{preset} at {features}: {found}, not {expected}"
            );
        }
    }
    for (features, expected) in [(16, 61.52), (64, 55.83)] {
        let found = plan(method(Preset::Rdp, features)).report().bound_psnr;
        assert!((found - expected).abs() < 1.0, "bound at {features}: {found}, not {expected}");
    }
}

/// The README's table agrees with `facedp plan`.
#[test]
fn the_readme_has_todays_figures() {
    let readme = include_str!("../../../README.md");
    for preset in Preset::ALL {
        let start = format!("| `{preset}` |");
        let row = readme.lines().find(|line| line.starts_with(&start)).expect("a row");
        let cells: Vec<&str> = row.split('|').map(str::trim).collect();
        for (cell, features) in cells[5..8].iter().zip([4, 16, 64]) {
            let found = plan(method(preset, features)).report().psnr_of_expected_mse.unwrap();
            assert!(
                (cell.parse::<f64>().unwrap() - found).abs() < 0.01,
                "{preset}: {cell}, {found}"
            );
        }
    }
}

/// Mean and standard deviation of `sigma_r^2 = sum_(k <= K) xi_k^2` over draws: a Laplace
/// variable of scale b has `E xi^2 = 2 b^2` and `Var xi^2 = 20 b^4`.
fn energy_moments(plan: &Plan) -> (f64, f64) {
    let (_, scales) = plan.scales().unwrap();
    let ranks = scales.units().len();
    let survival = |k: usize| plan.law().survival(k);
    let (mut mean, mut second, mut within) = (0.0, 0.0, 0.0);
    let mut so_far = 0.0;
    for k in 1..=ranks {
        let b2 = scales.scale(k - 1).powi(2);
        so_far += 2.0 * b2;
        within += 20.0 * b2 * b2 * survival(k);
        let chance = if k == ranks { survival(k) } else { survival(k) - survival(k + 1) };
        mean += chance * so_far;
        second += chance * so_far * so_far;
    }
    (mean, (within + second - mean * mean).sqrt())
}

/// Enough draws for a standard error of 2 %. The limit is three standard errors: over the choice of
/// seed, which is fixed, a correct mechanism fails in one of 370 methods.
#[test]
fn real_variance_agrees_with_theory() {
    let face = face();
    // One draw in a billion decides the mean energy of the closed form as printed.
    let testable = |preset: &Preset| *preset != Preset::RdpNaLiteral;
    for preset in Preset::ALL.into_iter().filter(testable) {
        let plan = plan(method(preset, 64));
        let (mean, deviation) = energy_moments(&plan);
        let theory = 2.0 * plan.report().cost.unwrap();
        assert!((mean / theory - 1.0).abs() < 1e-9, "{preset}: {mean} against {theory}");
        let draws = (deviation / mean / 0.02).powi(2).ceil() as usize;
        assert!(draws < 200_000, "{preset} needs {draws} draws");
        let mut random = experiment(5, &preset.to_string());
        let (mut real, mut given_k) = (0.0, 0.0);
        for _ in 0..draws {
            let release = plan.protect(&face, &mut random).unwrap();
            real += release.real_variance() / draws as f64;
            given_k += release.theoretical_variance / draws as f64;
        }
        let error = deviation / (draws as f64).sqrt();
        println!(
            "{preset}: {draws} draws, real {:+.2} % and given K {:+.2} % of theory, error {:.2} %",
            100.0 * (real / mean - 1.0),
            100.0 * (given_k / mean - 1.0),
            100.0 * error / mean,
        );
        assert!((real - mean).abs() < 3.0 * error, "{preset}: {real}, not {mean} +- {error}");
        // Given K, theory leaves out the variance of the Laplace draws, so it is closer still.
        assert!((given_k - mean).abs() < 3.0 * error, "{preset}: {given_k}, not {mean}");
    }
}

/// `Pr[K >= k]` over releases, within the Dvoretzky-Kiefer-Wolfowitz distance that a correct
/// law exceeds once in a million seeds.
#[test]
fn drawn_geometric_numbers_match_g() {
    let plan = plan(method(Preset::RdpOptimal, 64));
    let (face, draws) = (face(), 20_000);
    let mut random = experiment(6, "K");
    let mut drawn: Vec<usize> =
        (0..draws).map(|_| plan.protect(&face, &mut random).unwrap().geometric_number).collect();
    drawn.sort_unstable();
    let limit = ((2.0f64 / 1e-6).ln() / (2.0 * draws as f64)).sqrt();
    for k in 1..=1000 {
        let seen = drawn.iter().rev().take_while(|&&d| d >= k).count() as f64 / draws as f64;
        assert!((seen - plan.law().survival(k)).abs() < limit, "k {k}");
    }
}

#[test]
fn a_release_is_the_chip_plus_noise_with_its_features() {
    let plan = plan(method(Preset::Rdp, 16));
    let face = face();
    let release = plan.protect(&face, &mut experiment(1, "a")).unwrap();
    let noise = release.noise();
    for ((p, n), sum) in face.data().iter().zip(noise.data()).zip(release.plane.data()) {
        assert_eq!(p + n, *sum);
    }
    // F' - F = U^T noise, and F of the mean face is 0.
    let features = release.features().unwrap();
    assert_eq!(features.len(), 16);
    for (i, f) in features.iter().enumerate() {
        let eigenface = &MODEL.eigenfaces()[i * 16384..][..16384];
        let along: f64 = eigenface.iter().zip(noise.data()).map(|(u, n)| u * n).sum();
        assert!((f - along).abs() < 1e-9);
    }
    // The same generator gives the same noise: under a public plan it does not depend on the photo.
    let repeated = plan.protect(&Plane::zeros(128, 128), &mut experiment(1, "a")).unwrap();
    assert_eq!(repeated.noise(), noise);
}

#[test]
fn amplitude_ranking_claims_nothing() {
    let by_amplitude = Method { ranking: Ranking::Amplitude, ..method(Preset::Rdp, 16) };
    let plan = plan(by_amplitude);
    assert_eq!(plan.claim(), Claim::None);
    assert!(plan.report().cost.is_none() && plan.scales().is_none());
}

#[test]
fn invalid_combinations_are_refused() {
    let try_plan = |method| Plan::new(Arc::clone(&MODEL), method).err();
    for preset in [Preset::RdpLmgd, Preset::RdpOptimal] {
        let bad = Method { ranking: Ranking::Amplitude, ..method(preset, 16) };
        assert!(matches!(try_plan(bad), Some(Error::Combination { .. })));
    }
    let bad = Method { ranking: Ranking::Energy, ..method(Preset::Rdp, 16) };
    assert!(matches!(try_plan(bad), Some(Error::Combination { .. })));
    for wanted in [0, 65] {
        let error = try_plan(method(Preset::Rdp, wanted));
        assert_eq!(error, Some(Error::Features { wanted, available: 64 }));
    }
    for p in [0.0, 1.0, -0.1, f64::NAN, f64::INFINITY] {
        let bad = Method { geometric_p: p, ..method(Preset::Rdp, 16) };
        assert!(matches!(try_plan(bad), Some(Error::GeometricP(_))));
    }
    for solver in [
        Solver::Na { significance: -0.1 },
        Solver::Na { significance: f64::NAN },
        Solver::Lmgd { eta: 0.5, max_iterations: 10, delta: 1e-3 },
        Solver::Lmgd { eta: 0.1, max_iterations: 10, delta: f64::NAN },
        Solver::Optimal { max_gap: 0.0 },
    ] {
        assert!(try_plan(Method { solver, ..method(Preset::Rdp, 16) }).is_some());
    }
    for epsilon in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        assert!(Epsilon::new(epsilon).is_err());
    }
    let huge = Preset::Rdp.method(Epsilon::new(1e-200).unwrap(), 16);
    assert_eq!(try_plan(huge), Some(Error::ScaleRange { epsilon: 1e-200 }));
}

#[test]
fn sensitivities_set_the_unit_and_nothing_else() {
    let normalised = plan(method(Preset::RdpOptimal, 16));
    let sum: f64 = MODEL.sensitivities()[..16].iter().sum();
    let measured = plan(Method {
        sensitivity: Sensitivity::Measured,
        epsilon: Epsilon::new(0.2 * sum).unwrap(),
        ..method(Preset::RdpOptimal, 16)
    });
    let cost = |plan: &Plan| plan.report().cost.unwrap();
    assert!((cost(&normalised) / cost(&measured) - 1.0).abs() < 1e-9);
    let spent = normalised.report().budget_measured.unwrap();
    assert!((spent / (0.2 * sum) - 1.0).abs() < 1e-9);
}

#[test]
fn extreme_laws_still_spend_the_budget() {
    for p in [1e-9, 0.5, 0.9] {
        for preset in [Preset::Rdp, Preset::RdpNa, Preset::RdpLmgd, Preset::RdpOptimal] {
            let report = plan(Method { geometric_p: p, ..method(preset, 4) }).report().clone();
            assert!((report.budget_spent - 0.2).abs() < 1e-9, "{preset} at p {p}");
            assert!(report.support.unwrap() <= 16384 && report.gap.unwrap() >= 0.0);
        }
    }
}

/// Every combination of parts and extreme parameters either spends the budget or is an error. Nothing
/// panics.
#[test]
fn nothing_panics_on_a_small_model() {
    let mut set = TrainingSet::new(8).unwrap();
    for n in 0..12 {
        let pixels = (0..64).map(|i| f64::from((i * (n + 3) * 7 + i * i) % 251)).collect();
        set.push(&format!("{}", n % 4), &Plane::new(8, 8, pixels).unwrap()).unwrap();
    }
    let model = FeatureModel::from_bytes(&FeatureModel::fit(&set, 6, "").unwrap()).unwrap();
    let model = Arc::new(model);
    let chip = Plane::new(8, 8, model.mean().to_vec()).unwrap();
    let (mut planned, mut tried) = (0, 0);
    let literal = Solver::Na { significance: 0.0 };
    for solver in [Solver::Uniform, Solver::NA, literal, Solver::LMGD, Solver::OPTIMAL] {
        for basis in [Basis::Pixel, Basis::Dct, Basis::Haar { levels: Some(2) }] {
            for ranking in [Ranking::Influence, Ranking::Amplitude, Ranking::Energy] {
                for geometric_p in [1e-300, 1e-5, 0.5, 0.999_999, 1.0 - f64::EPSILON / 2.0] {
                    for epsilon in [1e-29, 0.2, 1e29] {
                        for features in [1, 6] {
                            let epsilon = Epsilon::new(epsilon).unwrap();
                            let method = Method {
                                solver,
                                basis,
                                ranking,
                                geometric_p,
                                ..Preset::Rdp.method(epsilon, features)
                            };
                            tried += 1;
                            let Ok(plan) = Plan::new(Arc::clone(&model), method) else { continue };
                            planned += 1;
                            let spent = plan.report().budget_spent / epsilon.get();
                            // Scales of the literal formula span more than the noise grid's 60
                            // bits can resolve. The loss is unspent budget.
                            let fine = if solver == literal { 1e-6 } else { 1e-9 };
                            assert!(
                                spent <= 1.0 + 1e-12 && spent > 1.0 - fine,
                                "{:?}: {spent}",
                                plan.method()
                            );
                            let _ = plan.protect(&chip, &mut experiment(1, "small"));
                        }
                    }
                }
            }
        }
    }
    assert!(planned > tried / 3, "{planned} of {tried}");
}

#[test]
fn receipts_claim_no_more_than_is_true() {
    let plan = plan(method(Preset::RdpOptimal, 16));
    let release = |chip: &Plane, noise: &mut Source<ChaCha>| plan.protect(chip, noise).unwrap();
    let seeded = release(&face(), &mut experiment(1, "receipt")).terms();
    assert_eq!((seeded.claim, seeded.randomness), (Claim::None, Randomness::Experiment));
    let by_key = release(&face(), &mut keyed(&[7; 32], b"receipt")).terms();
    assert_eq!((by_key.claim, by_key.randomness), (Claim::PaperAccounting, Randomness::Keyed));
    // A generator that stands for one with secret entropy.
    let system = |n: u8| Source::system(ChaCha::from_seed([n; 32]));
    let one = release(&face(), &mut system(1));
    assert_eq!(one.terms().claim, Claim::PaperAccounting);
    assert_eq!(one.terms().randomness, Randomness::System);
    for claim in [Claim::None, Claim::PaperAccounting] {
        assert!(!claim.in_words().contains("private") && !claim.in_words().contains("protected"));
    }
    // Nothing in the terms depends on the draw or on pixels.
    let other = release(&Plane::zeros(128, 128), &mut system(2));
    assert_eq!(other.terms(), one.terms());
    let drawn = Drawn::of(&other).unwrap();
    assert_ne!(drawn, Drawn::of(&one).unwrap());
    let json = serde_json::to_string(&(other.terms(), &drawn)).unwrap();
    assert_eq!(serde_json::from_str::<(Terms, Drawn)>(&json).unwrap(), (other.terms(), drawn));
}

/// The same key and context give the same noise. Changing either changes all of it.
#[test]
fn keyed_noise_is_a_function_of_key_and_context() {
    let draw = |key: [u8; 32], context: &[u8]| {
        let mut source = keyed(&key, context);
        [(); 4].map(|()| source.next_u64())
    };
    let one = draw([1; 32], b"a");
    assert_eq!(one, draw([1; 32], b"a"));
    for other in [draw([2; 32], b"a"), draw([1; 32], b"b"), draw([1; 32], b"")] {
        assert!(one.iter().zip(other).all(|(a, b)| *a != b));
    }
}

/// Keyed noise is derived from the fingerprint: if it changes, the same photo gets new noise.
#[test]
fn plans_with_the_same_noise_have_the_same_fingerprint() {
    let default = plan(method(Preset::RdpOptimal, 64));
    let model = MODEL.hash();
    assert_eq!(
        default.fingerprint(),
        format!(
            "plan 1: Haar {{ levels: Some(7) }}, energy, Optimal {{ max_gap: 1e-5 }}, 64 features, \
             epsilon 0.2, p 0.02, normalised, model {model}"
        )
    );
    let same = Method { basis: Basis::Haar { levels: Some(7) }, ..method(Preset::RdpOptimal, 64) };
    assert_eq!(plan(same).fingerprint(), default.fingerprint());
    let dct = Method { basis: Basis::Dct, ..method(Preset::Rdp, 64) };
    assert_eq!(plan(dct).fingerprint(), plan(method(Preset::DctDp, 64)).fingerprint());
    for other in [method(Preset::RdpOptimal, 63), method(Preset::RdpLmgd, 64)] {
        assert_ne!(plan(other).fingerprint(), default.fingerprint());
    }
}

#[test]
fn methods_are_plain_data() {
    let method = Method { basis: Basis::Haar { levels: Some(3) }, ..method(Preset::RdpNa, 16) };
    let json = serde_json::to_value(&method).unwrap();
    assert_eq!(
        json,
        serde_json::json!({
            "preset": "rdp-na",
            "basis": { "kind": "haar", "levels": 3 },
            "ranking": "influence",
            "solver": { "kind": "na", "significance": 0.5 },
            "features": 16,
            "epsilon": 0.2,
            "geometric_p": 0.02,
            "sensitivity": "normalised",
        })
    );
    assert_eq!(serde_json::from_value::<Method>(json.clone()).unwrap(), method);
    let mut bad = json;
    bad["epsilon"] = (-1.0).into();
    assert!(serde_json::from_value::<Method>(bad).is_err());
}

/// Audits use samplers, photos use releases: both draw the same noise.
#[test]
fn samplers_draw_the_noise_of_releases() {
    for preset in [Preset::Rdp, Preset::RdpOptimal, Preset::DctDp] {
        let plan = plan(method(preset, 16));
        let sampler = plan.sampler(&face()).unwrap();
        let release = plan.protect(&face(), &mut experiment(3, "sampler")).unwrap();
        let (number, sparse) = sampler.draw(&mut experiment(3, "sampler"));
        assert_eq!(number, release.geometric_number);
        let (ranks, directions): (Vec<_>, _) = (sampler.ranks().collect(), sampler.directions());
        let own = MODEL.project(&face(), 16).unwrap();
        for (i, feature) in release.features().unwrap().into_iter().enumerate() {
            let moved = sparse.iter().map(|(k, noise)| {
                let rank = ranks.iter().position(|(other, _)| other == k).unwrap();
                noise * directions[rank][i]
            });
            let expected = own[i] + moved.sum::<f64>();
            assert!((feature - expected).abs() < 1e-9, "{preset} {i}: {feature} {expected}");
        }
    }
}
