//! Rows of lifted noise.
//!
//! What is done to each pixel is compiled for the vector instructions of the machine it runs on: `pulp` calls it
//! from functions that are, and everything in it is inlined there. A closure would not be.

use std::cell::RefCell;

use facedp::Plane;
use facedp_nets::Similarity;
use pulp::{Arch, NullaryFnOnce};

#[cfg(target_arch = "x86_64")]
use super::permuted::{Block, Permuted};
use super::{Tap, faded};

/// Noise row by row. The last value of each row comes twice, so that every value has a neighbour.
pub(super) struct Noise {
    side: usize,
    values: Vec<f32>,
}

impl Noise {
    pub(super) fn new(plane: &Plane) -> Self {
        let side = plane.width();
        let mut values = Vec::with_capacity(plane.data().len() + side);
        for row in plane.data().chunks_exact(side) {
            values.extend(row.iter().map(|value| *value as f32));
            values.extend(row.last().map(|value| *value as f32));
        }
        Self { side, values }
    }

    #[inline(always)]
    fn row(&self, y: usize) -> &[f32] {
        &self.values[y * (self.side + 1)..][..self.side + 1]
    }
}

/// A value and its neighbour to the right.
#[inline(always)]
fn pair(row: &[f32], first: usize) -> [f32; 2] {
    row.get(first..).and_then(|rest| rest.first_chunk()).copied().unwrap_or_default()
}

#[inline(always)]
fn between(a: f32, b: f32, weight: f32) -> f32 {
    a + weight * (b - a)
}

/// The columns of an upright chip: how each is interpolated along a row of noise.
pub(super) struct Columns {
    firsts: Vec<u32>,
    weights: Vec<f32>,
    fades: Vec<f32>,
    /// The last two rows of noise that were needed: the next row of the photo mostly needs the same.
    spread: RefCell<[Spread; 2]>,
    /// None for small faces.
    #[cfg(target_arch = "x86_64")]
    blocks: Option<Vec<Block>>,
}

/// A row of noise, as pairs of neighbours for each column.
#[derive(Default)]
struct Spread {
    row: Option<usize>,
    pairs: Vec<[f32; 2]>,
}

impl Columns {
    /// For rows of `side` values.
    pub(super) fn new(taps: &[Tap], side: usize) -> Self {
        Self {
            firsts: taps.iter().map(|tap| tap.first as u32).collect(),
            weights: taps.iter().map(|tap| tap.weight).collect(),
            fades: taps.iter().map(|tap| tap.fade).collect(),
            spread: RefCell::default(),
            #[cfg(target_arch = "x86_64")]
            blocks: Block::all(taps, side + 1),
        }
    }

    /// Adds a row of noise, which lies between two rows.
    pub(super) fn add(&self, noise: &Noise, down: &Tap, out: &mut [f32]) {
        if down.fade == 0.0 {
            return;
        }
        #[cfg(target_arch = "x86_64")]
        if let (Arch::V4(simd), Some(blocks)) = (Arch::new(), &self.blocks) {
            let rows = [down.first, down.second].map(|row| noise.row(row));
            return simd.vectorize(Permuted { simd, blocks, rows, down, out });
        }
        let mut spread = self.spread.borrow_mut();
        for row in [down.first, down.second] {
            let Spread { row: known, pairs } = &mut spread[row % 2];
            if *known != Some(row) {
                *known = Some(row);
                let noise = noise.row(row);
                pairs.clear();
                pairs.extend(self.firsts.iter().map(|first| pair(noise, *first as usize)));
            }
        }
        let [upper, lower] = [down.first, down.second].map(|row| &*spread[row % 2].pairs);
        Arch::new().dispatch(Mixed { columns: self, upper, lower, down, out });
    }
}

/// Adds what lies between two rows of noise.
struct Mixed<'a> {
    columns: &'a Columns,
    upper: &'a [[f32; 2]],
    lower: &'a [[f32; 2]],
    down: &'a Tap,
    out: &'a mut [f32],
}

impl NullaryFnOnce for Mixed<'_> {
    type Output = ();

    #[inline(always)]
    fn call(self) {
        let Self { columns, upper, lower, down: Tap { weight, fade, .. }, out } = self;
        let across = columns.weights.iter().zip(&columns.fades);
        for (((out, across), upper), lower) in out.iter_mut().zip(across).zip(upper).zip(lower) {
            let [a, b] = [0, 1].map(|n| fade * between(upper[n], lower[n], *weight));
            *out += across.1 * between(a, b, *across.0);
        }
    }
}

/// Pixels whose places are computed together.
const RUN: usize = 64;

/// Adds a row of the photo across a chip that is turned.
pub(super) struct Turned<'a> {
    pub(super) noise: &'a Noise,
    /// From photo to noise.
    pub(super) placement: &'a Similarity,
    /// Whether noise fades out to the left and right, and at the top and bottom.
    pub(super) fades: [[bool; 2]; 2],
    /// The first pixel of the row.
    pub(super) first: [usize; 2],
    pub(super) out: &'a mut [f32],
}

impl NullaryFnOnce for Turned<'_> {
    type Output = ();

    #[inline(always)]
    fn call(self) {
        let Self { noise: Noise { side, values }, placement, fades, first: [first, y], out } = self;
        let (length, stride) = (*side as f32, (*side as u32).wrapping_add(1));
        for (n, out) in out.chunks_mut(RUN).enumerate() {
            let [mut across, mut down, mut fade] = [[0.0; RUN]; 3];
            let [mut upper, mut lower] = [[0; RUN]; 2];
            for x in 0..RUN {
                let pixel = [(first + n * RUN).wrapping_add(x) as f32, y as f32];
                let place = placement.apply(pixel);
                let inside = place.map(|at| at >= -0.5 && at < length - 0.5);
                let left = [0, 1].map(|n| faded(place[n], length, fades[n]));
                fade[x] = if inside[0] & inside[1] { left[0] * left[1] } else { 0.0 };
                let place = place.map(|at| at.max(0.0).min(length - 1.0));
                let [left, top] = place.map(|at| at as i32 as u32);
                [across[x], down[x]] = [place[0] - left as f32, place[1] - top as f32];
                upper[x] = top.wrapping_mul(stride).wrapping_add(left);
                // The last row is its own neighbour.
                let next = if top.wrapping_add(2) < stride { stride } else { 0 };
                lower[x] = upper[x].wrapping_add(next);
            }
            if fade.iter().all(|fade| *fade == 0.0) {
                continue;
            }
            let [mut first, mut second] = [[[0.0; 2]; RUN]; 2];
            for x in 0..out.len() {
                first[x] = pair(values, upper[x] as usize);
                second[x] = pair(values, lower[x] as usize);
            }
            for (x, out) in out.iter_mut().enumerate() {
                let a = between(first[x][0], first[x][1], across[x]);
                let b = between(second[x][0], second[x][1], across[x]);
                *out += fade[x] * between(a, b, down[x]);
            }
        }
    }
}

#[cfg(all(test, target_arch = "x86_64"))]
mod tests {
    use super::*;

    /// With and without permutations; a side of 16 and 300 columns, and columns that lie outside.
    #[test]
    fn all_processors_add_the_same() {
        for (side, columns, scale) in
            [(128, 250, 0.512), (16, 300, 0.05), (128, 37, 0.8), (64, 90, 1.0)]
        {
            let mut plane = Plane::zeros(side, side);
            let values = plane.data_mut().iter_mut().enumerate();
            values.for_each(|(n, value)| *value = (0.7 * n as f64).sin());
            let noise = Noise::new(&plane);
            let tap = |x: usize| Tap::new(scale * x as f32 - 3.2, side, [true, false]);
            let taps: Vec<Tap> = (0..columns).map(tap).collect();
            let permuted = Columns::new(&taps, side);
            assert_eq!(permuted.blocks.is_some(), scale < 0.9);
            let plain = Columns { blocks: None, ..Columns::new(&taps, side) };
            for down in &taps {
                let [one, two] = [&permuted, &plain].map(|columns| {
                    let mut line = vec![0.25; taps.len()];
                    columns.add(&noise, down, &mut line);
                    line
                });
                assert_eq!(one, two);
            }
        }
    }
}
