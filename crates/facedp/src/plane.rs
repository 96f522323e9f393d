//! A rectangle of grey levels.

use crate::error::{Error, Result};
use crate::linear::dot;

/// A rectangle of real numbers, row by row: grey levels 0..=255, noise, or coefficients.
///
/// Values are neither rounded nor clamped; that happens when a picture is written.
///
/// ```
/// use facedp::Plane;
/// let plane = Plane::new(2, 2, vec![1.0, 2.0, 3.0, 5.0])?;
/// assert_eq!(plane.row(1), [3.0, 5.0]);
/// # Ok::<(), facedp::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Plane {
    width: usize,
    height: usize,
    data: Vec<f64>,
}

impl Plane {
    /// `data` is row-major.
    pub fn new(width: usize, height: usize, data: Vec<f64>) -> Result<Self> {
        let expected = width.saturating_mul(height);
        if data.len() != expected {
            return Err(Error::PlaneData { width, height, expected, found: data.len() });
        }
        Ok(Self { width, height, data })
    }

    pub fn zeros(width: usize, height: usize) -> Self {
        Self { width, height, data: vec![0.0; width * height] }
    }

    pub fn width(&self) -> usize {
        self.width
    }

    pub fn height(&self) -> usize {
        self.height
    }

    pub fn data(&self) -> &[f64] {
        &self.data
    }

    pub fn data_mut(&mut self) -> &mut [f64] {
        &mut self.data
    }

    pub fn row(&self, y: usize) -> &[f64] {
        &self.data[y * self.width..(y + 1) * self.width]
    }

    /// The part of `width` by `height` pixels from column `x` and row `y` on, which must lie inside.
    pub fn crop(&self, x: usize, y: usize, width: usize, height: usize) -> Self {
        let data = (y..y + height).flat_map(|y| &self.row(y)[x..x + width]).copied().collect();
        Self { width, height, data }
    }

    /// The sum of squares, which every orthonormal basis preserves.
    pub fn energy(&self) -> f64 {
        dot(&self.data, &self.data)
    }

    pub(crate) fn require_same_size(&self, other: &Plane) -> Result<()> {
        other.require_size(self.width, self.height)
    }

    pub(crate) fn require_size(&self, expected_width: usize, expected_height: usize) -> Result<()> {
        if (self.width, self.height) == (expected_width, expected_height) {
            return Ok(());
        }
        let (width, height) = (self.width, self.height);
        Err(Error::PlaneSize { expected_width, expected_height, width, height })
    }

    /// Fails if any value is NaN or infinite.
    pub(crate) fn require_finite(&self) -> Result<()> {
        match self.data.iter().position(|v| !v.is_finite()) {
            Some(index) => Err(Error::NotFinite { index }),
            None => Ok(()),
        }
    }
}
