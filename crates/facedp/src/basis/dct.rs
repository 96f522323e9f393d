//! The orthonormal two-dimensional DCT-II, as `scipy.fft.dctn(norm="ortho")` defines it.
//!
//! `C[u][v] = a_u a_v sum_yx P[y][x] cos(pi u (2y+1) / 2H) cos(pi v (2x+1) / 2W)` with
//! `a_0 = sqrt(1/n)` and `a_u = sqrt(2/n)` otherwise. The one-dimensional transforms are
//! `rustdct`'s, which are not normalised and, in the inverse, halve the first value.

use std::sync::Arc;

use rustdct::{DctPlanner, TransformType2And3};

use super::Transform;

/// A planned two-dimensional DCT-II and its inverse.
pub struct Dct {
    width: usize,
    height: usize,
    rows: Arc<dyn TransformType2And3<f64>>,
    columns: Arc<dyn TransformType2And3<f64>>,
}

impl Dct {
    /// Plans the transform for planes of one size.
    pub fn new(width: usize, height: usize) -> Self {
        let mut planner = DctPlanner::new();
        let (rows, columns) = (planner.plan_dct2(width), planner.plan_dct2(height));
        Self { width, height, rows, columns }
    }

    fn scratch(&self) -> Vec<f64> {
        vec![0.0; self.rows.get_scratch_len().max(self.columns.get_scratch_len())]
    }
}

impl Transform for Dct {
    fn forward(&self, plane: &mut [f64]) {
        let mut scratch = self.scratch();
        let mut turned = vec![0.0; plane.len()];
        let pass = |lines: &mut [f64], dct: &dyn TransformType2And3<f64>, scratch: &mut [f64]| {
            let n = dct.len();
            let (first, rest) = ((1.0 / n as f64).sqrt(), (2.0 / n as f64).sqrt());
            let scratch = &mut scratch[..dct.get_scratch_len()];
            for line in lines.chunks_exact_mut(n) {
                dct.process_dct2_with_scratch(line, scratch);
                line[0] *= first;
                line[1..].iter_mut().for_each(|c| *c *= rest);
            }
        };
        pass(plane, &*self.rows, &mut scratch);
        transpose(plane, self.width, &mut turned);
        pass(&mut turned, &*self.columns, &mut scratch);
        transpose(&turned, self.height, plane);
    }

    fn inverse(&self, coefficients: &mut [f64]) {
        let mut scratch = self.scratch();
        let mut turned = vec![0.0; coefficients.len()];
        let pass = |lines: &mut [f64], dct: &dyn TransformType2And3<f64>, scratch: &mut [f64]| {
            let n = dct.len();
            let (first, rest) = ((4.0 / n as f64).sqrt(), (2.0 / n as f64).sqrt());
            let scratch = &mut scratch[..dct.get_scratch_len()];
            // A few noisy coefficients leave most lines of the first pass empty.
            for line in lines.chunks_exact_mut(n).filter(|l| l.iter().any(|&c| c != 0.0)) {
                line[0] *= first;
                line[1..].iter_mut().for_each(|c| *c *= rest);
                dct.process_dct3_with_scratch(line, scratch);
            }
        };
        pass(coefficients, &*self.rows, &mut scratch);
        transpose(coefficients, self.width, &mut turned);
        pass(&mut turned, &*self.columns, &mut scratch);
        transpose(&turned, self.height, coefficients);
    }
}

/// Writes the transpose of `from`, whose rows have `width` values, in blocks that fit a cache.
fn transpose(from: &[f64], width: usize, to: &mut [f64]) {
    const BLOCK: usize = 8;
    let height = from.len() / width.max(1);
    for y0 in (0..height).step_by(BLOCK) {
        for x0 in (0..width).step_by(BLOCK) {
            for x in x0..(x0 + BLOCK).min(width) {
                for y in y0..(y0 + BLOCK).min(height) {
                    to[x * height + y] = from[y * width + x];
                }
            }
        }
    }
}
