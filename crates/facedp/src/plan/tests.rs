//! Tests of the private part of a plan.
#![allow(clippy::unwrap_used)]

use std::sync::Arc;

use crate::budget::{Problem, Scales};
use crate::features::FeatureModel;
use crate::method::{Epsilon, Method, Preset};
use crate::noise::experiment;
use crate::plan::Plan;
use crate::plane::Plane;
use crate::rank::{self, Ranking};
use crate::weights::Weights;

/// `protect` ranks and scales as this test does by hand.
#[test]
fn amplitude_ranking_ranks_inside_protect() {
    let model = include_bytes!("../../../../assets/models/eigenfaces.safetensors");
    let model = Arc::new(FeatureModel::from_bytes(model).unwrap());
    let method = Preset::Rdp.method(Epsilon::new(0.2).unwrap(), 16);
    let method = Method { ranking: Ranking::Amplitude, ..method };
    let plan = Plan::new(Arc::clone(&model), method.clone()).unwrap();

    let mut face = Plane::new(128, 128, model.mean().to_vec()).unwrap();
    face.data_mut().iter_mut().enumerate().for_each(|(i, v)| *v += (i % 97) as f64);
    let transform = method.basis.transform(128, 128).unwrap();
    let mut coefficients = face.data().to_vec();
    transform.forward(&mut coefficients);
    let survivals = plan.law().survivals();
    let order = rank::by_amplitude(&coefficients, survivals.len());
    let amplitudes: Vec<f64> = order.iter().map(|&k| coefficients[k as usize].abs()).collect();
    assert!(amplitudes.is_sorted_by(|a, b| a >= b));
    let weights = Weights::new(model.eigenfaces(), 16384, 16, &*transform).select(&order);
    let sum: f64 = model.sensitivities()[..16].iter().sum();
    let sensitivities: Vec<f64> = model.sensitivities()[..16].iter().map(|d| d / sum).collect();
    let problem = Problem { weights: &weights, sensitivities: &sensitivities, epsilon: 0.2 };
    let scales = Scales::spend(&problem, &survivals, &survivals).unwrap();
    let release = plan.protect(&face, &mut experiment(2, "amplitude")).unwrap();
    assert!((release.expected_variance / (2.0 * scales.cost()) - 1.0).abs() < 1e-9);
}
