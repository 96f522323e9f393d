//! The identity basis: noise goes straight into pixels.

use super::Transform;

/// The identity, for planes of any size.
#[derive(Debug, Clone, Copy)]
pub struct Pixel;

impl Transform for Pixel {
    fn forward(&self, _plane: &mut [f64]) {}

    fn inverse(&self, _coefficients: &mut [f64]) {}
}
