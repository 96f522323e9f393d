//! Facial features: projections of a face onto eigenfaces.
//!
//! `F = U^T (P - mu)` with `mu` the mean face and `U` the eigenfaces: orthonormal columns from the
//! principal component analysis of a training set. Values are grey levels of a `side x side` luma
//! chip.

pub(crate) mod eigen;
mod file;
mod fit;

pub use fit::TrainingSet;

use serde::{Deserialize, Serialize};

use crate::error::Result;
use crate::linear::dot;
use crate::plane::Plane;

/// A public model of faces: the eigenfaces, and statistics of the features of the training set.
#[derive(Debug, Clone)]
pub struct FeatureModel {
    side: usize,
    mean: Vec<f64>,
    eigenfaces: Vec<f64>,
    singular_values: Vec<f64>,
    sensitivities: Vec<f64>,
    boxes: Vec<[f64; 2]>,
    radii: Option<Vec<f64>>,
    provenance: Provenance,
    hash: String,
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Provenance {
    /// The training set, as described by whoever trained the model.
    pub source: String,
    pub pictures: usize,
    pub identities: usize,
}

impl FeatureModel {
    /// The model that comes with this crate: 64 eigenfaces of 128x128 chips. `assets/README.md` describes its
    /// training data.
    pub fn embedded() -> Result<Self> {
        Self::from_bytes(facedp_models::EIGENFACES)
    }

    /// Side of the square chips, in pixels.
    pub fn side(&self) -> usize {
        self.side
    }

    /// Pixels of a chip, `M_P`.
    pub fn pixels(&self) -> usize {
        self.side * self.side
    }

    /// Number of features, `M_F`.
    pub fn features(&self) -> usize {
        self.singular_values.len()
    }

    /// The mean face, row by row.
    pub fn mean(&self) -> &[f64] {
        &self.mean
    }

    /// The orthonormal eigenfaces, one after the other, in descending order of variance.
    pub fn eigenfaces(&self) -> &[f64] {
        &self.eigenfaces
    }

    /// Singular values of the centred training set.
    pub fn singular_values(&self) -> &[f64] {
        &self.singular_values
    }

    /// The largest difference of each feature between two training pictures of different people
    /// (the paper's Definition 2, on this training set).
    pub fn sensitivities(&self) -> &[f64] {
        &self.sensitivities
    }

    /// A public interval for each feature that contains most faces: the 0.5 % and 99.5 % quantiles
    /// of the training set, rounded outwards to whole grey levels.
    pub fn boxes(&self) -> &[[f64; 2]] {
        &self.boxes
    }

    /// The matching radii of the paper's eq. 3.1: the largest difference of each feature between two
    /// training pictures of one person. Before any noise every such pair matches, as the paper
    /// assumes. `None` if nobody had two pictures.
    pub fn radii(&self) -> Option<&[f64]> {
        self.radii.as_deref()
    }

    pub fn provenance(&self) -> &Provenance {
        &self.provenance
    }

    /// SHA-256 of the content, in hexadecimal.
    pub fn hash(&self) -> &str {
        &self.hash
    }

    /// The first `count` features of a face.
    pub fn project(&self, chip: &Plane, count: usize) -> Result<Vec<f64>> {
        chip.require_size(self.side, self.side)?;
        let centred: Vec<f64> = chip.data().iter().zip(&self.mean).map(|(p, m)| p - m).collect();
        let faces = self.eigenfaces.chunks_exact(self.pixels()).take(count);
        Ok(faces.map(|face| dot(face, &centred)).collect())
    }
}
