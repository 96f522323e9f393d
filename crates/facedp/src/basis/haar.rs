//! The multi-level orthonormal two-dimensional Haar transform.
//!
//! One level turns each 2x2 block `[[a, b], [c, d]]` into
//!
//! ```text
//! cA = (a+b+c+d)/2   cV = (a-b+c-d)/2
//! cH = (a+b-c-d)/2   cD = (a-b-c+d)/2
//! ```
//!
//! and the next level does the same to the cA quarter. Coefficients are packed as
//! PyWavelets' `coeffs_to_array` packs them (here two levels):
//!
//! ```text
//! +-----+-----+-----------+
//! | cA2 | cV2 |           |
//! +-----+-----+    cV1    |
//! | cH2 | cD2 |           |
//! +-----+-----+-----------+
//! |           |           |
//! |    cH1    |    cD1    |
//! |           |           |
//! +-----------+-----------+
//! ```
//!
//! Existing crates (`osclet`, `omni-wave`, `wavelets`) use other layouts or scales, or need a newer
//! compiler.

use super::Transform;
use crate::error::{Error, Result};

/// A planned Haar transform of square planes whose side is a power of two.
///
/// Cost: `4/3` of one pass over the plane each way.
///
/// ```
/// use facedp::basis::{Haar, Transform};
/// let mut plane = [1.0, 2.0, 3.0, 5.0];
/// Haar::new(2, 2, None)?.forward(&mut plane);
/// assert_eq!(plane, [5.5, -1.5, -2.5, 0.5]); // cA, cV, cH, cD
/// # Ok::<(), facedp::Error>(())
/// ```
#[derive(Debug, Clone, Copy)]
pub struct Haar {
    side: usize,
    levels: u32,
}

impl Haar {
    /// Plans `levels` levels; `None` is the maximum, `log2(side)`.
    pub fn new(width: usize, height: usize, levels: Option<u32>) -> Result<Self> {
        if width != height || !width.is_power_of_two() || width < 2 {
            return Err(Error::HaarShape { width, height });
        }
        let max = width.trailing_zeros();
        let levels = levels.unwrap_or(max);
        if levels == 0 || levels > max {
            return Err(Error::HaarLevels { side: width, max, levels });
        }
        Ok(Self { side: width, levels })
    }

    /// Inverts `levels` levels of a `side x side` square of packed coefficients into `plane`, whose
    /// rows have `stride` values. Scratch of a quarter of the size holds the averages of each level.
    fn inverse_corner(corner: &[f64], side: usize, levels: u32, plane: &mut [f64], stride: usize) {
        let mut half = side >> levels;
        let mut average: Vec<f64> = Vec::with_capacity(side * side / 4);
        corner.chunks_exact(side).take(half).for_each(|row| average.extend(&row[..half]));
        let mut next = vec![0.0; side * side / 4];
        while half < side / 2 {
            unfold(&average, corner, side, half, &mut next, 2 * half);
            average.resize(4 * half * half, 0.0);
            average.copy_from_slice(&next[..4 * half * half]);
            half *= 2;
        }
        unfold(&average, corner, side, half, plane, stride);
    }

    /// The rows of the inverse of a sparse vector, from the top, each with how often it is repeated.
    ///
    /// Inverts only the corner that holds the non-zero coefficients. At finer levels, without details, each
    /// value is halved and repeated.
    fn for_each_row(&self, sparse: &[(usize, f64)], mut take: impl FnMut(&[f64], usize)) {
        let reach = |&(index, _): &(usize, f64)| (index / self.side).max(index % self.side) + 1;
        let reach = sparse.iter().map(reach).max().unwrap_or(1).next_power_of_two();
        let side = reach.max(self.side >> (self.levels - 1)).max(2);
        let mut corner = vec![0.0; side * side];
        for &(index, value) in sparse {
            corner[index / self.side * side + index % self.side] = value;
        }
        let repeat = self.side / side;
        let levels = self.levels - repeat.trailing_zeros();
        let mut small = vec![0.0; side * side];
        Self::inverse_corner(&corner, side, levels, &mut small, side);
        let scale = 1.0 / repeat as f64;
        let mut row = vec![0.0; self.side];
        for from in small.chunks_exact(side) {
            for (value, cells) in from.iter().zip(row.chunks_exact_mut(repeat)) {
                cells.fill(scale * value);
            }
            take(&row, repeat);
        }
    }
}

/// One inverse level: the averages (`half x half`) and their details in `corner` become a square of
/// twice the side in `out`.
fn unfold(
    average: &[f64],
    corner: &[f64],
    side: usize,
    half: usize,
    out: &mut [f64],
    stride: usize,
) {
    for y in 0..half {
        let a = &average[y * half..][..half];
        let v = &corner[y * side + half..][..half];
        let h = &corner[(y + half) * side..][..half];
        let d = &corner[(y + half) * side + half..][..half];
        let (upper, lower) = out[2 * y * stride..].split_at_mut(stride);
        let pairs = upper[..2 * half].chunks_exact_mut(2).zip(lower.chunks_exact_mut(2));
        for ((((a, v), h), d), (upper, lower)) in a.iter().zip(v).zip(h).zip(d).zip(pairs) {
            let (top, bottom) = (0.5 * (a + h), 0.5 * (a - h));
            let (rise, fall) = (0.5 * (v + d), 0.5 * (v - d));
            upper[0] = top + rise;
            upper[1] = top - rise;
            lower[0] = bottom + fall;
            lower[1] = bottom - fall;
        }
    }
}

impl Transform for Haar {
    fn forward(&self, plane: &mut [f64]) {
        let mut block = plane.to_vec();
        let mut side = self.side;
        for _ in 0..self.levels {
            let half = side / 2;
            for y in 0..half {
                for x in 0..half {
                    let upper = &block[2 * y * self.side + 2 * x..][..2];
                    let lower = &block[(2 * y + 1) * self.side + 2 * x..][..2];
                    let (top, bottom) = (upper[0] + upper[1], lower[0] + lower[1]);
                    let (rise, fall) = (upper[0] - upper[1], lower[0] - lower[1]);
                    plane[y * self.side + x] = 0.5 * (top + bottom);
                    plane[y * self.side + x + half] = 0.5 * (rise + fall);
                    plane[(y + half) * self.side + x] = 0.5 * (top - bottom);
                    plane[(y + half) * self.side + x + half] = 0.5 * (rise - fall);
                }
            }
            for y in 0..half {
                let row = y * self.side..y * self.side + half;
                block[row.clone()].copy_from_slice(&plane[row]);
            }
            side = half;
        }
    }

    fn inverse(&self, coefficients: &mut [f64]) {
        let packed = coefficients.to_vec();
        Self::inverse_corner(&packed, self.side, self.levels, coefficients, self.side);
    }

    fn synthesise(&self, sparse: &[(usize, f64)], plane: &mut [f64]) {
        let mut at = 0;
        self.for_each_row(sparse, |row, times| {
            for out in plane[at..][..times * self.side].chunks_exact_mut(self.side) {
                out.copy_from_slice(row);
            }
            at += times * self.side;
        });
    }

    fn add(&self, sparse: &[(usize, f64)], plane: &[f64]) -> Vec<f64> {
        let mut sum = Vec::with_capacity(plane.len());
        self.for_each_row(sparse, |row, times| {
            for plane in plane[sum.len()..][..times * self.side].chunks_exact(self.side) {
                // Compiled for long vectors, too.
                pulp::Arch::new().dispatch(|| {
                    sum.extend(plane.iter().zip(row).map(|(plane, row)| plane + row));
                });
            }
        });
        sum
    }
}
