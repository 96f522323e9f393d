//! Features as integers: the public boxes, divided into equal cells.

use crate::error::{Error, Result};
use crate::faces::FaceModel;

/// The number of cells in every box. A power of two, so borders of cells are exact in floating point.
pub const CELLS: i64 = 1 << 16;
/// No feature of a picture exceeds this.
const FARTHEST: f64 = 1e12;

/// Features of a face as cell numbers. 0 and [`CELLS`] are the ends of the box; features outside the
/// box have numbers beyond them. **Private.**
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cells(pub(super) Vec<i64>);

impl Cells {
    /// For audits and tests; [`Grid::cells`] computes cells from features.
    pub fn new(numbers: Vec<i64>) -> Self {
        Self(numbers)
    }

    pub fn numbers(&self) -> &[i64] {
        &self.0
    }
}

/// The positions and widths of the cells.
#[derive(Debug, Clone, PartialEq)]
pub struct Grid {
    low: Vec<f64>,
    width: Vec<f64>,
}

impl Grid {
    /// The grid of the first `features` boxes of a model, widened to whole grey levels.
    pub(super) fn new(model: &FaceModel, features: usize) -> Result<Self> {
        let boxes = &model.boxes()[..features];
        let low: Vec<f64> = boxes.iter().map(|[low, _]| low.floor()).collect();
        let width: Vec<f64> = boxes.iter().map(|[low, high]| high.ceil() - low.floor()).collect();
        let sane = |n: usize| low[n].abs() < 1e9 && (1.0..1e9).contains(&width[n]);
        match (0..features).find(|n| !sane(*n)) {
            Some(n) => Err(Error::Box { feature: n + 1, low: boxes[n][0], high: boxes[n][1] }),
            None => Ok(Self { low, width }),
        }
    }

    /// `Delta_i`: the widths of the boxes.
    pub fn widths(&self) -> &[f64] {
        &self.width
    }

    /// The cells nearest to features, inside or outside the boxes. NaN becomes the middle of the box. The
    /// proof needs only that cells are integers, however they are rounded (proofs/mechanisms.md).
    pub fn cells(&self, features: &[f64]) -> Cells {
        let cell = |(n, feature): (usize, &f64)| match feature.is_nan() {
            true => CELLS / 2,
            false => {
                let feature = feature.clamp(-FARTHEST, FARTHEST);
                ((feature - self.low[n]) / self.width[n] * CELLS as f64).round() as i64
            }
        };
        Cells(features.iter().enumerate().map(cell).collect())
    }

    /// The value of a feature in the middle of a cell.
    pub fn value(&self, feature: usize, cell: i64) -> f64 {
        self.low[feature] + cell as f64 * (self.width[feature] / CELLS as f64)
    }

    /// The values of features in the middle of their cells.
    pub fn values(&self, cells: &Cells) -> Vec<f64> {
        cells.0.iter().enumerate().map(|(n, cell)| self.value(n, *cell)).collect()
    }

    pub(super) fn clip(&self, feature: usize, value: f64) -> f64 {
        value.clamp(self.low[feature], self.low[feature] + self.width[feature])
    }
}
