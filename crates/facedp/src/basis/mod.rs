//! Orthonormal bases of a plane: `C = H P` and back.
//!
//! All three are orthonormal, so noise has the same energy in coefficients and in pixels, and
//! the inverse is the transpose. A transform is planned once for a size and then reused.

mod dct;
mod haar;
mod pixel;

pub use dct::Dct;
pub use haar::Haar;
pub use pixel::Pixel;

use serde::{Deserialize, Serialize};

use crate::error::Result;

/// Which basis carries the noise.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case", deny_unknown_fields)]
pub enum Basis {
    /// The pixels themselves.
    Pixel,
    /// The orthonormal DCT-II of the whole plane.
    Dct,
    /// The multi-level Haar wavelet transform.
    Haar {
        /// Number of levels; `None` halves the plane as often as it goes (7 times at 128).
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

    /// The name without parameters.
    pub fn name(self) -> &'static str {
        match self {
            Basis::Pixel => "pixel",
            Basis::Dct => "dct",
            Basis::Haar { .. } => "haar",
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

    /// The pixels of a vector that is zero but for a few `(index, value)` pairs.
    ///
    /// `plane` is overwritten. Indices must be distinct and inside the plane.
    fn synthesise(&self, sparse: &[(usize, f64)], plane: &mut [f64]) {
        plane.fill(0.0);
        for &(index, value) in sparse {
            plane[index] = value;
        }
        self.inverse(plane);
    }
}
