//! Invented but realistic results, for tests of the report.
#![allow(clippy::unwrap_used)]

use facedp::{Preset, Ranking};

use crate::audit::{Audit, Fit, Structural};
use crate::results::*;

const METHODS: [Preset; 8] = Preset::ALL;

fn around(value: f64, half: f64, n: usize) -> Estimate {
    Estimate { value, low: value - half, high: value + half, n }
}

/// A rate with an approximate interval within 0 to 1.
fn rate(value: f64, n: usize) -> Estimate {
    let half = 1.96 * (value * (1.0 - value) / n as f64).sqrt() + 1.5 / n as f64;
    Estimate { value, low: (value - half).max(0.0), high: (value + half).min(1.0), n }
}

fn at(method: Preset) -> usize {
    METHODS.iter().position(|&m| m == method).unwrap()
}

/// Results of a run without any section.
pub(super) fn nothing() -> Results {
    Results {
        about: About {
            tool: "facedp 0.1.0".into(),
            data: "lfw-deepfunneled".into(),
            model_sha256: "ab".repeat(32),
            seed: 7,
            people_given: 5749,
            people_eligible: 1680,
            images_eligible: 9200,
            identities: 1680,
            images: 9164,
            repeats: 5,
            recognition_images: 500,
            recognition_pairs: 300,
            geometric_p: 0.02,
            side: 128,
            epsilons: vec![0.2, 0.4, 0.6, 0.8, 1.0],
            features: vec![4, 16, 64],
            decibels: vec![15.0, 20.0, 25.0, 30.0, 35.0, 40.0],
        },
        quality: vec![],
        law: vec![],
        matcher: vec![],
        recognisers: vec![],
        recognition: vec![],
        attacks: vec![],
        averaging: vec![],
        gallery: vec![],
        audits: vec![],
        skipped: vec![],
    }
}

/// Results of a run with all sections.
pub(super) fn results() -> Results {
    let mut all = nothing();
    let psnrs = [
        (4, [36.0, 56.3, 55.9, 64.6, 65.0, 65.1, 28.4, 55.9]),
        (16, [30.1, 55.5, 54.8, 58.0, 59.1, 59.13, 20.0, 54.8]),
    ]
    .into_iter()
    .chain([(64, [32.1, 53.6, 52.6, 53.3, 53.8, 53.87, 10.0, 52.6])]);
    for (features, at_smallest) in psnrs {
        for epsilon in all.about.epsilons.clone() {
            for method in METHODS {
                let gain = 20.0 * (epsilon / 0.2_f64).log10();
                let psnr = at_smallest[at(method)] + gain;
                all.quality.push(quality(method, method.parts().1, features, epsilon, psnr));
                if at(method) < 4 {
                    let row = quality(method, Ranking::Amplitude, features, epsilon, psnr - 2.0);
                    all.quality.push(QualityRow { psnr_expected: None, ..row });
                }
                let miss = rate(0.02 * (at(method) as f64 + 1.0) / epsilon / features as f64, 4000);
                let (ranking, theory) = (method.parts().1, 0.5f64.powi(features as i32));
                all.matcher.push(MatcherRow { method, ranking, features, epsilon, miss, theory });
            }
        }
        for method in METHODS {
            all.law.push(law(method, features));
        }
    }
    for (name, standard, clean) in [("dlib", 0.6_f32, 0.021), ("sface", 0.637, 0.034)] {
        recogniser(&mut all, name, standard, clean);
    }
    all.law[3].z = 3.4;
    for method in METHODS {
        for releases in [1, 2, 4, 8, 16] {
            for keyed in [false, true] {
                all.averaging.push(averaging(method, releases, keyed));
            }
        }
    }
    for (method, bound, floor) in
        [("rdp", 6.8, 0.72), ("rdp-optimal", 7.1, 1.0), ("certified", 0.17, 0.0)]
    {
        all.audits.push(audit(method, bound, floor));
    }
    for n in 0..23 {
        let file = format!("Ann_{n}/Ann_{n}_0001.jpg");
        all.skipped.push(Skipped { file, reason: "no face found in <the middle>".into() });
    }
    all
}

fn audit(method: &str, bound: f64, floor: f64) -> Audit {
    let fit = |n: usize| Fit { feature: n + 1, scale: 1.0, distance: 0.04, critical: 0.014 };
    Audit {
        method: method.to_owned(),
        epsilon: 0.2,
        features: 64,
        runs: 10_000,
        confidence: 0.95,
        seed: 7,
        structural: (floor > 0.0).then_some(Structural { delta_floor: floor, full_rank_at: None }),
        epsilon_lower_bound: bound,
        expected_bound: 0.15,
        pairs: vec![],
        theorem_1: (floor > 0.0).then(|| (0..64).map(fit).collect()),
        refuted: floor > 0.0,
    }
}

fn quality(
    method: Preset,
    ranking: Ranking,
    features: usize,
    epsilon: f64,
    psnr: f64,
) -> QualityRow {
    let mse = 255.0f64.powi(2) / 10f64.powf(psnr / 10.0);
    let unchanged = rate((0.1 / mse / 10.0).min(0.99), 45_820);
    let ssim = 1.0 - 0.05 * (mse / 1.2).sqrt() / 10.0;
    let median = (unchanged.value < 0.5).then_some(psnr + 2.0);
    QualityRow {
        method,
        ranking,
        features,
        epsilon,
        psnr_expected: Some(psnr),
        psnr_mean_mse: Some(psnr + 0.04 * ((at(method) + features) % 3) as f64 - 0.04),
        mse: around(mse, 0.02 * mse, 45_820),
        psnr_median: median,
        psnr_paper_median: median.map(|value| value - 0.4),
        ssim: around(ssim, 0.0003, 45_820),
        ssim_wang: around(ssim - 0.0004, 0.0003, 45_820),
        log10_variance: around((mse * 16384.0).log10() - 0.1, 0.012, 45_820),
        difference: around(0.25 + 0.12 * at(method) as f64 / features as f64, 0.004, 45_820),
        difference_of_means: 0.004,
        unchanged,
    }
}

fn law(method: Preset, features: usize) -> LawRow {
    let expected = 10_650.0 / (at(method) + 1) as f64;
    LawRow {
        method,
        ranking: method.parts().1,
        features,
        epsilon: 0.2,
        draws: 200_000,
        expected,
        mean: expected * 1.002,
        standard_error: expected * 0.003,
        z: 0.67,
        difference: 0.3,
    }
}

fn recogniser(all: &mut Results, name: &str, standard: f32, clean: f64) {
    let mut rules = vec![(1.0, "standard", standard), (1.4, "far-1e-3", standard * 0.9)];
    if name == "dlib" {
        rules.insert(1, (0.0, "paper", 0.975));
    }
    let rules: Vec<(f64, Rule)> = rules
        .into_iter()
        .map(|(strict, name, threshold)| (strict, Rule { name: name.into(), threshold }))
        .collect();
    let missed = |(strict, rule): &(f64, Rule)| (rule.clone(), rate(clean * strict, 300));
    all.recognisers.push(RecogniserRow {
        recogniser: name.into(),
        identity: None,
        impostor_pairs: 124_750,
        far_1e3_threshold: standard * 0.9,
        clean_pair_fnr: rules.iter().map(missed).collect(),
    });
    for (strict, rule) in rules {
        for method in METHODS {
            for psnr in all.about.decibels.clone() {
                let noise = strict * 10f64.powf((14.0 - psnr) / 10.0) * at(method) as f64 * 0.12;
                all.recognition.push(RecognitionRow {
                    recogniser: name.into(),
                    rule: rule.clone(),
                    method,
                    psnr,
                    self_fnr: rate(noise.min(0.95), 500),
                    pair_fnr: rate((clean * strict + noise * 1.2).min(0.98), 300),
                    self_fnr_detected: rate(noise.min(0.94), 490),
                    pair_fnr_detected: rate((clean * strict + noise).min(0.97), 294),
                    undetected: rate(0.02 * noise, 500),
                    clean_pair_fnr: rate(clean * strict, 300),
                });
            }
        }
        attacks(all, name, &rule, clean * strict, strict);
    }
}

fn attacks(all: &mut Results, name: &str, rule: &Rule, clean: f64, strict: f64) {
    for (factor, attack) in
        [(0.9, "jpeg-75"), (0.5, "blur-3x3"), (0.6, "wavelet-shrinkage"), (1.3, "half-size")]
    {
        for method in METHODS.into_iter().map(Some).chain([None]) {
            let noise = method.map_or(0.0, |m| strict * factor * 0.08 * at(m) as f64);
            all.attacks.push(AttackRow {
                attack: attack.into(),
                recogniser: name.into(),
                rule: rule.clone(),
                method,
                psnr: method.map(|_| 15.0),
                self_fnr: rate(noise, 500),
                pair_fnr: rate(clean + noise, 300),
                self_distance: around(0.1 + noise, 0.01, 500),
            });
        }
    }
    let noisy = METHODS.into_iter().flat_map(|m| all.about.decibels.iter().map(move |p| (m, *p)));
    for noise in noisy.map(Some).chain([None]).collect::<Vec<_>>() {
        let missed = noise.map_or(0.0, |(method, psnr)| {
            strict * 10f64.powf((14.0 - psnr) / 10.0) * 0.15 * at(method) as f64
        });
        all.gallery.push(GalleryRow {
            recogniser: name.into(),
            rule: rule.clone(),
            method: noise.map(|n| n.0),
            psnr: noise.map(|n| n.1),
            pair_fnr: rate((clean + missed).min(1.0), 300),
            rank_1: rate((0.99 - missed).max(0.02), 300),
        });
    }
}

fn averaging(method: Preset, releases: usize, keyed: bool) -> AveragingRow {
    let one = 50.0 + at(method) as f64;
    let gain = if keyed { 0.0 } else { 10.0 * (releases as f64).log10() };
    AveragingRow {
        method,
        epsilon: 0.2,
        releases,
        keyed,
        psnr_one: Some(one),
        psnr_average: Some(one + gain),
        images: 200,
    }
}
