//! Times of the stages that `tools/compare_python.py` compares, as one JSON object of seconds.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

#[path = "../../../benches/support/mod.rs"]
mod support;

use std::collections::BTreeMap;
use std::hint::black_box;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use facedp::basis::Basis;
use facedp::metrics::{psnr, ssim, ssim_wang, variance};
use facedp::noise::experiment;
use facedp::{FeatureModel, Plan, Plane, Preset};
use serde_json::{Value, json};
use support::{FEATURES, SIDE, chips, method, model, plane, training_set};

const USAGE: &str = "\
timings [--stages A,B,...] [--seconds S] [--chips FILE --count N --side 128]
timings --write DIR --count N

The first form times all stages, or those named, for about S seconds each; `fit` needs a file of
raw grey levels. The second writes what another program needs to do the same work: N chips
(chips.u8), the model (mean.f64, eigenfaces.f64) and rankings, scales and results (inputs.json).";

/// Stages that need a model. Fitting it takes longer than most of them.
const WITH_MODEL: [&str; 6] = [
    "plan_uniform",
    "plan_lmgd",
    "plan_optimal",
    "protect_haar",
    "protect_dct",
    "protect_haar_features",
];

struct Options {
    stages: Option<Vec<String>>,
    budget: Duration,
    chips: Option<PathBuf>,
    count: usize,
    side: usize,
    write: Option<PathBuf>,
}

fn options() -> Options {
    let mut given: BTreeMap<String, String> = BTreeMap::new();
    let mut words = std::env::args().skip(1);
    while let Some(word) = words.next() {
        let value = words.next();
        match (word.strip_prefix("--"), value) {
            (Some(name), Some(value)) if USAGE.contains(&word) => {
                given.insert(name.to_owned(), value);
            }
            _ => {
                eprintln!("{USAGE}");
                std::process::exit(2);
            }
        }
    }
    let number = |name: &str, default| given.get(name).map_or(default, |v| v.parse().expect(name));
    Options {
        stages: given.get("stages").map(|list| list.split(',').map(str::to_owned).collect()),
        budget: Duration::from_secs_f64(
            given.get("seconds").map_or(0.5, |v| v.parse().expect("seconds")),
        ),
        count: number("count", 2000),
        side: number("side", SIDE),
        chips: given.get("chips").map(PathBuf::from),
        write: given.get("write").map(PathBuf::from),
    }
}

/// Times stages until the budget of each is used up.
struct Timer {
    wanted: Option<Vec<String>>,
    budget: Duration,
    times: BTreeMap<&'static str, f64>,
}

impl Timer {
    fn wants(&self, stage: &str) -> bool {
        self.wanted.as_ref().is_none_or(|list| list.iter().any(|name| name == stage))
    }

    /// The median over batches of the mean time of a call. Batches of about a millisecond average over
    /// the random K, and are short enough that a busy machine interrupts few of them.
    fn stage<T>(&mut self, stage: &'static str, mut work: impl FnMut() -> T) {
        if !self.wants(stage) {
            return;
        }
        let start = Instant::now();
        black_box(work());
        let once = start.elapsed();
        let calls = (0.001 / once.as_secs_f64()).clamp(1.0, 1e5) as u32;
        // The first call is a warm-up, unless it is so long that it has to count.
        let mut batches = if once > self.budget { vec![once.as_secs_f64()] } else { Vec::new() };
        while batches.is_empty() || start.elapsed() < self.budget {
            let batch = Instant::now();
            (0..calls).for_each(|_| drop(black_box(work())));
            batches.push(batch.elapsed().as_secs_f64() / f64::from(calls));
        }
        batches.sort_unstable_by(f64::total_cmp);
        self.times.insert(stage, batches[batches.len() / 2]);
    }
}

fn main() {
    let options = options();
    if let Some(folder) = &options.write {
        return write_inputs(folder, options.count);
    }
    let mut timer =
        Timer { wanted: options.stages, budget: options.budget, times: BTreeMap::new() };
    if let Some(file) = options.chips.filter(|_| timer.wants("fit")) {
        let chips = std::fs::read(file).unwrap();
        let set = training_set(&chips[..options.count * options.side.pow(2)], options.side);
        timer.stage("fit", || FeatureModel::fit(&set, FEATURES, "synthetic faces").unwrap());
    }
    if WITH_MODEL.iter().any(|stage| timer.wants(stage)) {
        time_plans_and_protection(&mut timer);
    }
    time_transforms_and_quality(&mut timer);
    println!("{}", json!(timer.times));
}

fn time_plans_and_protection(timer: &mut Timer) {
    let model = model();
    let plan = |preset| Plan::new(Arc::clone(&model), method(preset)).unwrap();
    timer.stage("plan_uniform", || plan(Preset::Rdp));
    timer.stage("plan_lmgd", || plan(Preset::RdpLmgd));
    timer.stage("plan_optimal", || plan(Preset::RdpOptimal));

    let (chip, _) = two_chips();
    let mut random = experiment(1, "timings");
    let (haar, dct) = (plan(Preset::Rdp), plan(Preset::DctDp));
    timer.stage("protect_haar", || haar.protect(&chip, &mut random).unwrap());
    timer.stage("protect_dct", || dct.protect(&chip, &mut random).unwrap());
    timer.stage("protect_haar_features", || {
        let release = haar.protect(&chip, &mut random).unwrap();
        let features = release.features().unwrap();
        (release, features)
    });
}

fn time_transforms_and_quality(timer: &mut Timer) {
    let (first, second) = two_chips();
    let mut values = first.data().to_vec();
    let bases = [("haar_inverse", Basis::Haar { levels: None }), ("dct_inverse", Basis::Dct)];
    for (stage, basis) in bases {
        // The transform is orthonormal, so values neither grow nor vanish when it is repeated in place.
        let transform = basis.transform(SIDE, SIDE).unwrap();
        timer.stage(stage, || transform.inverse(black_box(&mut values)));
    }
    timer.stage("psnr", || decibels(black_box(&first), &second));
    timer.stage("ssim", || ssim(black_box(&first), &second).unwrap());
    timer.stage("ssim_wang", || ssim_wang(black_box(&first), &second).unwrap());
}

fn two_chips() -> (Plane, Plane) {
    let chips = chips(SIDE, 2);
    (plane(&chips, SIDE, 0), plane(&chips, SIDE, 1))
}

fn decibels(a: &Plane, b: &Plane) -> f64 {
    psnr(variance(a, b).unwrap() / (SIDE * SIDE) as f64, 255.0).unwrap()
}

fn write_inputs(folder: &Path, count: usize) {
    let model = model();
    let (first, second) = two_chips();
    let plan = |preset| Plan::new(Arc::clone(&model), method(preset)).unwrap();
    let ranked = |preset| -> Value {
        let plan = plan(preset);
        let (order, scales) = plan.scales().unwrap();
        let scales: Vec<f64> = (0..order.len()).map(|k| scales.scale(k)).collect();
        json!({ "order": order, "scales": scales })
    };
    let cost = |preset| plan(preset).report().cost;
    let law = *plan(Preset::Rdp).law();
    let inputs = json!({
        "side": SIDE,
        "features": FEATURES,
        "epsilon": method(Preset::Rdp).epsilon,
        "geometric_p": method(Preset::Rdp).geometric_p,
        "survivals": law.survivals(),
        "sensitivities": model.sensitivities(),
        "optimal": method(Preset::RdpOptimal).solver,
        "lmgd": method(Preset::RdpLmgd).solver,
        "haar": ranked(Preset::Rdp),
        "dct": ranked(Preset::DctDp),
        // The other program checks with this that it does the same work.
        "results": {
            "plan_uniform": cost(Preset::Rdp),
            "plan_lmgd": cost(Preset::RdpLmgd),
            "plan_optimal": cost(Preset::RdpOptimal),
            "psnr": decibels(&first, &second),
            "ssim": ssim(&first, &second).unwrap(),
            "ssim_wang": ssim_wang(&first, &second).unwrap(),
        },
    });
    let doubles = |values: &[f64]| values.iter().flat_map(|v| v.to_le_bytes()).collect::<Vec<u8>>();
    std::fs::write(folder.join("chips.u8"), chips(SIDE, count)).unwrap();
    std::fs::write(folder.join("mean.f64"), doubles(model.mean())).unwrap();
    std::fs::write(folder.join("eigenfaces.f64"), doubles(model.eigenfaces())).unwrap();
    std::fs::write(folder.join("inputs.json"), inputs.to_string()).unwrap();
}
