//! Where an operation's backward step leaves its gradient.

use std::ops::Range;

use pulp::Simd;

use super::activation::{Epilogue, Finish};
use super::lanes::{LANES, Lanes};
use super::products::{Sink, Sinks};
use super::registers::Registers;

/// The gradient of a node, as one of the nodes computed from it sees it.
pub(super) struct Target<'a> {
    /// Whether nothing has been written to it: the values are those of another node, to be replaced.
    pub first: bool,
    /// The first of its groups of channels: two threads take a part each.
    pub start: usize,
    pub values: &'a mut [Lanes],
    /// Once nothing else will be added: what turns it into the gradient of the node's operation, and the values of
    /// the node. Only convolutions take care of it.
    pub undo: Option<(Epilogue<'a>, &'a [Lanes])>,
}

impl<'a> Target<'a> {
    /// The values, ready to be added to.
    #[inline(always)]
    pub(super) fn zeroed(self) -> &'a mut [Lanes] {
        if self.first {
            self.values.fill([0.0; LANES]);
        }
        self.values
    }

    /// The groups of channels, of `area` pixels each.
    pub(super) fn groups(&self, area: usize) -> Range<usize> {
        self.start..self.start + self.values.len() / area
    }

    /// The first `count` groups of channels, and the others.
    pub(super) fn split(self, count: usize, area: usize) -> [Self; 2] {
        let Self { first, start, values, undo } = self;
        let (upper, lower) = values.split_at_mut(count * area);
        let half = |values: &'a mut [Lanes], start: usize, from: usize| {
            let undo = undo.map(|(epilogue, own)| (epilogue, &own[from..][..values.len()]));
            Self { first, start, values, undo }
        };
        [half(upper, start, 0), half(lower, start + count, count * area)]
    }

    /// The part of one group of channels.
    #[inline(always)]
    pub(super) fn group(&mut self, n: usize, area: usize) -> GroupTarget<'_> {
        let range = (n - self.start) * area..(n - self.start + 1) * area;
        let undo = self
            .undo
            .map(|(epilogue, values)| (epilogue.group(n, [0.0; LANES]), &values[range.clone()]));
        GroupTarget { first: self.first, gradient: &mut self.values[range], undo }
    }

    /// Writes a pixel, or adds it to what is there.
    #[inline(always)]
    pub(super) fn write<S: Simd, const V: usize>(
        &mut self,
        registers: Registers<S, V>,
        n: usize,
        pixel: [S::f32s; V],
    ) {
        let target = &mut self.values[n];
        let sum = if self.first { pixel } else { registers.add(registers.load(target), pixel) };
        registers.store(sum, target);
    }
}

impl<S: Simd, const V: usize> Sinks<S, V> for Target<'_> {
    type Of<'a>
        = GroupTarget<'a>
    where
        Self: 'a;

    #[inline(always)]
    fn groups<const G: usize>(&mut self, n: usize, area: usize) -> [GroupTarget<'_>; G] {
        let at = (n - self.start) * area;
        let mut parts = self.values[at..].chunks_mut(area);
        std::array::from_fn(|g| {
            let gradient = parts.next().unwrap_or_default();
            let undo = self.undo.map(|(epilogue, values)| {
                (epilogue.group(n + g, [0.0; LANES]), &values[at + g * area..][..gradient.len()])
            });
            GroupTarget { first: self.first, gradient, undo }
        })
    }
}

/// The part of a [`Target`] for one group of channels.
pub(super) struct GroupTarget<'a> {
    pub first: bool,
    pub gradient: &'a mut [Lanes],
    pub undo: Option<(Finish, &'a [Lanes])>,
}

impl<S: Simd, const V: usize> Sink<S, V> for GroupTarget<'_> {
    #[inline(always)]
    fn put(&mut self, registers: Registers<S, V>, target: usize, sum: [S::f32s; V]) {
        let pixel = &mut self.gradient[target];
        let mut sum = if self.first { sum } else { registers.add(registers.load(pixel), sum) };
        if let Some((finish, values)) = &self.undo {
            sum = finish.undo(registers, sum, &values[target]);
        }
        registers.store(sum, pixel);
    }

    #[inline(always)]
    fn put_all<const P: usize>(
        &mut self,
        registers: Registers<S, V>,
        target: usize,
        sums: [[S::f32s; V]; P],
    ) {
        let mut sums = sums;
        let pixels = &mut self.gradient[target..target + P];
        if !self.first {
            for p in 0..P {
                sums[p] = registers.add(registers.load(&pixels[p]), sums[p]);
            }
        }
        if let Some((finish, values)) = &self.undo {
            sums = finish.undo_all(registers, sums, &values[target..]);
        }
        for p in 0..P {
            registers.store(sums[p], &mut pixels[p]);
        }
    }
}
