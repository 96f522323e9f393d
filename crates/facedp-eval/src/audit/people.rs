//! Neighbours from real photos.

use std::path::Path;

use facedp::FeatureModel;
use facedp::certified::CertifiedPlan;
use facedp_engine::{FaceDetector, face_sample};

use crate::dataset::{self, Half};
use crate::error::Result;
use crate::progress::Progress;
use crate::sample::{self, Subject};

/// Features of at most `max` pairs of people from a data folder. The seed selects the people.
pub fn real_pairs(
    data: &Path,
    model: &FeatureModel,
    features: usize,
    max: usize,
    seed: u64,
    progress: &Progress<'_>,
) -> Result<Vec<[Vec<f64>; 2]>> {
    let known = |subject: &Subject| Ok(model.project(&subject.plane(model.side()), features)?);
    pairs(data, model, max, seed, progress, known)
}

/// The same for the features of `certified`.
pub fn real_faces(
    data: &Path,
    model: &FeatureModel,
    plan: &CertifiedPlan,
    max: usize,
    seed: u64,
    progress: &Progress<'_>,
) -> Result<Vec<[Vec<f64>; 2]>> {
    let features = |subject: &Subject| {
        let (face, context) = face_sample(subject.photo()?, &subject.face.landmarks)?;
        let faces = plan.model();
        Ok(faces.features_of(&face, &faces.predicted(&context), plan.method().features))
    };
    pairs(data, model, max, seed, progress, features)
}

fn pairs(
    data: &Path,
    model: &FeatureModel,
    max: usize,
    seed: u64,
    progress: &Progress<'_>,
    features: impl Fn(&Subject) -> Result<Vec<f64>>,
) -> Result<Vec<[Vec<f64>; 2]>> {
    let mut people = dataset::people(data, Half::All)?;
    sample::shuffle(&mut people, seed);
    let first = people.iter().take(2 * max).enumerate();
    let pictures: Vec<_> = first.filter_map(|(n, p)| Some((n, p.pictures.first()?))).collect();
    let (subjects, _) = sample::read_all(data, &pictures, model, &FaceDetector::new()?, progress)?;
    let mut known = Vec::new();
    for subject in subjects {
        known.push(features(&subject)?);
    }
    Ok(known.chunks_exact(2).map(|two| [two[0].clone(), two[1].clone()]).collect())
}
