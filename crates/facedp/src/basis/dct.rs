//! The orthonormal two-dimensional DCT-II, as `scipy.fft.dctn(norm="ortho")` defines it.
//!
//! `C[u][v] = a_u a_v sum_yx P[y][x] cos(pi u (2y+1) / 2H) cos(pi v (2x+1) / 2W)` with
//! `a_0 = sqrt(1/n)` and `a_u = sqrt(2/n)` otherwise. The one-dimensional transforms come from
//! `rustdct`, which does not normalise and halves the first value in the inverse.

use std::sync::Arc;

use facedp_linalg::{MatMut, MatRef, product_into};
use rustdct::{DctPlanner, TransformType2And3};

use super::Transform;

pub(super) struct Dct {
    rows: Line,
    columns: Line,
}

impl Dct {
    pub(super) fn new(width: usize, height: usize) -> Self {
        let mut planner = DctPlanner::new();
        Self { rows: Line::new(width, &mut planner), columns: Line::new(height, &mut planner) }
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

/// A planned one-dimensional transform, and its basis.
struct Line {
    plan: Arc<dyn TransformType2And3<f64>>,
    /// `a_u cos(pi u (2x+1) / 2n)` for every `u`, one after the other.
    basis: Vec<f64>,
}

impl Line {
    fn new(n: usize, planner: &mut DctPlanner<f64>) -> Self {
        let step = std::f64::consts::PI / (2 * n) as f64;
        let entry = |u: usize, x: usize| {
            let size = (if u == 0 { 1.0 } else { 2.0 } / n as f64).sqrt();
            // Reduced to one turn first: cosines of small angles are more accurate.
            size * ((u * (2 * x + 1) % (4 * n)) as f64 * step).cos()
        };
        let basis = (0..n * n).map(|i| entry(i / n, i % n)).collect();
        Self { plan: planner.plan_dct2(n), basis }
    }

    fn len(&self) -> usize {
        self.plan.len()
    }

    fn scratch_len(&self) -> usize {
        self.plan.get_scratch_len()
    }

    fn cosines(&self, frequency: usize) -> &[f64] {
        &self.basis[frequency * self.len()..][..self.len()]
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
            dct.plan.process_dct2_with_scratch(line, scratch);
            dct.scale(line, 1.0);
        });
    }

    fn inverse(&self, coefficients: &mut [f64]) {
        self.along_both(coefficients, |dct, line, scratch| {
            dct.scale(line, 4.0);
            dct.plan.process_dct3_with_scratch(line, scratch);
        });
    }

    /// Sums the few rows that hold coefficients from their cosines. The plane is then a thin matrix
    /// product of the columns' cosines with those rows.
    fn synthesise(&self, sparse: &[(usize, f64)], plane: &mut [f64]) {
        let (width, height) = (self.rows.len(), self.columns.len());
        let mut used: Vec<usize> = sparse.iter().map(|(index, _)| index / width).collect();
        used.sort_unstable();
        used.dedup();
        let mut lines = vec![0.0; used.len() * width];
        for (row, line) in used.iter().zip(lines.chunks_exact_mut(width)) {
            for (index, value) in sparse.iter().filter(|(index, _)| index / width == *row) {
                let cosines = self.rows.cosines(index % width);
                line.iter_mut().zip(cosines).for_each(|(l, c)| *l += value * c);
            }
        }
        let columns: Vec<f64> =
            used.iter().flat_map(|&row| self.columns.cosines(row)).copied().collect();
        product_into(
            MatMut::from_row_major_slice_mut(plane, height, width),
            MatRef::from_column_major_slice(&columns, height, used.len()),
            MatRef::from_row_major_slice(&lines, used.len(), width),
        );
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
