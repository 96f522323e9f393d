//! Fitting a face model to public faces.

use facedp_linalg::{Mat, MatRef, product, solve};

use super::FaceModel;
use super::file::{Content, write};
use crate::error::{Error, Result};
use crate::features::{Provenance, eigen};

/// Share of training features below a box, and above it.
const TAIL: f64 = 0.005;
/// The ridge of the prediction from surroundings, as a share of their mean variance.
const RIDGE: f64 = 0.03;

/// Faces and their surroundings, as sampled from photos.
#[derive(Debug, Default)]
pub struct FaceSamples {
    faces: Vec<Vec<f32>>,
    contexts: Vec<Vec<f32>>,
}

impl FaceSamples {
    /// Adds a face; unknown values are NaN.
    pub fn push(&mut self, face: Vec<f32>, context: Vec<f32>) {
        self.faces.push(face);
        self.contexts.push(context);
    }

    pub fn len(&self) -> usize {
        self.faces.len()
    }

    pub fn is_empty(&self) -> bool {
        self.faces.is_empty()
    }
}

/// The mean of each column, over known values.
fn means(rows: &[Vec<f32>], width: usize) -> Vec<f32> {
    let mut sums = vec![(0.0f64, 0usize); width];
    for row in rows {
        for (sum, value) in sums.iter_mut().zip(row).filter(|(_, value)| !value.is_nan()) {
            *sum = (sum.0 + f64::from(*value), sum.1 + 1);
        }
    }
    sums.iter().map(|(sum, count)| (sum / (*count).max(1) as f64) as f32).collect()
}

/// Rows minus a mean, as one matrix; unknown values become 0.
fn centred(rows: &[Vec<f32>], mean: &[f32]) -> Vec<f64> {
    let known = |(value, mean): (&f32, &f32)| match value.is_nan() {
        true => 0.0,
        false => f64::from(value - mean),
    };
    rows.iter().flat_map(|row| row.iter().zip(mean).map(known)).collect()
}

impl FaceModel {
    /// Fits a model with that many features. Returns the file.
    pub fn fit(
        samples: &FaceSamples,
        features: usize,
        identities: usize,
        source: &str,
    ) -> Result<Vec<u8>> {
        let n = samples.len();
        if n < 4 * features {
            return Err(Error::TooFewPictures { features, min: 4 * features, pictures: n });
        }
        let (values, context) = (samples.faces[0].len(), samples.contexts[0].len());
        let (mean, context_mean) =
            (means(&samples.faces, values), means(&samples.contexts, context));
        let faces = centred(&samples.faces, &mean);
        let faces = MatRef::from_row_major_slice(&faces, n, values);
        let mut gram = product(faces, faces.transpose());
        let (energies, vectors) = eigen::largest(&mut gram, features)?;
        if energies.iter().any(|energy| *energy <= 0.0) {
            return Err(Error::Rank {
                features,
                rank: energies.iter().filter(|e| **e > 0.0).count(),
            });
        }
        // Directions as columns, and the coordinates of faces along them.
        let directions = product(faces.transpose(), vectors.as_ref());
        let lengths: Vec<f64> = energies.iter().map(|energy| energy.sqrt()).collect();
        let coordinates = Mat::from_fn(n, features, |row, i| vectors[(row, i)] * lengths[i]);
        let contexts = centred(&samples.contexts, &context_mean);
        let contexts = MatRef::from_row_major_slice(&contexts, n, context);
        let prediction = ridge(contexts, coordinates.as_ref());
        let expected = product(contexts, prediction.as_ref());
        let left = |i: usize| -> Vec<f64> {
            (0..n).map(|row| coordinates[(row, i)] - expected[(row, i)]).collect()
        };
        let (mut boxes, mut spreads) = (Vec::new(), Vec::new());
        for mut feature in (0..features).map(left) {
            spreads.push((feature.iter().map(|f| f * f).sum::<f64>() / n as f64) as f32);
            feature.sort_by(f64::total_cmp);
            let cut = (TAIL * n as f64) as usize;
            boxes.extend([feature[cut].floor() as f32, feature[n - 1 - cut].ceil() as f32]);
        }
        let along = |i: usize| (0..values).map(move |v| (v, i));
        let directions = (0..features)
            .flat_map(along)
            .map(|(v, i)| (directions[(v, i)] / lengths[i]) as f32)
            .collect();
        let prediction = (0..features)
            .flat_map(|i| (0..context).map(move |r| (r, i)))
            .map(|(r, i)| prediction[(r, i)] as f32)
            .collect();
        let provenance = Provenance { source: source.to_owned(), pictures: n, identities };
        write(&Content { mean, directions, context_mean, prediction, boxes, spreads, provenance })
    }
}

/// The linear map from contexts to coordinates with the least squared error, and a ridge.
fn ridge(contexts: MatRef<'_, f64>, coordinates: MatRef<'_, f64>) -> Mat<f64> {
    let mut normal = product(contexts.transpose(), contexts);
    let size = normal.nrows();
    let trace: f64 = (0..size).map(|i| normal[(i, i)]).sum();
    for i in 0..size {
        normal[(i, i)] += RIDGE * trace / size as f64 + f64::MIN_POSITIVE;
    }
    let right = product(contexts.transpose(), coordinates);
    solve(normal.as_ref(), right.as_ref())
}
