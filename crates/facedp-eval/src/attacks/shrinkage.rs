//! Wavelet shrinkage: small Haar coefficients are taken for noise and removed (Donoho and Johnstone 1994).

use facedp_engine::Picture;

use super::{Attack, by_plane};
use crate::error::Result;

/// Three levels. Soft threshold `sigma sqrt(2 ln n)`, with sigma estimated from the finest diagonal
/// coefficients.
pub struct Shrinkage;

const LEVELS: u32 = 3;
/// The median of |x| for a standard normal x.
const MEDIAN_OF_NORMAL: f32 = 0.6745;

impl Attack for Shrinkage {
    fn name(&self) -> &'static str {
        "wavelet-shrinkage"
    }

    fn apply(&self, picture: &Picture) -> Result<Picture> {
        by_plane(picture, |plane, width, height| {
            // Pad with the nearest pixels to whole blocks.
            let block = 1usize << LEVELS;
            let (wide, high) = (width.next_multiple_of(block), height.next_multiple_of(block));
            let source =
                |i: usize| plane[(i / wide).min(height - 1) * width + (i % wide).min(width - 1)];
            let mut values: Vec<f32> = (0..wide * high).map(source).collect();
            for level in 0..LEVELS {
                step(&mut values, wide, wide >> level, high >> level, forward);
            }
            let mut finest: Vec<f32> = (high / 2..high)
                .flat_map(|y| values[y * wide + wide / 2..(y + 1) * wide].iter().map(|v| v.abs()))
                .collect();
            finest.sort_unstable_by(f32::total_cmp);
            let sigma = finest.get(finest.len() / 2).copied().unwrap_or(0.0) / MEDIAN_OF_NORMAL;
            let threshold = sigma * (2.0 * ((wide * high) as f32).ln()).sqrt();
            let (coarse_wide, coarse_high) = (wide >> LEVELS, high >> LEVELS);
            for (i, value) in values.iter_mut().enumerate() {
                if i % wide >= coarse_wide || i / wide >= coarse_high {
                    *value = value.signum() * (value.abs() - threshold).max(0.0);
                }
            }
            for level in (0..LEVELS).rev() {
                step(&mut values, wide, wide >> level, high >> level, backward);
            }
            (0..width * height).map(|i| values[i / width * wide + i % width]).collect()
        })
    }
}

/// The orthonormal 2x2 Haar transform of four neighbours. It is its own inverse.
fn rotated([a, b, c, d]: [f32; 4]) -> [f32; 4] {
    [0.5 * (a + b + c + d), 0.5 * (a - b + c - d), 0.5 * (a + b - c - d), 0.5 * (a - b - c + d)]
}

type Positions = fn(usize, usize, usize, usize) -> ([usize; 4], [usize; 4]);

/// Positions of four neighbours, and of their four coefficients in the quarters of the region.
fn forward(x: usize, y: usize, width: usize, height: usize) -> ([usize; 4], [usize; 4]) {
    let at = |x: usize, y: usize| y << 32 | x;
    let pixels =
        [at(2 * x, 2 * y), at(2 * x + 1, 2 * y), at(2 * x, 2 * y + 1), at(2 * x + 1, 2 * y + 1)];
    let (right, below) = (width / 2, height / 2);
    (pixels, [at(x, y), at(x + right, y), at(x, y + below), at(x + right, y + below)])
}

fn backward(x: usize, y: usize, width: usize, height: usize) -> ([usize; 4], [usize; 4]) {
    let (pixels, coefficients) = forward(x, y, width, height);
    (coefficients, pixels)
}

/// Transforms one level, in place, on the upper left region of the plane.
fn step(values: &mut [f32], stride: usize, width: usize, height: usize, positions: Positions) {
    let old = values.to_vec();
    let index = |at: usize| (at >> 32) * stride + (at & 0xffff_ffff);
    for y in 0..height / 2 {
        for x in 0..width / 2 {
            let (from, to) = positions(x, y, width, height);
            let turned = rotated(from.map(|at| old[index(at)]));
            to.iter().zip(turned).for_each(|(at, value)| values[index(*at)] = value);
        }
    }
}
