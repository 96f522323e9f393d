//! The convolution of a picture, with which every network begins.

use pulp::Simd;

use super::activation::{Epilogue, Finished};
use super::geometry::Tables;
use super::lanes::{LANES, Lanes, grouped};
use super::picture::{Bordered, COLOURS};
use super::products::{Along, InOrder, Products};
use super::registers::Registers;
use super::step::Part;
use super::target::GroupTarget;
use super::workspace::Scratch;
use super::{Shape, Window};

/// Columns that are added at once.
const EIGHT: usize = 8;

/// A convolution of a picture, with a bias.
#[derive(Debug, Clone)]
pub(crate) struct Stem {
    window: Window,
    outputs: usize,
    /// A matrix of colours x outputs for each group of outputs and position in the window.
    weights: Vec<Lanes>,
    /// A matrix of outputs x columns for each group of columns and group of outputs. A column is a position in the
    /// window and a colour; lines of the window are filled up to multiples of 8 columns.
    transposed: Vec<Lanes>,
    bias: Vec<Lanes>,
}

impl Stem {
    /// One bias per output channel. Weights come by output, colour and position in the window. `None` if their
    /// number does not match.
    pub(crate) fn new(
        window: Window,
        inputs: usize,
        weights: &[f32],
        bias: &[f32],
    ) -> Option<Self> {
        let (outputs, area) = (bias.len(), window.kernel * window.kernel);
        if inputs > COLOURS || weights.len() != outputs * inputs * area {
            return None;
        }
        let weight = |o: usize, colour: usize, tap: usize| {
            let is_there = o < outputs && colour < inputs && tap < area;
            if is_there { weights[(o * inputs + colour) * area + tap] } else { 0.0 }
        };
        let (mut rows, mut columns) = (Vec::new(), Vec::new());
        for group in 0..outputs.div_ceil(LANES) {
            for n in 0..area * COLOURS {
                let output = |lane| weight(group * LANES + lane, n % COLOURS, n / COLOURS);
                rows.push(std::array::from_fn(output));
            }
        }
        let line = (COLOURS * window.kernel).next_multiple_of(EIGHT);
        for group in 0..(window.kernel * line).div_ceil(LANES) {
            for output in 0..outputs.next_multiple_of(LANES) {
                let column = |lane: usize| {
                    let n = group * LANES + lane;
                    let (row, x) = (n / line, n % line);
                    let inside = row < window.kernel && x < COLOURS * window.kernel;
                    let tap = row * window.kernel + x / COLOURS;
                    if inside { weight(output, x % COLOURS, tap) } else { 0.0 }
                };
                columns.push(std::array::from_fn(column));
            }
        }
        Some(Self { window, outputs, weights: rows, transposed: columns, bias: grouped(bias, 0.0) })
    }

    pub(super) fn shape(&self, from: Shape) -> Shape {
        Shape { channels: self.outputs, ..self.window.shape(from) }
    }

    pub(super) fn outputs(&self) -> usize {
        self.outputs
    }

    /// Columns of one pixel of the result.
    fn columns(&self) -> usize {
        self.window.kernel * self.window.kernel * COLOURS
    }

    pub(super) fn padding(&self) -> usize {
        self.window.padding
    }

    /// Columns of one line of the window, filled up.
    fn line_columns(&self) -> usize {
        (COLOURS * self.window.kernel).next_multiple_of(EIGHT)
    }

    /// The number of pixels that it needs in the scratch memory, for the columns of one line.
    pub(super) fn scratch_len(&self, from: Shape) -> usize {
        let columns = self.window.kernel * self.line_columns();
        columns.div_ceil(LANES) * self.shape(from).width
    }

    #[inline(always)]
    pub(super) fn forward<S: Simd, const V: usize>(
        &self,
        registers: Registers<S, V>,
        (picture, from): (&Bordered, Shape),
        epilogue: Epilogue<'_>,
        Part { first, values }: Part<'_>,
        Scratch { tables, .. }: &mut Scratch,
    ) {
        let to = self.shape(from);
        self.prepare(picture, tables);
        for (n, group) in (first..).zip(values.chunks_exact_mut(to.area())) {
            let finish = epilogue.group(n, self.bias[n]);
            for (y, output) in group.chunks_exact_mut(to.width).enumerate() {
                self.line(registers, (picture, y), n, &mut Finished { finish, output }, tables);
            }
        }
    }

    /// Sets up the tables for [`Stem::line`].
    pub(super) fn prepare(&self, picture: &Bordered, tables: &mut Tables) {
        tables.lines(self.window, picture.wide().width);
    }

    pub(super) fn bias(&self, group: usize) -> Lanes {
        self.bias[group]
    }

    /// One line of a group of outputs.
    #[inline(always)]
    pub(super) fn line<S: Simd, const V: usize>(
        &self,
        registers: Registers<S, V>,
        (picture, y): (&Bordered, usize),
        group: usize,
        sink: &mut Finished<'_>,
        tables: &Tables,
    ) {
        let first = picture.first(self.window.padding);
        let pixels = &picture.pixels()[first + self.window.stride * y * picture.wide().width..];
        let weights = &self.weights[group * self.columns()..][..self.columns()];
        let (terms, width) = (&tables.terms[..], sink.output.len());
        // A line of the window lies side by side in memory.
        match (self.window.kernel, self.window.stride) {
            (3, 1) => {
                let products = Products::<9, COLOURS> { pixels, terms, weights };
                products.run(registers, Along::<1>(width), sink);
            }
            (3, 2) => {
                let products = Products::<9, COLOURS> { pixels, terms, weights };
                products.run(registers, Along::<2>(width), sink);
            }
            (7, 2) => {
                let products = Products::<21, COLOURS> { pixels, terms, weights };
                products.run(registers, Along::<2>(width), sink);
            }
            _ => {
                let products = Products::<COLOURS, COLOURS> { pixels, terms, weights };
                products.run(registers, &tables.places[..width], sink);
            }
        }
    }

    /// Adds the gradient with respect to the picture: a product of each pixel with all columns, each of which
    /// belongs to a place of its own.
    #[inline(always)]
    pub(super) fn backward<S: Simd, const V: usize>(
        &self,
        registers: Registers<S, V>,
        upstream: &[Lanes],
        from: Shape,
        picture: &mut Bordered,
        Scratch { memory, tables, .. }: &mut Scratch,
    ) {
        let (to, wide) = (self.shape(from), picture.wide());
        let columns = memory.get_mut(self.scratch_len(from));
        tables.pointwise(to);
        let weights = self.transposed.chunks_exact(to.groups() * LANES);
        let first = picture.first(self.window.padding);
        let picture = picture.pixels_mut()[first..].as_flattened_mut();
        let eights = self.line_columns() / EIGHT;
        for y in 0..to.height {
            let pixels = &upstream[y * to.width..];
            let terms = &tables.terms[..];
            for (gradient, weights) in columns.chunks_exact_mut(to.width).zip(weights.clone()) {
                let products = Products::<LANES, LANES> { pixels, terms, weights };
                let sink = &mut GroupTarget { first: true, gradient, undo: None };
                products.run(registers, InOrder(to.width), sink);
            }
            for row in 0..self.window.kernel {
                let line = &mut picture[COLOURS * (self.window.stride * y + row) * wide.width..];
                for eight in 0..eights {
                    let (group, half) = ((row * eights + eight) / 2, (row * eights + eight) % 2);
                    let columns = &columns[group * to.width..][..to.width];
                    for (x, column) in columns.iter().enumerate() {
                        let at = COLOURS * self.window.stride * x + EIGHT * eight;
                        let (Some(sums), Some(column)) = (
                            line[at..].first_chunk_mut::<EIGHT>(),
                            column[EIGHT * half..].first_chunk::<EIGHT>(),
                        ) else {
                            continue;
                        };
                        for i in 0..EIGHT {
                            sums[i] += column[i];
                        }
                    }
                }
            }
        }
    }
}
