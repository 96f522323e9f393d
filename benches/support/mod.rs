//! Synthetic faces and a model of them, for the benchmarks and the `timings` example.

use std::sync::Arc;

use facedp::basis::Basis;
use facedp::noise::experiment;
use facedp::{Epsilon, FeatureModel, Method, Plane, Preset, TrainingSet};
use rand_core::Rng;

/// The size of the default model.
pub const SIDE: usize = 128;
pub const FEATURES: usize = 64;

/// Smooth random "faces", one after the other: low-frequency cosines of decreasing weight and a
/// little noise. The first faces do not depend on the count.
pub fn chips(side: usize, count: usize) -> Vec<u8> {
    const FREQUENCIES: usize = 24;
    let mut random = experiment(1, "synthetic faces");
    let mut uniform = || (random.next_u64() >> 11) as f64 * 2f64.powi(-52) - 1.0;
    let cosines = Basis::Dct.transform(side, side).unwrap();
    let mut chips = Vec::with_capacity(count * side * side);
    for _ in 0..count {
        let mut face = vec![0.0; side * side];
        for u in 0..FREQUENCIES.min(side) {
            for v in 0..FREQUENCIES.min(side) {
                face[u * side + v] =
                    8.0 * side as f64 * uniform() / ((1 + u * u + v * v) as f64).sqrt();
            }
        }
        cosines.inverse(&mut face);
        chips.extend(face.iter().map(|grey| (128.0 + grey + 4.0 * uniform()).round() as u8));
    }
    chips
}

pub fn plane(chips: &[u8], side: usize, index: usize) -> Plane {
    let chip = &chips[index * side * side..][..side * side];
    Plane::new(side, side, chip.iter().map(|&grey| f64::from(grey)).collect()).unwrap()
}

/// The chips as a training set, four of each person.
pub fn training_set(chips: &[u8], side: usize) -> TrainingSet {
    let mut set = TrainingSet::new(side).unwrap();
    for index in 0..chips.len() / (side * side) {
        set.push(&format!("person {}", index / 4), &plane(chips, side, index)).unwrap();
    }
    set
}

/// A model of the default size.
pub fn model() -> Arc<FeatureModel> {
    let set = training_set(&chips(SIDE, 256), SIDE);
    let bytes = FeatureModel::fit(&set, FEATURES, "synthetic faces").unwrap();
    Arc::new(FeatureModel::from_bytes(&bytes).unwrap())
}

/// A method with the budget and the number of features of all measurements.
pub fn method(preset: Preset) -> Method {
    preset.method(Epsilon::new(0.2).unwrap(), FEATURES)
}
