//! Model files: a fitted model is read back unchanged, and other files are refused.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::collections::HashMap;

use facedp::noise::experiment;
use facedp::{Error, FeatureModel, Plane, TrainingSet};
use rand_core::Rng;
use safetensors::tensor::{Dtype, TensorView};

fn set(people: usize, pictures: usize) -> TrainingSet {
    let mut set = TrainingSet::new(8).unwrap();
    let mut random = experiment(4, "model file");
    for n in 0..pictures {
        let pixels = (0..64).map(|_| (random.next_u64() % 256) as f64).collect();
        set.push(&format!("person {}", n % people), &Plane::new(8, 8, pixels).unwrap()).unwrap();
    }
    set
}

#[test]
fn a_model_survives_its_file() {
    let set = set(5, 20);
    let file = FeatureModel::fit(&set, 6, "random pictures").unwrap();
    assert_eq!(file, FeatureModel::fit(&set, 6, "random pictures").unwrap(), "not repeatable");
    let model = FeatureModel::from_bytes(&file).unwrap();
    assert_eq!((model.side(), model.features()), (8, 6));
    assert_eq!(model.provenance().pictures, 20);
    assert_eq!(model.provenance().identities, 5);
    assert_eq!(model.provenance().source, "random pictures");
    assert!(model.radii().is_some());
    assert!(model.singular_values().windows(2).all(|w| w[0] >= w[1]));
    for (i, a) in model.eigenfaces().chunks_exact(64).enumerate() {
        for (j, b) in model.eigenfaces().chunks_exact(64).enumerate() {
            let product: f64 = a.iter().zip(b).map(|(a, b)| a * b).sum();
            assert!((product - f64::from(u8::from(i == j))).abs() < 1e-12, "{i} {j}: {product}");
        }
    }
    // Nobody has two pictures: a model without radii.
    let file = FeatureModel::fit(&self::set(20, 20), 6, "").unwrap();
    assert!(FeatureModel::from_bytes(&file).unwrap().radii().is_none());
}

#[test]
fn measurements_hold_for_the_features_as_read() {
    let file = FeatureModel::fit(&set(5, 20), 6, "").unwrap();
    let model = FeatureModel::from_bytes(&file).unwrap();
    let mut random = experiment(4, "model file");
    let features: Vec<Vec<f64>> = (0..20)
        .map(|_| {
            let pixels = (0..64).map(|_| (random.next_u64() % 256) as f64).collect();
            model.project(&Plane::new(8, 8, pixels).unwrap(), 6).unwrap()
        })
        .collect();
    let measured = model.sensitivities().iter().zip(model.radii().unwrap());
    for (i, (sensitivity, radius)) in measured.enumerate() {
        let (mut across, mut within) = (0.0f64, 0.0f64);
        for a in 0..20 {
            for b in 0..a {
                let apart = (features[a][i] - features[b][i]).abs();
                let widest = if a % 5 == b % 5 { &mut within } else { &mut across };
                *widest = widest.max(apart);
            }
        }
        assert!((across - sensitivity).abs() < 1e-9);
        assert!((within..within * (1.0 + 2e-9)).contains(radius), "{within} {radius}");
    }
}

#[test]
fn training_sets_that_cannot_work_are_refused() {
    let fit = |set: &TrainingSet, features| FeatureModel::fit(set, features, "").unwrap_err();
    assert_eq!(fit(&set(1, 20), 6), Error::TooFewIdentities(1));
    let few = Error::TooFewPictures { features: 20, min: 21, pictures: 20 };
    assert_eq!(fit(&set(5, 20), 20), few);
    assert!(matches!(fit(&set(5, 20), 0), Error::TooFewPictures { .. }));
    for side in [0, 4, 100, 2048] {
        assert_eq!(TrainingSet::new(side).unwrap_err(), Error::ChipSide(side));
    }
    let mut same = TrainingSet::new(8).unwrap();
    for n in 0..9 {
        same.push(&format!("person {n}"), &Plane::zeros(8, 8)).unwrap();
    }
    assert_eq!(fit(&same, 3), Error::Rank { features: 3, rank: 0 });
    let odd = Plane::new(8, 8, vec![f64::NAN; 64]).unwrap();
    assert_eq!(same.push("x", &odd).unwrap_err(), Error::NotFinite { index: 0 });
    assert!(matches!(same.push("x", &Plane::zeros(4, 4)), Err(Error::PlaneSize { .. })));
}

#[test]
fn damage_anywhere_is_detected() {
    let file = FeatureModel::fit(&set(5, 20), 3, "a").unwrap();
    assert!(FeatureModel::from_bytes(&file).is_ok());
    for position in 0..file.len() {
        let mut damaged = file.clone();
        damaged[position] ^= 1;
        assert!(FeatureModel::from_bytes(&damaged).is_err(), "byte {position}");
    }
    for length in 0..file.len() {
        assert!(FeatureModel::from_bytes(&file[..length]).is_err(), "cut at {length}");
    }
}

#[test]
fn foreign_files_are_refused() {
    let zeros = [0u8; 4];
    let views = || vec![("a", TensorView::new(Dtype::F32, vec![1], &zeros).unwrap())];
    let foreign = safetensors::serialize(views(), None).unwrap();
    let header =
        r#"{"version":99,"provenance":{"source":"","pictures":1,"identities":1},"sha256":""}"#;
    let metadata = HashMap::from([("facedp".to_owned(), header.to_owned())]);
    let newer = safetensors::serialize(views(), Some(metadata)).unwrap();
    for bytes in [b"not a model".as_slice(), b"", &foreign] {
        assert!(matches!(FeatureModel::from_bytes(bytes), Err(Error::ForeignModel(_))));
    }
    let error = FeatureModel::from_bytes(&newer).unwrap_err();
    assert_eq!(error, Error::ModelVersion { found: 99, supported: 1 });
}

#[test]
fn the_shipped_model_agrees_with_the_docs() {
    let bytes = include_bytes!("../../../assets/models/eigenfaces.safetensors");
    assert!(bytes.len() <= 3_000_000);
    let model = FeatureModel::from_bytes(bytes).unwrap();
    assert_eq!((model.features(), model.side()), (64, 128));
    assert!(model.provenance().source.contains("even identities"));
    assert!(include_str!("../../../assets/README.md").contains(model.hash()));
}
