//! Dense convolution of rounded numbers, for gradients and for networks that differ anyway.

#[cfg(test)]
mod tests;

use std::ops::Range;
use std::sync::OnceLock;

use pulp::Simd;

use super::super::Shape;
use super::super::activation::{Epilogue, Finishing};
use super::super::bfloat::{Bfloat, PAIRS, PairRow, Pairs, Rounded, paired};
use super::super::lanes::Lanes;
use super::super::products::{Along, Products, Sinks};
use super::super::registers::{Registers, Work};
use super::super::step::Part;
use super::super::target::Target;
use super::super::workspace::Scratch;
use super::{Conv, Gathered, Rows, single, transposed};

/// Rounded weights: from when the first gradient is asked for.
#[derive(Debug, Clone, Default)]
pub(super) struct RoundedWeights {
    forward: OnceLock<Vec<Pairs>>,
    backward: OnceLock<Vec<Pairs>>,
}

/// Rounded pixels that are multiplied at once, so that they stay in the cache.
const CACHED: usize = 1 << 10;
/// Multiples of what is computed at once.
const STEP: usize = 56;

/// [`Conv::forward`] of rounded numbers.
pub(in super::super) struct RoundedForward<'a> {
    pub instructions: Bfloat,
    pub conv: &'a Conv,
    pub input: (&'a [Lanes], Shape),
    pub epilogue: Epilogue<'a>,
    pub output: Part<'a>,
    pub scratch: &'a mut Scratch,
}

impl Work for RoundedForward<'_> {
    #[inline(always)]
    fn run<S: Simd, const V: usize>(self, registers: Registers<S, V>) {
        let Self { instructions, conv, input, epilogue, output, scratch } = self;
        let row = |pairs| Pairs::new(instructions, pairs);
        let weights = &conv.rounded.forward.get_or_init(|| conv.pairs_forward(row))[..];
        conv.forward_rounded(registers, (instructions, weights), input, epilogue, output, scratch);
    }
}

/// [`Conv::backward`] of rounded numbers.
pub(in super::super) struct RoundedBackward<'a> {
    pub instructions: Bfloat,
    pub conv: &'a Conv,
    pub upstream: &'a [Lanes],
    pub from: Shape,
    pub gradient: Target<'a>,
    pub scratch: &'a mut Scratch,
}

impl Work for RoundedBackward<'_> {
    #[inline(always)]
    fn run<S: Simd, const V: usize>(self, registers: Registers<S, V>) {
        let Self { instructions, conv, upstream, from, gradient, scratch } = self;
        let row = |pairs| Pairs::new(instructions, pairs);
        let weights = &conv.rounded.backward.get_or_init(|| conv.pairs_backward(row))[..];
        conv.backward_rounded(
            registers,
            (instructions, weights),
            upstream,
            from,
            gradient,
            scratch,
        );
    }
}

impl Conv {
    /// Those of [`Conv::weights`], two rows in one.
    fn pairs_forward<W>(&self, row: impl Fn(Lanes) -> W) -> Vec<W> {
        paired(&self.plain(), row)
    }

    /// Those of [`super::Backward::Plain`], two rows in one.
    fn pairs_backward<W>(&self, row: impl Fn(Lanes) -> W) -> Vec<W> {
        paired(&transposed(&self.plain(), self.bias.len(), self.window), row)
    }

    /// All weights, as those of a convolution in single precision.
    fn plain(&self) -> Vec<Lanes> {
        match (&self.winograd, &self.weights) {
            (Some(winograd), _) => winograd.windows(),
            (None, Rows::Single(rows)) => rows.clone(),
            (None, Rows::Half(rows)) => single(rows),
        }
    }

    #[inline(always)]
    fn forward_rounded<S: Simd, const V: usize, W: PairRow>(
        &self,
        registers: Registers<S, V>,
        (means, weights): (W::Means, &[W]),
        (input, from): (&[Lanes], Shape),
        epilogue: Epilogue<'_>,
        output: Part<'_>,
        Scratch { memory, tables, terms, .. }: &mut Scratch,
    ) {
        let (to, window) = (self.shape(from), self.window);
        let groups = output.groups(to.area());
        let mut sinks = Finishing { epilogue, bias: &self.bias, output };
        let memory = halved(memory.get_mut(self.scratch_len(from)));
        if self.is_pointwise() {
            let pixels = (input, from, memory);
            return pointwise(registers, (means, weights), pixels, groups, terms, &mut sinks);
        }
        let pitch = from.groups() * window.kernel * window.kernel * PAIRS;
        let wide = from.with_border(window.padding);
        let (padded, gathered) = memory.split_at_mut(wide.lanes());
        pad::<W>(means, input, from, window.padding, padded);
        tables.forward(window, from, to);
        let all = Gathered { pixels: &*padded, tables, weights, pitch };
        all.run(registers, groups, to.area(), (gathered, terms), &mut sinks);
    }

    #[inline(always)]
    fn backward_rounded<S: Simd, const V: usize, W: PairRow>(
        &self,
        registers: Registers<S, V>,
        (means, weights): (W::Means, &[W]),
        upstream: &[Lanes],
        from: Shape,
        mut gradient: Target<'_>,
        Scratch { memory, tables, terms, .. }: &mut Scratch,
    ) {
        let (to, window) = (self.shape(from), self.window);
        let groups = gradient.groups(from.area());
        let memory = halved(memory.get_mut(self.scratch_len(from)));
        if self.is_pointwise() {
            let pixels = (upstream, to, memory);
            return pointwise(registers, (means, weights), pixels, groups, terms, &mut gradient);
        }
        let pitch = to.groups() * window.kernel * window.kernel * PAIRS;
        let wide = to.with_border(window.margin());
        let (padded, gathered) = memory.split_at_mut(wide.lanes());
        pad::<W>(means, upstream, to, window.margin(), padded);
        let mut before = 0;
        for phase in window.phases() {
            tables.backward(window, (from, to), phase, before);
            before += to.groups() * window.taps_of(phase).count();
            let all = Gathered { pixels: &*padded, tables, weights, pitch };
            let scratch = (&mut *gathered, &mut *terms);
            all.run(registers, groups.clone(), from.area(), scratch, &mut gradient);
        }
    }
}

/// A product of every pixel with one matrix for each group, block by block.
#[inline(always)]
fn pointwise<S: Simd, const V: usize, W: PairRow>(
    registers: Registers<S, V>,
    (means, weights): (W::Means, &[W]),
    (pixels, shape, memory): (&[Lanes], Shape, &mut [Rounded]),
    groups: Range<usize>,
    tables: &mut super::Tables,
    sinks: &mut impl Sinks<S, V>,
) {
    let (area, pitch) = (shape.area(), shape.groups() * PAIRS);
    let block = (CACHED / shape.groups()).max(1).next_multiple_of(STEP);
    for target in (0..area).step_by(block) {
        let count = block.min(area - target);
        let rounded = &mut memory[..shape.groups() * count];
        for (rounded, group) in rounded.chunks_exact_mut(count).zip(pixels.chunks_exact(area)) {
            W::round(means, &group[target..][..count], rounded);
        }
        tables.pointwise(Shape::new(shape.channels, 1, count));
        let (pixels, terms) = (&*rounded, &tables.terms[..]);
        let products = Products::<PAIRS, PAIRS, W> { pixels, terms, weights, pitch };
        let places = Along::<1> { count, target };
        products.run(registers, groups.clone(), area, places, sinks);
    }
}

/// Memory for twice as many rounded pixels.
fn halved(memory: &mut [Lanes]) -> &mut [Rounded] {
    memory.as_flattened_mut().as_chunks_mut().0
}

/// Rounds a tensor into a border of zeros.
#[inline(always)]
fn pad<W: PairRow>(
    means: W::Means,
    pixels: &[Lanes],
    shape: Shape,
    border: usize,
    padded: &mut [Rounded],
) {
    let wide = shape.with_border(border);
    let groups = pixels.chunks_exact(shape.area()).zip(padded.chunks_exact_mut(wide.area()));
    for (pixels, padded) in groups {
        let (above, rest) = padded.split_at_mut(border * wide.width);
        let (inside, below) = rest.split_at_mut(shape.height * wide.width);
        above.fill([0.0; PAIRS]);
        below.fill([0.0; PAIRS]);
        let lines = inside.chunks_exact_mut(wide.width).zip(pixels.chunks_exact(shape.width));
        for (line, pixels) in lines {
            line[..border].fill([0.0; PAIRS]);
            W::round(means, pixels, &mut line[border..][..shape.width]);
            line[border + shape.width..].fill([0.0; PAIRS]);
        }
    }
}
