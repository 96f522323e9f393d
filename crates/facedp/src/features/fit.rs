//! Fitting: eigenfaces, and the statistics measured on the training set.

use std::collections::BTreeMap;

use facedp_linalg::{Mat, MatMut, MatRef, add_gram, add_product, product};
use half::f16;

use super::{FeatureModel, Provenance, eigen, file};
use crate::error::{Error, Result};
use crate::plane::Plane;

/// Face chips, each labelled with a person.
#[derive(Debug, Clone)]
pub struct TrainingSet {
    side: usize,
    /// Chips one after the other. Eight-bit grey levels are exact in f32.
    chips: Vec<f32>,
    people: Vec<usize>,
    names: BTreeMap<String, usize>,
}

impl TrainingSet {
    /// An empty set of `side x side` chips; `side` must be a power of two from 8 to 1024.
    pub fn new(side: usize) -> Result<Self> {
        if !(8..=1024).contains(&side) || !side.is_power_of_two() {
            return Err(Error::ChipSide(side));
        }
        Ok(Self { side, chips: Vec::new(), people: Vec::new(), names: BTreeMap::new() })
    }

    pub fn push(&mut self, identity: &str, chip: &Plane) -> Result<()> {
        chip.require_size(self.side, self.side)?;
        chip.require_finite()?;
        let next = self.names.len();
        let person = *self.names.entry(identity.to_owned()).or_insert(next);
        self.people.push(person);
        self.chips.extend(chip.data().iter().map(|&v| v as f32));
        Ok(())
    }

    /// The number of pictures.
    pub fn len(&self) -> usize {
        self.people.len()
    }

    pub fn is_empty(&self) -> bool {
        self.people.is_empty()
    }

    /// The number of people.
    pub fn identities(&self) -> usize {
        self.names.len()
    }

    fn pixels(&self) -> usize {
        self.side * self.side
    }

    fn mean(&self) -> Vec<f64> {
        let mut mean = vec![0.0; self.pixels()];
        for chip in self.chips.chunks_exact(self.pixels()) {
            mean.iter_mut().zip(chip).for_each(|(m, &v)| *m += f64::from(v));
        }
        mean.iter_mut().for_each(|m| *m /= self.len() as f64);
        mean
    }

    /// Columns `from..from + width` of the centred set, row by row; each row is a picture.
    fn centred_block(&self, mean: &[f64], from: usize, width: usize) -> Vec<f64> {
        let mean = &mean[from..from + width];
        let mut block = Vec::with_capacity(self.len() * width);
        for chip in self.chips.chunks_exact(self.pixels()) {
            let part = &chip[from..from + width];
            block.extend(part.iter().zip(mean).map(|(&v, m)| f64::from(v) - m));
        }
        block
    }

    /// Calls `visit(first column, block)` for the centred set in blocks of columns.
    fn for_each_block(&self, mean: &[f64], mut visit: impl FnMut(usize, MatRef<'_, f64>)) {
        const WIDTH: usize = 1024;
        for from in (0..self.pixels()).step_by(WIDTH) {
            let width = WIDTH.min(self.pixels() - from);
            let block = self.centred_block(mean, from, width);
            visit(from, MatRef::from_row_major_slice(&block, self.len(), width));
        }
    }
}

/// The result of principal component analysis, before rounding for storage.
#[derive(Debug, Clone)]
pub(super) struct PrincipalComponents {
    pub(super) mean: Vec<f64>,
    /// Orthonormal components, one after the other, in descending order of variance. The entry of
    /// largest absolute value in each is positive.
    pub(super) components: Vec<f64>,
    /// Singular values of the centred set, in descending order.
    pub(super) singular_values: Vec<f64>,
}

/// Principal components through the Gram matrix of the pictures, in f64.
///
/// For n pictures of M pixels: `X X^T` (n^2 M / 2 multiplications), its largest eigenvalues `s^2` with
/// vectors `V`, then `U = X^T V / s`.
fn principal_components(set: &TrainingSet, features: usize) -> Result<PrincipalComponents> {
    let (n, pixels) = (set.len(), set.pixels());
    if features == 0 || n <= features {
        let min = features + 1;
        return Err(Error::TooFewPictures { features, min, pictures: n });
    }
    let mean = set.mean();
    let mut gram = Mat::<f64>::zeros(n, n);
    set.for_each_block(&mean, |_, block| add_gram(gram.as_mut(), block));
    let (values, vectors) = eigen::largest(&mut gram, features)?;
    // Eigenvalues within rounding error of zero are not directions of the pictures.
    let negligible = values[0].max(0.0) * n as f64 * f64::EPSILON;
    let rank = values.iter().filter(|&&value| value > negligible).count();
    if rank < features {
        return Err(Error::Rank { features, rank });
    }
    let singular_values: Vec<f64> = values.iter().map(|value| value.sqrt()).collect();
    let top = Mat::from_fn(n, features, |row, i| vectors[(row, i)] / singular_values[i]);

    let mut components = vec![0.0; features * pixels];
    set.for_each_block(&mean, |from, block| {
        let part = product(block.transpose(), top.as_ref());
        for i in 0..features {
            let target = &mut components[i * pixels + from..][..block.ncols()];
            target.iter_mut().zip(part.col(i).iter()).for_each(|(t, p)| *t = *p);
        }
    });
    for component in components.chunks_exact_mut(pixels) {
        let largest = component.iter().fold(0.0f64, |a, &b| if b.abs() > a.abs() { b } else { a });
        if largest < 0.0 {
            component.iter_mut().for_each(|c| *c = -*c);
        }
    }
    Ok(PrincipalComponents { mean, components, singular_values })
}

impl FeatureModel {
    /// Fits a model and returns it as the bytes of a model file.
    ///
    /// Sensitivities, boxes and radii are measured with the eigenfaces after rounding to f16, as
    /// [`FeatureModel::from_bytes`] restores them.
    pub fn fit(set: &TrainingSet, features: usize, source: &str) -> Result<Vec<u8>> {
        if set.identities() < 2 {
            return Err(Error::TooFewIdentities(set.identities()));
        }
        let found = principal_components(set, features)?;
        let pixels = set.pixels();
        let mean: Vec<f32> = found.mean.iter().map(|&m| m as f32).collect();
        // Entries of a unit vector are about 1/side. Scaled to about 1, f16 keeps its full precision.
        let stored: Vec<f16> =
            found.components.iter().map(|&c| f16::from_f64(c * set.side as f64)).collect();
        let eigenfaces = file::restore(&stored, pixels)?;

        let projected = project_all(set, &mean, &eigenfaces);
        let columns: Vec<&[f64]> = projected.chunks_exact(set.len()).collect();
        let sensitivities: Vec<f64> =
            columns.iter().map(|f| between_people(f, &set.people)).collect();
        let boxes: Vec<[f64; 2]> = columns.iter().map(|f| quantile_box(f)).collect();
        let radii: Vec<f64> = columns.iter().map(|f| within_people(f, &set.people)).collect();
        let someone_twice = set.len() > set.identities();
        let provenance = Provenance {
            source: source.to_owned(),
            pictures: set.len(),
            identities: set.identities(),
        };
        file::write(&file::Content {
            side: set.side,
            mean,
            eigenfaces: stored,
            singular_values: found.singular_values,
            sensitivities,
            boxes,
            radii: someone_twice.then_some(radii),
            provenance,
        })
    }
}

/// Every feature of every picture, feature by feature.
fn project_all(set: &TrainingSet, mean: &[f32], eigenfaces: &[f64]) -> Vec<f64> {
    let features = eigenfaces.len() / set.pixels();
    let mean: Vec<f64> = mean.iter().map(|&m| f64::from(m)).collect();
    let faces = MatRef::from_row_major_slice(eigenfaces, features, set.pixels());
    let mut projected = vec![0.0; features * set.len()];
    let mut target = MatMut::from_column_major_slice_mut(&mut projected, set.len(), features);
    set.for_each_block(&mean, |from, block| {
        let faces = faces.subcols(from, block.ncols());
        add_product(target.as_mut(), 1.0, block, faces.transpose());
    });
    projected
}

/// The smallest and largest value of each person.
fn ranges(feature: &[f64], people: &[usize]) -> BTreeMap<usize, (f64, f64)> {
    let mut ranges = BTreeMap::new();
    for (&value, &person) in feature.iter().zip(people) {
        let range = ranges.entry(person).or_insert((value, value));
        *range = (range.0.min(value), range.1.max(value));
    }
    ranges
}

/// The largest difference between two pictures of different people.
fn between_people(feature: &[f64], people: &[usize]) -> f64 {
    let mut widest = 0.0f64;
    // Compare the extremes of all people so far with each new person.
    let mut seen: Option<(f64, f64)> = None;
    for (low, high) in ranges(feature, people).into_values() {
        if let Some((lowest, highest)) = seen {
            widest = widest.max(high - lowest).max(highest - low);
        }
        seen = Some(seen.map_or((low, high), |(l, h)| (l.min(low), h.max(high))));
    }
    widest
}

/// The largest difference between two pictures of one person, times `1 + 1e-9`, so that rounding does
/// not exclude the pair that sets it.
fn within_people(feature: &[f64], people: &[usize]) -> f64 {
    let widest = ranges(feature, people).values().map(|(low, high)| high - low).fold(0.0, f64::max);
    widest * (1.0 + 1e-9)
}

/// The 0.5 % and 99.5 % quantiles, rounded outwards to whole grey levels.
fn quantile_box(feature: &[f64]) -> [f64; 2] {
    let mut sorted = feature.to_vec();
    sorted.sort_unstable_by(f64::total_cmp);
    let at = |share: f64| sorted[((sorted.len() - 1) as f64 * share).round() as usize];
    [at(0.005).floor(), at(0.995).ceil()]
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use serde::Deserialize;

    use super::*;

    /// Fails if a difference exceeds 1e-9 of the largest expected value.
    fn assert_close(what: &str, found: &[f64], expected: &[f64]) {
        assert_eq!(found.len(), expected.len(), "{what}");
        let largest = expected.iter().fold(0.0f64, |max, v| max.max(v.abs()));
        assert!(largest > 0.0, "{what}: nothing to compare with");
        for (i, (f, e)) in found.iter().zip(expected).enumerate() {
            // Not `>`: NaN must fail too.
            assert!((f - e).abs() <= 1e-9 * largest, "{what}: {f} instead of {e} at {i}");
        }
    }

    #[test]
    fn eigenfaces_are_those_of_scikit_learn() {
        #[derive(Deserialize)]
        struct File {
            cases: [Case; 1],
        }
        #[derive(Deserialize)]
        struct Case {
            side: usize,
            pictures: Vec<Vec<f64>>,
            mean: Vec<f64>,
            singular_values: Vec<f64>,
            components: Vec<Vec<f64>>,
        }
        let file = include_str!("../../tests/golden/eigenfaces.json");
        let File { cases: [case] } = serde_json::from_str(file).unwrap();
        assert_eq!((case.side, case.pictures.len(), case.components.len()), (16, 24, 6));
        let mut set = TrainingSet::new(case.side).unwrap();
        for (n, picture) in case.pictures.into_iter().enumerate() {
            let chip = Plane::new(case.side, case.side, picture).unwrap();
            set.push(&format!("person {n}"), &chip).unwrap();
        }
        let found = principal_components(&set, case.components.len()).unwrap();
        assert_close("mean", &found.mean, &case.mean);
        assert_close("singular values", &found.singular_values, &case.singular_values);
        let faces: Vec<&[f64]> = found.components.chunks_exact(case.side * case.side).collect();
        assert_eq!(faces.len(), case.components.len());
        for (i, (face, expected)) in faces.iter().zip(&case.components).enumerate() {
            // The sign of a component is a convention, and ours differs from scikit-learn's.
            let along: f64 = face.iter().zip(expected).map(|(f, e)| f * e).sum();
            let expected: Vec<f64> = expected.iter().map(|e| e * along.signum()).collect();
            assert_close(&format!("component {i}"), face, &expected);
            let (min, max) = face.iter().fold((0.0f64, 0.0f64), |(l, m), &v| (l.min(v), m.max(v)));
            assert!(max >= -min, "component {i} has a negative largest entry");
        }
    }

    #[test]
    fn differences_between_and_within_people() {
        let feature = [0.0, 10.0, 4.0, 5.0, 3.0];
        let people = [0, 0, 1, 1, 2];
        assert_eq!(between_people(&feature, &people), 7.0); // 10 against 3, not 10 against 0
        assert_eq!(within_people(&feature, &people), 10.0 * (1.0 + 1e-9));
    }

    #[test]
    fn between_people_equals_all_pairs() {
        let feature: Vec<f64> = (0..40).map(|i| f64::from(i * 37 % 101)).collect();
        let people: Vec<usize> = (0..40).map(|i| i % 7).collect();
        let mut widest = 0.0f64;
        for i in 0..40 {
            for j in 0..i {
                if people[i] != people[j] {
                    widest = widest.max((feature[i] - feature[j]).abs());
                }
            }
        }
        assert_eq!(between_people(&feature, &people), widest);
    }
}
