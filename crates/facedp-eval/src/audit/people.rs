//! Neighbours from real photos.

use std::path::Path;

use facedp::FeatureModel;
use facedp_engine::Eyes;

use crate::dataset::{self, Half};
use crate::error::Result;
use crate::progress::Progress;
use crate::sample;

/// Features of people of a data folder, two by two: at most so many pairs, chosen by the seed.
pub fn real_pairs(
    data: &Path,
    model: &FeatureModel,
    features: usize,
    most: usize,
    seed: u64,
    progress: &Progress<'_>,
) -> Result<Vec<[Vec<f64>; 2]>> {
    let mut people = dataset::people(data, Half::All)?;
    sample::shuffle(&mut people, seed);
    let first = people.iter().take(2 * most).enumerate();
    let pictures: Vec<_> = first.filter_map(|(n, p)| Some((n, p.pictures.first()?))).collect();
    let (subjects, _) =
        sample::read_all(data, &pictures, model, &Eyes::detector_only()?, progress)?;
    let mut known = Vec::new();
    for subject in subjects {
        known.push(model.project(&subject.plane(model.side()), features)?);
    }
    Ok(known.chunks_exact(2).map(|two| [two[0].clone(), two[1].clone()]).collect())
}
