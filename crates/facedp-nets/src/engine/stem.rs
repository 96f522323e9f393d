//! The convolution of a picture, with which every network begins.

#[cfg(test)]
mod tests;

use std::ops::Range;
use std::sync::OnceLock;

use pulp::Simd;

use super::activation::{Epilogue, Finishing};
use super::bfloat::{Bfloat, PairRow, Pairs, paired};
use super::geometry::Tables;
use super::lanes::{LANES, Lanes, grouped};
use super::picture::{Bordered, COLOURS};
use super::products::{Along, Products, Term, in_order};
use super::registers::{Registers, Row, Work};
use super::step::Part;
use super::target::Target;
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
    /// The same of rounded numbers, in pairs: from when the first gradient is asked for.
    rounded: OnceLock<Vec<Pairs>>,
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
        let (transposed, rounded) = (columns, OnceLock::new());
        Some(Self { window, outputs, weights: rows, transposed, rounded, bias: grouped(bias, 0.0) })
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

    /// The number of pixels that it needs in the scratch memory, for the columns of one line and its rounded pixels.
    pub(super) fn scratch_len(&self, from: Shape) -> usize {
        let columns = self.window.kernel * self.line_columns();
        let to = self.shape(from);
        (columns.div_ceil(LANES) + to.groups()) * to.width
    }

    #[inline(always)]
    pub(super) fn forward<S: Simd, const V: usize>(
        &self,
        registers: Registers<S, V>,
        (picture, from): (&Bordered, Shape),
        epilogue: Epilogue<'_>,
        output: Part<'_>,
        Scratch { tables, .. }: &mut Scratch,
    ) {
        let to = self.shape(from);
        self.prepare(picture, tables);
        let (groups, area) = (output.groups(to.area()), to.area());
        let mut sinks = self.sinks(epilogue, output);
        for y in 0..to.height {
            let places = Along { count: to.width, target: y * to.width };
            self.line(registers, (picture, y), (groups.clone(), area), places, &mut sinks, tables);
        }
    }

    /// Sets up the tables for [`Stem::line`].
    pub(super) fn prepare(&self, picture: &Bordered, tables: &mut Tables) {
        tables.lines(self.window, picture.wide().width);
    }

    /// Where [`Stem::line`] writes to.
    #[inline(always)]
    pub(super) fn sinks<'a>(&'a self, epilogue: Epilogue<'a>, output: Part<'a>) -> Finishing<'a> {
        Finishing { epilogue, bias: &self.bias, output }
    }

    /// Line `y` of some groups of outputs, which have `area` pixels each.
    #[inline(always)]
    pub(super) fn line<S: Simd, const V: usize>(
        &self,
        registers: Registers<S, V>,
        (picture, y): (&Bordered, usize),
        (groups, area): (Range<usize>, usize),
        Along { count, target }: Along<1>,
        sinks: &mut Finishing<'_>,
        tables: &Tables,
    ) {
        let first = picture.first(self.window.padding);
        let pixels = &picture.pixels()[first + self.window.stride * y * picture.wide().width..];
        let (weights, pitch, terms) = (&self.weights[..], self.columns(), &tables.terms[..]);
        // A line of the window lies side by side in memory.
        match (self.window.kernel, self.window.stride) {
            (3, 1) => {
                let products = Products::<9, COLOURS> { pixels, terms, weights, pitch };
                products.run(registers, groups, area, Along::<1> { count, target }, sinks);
            }
            (3, 2) => {
                let products = Products::<9, COLOURS> { pixels, terms, weights, pitch };
                products.run(registers, groups, area, Along::<2> { count, target }, sinks);
            }
            (7, 2) => {
                let products = Products::<21, COLOURS> { pixels, terms, weights, pitch };
                products.run(registers, groups, area, Along::<2> { count, target }, sinks);
            }
            (_, stride) => {
                for n in 0..count {
                    let pixels = &pixels[stride * n..];
                    let products = Products::<COLOURS, COLOURS> { pixels, terms, weights, pitch };
                    let place = Along::<1> { count: 1, target: target + n };
                    products.run(registers, groups.clone(), area, place, sinks);
                }
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
        let to = self.shape(from);
        let columns = &mut memory.get_mut(self.scratch_len(from))[..];
        tables.pointwise(to);
        for y in 0..to.height {
            let line = Line { y, width: to.width, pixels: &upstream[y * to.width..] };
            let (weights, terms) = (&self.transposed[..], &tables.terms[..]);
            self.add_line(registers, (weights, terms), line, picture, columns);
        }
    }

    /// [`Stem::backward`] of rounded numbers.
    #[inline(always)]
    pub(super) fn backward_rounded<S: Simd, const V: usize, W: PairRow>(
        &self,
        registers: Registers<S, V>,
        (means, weights): (W::Means, &[W]),
        upstream: &[Lanes],
        from: Shape,
        picture: &mut Bordered,
        Scratch { memory, tables, .. }: &mut Scratch,
    ) {
        let to = self.shape(from);
        let memory = memory.get_mut(self.scratch_len(from));
        let (rounded, columns) = memory.split_at_mut(to.groups() * to.width);
        let rounded = &mut rounded.as_flattened_mut().as_chunks_mut().0[..to.groups() * to.width];
        tables.pointwise(Shape::new(to.channels, 1, to.width));
        for y in 0..to.height {
            let lines = rounded.chunks_exact_mut(to.width).zip(upstream.chunks_exact(to.area()));
            for (rounded, group) in lines {
                W::round(means, &group[y * to.width..][..to.width], rounded);
            }
            let line = Line { y, width: to.width, pixels: &*rounded };
            self.add_line(registers, (weights, &tables.terms), line, picture, columns);
        }
    }

    /// The weights of gradients in pairs.
    pub(super) fn pairs(&self, instructions: Bfloat) -> &[Pairs] {
        self.rounded.get_or_init(|| paired(&self.transposed, |row| Pairs::new(instructions, row)))
    }

    /// Adds what a line of the result does to the gradient.
    #[inline(always)]
    fn add_line<S: Simd, const V: usize, const I: usize, W: Row>(
        &self,
        registers: Registers<S, V>,
        (weights, terms): (&[W], &[Term]),
        Line { y, width, pixels }: Line<'_, I>,
        picture: &mut Bordered,
        columns: &mut [Lanes],
    ) {
        let pitch = terms.len() * I;
        let products = Products::<I, I, W> { pixels, terms, weights, pitch };
        let mut sinks = Target { first: true, start: 0, values: &mut *columns, undo: None };
        let groups = 0..weights.len() / pitch;
        products.run(registers, groups, width, in_order(width), &mut sinks);
        let (wide, first) = (picture.wide(), picture.first(self.window.padding));
        let picture = picture.pixels_mut()[first..].as_flattened_mut();
        let eights = self.line_columns() / EIGHT;
        let part = |row: usize, eight: usize| {
            let (group, half) = ((row * eights + eight) / 2, (row * eights + eight) % 2);
            (&columns[group * width..][..width], half)
        };
        for row in 0..self.window.kernel {
            let line = &mut picture[COLOURS * (self.window.stride * y + row) * wide.width..];
            let step = COLOURS * self.window.stride;
            // Lines of windows of 3 and of 7 pixels at once.
            match eights {
                2 => add_columns(line, step, [0, 1].map(|n| part(row, n))),
                3 => add_columns(line, step, [0, 1, 2].map(|n| part(row, n))),
                _ => (0..eights).for_each(|n| {
                    let line = line.get_mut(EIGHT * n..).unwrap_or_default();
                    add_columns(line, step, [part(row, n)]);
                }),
            }
        }
    }
}

/// Line `y` of a gradient, and what follows it.
struct Line<'a, const I: usize> {
    y: usize,
    width: usize,
    pixels: &'a [[f32; I]],
}

/// [`Stem::backward`] of rounded numbers.
pub(super) struct RoundedStem<'a> {
    pub instructions: Bfloat,
    pub stem: &'a Stem,
    pub upstream: &'a [Lanes],
    pub from: Shape,
    pub picture: &'a mut Bordered,
    pub scratch: &'a mut Scratch,
}

impl Work for RoundedStem<'_> {
    #[inline(always)]
    fn run<S: Simd, const V: usize>(self, registers: Registers<S, V>) {
        let Self { instructions, stem, upstream, from, picture, scratch } = self;
        let weights = (instructions, stem.pairs(instructions));
        stem.backward_rounded(registers, weights, upstream, from, picture, scratch);
    }
}

/// Adds columns, in parts of eight, each in a half of its pixels, to every `step`th place of a line.
#[inline(always)]
fn add_columns<const E: usize>(line: &mut [f32], step: usize, parts: [(&[Lanes], usize); E]) {
    let count = parts.iter().map(|(columns, _)| columns.len()).min().unwrap_or(0);
    // Neighbours overlap, and to read what was hardly written takes long: their turns are a whole line apart.
    let apart = (EIGHT * E).div_ceil(step.max(1));
    for x in (0..apart).flat_map(|first| (first..count).step_by(apart)) {
        let place = line.get_mut(step * x..).and_then(|line| line.get_mut(..EIGHT * E));
        let Some(place) = place else { continue };
        for (sums, (columns, half)) in place.as_chunks_mut::<EIGHT>().0.iter_mut().zip(&parts) {
            let column: [f32; EIGHT] = columns[x].as_chunks().0[*half];
            for i in 0..EIGHT {
                sums[i] += column[i];
            }
        }
    }
}
