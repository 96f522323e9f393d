//! The laws of the noise against their closed forms, with stated false-reject rates.
//!
//! Each test rejects a correct sampler with a probability of at most `FALSE_REJECT` over the choice of
//! seed. Seeds are fixed, so results repeat.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use facedp::Geometric;
use facedp::noise::{
    best_staircase, discrete_laplace, experiment, knorm, staircase, staircase_variance,
};

const FALSE_REJECT: f64 = 1e-6;

/// Pearson's statistic of `draws` integers against `Pr[x]`, and the value it exceeds with a
/// probability of at most `FALSE_REJECT`: for a chi-square variable with d degrees of freedom
/// `Pr[X >= d + 2 sqrt(d c) + 2c] <= e^-c` (Laurent and Massart 2000).
fn chi_square(draws: &[i128], probability: impl Fn(i128) -> f64) -> (f64, f64) {
    let n = draws.len() as f64;
    // One bin for each value with at least 100 expected draws, and one for each tail.
    let reach = (0..).find(|&x| n * probability(x) < 100.0).unwrap() - 1;
    let count = |keep: &dyn Fn(i128) -> bool| draws.iter().filter(|x| keep(**x)).count() as f64;
    let mut bins: Vec<(f64, f64)> =
        (-reach..=reach).map(|x| (count(&|d| d == x), n * probability(x))).collect();
    let tail = n * (1.0 - (-reach..=reach).map(&probability).sum::<f64>()) / 2.0;
    bins.push((count(&|d| d < -reach), tail));
    bins.push((count(&|d| d > reach), tail));
    let statistic = bins.iter().map(|(seen, due)| (seen - due).powi(2) / due).sum();
    let (d, c) = ((bins.len() - 1) as f64, -FALSE_REJECT.ln());
    (statistic, d + 2.0 * (d * c).sqrt() + 2.0 * c)
}

/// `Pr[x] = (1-q)/(1+q) q^|x|` with `q = e^(-1/t)`.
fn closed_form(t: f64) -> impl Fn(i128) -> f64 {
    let q = (-1.0 / t).exp();
    move |x| (1.0 - q) / (1.0 + q) * q.powf(x.unsigned_abs() as f64)
}

#[test]
fn discrete_laplace_has_its_closed_form_probabilities() {
    for t in [1u64, 2, 3, 10, 40] {
        let mut random = experiment(t, "discrete laplace");
        let draws: Vec<i128> = (0..300_000).map(|_| discrete_laplace(t, &mut random)).collect();
        let (statistic, critical) = chi_square(&draws, closed_form(t as f64));
        assert!(statistic < critical, "scale {t}: {statistic} against {critical}");
        // The test has power: a scale that is 2 % off fails.
        let (statistic, critical) = chi_square(&draws, closed_form(1.02 * t as f64));
        assert!(statistic > critical, "no power at scale {t}: {statistic} against {critical}");
    }
}

/// Pearson's statistic of draws in `m` dimensions against `Pr[z]` of the K-norm law: one bin for each
/// point with at least 100 expected draws, and one for all others.
fn chi_square_of_points(m: usize, lambda: f64, draws: &[Vec<i64>]) -> (f64, f64) {
    let q = (-lambda).exp();
    let shell = |r: i32| f64::from(2 * r + 1).powi(m as i32) - f64::from(2 * r - 1).powi(m as i32);
    let weights = (1..3000).map(|r| shell(r) * q.powi(r));
    let whole = 1.0 + weights.sum::<f64>();
    let n = draws.len() as f64;
    let due = |r: i64| n * q.powi(r as i32) / whole;
    let reach = (0..).find(|&r| due(r) < 100.0).unwrap() - 1;
    let side = (2 * reach + 1) as usize;
    let mut seen = vec![0.0; side.pow(m as u32)];
    let mut far = 0.0;
    for draw in draws {
        if draw.iter().all(|z| z.abs() <= reach) {
            seen[draw.iter().fold(0, |at, z| at * side + (z + reach) as usize)] += 1.0;
        } else {
            far += 1.0;
        }
    }
    let radius = |mut at: usize| {
        let mut largest = 0;
        for _ in 0..m {
            largest = largest.max((at as i64 % side as i64 - reach).abs());
            at /= side;
        }
        largest
    };
    let near: f64 = (0..seen.len()).map(|at| due(radius(at))).sum();
    let cells = seen.iter().enumerate().map(|(at, seen)| (*seen, due(radius(at))));
    let bins: Vec<(f64, f64)> = cells.chain([(far, n - near)]).collect();
    let statistic = bins.iter().map(|(seen, due)| (seen - due).powi(2) / due).sum();
    let (d, c) = ((bins.len() - 1) as f64, -FALSE_REJECT.ln());
    (statistic, d + 2.0 * (d * c).sqrt() + 2.0 * c)
}

#[test]
fn knorm_noise_has_its_closed_form_probabilities() {
    for (m, s, t) in [(1, 1, 3), (1, 7, 5), (2, 1, 2), (2, 3, 10), (3, 1, 1), (3, 5, 6)] {
        let mut random = experiment(m as u64, "knorm");
        let draws: Vec<Vec<i64>> =
            (0..600_000).map(|_| knorm(m, s, t, &mut random).unwrap()).collect();
        let lambda = s as f64 / t as f64;
        let (statistic, critical) = chi_square_of_points(m, lambda, &draws);
        assert!(statistic < critical, "{m}, {s}/{t}: {statistic} against {critical}");
        // The test has power: a rate that is 3 % off fails.
        let (statistic, critical) = chi_square_of_points(m, 0.97 * lambda, &draws);
        assert!(statistic > critical, "no power: {m}, {s}/{t}: {statistic} against {critical}");
    }
}

#[test]
fn knorm_noise_in_one_dimension_is_discrete_laplace_noise() {
    for t in [2u64, 9, 40] {
        let mut random = experiment(t, "one dimension");
        let draws = (0..300_000).map(|_| i128::from(knorm(1, 3, 3 * t, &mut random).unwrap()[0]));
        let (statistic, critical) = chi_square(&draws.collect::<Vec<_>>(), closed_form(t as f64));
        assert!(statistic < critical, "scale {t}: {statistic} against {critical}");
    }
}

#[test]
fn staircase_noise_has_its_closed_form_probabilities() {
    for (n, r, s, t) in
        [(4u64, 1u64, 1u64, 1u64), (4, 4, 1, 2), (5, 2, 3, 2), (1, 1, 2, 3), (9, 3, 4, 1)]
    {
        let mut random = experiment(n, "staircase");
        let draw = |_| i128::from(staircase(n, r, s, t, &mut random).unwrap());
        let draws: Vec<i128> = (0..300_000).map(draw).collect();
        let weight = |x: i128, epsilon: f64| {
            let level = (x.unsigned_abs() as u64 + n - r) / n;
            (-epsilon * level as f64).exp()
        };
        let law = |epsilon: f64| {
            let whole: f64 = (-3000..=3000).map(|x| weight(x, epsilon)).sum();
            move |x: i128| weight(x, epsilon) / whole
        };
        let epsilon = s as f64 / t as f64;
        let (statistic, critical) = chi_square(&draws, law(epsilon));
        assert!(statistic < critical, "{n} {r} {s}/{t}: {statistic} against {critical}");
        // The test has power: a budget that is 5 % off fails.
        let (statistic, critical) = chi_square(&draws, law(0.95 * epsilon));
        assert!(statistic > critical, "no power: {n} {r}: {statistic} against {critical}");
    }
}

/// The formula for the variance agrees with a direct sum, and the best first step with a search.
#[test]
fn staircase_variances_agree_with_their_formula() {
    for epsilon in [0.5, 2.0, 8.0] {
        let (n, r) = (2000u64, 500u64);
        let level = |x: u64| ((x + n - r) / n) as f64;
        let weight = |x: u64| (-epsilon * level(x)).exp() * if x == 0 { 1.0 } else { 2.0 };
        let all = || (0..80 * n).map(|x| (weight(x), (x as f64 / n as f64).powi(2)));
        let direct = all().map(|(w, v)| w * v).sum::<f64>() / all().map(|(w, _)| w).sum::<f64>();
        let formula = staircase_variance(epsilon, r as f64 / n as f64);
        assert!((direct / formula - 1.0).abs() < 2e-3, "{epsilon}: {direct} {formula}");
        let (_, best) = best_staircase(epsilon);
        let least = (4..=1000).map(|k| staircase_variance(epsilon, f64::from(k) / 1000.0));
        assert!(best <= least.fold(f64::INFINITY, f64::min) * (1.0 + 1e-6));
        assert!(best < 2.0 / (epsilon * epsilon), "{epsilon}");
    }
}

/// The largest distance of an empirical distribution function from the true one exceeds this
/// with a probability of at most `FALSE_REJECT` (Dvoretzky-Kiefer-Wolfowitz, Massart 1990).
fn dkw(n: usize) -> f64 {
    ((2.0 / FALSE_REJECT).ln() / (2.0 * n as f64)).sqrt()
}

#[test]
fn at_large_scales_it_is_the_laplace_law() {
    // The scales that plans use: 44 to 60 bits.
    for bits in [20u32, 44, 60] {
        let t = (1u64 << bits) - 3;
        let n = 200_000;
        let mut random = experiment(u64::from(bits), "large scales");
        let mut draws: Vec<f64> =
            (0..n).map(|_| discrete_laplace(t, &mut random) as f64 / t as f64).collect();
        draws.sort_unstable_by(f64::total_cmp);
        let law = |x: f64| if x < 0.0 { 0.5 * x.exp() } else { 1.0 - 0.5 * (-x).exp() };
        let distance = |scale: f64| {
            let at = |(i, x): (usize, &f64)| (law(x / scale) - (i as f64 + 0.5) / n as f64).abs();
            draws.iter().enumerate().map(at).fold(0.0, f64::max)
        };
        assert!(distance(1.0) < dkw(n), "{bits} bits: {}", distance(1.0));
        assert!(distance(1.05) > dkw(n), "no power: {}", distance(1.05));
    }
}

/// A radius that does not fit a word stops the draw instead of being cut off.
#[test]
fn noise_that_does_not_fit_a_word_stops_the_draw() {
    let mut random = experiment(1, "overflow");
    let draws = (0..20).map(|_| knorm(4, 1, 1 << 62, &mut random));
    assert!(draws.filter(|draw| *draw == Err(facedp::Error::NoiseOverflow)).count() > 10);
    assert!(knorm(4, 1, 1 << 40, &mut random).is_ok());
}

#[test]
fn no_scale_means_no_noise() {
    assert_eq!(discrete_laplace(0, &mut experiment(1, "zero")), 0);
}

#[test]
fn geometric_numbers_follow_their_survival_function() {
    for (p, n) in [(0.02, 16384), (0.3, 5), (1e-6, 1000), (0.999, 16384), (1e-300, 7)] {
        let law = Geometric::new(p, n).unwrap();
        let mut random = experiment(3, "geometric");
        let draws = 200_000;
        let mut reached = vec![0usize; n + 2];
        for _ in 0..draws {
            let k = law.sample(&mut random);
            assert!((1..=n).contains(&k));
            reached[k] += 1;
        }
        for k in (1..=n).rev() {
            reached[k] += reached[k + 1];
            let seen = reached[k] as f64 / draws as f64;
            let expected = law.survival(k);
            assert!((seen - expected).abs() < dkw(draws), "p {p}, k {k}: {seen} not {expected}");
        }
    }
}

#[test]
fn streams_of_an_experiment_differ_by_label_and_repeat_by_seed() {
    let first = |seed, label| discrete_laplace(1 << 40, &mut experiment(seed, label));
    assert_eq!(first(1, "a"), first(1, "a"));
    assert_ne!(first(1, "a"), first(1, "b"));
    assert_ne!(first(1, "a"), first(2, "a"));
}
