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
    rows: Line,
    columns: Line,
}

impl Dct {
    /// Plans the transform for planes of one size.
    pub fn new(width: usize, height: usize) -> Self {
        let mut planner = DctPlanner::new();
        Self { rows: Line(planner.plan_dct2(width)), columns: Line(planner.plan_dct2(height)) }
    }

    /// Applies a one-dimensional step to every row, then to every column.
    fn along_both(&self, plane: &mut [f64], step: impl Fn(&Line, &mut [f64], &mut [f64])) {
        let mut scratch = vec![0.0; self.rows.scratch_len().max(self.columns.scratch_len())];
        let mut turned = vec![0.0; plane.len()];
        let mut pass = |lines: &mut [f64], dct: &Line| {
            let scratch = &mut scratch[..dct.scratch_len()];
            lines.chunks_exact_mut(dct.len()).for_each(|line| step(dct, line, scratch));
        };
        pass(plane, &self.rows);
        transpose(plane, self.rows.len(), &mut turned);
        pass(&mut turned, &self.columns);
        transpose(&turned, self.columns.len(), plane);
    }
}

/// A planned one-dimensional transform.
struct Line(Arc<dyn TransformType2And3<f64>>);

impl Line {
    fn len(&self) -> usize {
        self.0.len()
    }

    fn scratch_len(&self) -> usize {
        self.0.get_scratch_len()
    }

    /// Multiplies the first value by `sqrt(first / n)` and the others by `sqrt(2 / n)`.
    fn scale(&self, line: &mut [f64], first: f64) {
        let n = self.len() as f64;
        line[0] *= (first / n).sqrt();
        line[1..].iter_mut().for_each(|c| *c *= (2.0 / n).sqrt());
    }
}

impl Transform for Dct {
    fn forward(&self, plane: &mut [f64]) {
        self.along_both(plane, |dct, line, scratch| {
            dct.0.process_dct2_with_scratch(line, scratch);
            dct.scale(line, 1.0);
        });
    }

    fn inverse(&self, coefficients: &mut [f64]) {
        self.along_both(coefficients, |dct, line, scratch| {
            // A few noisy coefficients leave most rows empty.
            if line.iter().any(|&c| c != 0.0) {
                dct.scale(line, 4.0);
                dct.0.process_dct3_with_scratch(line, scratch);
            }
        });
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
