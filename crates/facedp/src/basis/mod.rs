//! Orthonormal bases of a plane: `C = H P` and back.
//!
//! All three bases are orthonormal: noise has the same energy in coefficients and in pixels, and
//! the inverse is the transpose. A transform is planned once per size and then reused.

mod dct;
mod haar;
mod pixel;

use dct::Dct;
pub use haar::Haar;
pub(crate) use pixel::Pixel;

use serde::{Deserialize, Serialize};

use crate::error::Result;
use crate::names;

/// Which basis carries the noise.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case", deny_unknown_fields)]
pub enum Basis {
    /// The identity.
    Pixel,
    /// The orthonormal DCT-II of the whole plane.
    Dct,
    /// The multi-level Haar wavelet transform.
    Haar {
        /// `None` is the maximum: `log2(side)`, 7 at a side of 128.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        levels: Option<u32>,
    },
}

impl Basis {
    /// Plans the transform of planes of one size.
    pub fn transform(self, width: usize, height: usize) -> Result<Box<dyn Transform>> {
        Ok(match self {
            Basis::Pixel => Box::new(Pixel),
            Basis::Dct => Box::new(Dct::new(width, height)),
            Basis::Haar { levels } => Box::new(Haar::new(width, height, levels)?),
        })
    }

    pub fn kind(self) -> BasisKind {
        match self {
            Basis::Pixel => BasisKind::Pixel,
            Basis::Dct => BasisKind::Dct,
            Basis::Haar { .. } => BasisKind::Haar,
        }
    }
}

/// A basis without its parameters, for choosing one by name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum BasisKind {
    Pixel,
    Dct,
    Haar,
}

names!(BasisKind, "basis", Pixel = "pixel", Dct = "dct", Haar = "haar");

impl BasisKind {
    /// The basis with its parameters. `None` if `levels` are given for a basis other than Haar.
    pub fn basis(self, levels: Option<u32>) -> Option<Basis> {
        match (self, levels) {
            (BasisKind::Haar, levels) => Some(Basis::Haar { levels }),
            (BasisKind::Pixel, None) => Some(Basis::Pixel),
            (BasisKind::Dct, None) => Some(Basis::Dct),
            (BasisKind::Pixel | BasisKind::Dct, Some(_)) => None,
        }
    }
}

/// An orthonormal transform of planes of one size.
///
/// Slices hold the plane row by row and must have exactly `width * height` values.
pub trait Transform: Send + Sync {
    /// Pixels to coefficients, in place.
    fn forward(&self, plane: &mut [f64]);

    /// Coefficients to pixels, in place.
    fn inverse(&self, coefficients: &mut [f64]);

    /// The inverse of a sparse vector, given as `(index, value)` pairs.
    ///
    /// Overwrites `plane`. Indices must be distinct and inside the plane.
    fn synthesise(&self, sparse: &[(usize, f64)], plane: &mut [f64]) {
        plane.fill(0.0);
        for &(index, value) in sparse {
            plane[index] = value;
        }
        self.inverse(plane);
    }

    /// A plane plus the inverse of a sparse vector, which is not laid out for it where the basis allows that:
    /// adding noise to a chip waits for memory.
    fn add(&self, sparse: &[(usize, f64)], plane: &[f64]) -> Vec<f64> {
        let mut added = vec![0.0; plane.len()];
        self.synthesise(sparse, &mut added);
        plane.iter().zip(&added).map(|(plane, added)| plane + added).collect()
    }
}
