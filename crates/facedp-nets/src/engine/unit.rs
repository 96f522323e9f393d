//! A pointwise and a depthwise convolution in one pass: what lies between them never leaves the cache.

use pulp::Simd;

use super::activation::{Epilogue, Finished, Finishing};
use super::depthwise::{Row, windows};
use super::lanes::{LANES, Lanes};
use super::products::{Sink, in_order, put_rest};
use super::registers::Registers;
use super::step::Part;
use super::target::Target;
use super::workspace::Scratch;
use super::{Conv, Depthwise, Shape, Window};

/// Lines of the pointwise convolution that a line of the result depends on.
pub(super) const LINES: usize = 3;

/// A pointwise convolution, then a depthwise one with windows of 3x3, a stride of 1 and a padding of 1.
#[derive(Debug, Clone)]
pub(crate) struct Unit {
    point: Conv,
    depth: Depthwise,
}

impl Unit {
    /// `None` if the convolutions are of another kind or do not follow each other.
    pub(crate) fn new(point: Conv, depth: Depthwise) -> Option<Self> {
        let fits = point.is_pointwise()
            && depth.window() == Window::new(3, 1, 1)
            && depth.channels() == point.outputs();
        fits.then_some(Self { point, depth })
    }

    pub(super) fn point(&self) -> &Conv {
        &self.point
    }

    pub(super) fn depth(&self) -> &Depthwise {
        &self.depth
    }

    pub(super) fn shape(&self, from: Shape) -> Shape {
        self.point.shape(from)
    }

    pub(super) fn outputs(&self) -> usize {
        self.point.outputs()
    }

    /// The number of pixels that it needs in the scratch memory: lines of all groups, or a gradient.
    pub(super) fn scratch_len(&self, from: Shape) -> usize {
        let to = self.shape(from);
        to.lanes().max(to.groups() * LINES * (to.width + 2))
    }

    #[inline(always)]
    pub(super) fn forward<S: Simd, const V: usize>(
        &self,
        registers: Registers<S, V>,
        (input, from): (&[Lanes], Shape),
        epilogue: Epilogue<'_>,
        output: Part<'_>,
        Scratch { memory, tables, .. }: &mut Scratch,
    ) {
        let (to, pitch) = (self.shape(from), from.width + 2);
        let groups = output.groups(to.area());
        tables.pointwise(from);
        let lines = memory.get_mut(groups.len() * LINES * pitch);
        // Above the picture, and on both sides of it, there are zeros.
        lines.fill([0.0; LANES]);
        let plain = Epilogue { activation: None, factors: &[] };
        for y in 0..=from.height {
            let at = y % LINES * pitch;
            if y == from.height {
                lines[at..].chunks_mut(LINES * pitch).for_each(|line| {
                    line[1..=from.width].fill([0.0; LANES]);
                });
            } else {
                let output = Part { first: groups.start, values: &mut lines[at + 1..] };
                let mut sinks = Finishing { epilogue: plain, bias: self.point.bias(), output };
                let (products, places) =
                    (self.point.products(&input[y * from.width..], tables), in_order(from.width));
                products.run(registers, groups.clone(), LINES * pitch, places, &mut sinks);
            }
            let Some(above) = y.checked_sub(1) else { continue };
            for (n, lines) in groups.clone().zip(lines.chunks_exact(LINES * pitch)) {
                let (weights, bias) = self.depth.group(n);
                let start = (n - groups.start) * to.area() + above * to.width;
                let output = &mut output.values[start..][..to.width];
                let mut sink = Finished { finish: epilogue.group(n, bias), output };
                // From the upper line to the lower one.
                let order = [y + 1, y + 2, y].map(|y| &lines[y % LINES * pitch..][..pitch]);
                run_line(registers, order, weights, &mut sink);
            }
        }
    }

    /// Writes or adds the gradient with respect to the input.
    #[inline(always)]
    pub(super) fn backward<S: Simd, const V: usize>(
        &self,
        registers: Registers<S, V>,
        upstream: &[Lanes],
        from: Shape,
        gradient: Target<'_>,
        scratch: &mut Scratch,
    ) {
        let to = self.shape(from);
        let mut memory = std::mem::take(&mut scratch.memory);
        let between = memory.get_mut(to.lanes());
        let target = Target { first: true, start: 0, values: &mut *between, undo: None };
        self.depth.backward(registers, upstream, to, target);
        self.point.backward(registers, between, from, gradient, scratch);
        scratch.memory = memory;
    }
}

/// A line of windows. `lines` have a pixel more at both ends; those outside the picture are empty.
#[inline(always)]
pub(super) fn run_line<S: Simd, const V: usize>(
    registers: Registers<S, V>,
    lines: [&[Lanes]; LINES],
    weights: &[Lanes],
    sink: &mut impl Sink<S, V>,
) {
    match V {
        1 => run_line_by::<S, V, 8>(registers, lines, weights, sink),
        2 | 4 => run_line_by::<S, V, 4>(registers, lines, weights, sink),
        _ => run_line_by::<S, V, 1>(registers, lines, weights, sink),
    }
}

#[inline(always)]
fn run_line_by<S: Simd, const V: usize, const P: usize>(
    registers: Registers<S, V>,
    lines: [&[Lanes]; LINES],
    weights: &[Lanes],
    sink: &mut impl Sink<S, V>,
) {
    let width = lines.map(<[Lanes]>::len).into_iter().max().unwrap_or(2) - 2;
    let mut next = 0;
    while next < width {
        if width < P {
            let [sum] = windows::<S, V, 1, 1>(registers, lines.map(|l| row(l, next, 3)), weights);
            sink.put(registers, next, sum);
            next += 1;
            continue;
        }
        let x = next.min(width - P);
        let sums = windows::<S, V, P, 1>(registers, lines.map(|l| row(l, x, P + 2)), weights);
        put_rest(registers, (next, next - x), sums, sink);
        next = x + P;
    }
}

/// `count` pixels from `x` on.
#[inline(always)]
fn row(line: &[Lanes], x: usize, count: usize) -> Row<'_> {
    match line.get(x..x + count) {
        Some([first, inside @ .., last]) => Row { first, inside, last },
        _ => Row::OUTSIDE,
    }
}
