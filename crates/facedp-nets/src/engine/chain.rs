//! The first layers of a detector in one pass, line by line: what lies between them never leaves the cache.
//!
//! A link keeps the last lines that it got, and gives a line as soon as it can. The last link that can give one does, so
//! that no link ever has to keep more than its windows are high.

use pulp::Simd;

use super::activation::{Activation, Epilogue, Finished, Finishing};
use super::lanes::{LANES, Lanes};
use super::pool::larger_of_squares;
use super::products::in_order;
use super::registers::Registers;
use super::step::Part;
use super::unit::{LINES, run_line};
use super::workspace::Scratch;
use super::{Bordered, Shape, Stem, Unit};

/// A convolution of the picture, then links; ReLU follows the convolution and every unit. It has no gradient.
#[derive(Debug, Clone)]
pub(crate) struct Chain {
    stem: Stem,
    links: Vec<Link>,
}

#[derive(Debug, Clone)]
// A network has a handful of links: boxing units would save nothing.
#[allow(clippy::large_enum_variant)]
pub(crate) enum Link {
    Unit(Unit),
    /// The maximum of every square of 2x2.
    Halve,
}

/// A link at work.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Progress {
    from: Shape,
    to: Shape,
    /// Where its lines are in the scratch memory.
    start: usize,
    /// Lines that it got, and gave.
    got: usize,
    given: usize,
}

impl Link {
    fn shape(&self, from: Shape) -> Shape {
        match self {
            Link::Unit(unit) => unit.shape(from),
            Link::Halve => Shape::new(from.channels, from.height / 2, from.width / 2),
        }
    }

    /// Pixels of the lines that it keeps.
    fn kept(&self, from: Shape) -> usize {
        match self {
            Link::Unit(unit) => unit.shape(from).groups() * LINES * (from.width + 2),
            Link::Halve => 2 * from.groups() * from.width,
        }
    }

    /// Whether it can give a line.
    fn is_ready(&self, Progress { from, to, got, given, .. }: Progress) -> bool {
        given < to.height
            && match self {
                Link::Unit(_) => got > given + 1 || got == from.height,
                Link::Halve => got >= 2 * (given + 1),
            }
    }

    /// Takes the next line: groups of channels, one after the other.
    #[inline(always)]
    fn take<S: Simd, const V: usize>(
        &self,
        registers: Registers<S, V>,
        line: &[Lanes],
        Progress { from, got, .. }: Progress,
        kept: &mut [Lanes],
        terms: &mut super::geometry::Tables,
    ) {
        let width = from.width;
        match self {
            Link::Unit(unit) => {
                let plain = Epilogue { activation: None, factors: &[] };
                terms.pointwise(Shape { height: 1, ..from });
                let (pitch, groups) = (LINES * (width + 2), 0..unit.outputs().div_ceil(LANES));
                let values = &mut kept[got % LINES * (width + 2) + 1..];
                let (bias, output) = (unit.point().bias(), Part { first: 0, values });
                let mut sinks = Finishing { epilogue: plain, bias, output };
                let products = unit.point().products(line, terms);
                products.run(registers, groups, pitch, in_order(width), &mut sinks);
            }
            Link::Halve => kept[got % 2 * line.len()..][..line.len()].copy_from_slice(line),
        }
    }

    /// Gives the next line. A group of channels comes every `pitch` pixels.
    #[inline(always)]
    fn give<S: Simd, const V: usize>(
        &self,
        registers: Registers<S, V>,
        output: &mut [Lanes],
        pitch: usize,
        Progress { from, to, given, .. }: Progress,
        kept: &[Lanes],
    ) {
        match self {
            Link::Unit(unit) => {
                let epilogue = Epilogue { activation: Some(&Activation::RELU), factors: &[] };
                let wide = from.width + 2;
                for (n, kept) in kept.chunks_exact(LINES * wide).enumerate() {
                    let line = |y: usize| match y.checked_sub(1) {
                        Some(y) if y < from.height => &kept[y % LINES * wide..][..wide],
                        _ => &[],
                    };
                    let (weights, bias) = unit.depth().group(n);
                    let output = &mut output[n * pitch..][..to.width];
                    let mut sink = Finished { finish: epilogue.group(n, bias), output };
                    let lines = [line(given), line(given + 1), line(given + 2)];
                    run_line(registers, lines, weights, &mut sink);
                }
            }
            Link::Halve => {
                let (upper, lower) = kept.split_at(kept.len() / 2);
                let lines = upper.chunks_exact(from.width).zip(lower.chunks_exact(from.width));
                for (n, (upper, lower)) in lines.enumerate() {
                    let output = &mut output[n * pitch..][..to.width];
                    larger_of_squares(registers, upper, lower, output);
                }
            }
        }
    }
}

impl Chain {
    pub(crate) fn new(stem: Stem, links: Vec<Link>) -> Self {
        Self { stem, links }
    }

    pub(super) fn padding(&self) -> usize {
        self.stem.padding()
    }

    pub(super) fn shape(&self, from: Shape) -> Shape {
        self.links.iter().fold(self.stem.shape(from), |shape, link| link.shape(shape))
    }

    /// The number of pixels that it needs in the scratch memory: lines of all links, and one between two links.
    pub(super) fn scratch_len(&self, from: Shape) -> usize {
        let mut from = self.stem.shape(from);
        let (mut kept, mut line) = (0, from.groups() * from.width);
        for link in &self.links {
            kept += link.kept(from);
            from = link.shape(from);
            line = line.max(from.groups() * from.width);
        }
        kept + line
    }

    #[inline(always)]
    pub(super) fn forward<S: Simd, const V: usize>(
        &self,
        registers: Registers<S, V>,
        (picture, from): (&Bordered, Shape),
        output: &mut [Lanes],
        scratch: &mut Scratch,
    ) {
        let Scratch { memory, tables, terms, links } = scratch;
        let first = self.stem.shape(from);
        let memory = memory.get_mut(self.scratch_len(from));
        self.stem.prepare(picture, tables);
        let lines = self.begin(first, links);
        let (kept, line) = memory.split_at_mut(lines);
        // On both sides of a picture there are zeros.
        kept.fill([0.0; LANES]);
        let relu = Epilogue { activation: Some(&Activation::RELU), factors: &[] };
        let mut y = 0;
        loop {
            let ready = (0..self.links.len()).rev().find(|&n| self.links[n].is_ready(links[n]));
            let next = match ready {
                Some(n) => {
                    let progress = links[n];
                    let kept = &kept[progress.start..][..self.links[n].kept(progress.from)];
                    let to = progress.to;
                    if n + 1 == self.links.len() {
                        let output = &mut output[progress.given * to.width..];
                        self.links[n].give(registers, output, to.area(), progress, kept);
                    } else {
                        self.links[n].give(registers, line, to.width, progress, kept);
                    }
                    links[n].given += 1;
                    n + 1
                }
                None if y < first.height => {
                    let values = &mut line[..first.groups() * first.width];
                    let output = Part { first: 0, values };
                    let mut sinks = self.stem.sinks(relu, output);
                    let groups = (0..first.groups(), first.width);
                    let (at, places) = ((picture, y), in_order(first.width));
                    self.stem.line(registers, at, groups, places, &mut sinks, tables);
                    y += 1;
                    0
                }
                None => break,
            };
            if next < self.links.len() {
                let progress = links[next];
                let kept = &mut kept[progress.start..][..self.links[next].kept(progress.from)];
                let line = &line[..progress.from.groups() * progress.from.width];
                self.links[next].take(registers, line, progress, kept, terms);
                links[next].got += 1;
            }
        }
    }

    /// Sets up all links. The number of pixels of the lines that they keep.
    fn begin(&self, first: Shape, links: &mut Vec<Progress>) -> usize {
        let (mut from, mut start) = (first, 0);
        links.clear();
        for link in &self.links {
            let to = link.shape(from);
            links.push(Progress { from, to, start, got: 0, given: 0 });
            start += link.kept(from);
            from = to;
        }
        start
    }
}
