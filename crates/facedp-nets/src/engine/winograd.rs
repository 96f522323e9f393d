//! Windows of 3x3 by Winograd's algorithm F(2x2, 3x3): four results from 16 products instead of 36.
//!
//! `Y = A' [(G g G') * (B' d B)] A` for a square `d` of 4x4 pixels, a window `g` and a square `Y` of 2x2 results; the
//! product is by element. With channels, it is a matrix product for each of the 16 elements.
//! Lavin and Gray, Fast Algorithms for Convolutional Neural Networks, 2016.

use std::ops::Range;

use pulp::Simd;

use super::Shape;
use super::lanes::{LANES, Lanes};
use super::products::{Products, Sink, Sinks, TOGETHER, in_order};
use super::registers::Registers;
use super::target::Target;
use super::workspace::Scratch;

/// Elements of a transformed square.
const ELEMENTS: usize = 16;
/// Squares that are worked on at once, so that they stay in the cache.
const BLOCK: usize = 56;

/// Transformed windows of 3x3, for a stride of 1 and a padding of 1.
#[derive(Debug, Clone)]
pub(super) struct Winograd {
    groups: usize,
    /// A matrix of inputs x outputs for each group of outputs, element and group of inputs.
    weights: Vec<Lanes>,
}

impl Winograd {
    /// `weight` gives the weight from one channel to another at a position in the window, and 0 for channels that do
    /// not exist.
    pub(super) fn new(
        from: usize,
        to: usize,
        weight: &impl Fn(usize, usize, usize) -> f32,
    ) -> Self {
        let (groups, outputs) = (from.div_ceil(LANES), to.div_ceil(LANES));
        let mut weights = vec![[0.0; LANES]; outputs * ELEMENTS * groups * LANES];
        for to in 0..to {
            for from in 0..from {
                let elements = transformed(&|tap| weight(from, to, tap));
                for (n, element) in elements.into_iter().enumerate() {
                    let matrix = (to / LANES * ELEMENTS + n) * groups + from / LANES;
                    weights[matrix * LANES + from % LANES][to % LANES] = element;
                }
            }
        }
        Self { groups, weights }
    }

    /// For gradients: the transpose has its windows turned by 180 degrees, which swaps the first and the last one of the
    /// elements along a side.
    pub(super) fn transposed(&self) -> Self {
        let groups = self.weights.len() / (ELEMENTS * self.groups * LANES).max(1);
        let matrices = self.weights.as_chunks::<LANES>().0;
        let turned = |n: usize| [3, 1, 2, 0][n];
        let mut weights = Vec::with_capacity(self.weights.len());
        for from in 0..self.groups {
            for element in 0..ELEMENTS {
                let element = 4 * turned(element / 4) + turned(element % 4);
                for to in 0..groups {
                    let matrix = &matrices[(to * ELEMENTS + element) * self.groups + from];
                    weights.extend((0..LANES).map(|n| matrix.map(|row| row[n])));
                }
            }
        }
        Self { groups, weights }
    }

    /// The weights before the transformation, as matrices like those of other convolutions: for each group of outputs,
    /// group of inputs and position in the window.
    pub(super) fn windows(&self) -> Vec<Lanes> {
        let matrices = self.weights.as_chunks::<LANES>().0;
        let mut rows = Vec::with_capacity(self.weights.len() / ELEMENTS * 9);
        for outputs in matrices.chunks_exact(ELEMENTS * self.groups) {
            for from in 0..self.groups {
                for tap in 0..9 {
                    rows.extend((0..LANES).map(|row| -> Lanes {
                        std::array::from_fn(|lane| {
                            let element = |n: usize| outputs[n * self.groups + from][row][lane];
                            // `G` has the outer ones as they are, and the middle one as a difference.
                            let along = |n: usize, x: usize| match x {
                                1 => element(4 * n + 1) - element(4 * n + 2),
                                x => element(4 * n + 3 * (x / 2)),
                            };
                            match tap / 3 {
                                1 => along(1, tap % 3) - along(2, tap % 3),
                                y => along(3 * (y / 2), tap % 3),
                            }
                        })
                    }));
                }
            }
        }
        rows
    }

    /// The number of pixels that it needs in the scratch memory, in either direction.
    pub(super) fn scratch_len(&self) -> usize {
        let others = self.weights.len() / (ELEMENTS * self.groups * LANES).max(1);
        (self.groups.max(others) + TOGETHER) * ELEMENTS * BLOCK
    }

    /// Computes the results of some groups of outputs.
    #[inline(always)]
    pub(super) fn run<S: Simd, const V: usize>(
        &self,
        registers: Registers<S, V>,
        (input, shape): (&[Lanes], Shape),
        outputs: Range<usize>,
        Scratch { memory, tables, .. }: &mut Scratch,
        sinks: &mut impl Sinks<S, V>,
    ) {
        let across = shape.width.div_ceil(2);
        let squares = across * shape.height.div_ceil(2);
        let memory = memory.get_mut(self.scratch_len());
        let (transformed, products) = memory.split_at_mut(self.groups * ELEMENTS * BLOCK);
        let mut first = 0;
        while first < squares {
            let count = BLOCK.min(squares - first);
            for (n, group) in input.chunks_exact(shape.area()).enumerate() {
                for at in 0..count {
                    let (y, x) = ((first + at) / across, (first + at) % across);
                    let elements = into(registers, &square(registers, group, shape, y, x));
                    for e in 0..ELEMENTS {
                        let place = (e * self.groups + n) * count + at;
                        registers.store(elements[e], &mut transformed[place]);
                    }
                }
            }
            tables.pointwise(Shape::new(self.groups * LANES, 1, count));
            let matrices = self.groups * LANES;
            for n in outputs.clone().step_by(TOGETHER) {
                let together = TOGETHER.min(outputs.end - n);
                for e in 0..ELEMENTS {
                    let pixels = &transformed[e * self.groups * count..][..self.groups * count];
                    let weights = &self.weights[(n * ELEMENTS + e) * matrices..];
                    let (terms, pitch) = (&tables.terms[..], ELEMENTS * matrices);
                    let all = Products::<LANES, LANES> { pixels, terms, weights, pitch };
                    let values = &mut products[e * together * count..][..together * count];
                    let sinks = &mut Target { first: true, start: 0, values, undo: None };
                    all.run(registers, 0..together, count, in_order(count), sinks);
                }
                for g in 0..together {
                    let [sink] = &mut sinks.groups::<1>(n + g, shape.area());
                    for at in 0..count {
                        let mut elements = [registers.zero(); ELEMENTS];
                        for e in 0..ELEMENTS {
                            let product = &products[(e * together + g) * count + at];
                            elements[e] = registers.load(product);
                        }
                        let results = back(registers, &elements);
                        let (y, x) = ((first + at) / across, (first + at) % across);
                        for r in 0..4 {
                            let (y, x) = (2 * y + r / 2, 2 * x + r % 2);
                            if y < shape.height && x < shape.width {
                                sink.put(registers, y * shape.width + x, results[r]);
                            }
                        }
                    }
                }
            }
            first += count;
        }
    }
}

/// `G g G'`.
fn transformed(tap: &impl Fn(usize) -> f32) -> [f32; ELEMENTS] {
    let along = |a: f32, b: f32, c: f32| [a, (a + b + c) / 2.0, (a - b + c) / 2.0, c];
    let lines = [0, 1, 2].map(|y| along(tap(3 * y), tap(3 * y + 1), tap(3 * y + 2)));
    let mut elements = [0.0; ELEMENTS];
    for x in 0..4 {
        let column = along(lines[0][x], lines[1][x], lines[2][x]);
        (0..4).for_each(|y| elements[4 * y + x] = column[y]);
    }
    elements
}

/// The 4x4 pixels around square (`y`, `x`) of the results; zeros outside.
#[inline(always)]
fn square<S: Simd, const V: usize>(
    registers: Registers<S, V>,
    pixels: &[Lanes],
    shape: Shape,
    y: usize,
    x: usize,
) -> [[S::f32s; V]; ELEMENTS] {
    let mut values = [registers.zero(); ELEMENTS];
    for dy in 0..4 {
        let Some(line) = (2 * y + dy).checked_sub(1).filter(|&y| y < shape.height) else {
            continue;
        };
        let line = &pixels[line * shape.width..][..shape.width];
        if let Some(four) = (2 * x).checked_sub(1).and_then(|x| line.get(x..x + 4)) {
            for dx in 0..4 {
                values[4 * dy + dx] = registers.load(&four[dx]);
            }
        } else {
            for dx in 0..4 {
                let pixel = (2 * x + dx).checked_sub(1).and_then(|x| line.get(x));
                if let Some(pixel) = pixel {
                    values[4 * dy + dx] = registers.load(pixel);
                }
            }
        }
    }
    values
}

/// `B' d B`.
#[inline(always)]
fn into<S: Simd, const V: usize>(
    registers: Registers<S, V>,
    d: &[[S::f32s; V]; ELEMENTS],
) -> [[S::f32s; V]; ELEMENTS] {
    let (mut lines, mut all) = (*d, *d);
    for y in 0..4 {
        let line = line_into(registers, [d[4 * y], d[4 * y + 1], d[4 * y + 2], d[4 * y + 3]]);
        for x in 0..4 {
            lines[4 * y + x] = line[x];
        }
    }
    for x in 0..4 {
        let column = line_into(registers, [lines[x], lines[4 + x], lines[8 + x], lines[12 + x]]);
        for y in 0..4 {
            all[4 * y + x] = column[y];
        }
    }
    all
}

/// `A' m A`: four results, line by line.
#[inline(always)]
fn back<S: Simd, const V: usize>(
    registers: Registers<S, V>,
    m: &[[S::f32s; V]; ELEMENTS],
) -> [[S::f32s; V]; 4] {
    let mut lines = [[registers.zero(); 4]; 2];
    for x in 0..4 {
        let column = line_back(registers, [m[x], m[4 + x], m[8 + x], m[12 + x]]);
        lines[0][x] = column[0];
        lines[1][x] = column[1];
    }
    let [a, b] = line_back(registers, lines[0]);
    let [c, d] = line_back(registers, lines[1]);
    [a, b, c, d]
}

/// `B' d` of one line.
#[inline(always)]
fn line_into<S: Simd, const V: usize>(
    registers: Registers<S, V>,
    [a, b, c, d]: [[S::f32s; V]; 4],
) -> [[S::f32s; V]; 4] {
    let r = registers;
    [r.sub(a, c), r.add(b, c), r.sub(c, b), r.sub(b, d)]
}

/// `A' m` of one line.
#[inline(always)]
fn line_back<S: Simd, const V: usize>(
    registers: Registers<S, V>,
    [a, b, c, d]: [[S::f32s; V]; 4],
) -> [[S::f32s; V]; 2] {
    let r = registers;
    [r.add(r.add(a, b), c), r.sub(r.sub(b, c), d)]
}
