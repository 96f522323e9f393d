//! The identity basis: noise goes straight into pixels.

use super::Transform;

/// The identity.
#[derive(Debug, Clone, Copy)]
pub struct Pixel(());

impl Pixel {
    /// The identity for planes of any size.
    pub fn new(_width: usize, _height: usize) -> Self {
        Self(())
    }
}

impl Transform for Pixel {
    fn forward(&self, _plane: &mut [f64]) {}

    fn inverse(&self, _coefficients: &mut [f64]) {}
}
