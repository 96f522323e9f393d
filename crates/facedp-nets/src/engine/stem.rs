//! The convolution of a picture, with which every network begins. Its input has at most three channels, plane by
//! plane, and so has its gradient.

use pulp::Simd;

use super::activation::{Epilogue, Finished};
use super::lanes::{LANES, Lanes, grouped};
use super::products::{InOrder, Products};
use super::registers::Registers;
use super::target::GroupTarget;
use super::workspace::Scratch;
use super::{Shape, Window};

/// Channels of a picture.
const COLOURS: usize = 3;

/// A convolution of a picture, with a bias.
#[derive(Debug, Clone)]
pub(crate) struct Stem {
    window: Window,
    outputs: usize,
    /// A matrix of colours x outputs for each group of outputs and position in the window.
    weights: Vec<Lanes>,
    /// A matrix of outputs x columns for each group of columns and group of outputs. A column is a position in the
    /// window and a colour.
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
        for group in 0..(area * COLOURS).div_ceil(LANES) {
            for output in 0..outputs.next_multiple_of(LANES) {
                let column = |lane: usize| {
                    let n = group * LANES + lane;
                    weight(output, n % COLOURS, n / COLOURS)
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

    /// The number of pixels that it needs in the scratch memory: for the picture with its border, or its gradient and
    /// the columns.
    pub(super) fn scratch_len(&self, from: Shape) -> usize {
        self.picture_len(from) + self.columns().div_ceil(LANES) * self.shape(from).area()
    }

    fn picture_len(&self, from: Shape) -> usize {
        (COLOURS * from.with_border(self.window.padding).area()).div_ceil(LANES)
    }

    #[inline(always)]
    pub(super) fn forward<S: Simd, const V: usize>(
        &self,
        registers: Registers<S, V>,
        (planes, from): (&[f32], Shape),
        epilogue: Epilogue<'_>,
        output: &mut [Lanes],
        Scratch { memory, tables }: &mut Scratch,
    ) {
        let (to, border) = (self.shape(from), self.window.padding);
        let wide = from.with_border(border);
        let picture = memory.get_mut(self.picture_len(from)).as_flattened_mut();
        let picture = &mut picture.as_chunks_mut::<COLOURS>().0[..wide.area()];
        picture.fill([0.0; COLOURS]);
        for (colour, plane) in planes.chunks_exact(from.area()).enumerate() {
            let lines = picture.chunks_exact_mut(wide.width).skip(border);
            for (line, values) in lines.zip(plane.chunks_exact(from.width)) {
                line[border..].iter_mut().zip(values).for_each(|(pixel, v)| pixel[colour] = *v);
            }
        }
        tables.forward(self.window, wide, to);
        let weights = self.weights.chunks_exact(self.columns()).zip(&self.bias);
        let groups = output.chunks_exact_mut(to.area()).zip(weights);
        for (n, (output, (weights, bias))) in groups.enumerate() {
            let products = Products { pixels: &*picture, terms: &tables.terms, weights };
            let mut sink = Finished { finish: epilogue.group(n, *bias), output };
            products.run(registers, &tables.places[..], &mut sink);
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
        gradient: &mut [f32],
        Scratch { memory, tables }: &mut Scratch,
    ) {
        let (to, border) = (self.shape(from), self.window.padding);
        let wide = from.with_border(border);
        let length = self.picture_len(from);
        let (picture, columns) = memory.get_mut(self.scratch_len(from)).split_at_mut(length);
        tables.pointwise(to);
        let weights = self.transposed.chunks_exact(to.groups() * LANES);
        for (gradient, weights) in columns.chunks_exact_mut(to.area()).zip(weights) {
            let products = Products { pixels: upstream, terms: &tables.terms, weights };
            let sink = &mut GroupTarget { first: true, gradient, undo: None };
            products.run(registers, InOrder(to.area()), sink);
        }
        let picture = &mut picture.as_flattened_mut()[..COLOURS * wide.area()];
        picture.fill(0.0);
        let line = COLOURS * self.window.kernel;
        for y in 0..to.height {
            for x in 0..to.width {
                let n = y * to.width + x;
                for row in 0..self.window.kernel {
                    let at = self.window.stride * (y * wide.width + x) + row * wide.width;
                    let sums = &mut picture[COLOURS * at..][..line];
                    for (sum, column) in sums.iter_mut().zip(row * line..) {
                        *sum += columns[column / LANES * to.area() + n][column % LANES];
                    }
                }
            }
        }
        for (colour, plane) in gradient.chunks_exact_mut(from.area()).enumerate() {
            let lines = picture.chunks_exact(COLOURS * wide.width).skip(border);
            for (values, line) in plane.chunks_exact_mut(from.width).zip(lines) {
                let line = line.iter().skip(COLOURS * border + colour).step_by(COLOURS);
                values.iter_mut().zip(line).for_each(|(v, g)| *v += *g);
            }
        }
    }
}
