//! The time of each stage. Quality against budget belongs to the evaluation.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::hint::black_box;
use std::sync::Arc;
use std::time::Duration;

use criterion::{BenchmarkId, Criterion, SamplingMode, criterion_group, criterion_main};
use facedp::basis::Basis;
use facedp::metrics::{psnr, ssim, ssim_wang, variance};
use facedp::noise::{discrete_laplace, experiment};
use facedp::{FeatureModel, Geometric, Plan, Preset, Ranking};
use facedp_benches::{FEATURES, SIDE, chips, method, model, plane, training_set};

/// For stages that take up to half a second.
const SLOW: Duration = Duration::from_secs(5);

fn transforms(c: &mut Criterion) {
    let haar = Basis::Haar { levels: None };
    let cases = [(haar, 64), (haar, 128), (haar, 256), (haar, 512), (Basis::Dct, 128)];
    for (basis, side) in cases {
        let transform = basis.transform(side, side).unwrap();
        let mut group = c.benchmark_group(basis.kind().to_string());
        // The transform is orthonormal, so values neither grow nor vanish when it is repeated in place.
        let mut values = plane(&chips(side, 1), side, 0).data().to_vec();
        group.bench_function(BenchmarkId::new("forward", side), |b| {
            b.iter(|| transform.forward(black_box(&mut values)))
        });
        group.bench_function(BenchmarkId::new("inverse", side), |b| {
            b.iter(|| transform.inverse(black_box(&mut values)))
        });
        // The average number of noisy coefficients, in the corner where the ranking puts most of them.
        let corner = side / 4;
        let sparse: Vec<(usize, f64)> = (0..50)
            .map(|i| i * (corner * corner - 1) / 49)
            .map(|place| (place / corner * side + place % corner, 1.0))
            .collect();
        group.bench_function(BenchmarkId::new("synthesise", side), |b| {
            b.iter(|| transform.synthesise(black_box(&sparse), &mut values))
        });
    }
}

fn draws(c: &mut Criterion) {
    let mut random = experiment(1, "draws");
    let law = Geometric::new(0.02, SIDE * SIDE).unwrap();
    let mut group = c.benchmark_group("draw");
    group.bench_function("discrete_laplace", |b| {
        b.iter(|| discrete_laplace(black_box(1 << 34), &mut random))
    });
    group.bench_function("geometric", |b| b.iter(|| black_box(&law).sample(&mut random)));
}

fn plans(c: &mut Criterion) {
    let model = model();
    let mut group = c.benchmark_group("plan");
    group.sample_size(10).sampling_mode(SamplingMode::Flat).measurement_time(SLOW);
    for preset in Preset::ALL {
        group.bench_function(preset.to_string(), |b| {
            b.iter(|| Plan::new(Arc::clone(&model), method(preset)).unwrap())
        });
    }
}

fn protection(c: &mut Criterion) {
    let model = model();
    let chip = plane(&chips(SIDE, 1), SIDE, 0);
    let mut random = experiment(1, "protect");
    let mut by_amplitude = method(Preset::Rdp);
    by_amplitude.ranking = Ranking::Amplitude;
    let cases = [
        ("rdp", method(Preset::Rdp)),
        ("rdp-optimal", method(Preset::RdpOptimal)),
        ("dct-dp", method(Preset::DctDp)),
        ("pixel-dp", method(Preset::PixelDp)),
        ("rdp, amplitude", by_amplitude),
    ];
    let mut group = c.benchmark_group("protect");
    for (name, method) in cases {
        let plan = Plan::new(Arc::clone(&model), method).unwrap();
        group.bench_function(name, |b| b.iter(|| plan.protect(&chip, &mut random).unwrap()));
    }
    let plan = Plan::new(model, method(Preset::Rdp)).unwrap();
    let release = plan.protect(&chip, &mut random).unwrap();
    group.bench_function("noisy features", |b| b.iter(|| release.features().unwrap()));
}

fn quality(c: &mut Criterion) {
    let chips = chips(SIDE, 2);
    let (a, b) = (plane(&chips, SIDE, 0), plane(&chips, SIDE, 1));
    let pixels = (SIDE * SIDE) as f64;
    let mut group = c.benchmark_group("quality");
    group.bench_function("psnr", |bench| {
        bench.iter(|| psnr(variance(black_box(&a), &b).unwrap() / pixels, 255.0))
    });
    group.bench_function("ssim", |bench| bench.iter(|| ssim(black_box(&a), &b).unwrap()));
    group.bench_function("ssim_wang", |bench| bench.iter(|| ssim_wang(black_box(&a), &b).unwrap()));
}

fn training(c: &mut Criterion) {
    let set = training_set(&chips(SIDE, 500), SIDE);
    let mut group = c.benchmark_group("fit");
    group.sample_size(10).sampling_mode(SamplingMode::Flat).measurement_time(SLOW);
    group.bench_function("500 chips", |b| {
        b.iter(|| FeatureModel::fit(&set, FEATURES, "synthetic faces").unwrap())
    });
}

criterion_group! {
    name = stages;
    config = Criterion::default()
        .sample_size(50)
        .warm_up_time(Duration::from_millis(300))
        .measurement_time(Duration::from_secs(1));
    targets = transforms, draws, plans, protection, quality, training
}
criterion_main!(stages);
