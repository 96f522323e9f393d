//! Audits of correct mechanisms, and of mechanisms with a planted bug each, which the audits must find.
//!
//! Seeds are fixed. Over the choice of seed, a correct mechanism is called refuted with probability at
//! most 1e-3.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::sync::atomic::AtomicBool;
use std::sync::{Arc, LazyLock};

use facedp::certified::{CELLS, Cells, CertifiedMethod, CertifiedPlan, Mechanism};
use facedp::noise::{discrete_laplace, experiment};
use facedp::{Epsilon, FeatureModel, Plan, Preset, Ranking};
use facedp_engine::{Format, embedded_faces};
use facedp_eval::audit::{
    Audit, Effort, Options, Pair, PairResult, Subject, certified_pair, file_pair, file_photo,
    file_release, observed_file, run,
};
use facedp_eval::progress::{Progress, Silent};
use rand_core::CryptoRng;

static MODEL: LazyLock<Arc<FeatureModel>> = LazyLock::new(|| {
    let bytes = include_bytes!("../../../assets/models/eigenfaces.safetensors");
    Arc::new(FeatureModel::from_bytes(bytes).unwrap())
});

fn audit(subject: &Subject<'_>, runs: usize, confidence: f64) -> Audit {
    let options = Options { runs, confidence, seed: 1, real: Vec::new() };
    let audit = run(subject, &options, &Progress::new(&Silent, &AtomicBool::new(false))).unwrap();
    println!("{}", audit.verdict());
    audit
}

fn check(pair: &Pair<'_>, runs: usize) -> PairResult {
    check_at(pair, runs, 0.001)
}

fn check_at(pair: &Pair<'_>, runs: usize, alpha: f64) -> PairResult {
    let effort = Effort { runs, alpha, seed: 1 };
    let result = pair.audit(effort, &Progress::new(&Silent, &AtomicBool::new(false))).unwrap();
    println!(
        "{}: {:.3} of {} ({:.3} expected) by {} {}",
        result.name,
        result.epsilon_lower_bound,
        result.claimed,
        result.expected_bound,
        result.statistic,
        result.event
    );
    result
}

fn certified(epsilon: f64, features: usize, mechanism: Mechanism, shrink: bool) -> CertifiedPlan {
    let epsilon = Epsilon::new(epsilon).unwrap();
    let method = CertifiedMethod { epsilon, features, mechanism, shrink };
    CertifiedPlan::new(embedded_faces().unwrap(), method).unwrap()
}

fn paper(preset: Preset, features: usize) -> Plan {
    Plan::new(Arc::clone(&MODEL), preset.method(Epsilon::new(0.2).unwrap(), features)).unwrap()
}

/// A mechanism on one whole number; `claimed` is for the inputs 0 and `width`.
fn one<'a>(
    claimed: f64,
    width: i64,
    noise: impl Fn(&mut dyn CryptoRng) -> f64 + Sync + 'a,
) -> Pair<'a> {
    Pair {
        name: "one number".to_owned(),
        claimed,
        inputs: [vec![0.0], vec![width as f64]],
        release: Box::new(move |side, random| vec![(side as i64 * width) as f64 + noise(random)]),
        statistics: Vec::new(),
    }
}

#[test]
fn a_correct_mechanism_is_not_refuted_and_the_bound_is_near() {
    for (claimed, scale) in [(0.2, 500u64), (1.0, 100), (8.0, 12)] {
        let exact = 100.0 / scale as f64;
        assert!((exact / claimed - 1.0f64).abs() < 0.05);
        let result =
            check(&one(exact, 100, |random| discrete_laplace(scale, random) as f64), 100_000);
        assert!(!result.refuted, "{result:?}");
        assert!(result.epsilon_lower_bound > 0.75 * exact, "{result:?}");
    }
}

/// The simplest mechanism at a million runs: the bound comes within 10 % of the true epsilon.
#[test]
fn many_runs_come_near_the_truth() {
    let pair = one(0.2, 1, |random| discrete_laplace(5, random) as f64);
    let result = check_at(&pair, 1_000_000, 0.05);
    assert!(!result.refuted && result.epsilon_lower_bound >= 0.18, "{result:?}");
}

#[test]
fn certified_is_not_refuted() {
    for (mechanism, epsilon) in
        [(Mechanism::Knorm, 0.2), (Mechanism::Laplace, 8.0), (Mechanism::Staircase, 8.0)]
    {
        let plan = certified(epsilon, 16, mechanism, false);
        let audit = audit(&Subject::Certified(&plan), 200, 0.999);
        assert!(!audit.refuted, "{}", audit.verdict());
        let words = ["too few runs to tell", "not a proof"];
        assert!(words.iter().any(|words| audit.verdict().contains(words)));
        assert_eq!(audit.structural, None);
    }
}

#[test]
fn the_paper_is_refuted() {
    for (preset, features, floor) in [
        (Preset::Rdp, 64, 0.72),
        (Preset::RdpOptimal, 64, 1.0),
        (Preset::Rdp, 4, 0.06),
        (Preset::DctDp, 16, 0.26),
    ] {
        let plan = paper(preset, features);
        let audit = audit(&Subject::Paper(&plan), 2_000, 0.95);
        assert!(audit.refuted && audit.epsilon_lower_bound > 0.2, "{}", audit.verdict());
        let found = audit.structural.unwrap().delta_floor;
        assert!((found - floor).abs() < 0.01, "{found}");
        // Sums of Laplace variables are not Laplace distributed.
        assert!(audit.theorem_1.unwrap().iter().any(|fit| fit.distance > 2.0 * fit.critical));
    }
}

/// The noise of a plan with twice the budget passes for the noise of this plan: half the noise, or
/// equivalently half the true sensitivity.
fn half_the_noise(epsilon: f64, features: usize, feature: Option<usize>) -> PairResult {
    let (plan, drawn) = (
        certified(epsilon, features, Mechanism::Laplace, false),
        certified(2.0 * epsilon, features, Mechanism::Laplace, false),
    );
    let ends = [0, CELLS].map(|end| -> Vec<i64> {
        (0..features).map(|n| if feature.is_none_or(|f| f == n) { end } else { 0 }).collect()
    });
    let own = |f| plan.blocks().iter().find(|b| b.features().contains(&f)).unwrap().epsilon();
    let cells = ends.clone().map(Cells::new);
    let name = format!("half the noise on {features}, {feature:?}");
    let mut pair = certified_pair(&plan, &name, feature.map_or(epsilon, own), ends);
    pair.release = Box::new(move |side, random| {
        let noisy = drawn.mechanism(&cells[side], random).unwrap();
        noisy.cells().iter().map(|c| c.unwrap() as f64).collect()
    });
    check(&pair, 100_000)
}

#[test]
fn half_the_noise_is_found() {
    assert!(half_the_noise(0.2, 1, None).refuted);
    assert!(half_the_noise(0.2, 4, None).refuted);
    // With many features no event on all of them has any power, so single features are audited.
    for feature in [0, 3, 15] {
        assert!(half_the_noise(8.0, 16, Some(feature)).refuted);
    }
}

#[test]
fn a_feature_without_noise_is_found() {
    let plan = certified(0.2, 4, Mechanism::Knorm, false);
    let corners = [vec![0; 4], vec![CELLS; 4]];
    let cells = corners.clone().map(Cells::new);
    let pair = Pair {
        name: "one feature without noise".to_owned(),
        claimed: 0.2,
        inputs: corners.clone().map(|c| c.iter().map(|c| *c as f64).collect()),
        release: Box::new(move |side, random| {
            let noisy = plan.mechanism(&cells[side], random).unwrap();
            let mut output: Vec<f64> = noisy.cells().iter().map(|c| c.unwrap() as f64).collect();
            output[2] = corners[side][2] as f64;
            output
        }),
        statistics: Vec::new(),
    };
    assert!(check(&pair, 200).refuted);
}

#[test]
fn a_ranking_by_the_private_image_is_found() {
    let mut method = Preset::Rdp.method(Epsilon::new(0.2).unwrap(), 4);
    method.ranking = Ranking::Amplitude;
    let plan = Plan::new(Arc::clone(&MODEL), method).unwrap();
    let audit = audit(&Subject::Paper(&plan), 20_000, 0.95);
    let pair = &audit.pairs[0];
    assert!(pair.refuted && pair.name.contains("ranks"), "{}", audit.verdict());
}

#[test]
fn noise_made_of_floating_point_logarithms_is_found() {
    // As in textbooks: a uniform number of 53 bits, a logarithm, a sign. Scale 5 for inputs 0 and 1.
    let float = |random: &mut dyn CryptoRng| {
        let uniform = ((random.next_u64() >> 11) as f64 + 0.5) / (1u64 << 53) as f64;
        let sign = if random.next_u64() >> 63 == 0 { 5.0 } else { -5.0 };
        -sign * uniform.ln()
    };
    let mut pair = one(0.2, 1, float);
    pair.name = "floating point".to_owned();
    let result = check(&pair, 20_000);
    assert!(result.refuted, "{result:?}");
}

#[test]
fn noise_used_twice_is_found() {
    let twice = |reuse: bool| Pair {
        name: format!("two releases, reused {reuse}"),
        claimed: 0.4,
        inputs: [vec![100.0], vec![-100.0]],
        release: Box::new(move |side, random: &mut dyn CryptoRng| {
            let seed = random.next_u64();
            let noise = |label: &str| discrete_laplace(500, &mut experiment(seed, label)) as f64;
            let inputs = if side == 0 { [0.0, 100.0] } else { [100.0, 0.0] };
            let (first, second) = (noise("a"), noise(if reuse { "a" } else { "b" }));
            vec![inputs[1] + second - inputs[0] - first]
        }),
        statistics: Vec::new(),
    };
    assert!(check(&twice(true), 400).refuted);
    assert!(!check(&twice(false), 20_000).refuted);
}

fn content(level: u8) -> impl Fn(u32, u32) -> image::Rgb<u8> {
    move |_, _| image::Rgb([level; 3])
}

/// Whole files at three budgets: nothing is refuted, and the events found come near the claim.
#[test]
fn files_are_not_refuted() {
    for (epsilon, format) in [(0.2, Format::Png), (8.0, Format::Jpeg)] {
        let plan = certified(epsilon, 64, Mechanism::Best, true);
        let contents = [content(0), content(255)].map(|c| file_photo(&c));
        let pair = file_pair(&plan, "black and white", contents, format).unwrap();
        let result = check(&pair, 600);
        assert!(!result.refuted, "{result:?}");
        assert!(epsilon < 1.0 || result.epsilon_lower_bound > 0.25 * epsilon, "{result:?}");
    }
}

/// What a bug does to a written file, given the photo that it came from.
type Bug = fn(Vec<u8>, &[u8]) -> Vec<u8>;

fn pixels(file: &[u8]) -> image::RgbImage {
    image::load_from_memory(file).unwrap().into_rgb8()
}

fn written(picture: &image::RgbImage) -> Vec<u8> {
    let mut file = std::io::Cursor::new(Vec::new());
    picture.write_to(&mut file, image::ImageFormat::Png).unwrap();
    file.into_inner()
}

/// Erasing leaves one row of the face.
fn a_row_is_left(file: Vec<u8>, original: &[u8]) -> Vec<u8> {
    let (mut result, original) = (pixels(&file), pixels(original));
    (28..36).for_each(|x| result.put_pixel(x, 33, *original.get_pixel(x, 33)));
    written(&result)
}

/// Composing adds a fiftieth of what was erased.
fn a_little_shines_through(file: Vec<u8>, original: &[u8]) -> Vec<u8> {
    let (mut result, original) = (pixels(&file), pixels(original));
    for (pixel, old) in result.pixels_mut().zip(original.pixels()) {
        for (value, old) in pixel.0.iter_mut().zip(old.0) {
            *value = (f64::from(*value) + (f64::from(old) - 128.0) / 50.0).clamp(0.0, 255.0) as u8;
        }
    }
    written(&result)
}

/// Encoding keeps something of the original beside the picture, as a comment or a thumbnail would be: here
/// as many bytes as a pixel is bright.
fn a_comment_is_kept(mut file: Vec<u8>, original: &[u8]) -> Vec<u8> {
    let bright = usize::from(pixels(original).get_pixel(32, 33).0[0]);
    file.resize(file.len() + bright, 0);
    file
}

#[test]
fn bugs_in_files_are_found() {
    let plan = certified(0.2, 64, Mechanism::Best, true);
    let photos = [content(0), content(255)].map(|c| file_photo(&c));
    for (name, bug) in [
        ("a row is left", a_row_is_left as Bug),
        ("a little shines through", a_little_shines_through),
        ("a comment is kept", a_comment_is_kept),
    ] {
        let photos = photos.clone();
        let release = file_release(&plan, photos.clone(), Format::Png).unwrap();
        let pair = Pair {
            name: name.to_owned(),
            claimed: plan.spent(),
            inputs: photos.each_ref().map(|photo| observed_file(photo)),
            release: Box::new(move |side, random| {
                observed_file(&bug(release(side, random), &photos[side]))
            }),
            statistics: Vec::new(),
        };
        let result = check(&pair, 400);
        assert!(result.refuted, "{name}: {result:?}");
    }
}

#[test]
fn options_out_of_range_are_named() {
    let plan = certified(1.0, 4, Mechanism::Knorm, true);
    let stop = AtomicBool::new(false);
    let options = |runs, confidence| Options { runs, confidence, seed: 1, real: Vec::new() };
    let error = |options| {
        run(&Subject::Certified(&plan), &options, &Progress::new(&Silent, &stop))
            .unwrap_err()
            .to_string()
    };
    assert!(error(options(10, 0.95)).contains("10 runs"));
    assert!(error(options(usize::MAX, 0.95)).contains("memory"));
    assert!(error(options(100, 1.0)).contains("confidence"));
}
