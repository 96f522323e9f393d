//! 3x3 convolution by Winograd's algorithm F(2x2, 3x3): 16 products for 4 values instead of 36.
//!
//! Four matrices `A^T [(G g G^T) * (B^T d B)] A` give a tile of 2x2 values from 4x4 inputs `d` and the window
//! `g` (Lavin, Gray: *Fast Algorithms for Convolutional Neural Networks*, 2016). The sums over channels are 16
//! matrix products, one for each position in a tile.
//!
//! The gradient is the same convolution with every window turned by 180 degrees. That exchanges the first and
//! the last row and column of `G g G^T`, so both directions use the same weights.

use faer::linalg::matmul::matmul;
use faer::{Accum, MatMut, MatRef, Par};

use super::Shape;
use super::activation::Epilogue;
use super::target::Target;

/// Values that are computed together.
const LANES: usize = 8;
type Lanes = [f32; LANES];

/// A convolution with windows of 3x3, stride 1, padding 1 and a bias.
#[derive(Debug, Clone)]
pub(crate) struct Winograd {
    inputs: usize,
    /// `G g G^T`: 16 matrices of `outputs x inputs`, row by row.
    weights: Vec<f32>,
    bias: Vec<f32>,
}

/// The tiles of a picture. Positions that have the same parity in both directions are a plane, so that tiles
/// next to each other are next to each other in memory.
#[derive(Clone, Copy)]
struct Tiles {
    shape: Shape,
    /// Tiles in a row, and one that is not used.
    pitch: usize,
    /// All tiles, rounded up.
    count: usize,
}

impl Tiles {
    fn new(shape: Shape) -> Self {
        let pitch = shape.width.div_ceil(2) + 1;
        let count = (shape.height.div_ceil(2) * pitch).next_multiple_of(LANES);
        Self { shape, pitch, count }
    }

    /// The length of a plane: tiles read up to one row and one position further.
    fn plane(self) -> usize {
        self.count + self.pitch + LANES
    }

    /// Writes a channel to the four planes, which are zero in the padding.
    #[inline(always)]
    fn split(self, channel: &[f32], planes: &mut [f32]) {
        let (even, odd) = planes.split_at_mut(2 * self.plane());
        for (y, line) in (1..).zip(channel.chunks_exact(self.shape.width)) {
            let rows = if y % 2 == 0 { &mut *even } else { &mut *odd };
            let (left, right) = rows.split_at_mut(self.plane());
            let at = y / 2 * self.pitch;
            // A padding of one: the first value of a line is in an odd column.
            right[at..].iter_mut().zip(line.iter().step_by(2)).for_each(|(p, v)| *p = *v);
            left[at + 1..].iter_mut().zip(line[1..].iter().step_by(2)).for_each(|(p, v)| *p = *v);
        }
    }

    /// Calls `visit(line, value in even columns, value in odd columns)` for every line of a channel.
    #[inline(always)]
    fn join<'c>(
        self,
        planes: &[f32],
        channel: &'c mut [f32],
        mut visit: impl FnMut(&'c mut [f32], &[f32], &[f32]),
    ) {
        for (y, line) in channel.chunks_exact_mut(self.shape.width).enumerate() {
            let rows = &planes[y % 2 * 2 * self.count..][..2 * self.count];
            let (left, right) = rows.split_at(self.count);
            let at = y / 2 * self.pitch;
            visit(line, &left[at..], &right[at..]);
        }
    }
}

/// `B^T d` along one direction. Loops, not closures: the compiler would not always inline those.
#[inline(always)]
fn spread([a, b, c, d]: [Lanes; 4]) -> [Lanes; 4] {
    let mut spread = [[0.0; LANES]; 4];
    for i in 0..LANES {
        spread[0][i] = a[i] - c[i];
        spread[1][i] = b[i] + c[i];
        spread[2][i] = c[i] - b[i];
        spread[3][i] = b[i] - d[i];
    }
    spread
}

/// `A^T m` along one direction.
#[inline(always)]
fn collect([a, b, c, d]: [Lanes; 4]) -> [Lanes; 2] {
    let mut sums = [[0.0; LANES]; 2];
    for i in 0..LANES {
        sums[0][i] = a[i] + b[i] + c[i];
        sums[1][i] = b[i] - c[i] - d[i];
    }
    sums
}

/// The first `count` values, eight by eight.
#[inline(always)]
fn lanes(values: &[f32], count: usize) -> &[Lanes] {
    &values.as_chunks().0[..count]
}

/// `B^T d B` of every tile of a channel: 16 lines, `step` apart in `to`.
#[inline(always)]
fn spread_tiles(tiles: Tiles, planes: &[f32], to: &mut [f32], step: usize) {
    let count = tiles.count / LANES;
    // Row r and column c of a tile.
    let tile: [&[Lanes]; 16] = std::array::from_fn(|n| {
        let (r, c) = (n / 4, n % 4);
        let plane = (r % 2 * 2 + c % 2) * tiles.plane();
        lanes(&planes[plane + r / 2 * tiles.pitch + c / 2..], count)
    });
    let mut lines = to.chunks_mut(step).map(|line| &mut line.as_chunks_mut().0[..count]);
    let to: [&mut [Lanes]; 16] = std::array::from_fn(|_| lines.next().unwrap_or_default());
    if to.iter().any(|line| line.len() != count) {
        return; // never: this spares the loop its checks
    }
    for n in 0..count {
        let mut columns = [[[0.0; LANES]; 4]; 4];
        for (c, column) in columns.iter_mut().enumerate() {
            *column = spread([tile[c][n], tile[4 + c][n], tile[8 + c][n], tile[12 + c][n]]);
        }
        for r in 0..4 {
            let row = spread([columns[0][r], columns[1][r], columns[2][r], columns[3][r]]);
            for c in 0..4 {
                to[4 * r + c][n] = row[c];
            }
        }
    }
}

/// `A^T m A` of every tile of a channel, from 16 lines `step` apart: four planes of `count` values.
#[inline(always)]
fn collect_tiles(tiles: Tiles, from: &[f32], step: usize, planes: &mut [f32]) {
    let count = tiles.count / LANES;
    let from: [&[Lanes]; 16] = std::array::from_fn(|n| lanes(&from[n * step..], count));
    let mut lines = planes.chunks_mut(tiles.count).map(|line| &mut line.as_chunks_mut().0[..count]);
    let to: [&mut [Lanes]; 4] = std::array::from_fn(|_| lines.next().unwrap_or_default());
    if to.iter().any(|line| line.len() != count) {
        return; // never: this spares the loop its checks
    }
    for n in 0..count {
        let mut columns = [[[0.0; LANES]; 2]; 4];
        for (c, column) in columns.iter_mut().enumerate() {
            *column = collect([from[c][n], from[4 + c][n], from[8 + c][n], from[12 + c][n]]);
        }
        for r in 0..2 {
            let row = collect([columns[0][r], columns[1][r], columns[2][r], columns[3][r]]);
            for c in 0..2 {
                to[2 * r + c][n] = row[c];
            }
        }
    }
}

/// `G g` along one direction.
fn widen([a, b, c]: [f32; 3]) -> [f32; 4] {
    [a, 0.5 * (a + b + c), 0.5 * (a - b + c), c]
}

impl Winograd {
    /// A convolution of `inputs` channels, with one bias per output channel. `None` if the number of
    /// weights does not match.
    pub(crate) fn new(inputs: usize, windows: &[f32], bias: Vec<f32>) -> Option<Self> {
        let (windows, rest) = windows.as_chunks::<9>();
        if windows.len() != inputs * bias.len() || !rest.is_empty() {
            return None;
        }
        let mut weights = vec![0.0; 16 * windows.len()];
        for (n, window) in windows.iter().enumerate() {
            let columns: [[f32; 4]; 3] =
                std::array::from_fn(|c| widen([window[c], window[3 + c], window[6 + c]]));
            for r in 0..4 {
                for (c, value) in widen(columns.map(|column| column[r])).into_iter().enumerate() {
                    weights[(4 * r + c) * windows.len() + n] = value;
                }
            }
        }
        Some(Self { inputs, weights, bias })
    }

    pub(super) fn outputs(&self) -> usize {
        self.bias.len()
    }

    pub(super) fn shape(&self, from: Shape) -> Shape {
        Shape { channels: self.bias.len(), ..from }
    }

    /// Four planes, 16 positions of all tiles of all channels, and four planes of a result.
    pub(super) fn scratch_len(&self, from: Shape) -> usize {
        let tiles = Tiles::new(from);
        4 * tiles.plane() + (16 * (self.inputs + self.bias.len()) + 4) * tiles.count
    }

    fn weights(&self, position: usize) -> MatRef<'_, f32> {
        let (rows, columns) = (self.bias.len(), self.inputs);
        let matrix = &self.weights[position * rows * columns..][..rows * columns];
        MatRef::from_row_major_slice(matrix, rows, columns)
    }

    #[inline(always)]
    pub(super) fn forward(
        &self,
        input: &[f32],
        from: Shape,
        epilogue: Epilogue<'_>,
        (output, passed): (&mut [f32], &mut [bool]),
        scratch: &mut [f32],
    ) {
        let tiles = Tiles::new(from);
        let channels = (self.inputs, self.bias.len());
        let matrix = |position| self.weights(position);
        let (products, planes) = multiply(tiles, input, channels, matrix, scratch);
        let step = channels.1 * tiles.count;
        for (n, (values, &bias)) in output.chunks_exact_mut(from.area()).zip(&self.bias).enumerate()
        {
            collect_tiles(tiles, &products[n * tiles.count..], step, planes);
            tiles.join(planes, values, |line, left, right| {
                line.iter_mut().step_by(2).zip(left).for_each(|(v, l)| *v = *l);
                line[1..].iter_mut().step_by(2).zip(right).for_each(|(v, r)| *v = *r);
            });
            epilogue.channel(n, bias, values, passed);
        }
    }

    /// Writes or adds the gradient with respect to the input.
    #[inline(always)]
    pub(super) fn backward(
        &self,
        upstream: &[f32],
        from: Shape,
        gradient: Target<'_>,
        scratch: &mut [f32],
    ) {
        let tiles = Tiles::new(from);
        let channels = (self.bias.len(), self.inputs);
        let turned = |n: usize| [3, 1, 2, 0][n];
        let matrix = |n: usize| self.weights(4 * turned(n / 4) + turned(n % 4)).transpose();
        let (products, planes) = multiply(tiles, upstream, channels, matrix, scratch);
        let step = channels.1 * tiles.count;
        let Target { first, values } = gradient;
        for (n, values) in values.chunks_exact_mut(from.area()).enumerate() {
            collect_tiles(tiles, &products[n * tiles.count..], step, planes);
            tiles.join(planes, values, |line, left, right| {
                if first {
                    line.iter_mut().step_by(2).zip(left).for_each(|(v, l)| *v = *l);
                    line[1..].iter_mut().step_by(2).zip(right).for_each(|(v, r)| *v = *r);
                } else {
                    line.iter_mut().step_by(2).zip(left).for_each(|(v, l)| *v += *l);
                    line[1..].iter_mut().step_by(2).zip(right).for_each(|(v, r)| *v += *r);
                }
            });
        }
    }
}

/// Spreads all channels and multiplies them by a matrix for each position. Returns the products (positions,
/// then channels, then tiles) and memory for four planes of a result.
#[inline(always)]
fn multiply<'s, 'w>(
    tiles: Tiles,
    input: &[f32],
    (inputs, outputs): (usize, usize),
    matrix: impl Fn(usize) -> MatRef<'w, f32>,
    scratch: &'s mut [f32],
) -> (&'s [f32], &'s mut [f32]) {
    let count = tiles.count;
    let (planes, rest) = scratch.split_at_mut(4 * tiles.plane());
    let (spread, rest) = rest.split_at_mut(16 * inputs * count);
    let (products, rest) = rest.split_at_mut(16 * outputs * count);
    planes.fill(0.0);
    for (n, channel) in input.chunks_exact(tiles.shape.area()).enumerate() {
        tiles.split(channel, planes);
        spread_tiles(tiles, planes, &mut spread[n * count..], inputs * count);
    }
    let parts = spread.chunks_exact(inputs * count).zip(products.chunks_exact_mut(outputs * count));
    for (position, (spread, product)) in parts.enumerate() {
        let target = MatMut::from_row_major_slice_mut(product, outputs, count);
        let spread = MatRef::from_row_major_slice(spread, inputs, count);
        matmul(target, Accum::Replace, matrix(position), spread, 1.0, Par::Seq);
    }
    (products, &mut rest[..4 * count])
}
