//! The identity basis, for planes of any size.

use super::Transform;

#[derive(Debug, Clone, Copy)]
pub(crate) struct Pixel;

impl Transform for Pixel {
    fn forward(&self, _plane: &mut [f64]) {}

    fn inverse(&self, _coefficients: &mut [f64]) {}
}
