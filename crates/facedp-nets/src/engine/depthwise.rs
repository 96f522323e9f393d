//! Depthwise convolution: each channel has its own window.

use pulp::Simd;

use super::activation::{Epilogue, Finished};
use super::lanes::{LANES, Lanes, grouped};
use super::products::{Sink, put_rest};
use super::registers::Registers;
use super::step::Part;
use super::target::Target;
use super::{Shape, Window};

/// A depthwise convolution with a bias.
#[derive(Debug, Clone)]
pub(crate) struct Depthwise {
    window: Window,
    channels: usize,
    /// One pixel for each group of channels and position in the window.
    weights: Vec<Lanes>,
    /// The same with every window turned by 180 degrees.
    turned: Vec<Lanes>,
    bias: Vec<Lanes>,
}

impl Depthwise {
    /// One window and one bias per channel. `None` if their numbers do not match.
    pub(crate) fn new(window: Window, weights: &[f32], bias: &[f32]) -> Option<Self> {
        let area = window.kernel * window.kernel;
        if weights.len() != bias.len() * area {
            return None;
        }
        let taps: Vec<Vec<Lanes>> = (0..area)
            .map(|tap| weights.iter().skip(tap).step_by(area).copied().collect::<Vec<f32>>())
            .map(|channels| grouped(&channels, 0.0))
            .collect();
        let bias_groups = grouped(bias, 0.0);
        let groups = 0..bias_groups.len();
        let weights = groups.clone().flat_map(|g| taps.iter().map(move |tap| tap[g])).collect();
        let turned = groups.flat_map(|g| taps.iter().rev().map(move |tap| tap[g])).collect();
        Some(Self { window, channels: bias.len(), weights, turned, bias: bias_groups })
    }

    pub(super) fn window(&self) -> Window {
        self.window
    }

    pub(super) fn channels(&self) -> usize {
        self.channels
    }

    /// The weights of one group of channels, and its bias.
    #[inline(always)]
    pub(super) fn group(&self, n: usize) -> (&[Lanes], Lanes) {
        (&self.weights[n * self.area()..][..self.area()], self.bias[n])
    }

    fn area(&self) -> usize {
        self.window.kernel * self.window.kernel
    }

    #[inline(always)]
    pub(super) fn forward<S: Simd, const V: usize>(
        &self,
        registers: Registers<S, V>,
        (input, from): (&[Lanes], Shape),
        epilogue: Epilogue<'_>,
        Part { first, values }: Part<'_>,
    ) {
        let to = self.window.shape(from);
        let inputs = input.chunks_exact(from.area()).skip(first);
        let groups = inputs.zip(values.chunks_exact_mut(to.area()));
        let weights = self.weights.chunks_exact(self.area()).zip(&self.bias).skip(first);
        for (n, ((pixels, output), (weights, bias))) in (first..).zip(groups.zip(weights)) {
            let sums = Sums { window: self.window, pixels, from, to, weights };
            sums.run(registers, &mut Finished { finish: epilogue.group(n, *bias), output });
        }
    }

    /// Writes or adds the gradient with respect to the input.
    #[inline(always)]
    pub(super) fn backward<S: Simd, const V: usize>(
        &self,
        registers: Registers<S, V>,
        upstream: &[Lanes],
        from: Shape,
        mut gradient: Target<'_>,
    ) {
        let (to, Window { kernel, stride, padding }) = (self.window.shape(from), self.window);
        let wanted = gradient.groups(from.area());
        let groups = upstream.chunks_exact(to.area()).enumerate();
        let groups = groups.skip(wanted.start).take(wanted.len());
        if to.area() == 1 && padding == 0 {
            for ((n, upstream), weights) in
                groups.zip(self.weights.chunks_exact(self.area()).skip(wanted.start))
            {
                let sink = &mut gradient.group(n, from.area());
                let value = registers.load(&upstream[0]);
                for at in 0..from.area() {
                    let (y, x) = (at / from.width, at % from.width);
                    let mut sum = registers.zero();
                    if y < kernel && x < kernel {
                        let weight = registers.load(&weights[y * kernel + x]);
                        sum = registers.mul_adds(weight, value, sum);
                    }
                    sink.put(registers, at, sum);
                }
            }
            return;
        }
        if stride == 1 && padding < kernel {
            // The transpose of this convolution is the one with turned windows.
            let window = Window::new(kernel, 1, kernel - 1 - padding);
            for ((n, pixels), weights) in
                groups.zip(self.turned.chunks_exact(self.area()).skip(wanted.start))
            {
                let sums = Sums { window, pixels, from: to, to: from, weights };
                sums.run(registers, &mut gradient.group(n, from.area()));
            }
            return;
        }
        if self.window == Window::new(3, 2, 1) {
            for ((n, upstream), weights) in
                groups.zip(self.weights.chunks_exact(self.area()).skip(wanted.start))
            {
                let sink = &mut gradient.group(n, from.area());
                every_other(registers, (upstream, to), from, weights, sink);
            }
            return;
        }
        for ((n, upstream), weights) in
            groups.zip(self.weights.chunks_exact(self.area()).skip(wanted.start))
        {
            let target = &mut gradient.group(n, from.area());
            for y in 0..from.height {
                let rows = self.window.outputs(y, to.height);
                for x in 0..from.width {
                    let mut sum = registers.zero();
                    for (ky, oy) in rows.clone() {
                        for (kx, ox) in self.window.outputs(x, to.width) {
                            let weight = registers.load(&weights[ky * kernel + kx]);
                            let value = registers.load(&upstream[oy * to.width + ox]);
                            sum = registers.mul_adds(weight, value, sum);
                        }
                    }
                    target.put(registers, y * from.width + x, sum);
                }
            }
        }
    }
}

impl Window {
    /// Positions in the window and outputs that use the input at `n` along a side.
    #[inline(always)]
    fn outputs(self, n: usize, outputs: usize) -> impl Iterator<Item = (usize, usize)> + Clone {
        let (at, stride) = (n + self.padding, self.stride);
        let (last, phase) = (at / stride, at % stride);
        // From the last output whose window contains the input back to the first.
        let count = self.kernel.saturating_sub(phase).div_ceil(stride).min(last + 1);
        let skipped = (last + 1).saturating_sub(outputs).min(count);
        (skipped..count).map(move |n| (phase + n * stride, last - n))
    }
}

/// The gradient of windows of 3x3 with a stride of 2 and a padding of 1. Even pixels are in the middle of one window along
/// a side, odd ones at the edges of two.
#[inline(always)]
fn every_other<S: Simd, const V: usize>(
    registers: Registers<S, V>,
    (upstream, to): (&[Lanes], Shape),
    from: Shape,
    weights: &[Lanes],
    sink: &mut impl Sink<S, V>,
) {
    let none = [(0, &[][..]); 2];
    for y in 0..from.height {
        let line = |y: usize| upstream.chunks_exact(to.width).nth(y).unwrap_or_default();
        let mut rows = none;
        if y % 2 == 0 {
            rows[0] = (3, line(y / 2));
        } else {
            rows = [(0, line(y / 2 + 1)), (6, line(y / 2))];
        }
        let (start, full) = (y * from.width, to.width.min(from.width / 2));
        let mut i = 0;
        while i < from.width.div_ceil(2) {
            match V {
                1 if i + 7 <= full => {
                    let sums = pairs::<S, V, 7, 14>(registers, rows, weights, i);
                    sink.put_all(registers, start + 2 * i, sums);
                    i += 7;
                }
                1 | 2 if i + 2 <= full => {
                    let sums = pairs::<S, V, 2, 4>(registers, rows, weights, i);
                    sink.put_all(registers, start + 2 * i, sums);
                    i += 2;
                }
                _ => {
                    let [even, odd] = pairs::<S, V, 1, 2>(registers, rows, weights, i);
                    sink.put(registers, start + 2 * i, even);
                    if 2 * i + 1 < from.width {
                        sink.put(registers, start + 2 * i + 1, odd);
                    }
                    i += 1;
                }
            }
        }
    }
}

/// `P` pairs of neighbours for [`every_other`], which are `N` pixels, from pair `i` on. `rows` have the first of three
/// weights and the outputs that these belong to; those without outputs there do not count.
#[inline(always)]
fn pairs<S: Simd, const V: usize, const P: usize, const N: usize>(
    registers: Registers<S, V>,
    rows: [(usize, &[Lanes]); 2],
    weights: &[Lanes],
    i: usize,
) -> [[S::f32s; V]; N] {
    let mut sums = [registers.zero(); N];
    for (first, line) in rows {
        let Some(pixels) = line.get(i..i + P) else { continue };
        let mut row = [registers.zero(); 3];
        for kx in 0..3 {
            row[kx] = registers.load(&weights[first + kx]);
        }
        let last = registers.load(line.get(i + P).unwrap_or(NOTHING));
        for p in 0..P {
            let pixel = registers.load(&pixels[p]);
            let next = if p + 1 < P { registers.load(&pixels[p + 1]) } else { last };
            sums[2 * p] = registers.mul_adds(row[1], pixel, sums[2 * p]);
            sums[2 * p + 1] = registers.mul_adds(row[2], pixel, sums[2 * p + 1]);
            sums[2 * p + 1] = registers.mul_adds(row[0], next, sums[2 * p + 1]);
        }
    }
    sums
}

/// Pixels of a line that neighbouring windows see. What is missing at an end counts as zeros, and so does a line without
/// pixels inside.
#[derive(Clone, Copy)]
pub(super) struct Row<'a> {
    pub first: &'a Lanes,
    pub inside: &'a [Lanes],
    pub last: &'a Lanes,
}

const NOTHING: &Lanes = &[0.0; LANES];

impl<'a> Row<'a> {
    pub(super) const OUTSIDE: Self = Self { first: NOTHING, inside: &[], last: NOTHING };

    /// `count` pixels of a line from `start` on, which counts from one before the line if that is `padded`.
    #[inline(always)]
    fn new(line: &'a [Lanes], start: usize, padded: bool, count: usize) -> Self {
        let start = start + 1 - usize::from(padded);
        let Some(inside) = line.get(start..start + count - 2) else { return Self::OUTSIDE };
        let first = start.checked_sub(1).map_or(NOTHING, |at| &line[at]);
        Self { first, inside, last: line.get(start + count - 2).unwrap_or(NOTHING) }
    }
}

/// `P` neighbouring windows of 3x3, with a stride of `T`, from three lines.
#[inline(always)]
pub(super) fn windows<S: Simd, const V: usize, const P: usize, const T: usize>(
    registers: Registers<S, V>,
    rows: [Row<'_>; 3],
    weights: &[Lanes],
) -> [[S::f32s; V]; P] {
    let mut sums = [registers.zero(); P];
    for ky in 0..3 {
        let count = T * (P - 1) + 3;
        let Some(inside) = rows[ky].inside.get(..count - 2) else { continue };
        let mut row = [registers.zero(); 3];
        for kx in 0..3 {
            row[kx] = registers.load(&weights[3 * ky + kx]);
        }
        for kx in 0..3 {
            for p in 0..P {
                let pixel = match T * p + kx {
                    0 => rows[ky].first,
                    q if q == count - 1 => rows[ky].last,
                    q => &inside[q - 1],
                };
                sums[p] = registers.mul_adds(row[kx], registers.load(pixel), sums[p]);
            }
        }
    }
    sums
}

/// The windows of one group of channels.
struct Sums<'a> {
    window: Window,
    pixels: &'a [Lanes],
    from: Shape,
    to: Shape,
    weights: &'a [Lanes],
}

impl Sums<'_> {
    #[inline(always)]
    fn run<S: Simd, const V: usize>(&self, registers: Registers<S, V>, sink: &mut impl Sink<S, V>) {
        let (seven, width) = (self.to.width.is_multiple_of(7), self.to.width);
        match (self.window.kernel, self.window.stride, V) {
            _ if self.window.padding > 1 => {}
            (3, 1, 1) if seven => return self.run_by::<S, V, 7, 1>(registers, sink),
            (3, 1, 1) if width >= 8 => return self.run_by::<S, V, 8, 1>(registers, sink),
            (3, 1, _) if width >= 4 => return self.run_by::<S, V, 4, 1>(registers, sink),
            (3, 2, 1) if seven => return self.run_by::<S, V, 7, 2>(registers, sink),
            (3, 2, 1) if width >= 8 => return self.run_by::<S, V, 8, 2>(registers, sink),
            (3, 2, _) if width >= 4 => return self.run_by::<S, V, 4, 2>(registers, sink),
            _ => {}
        }
        (0..self.to.height).for_each(|y| self.single(registers, y, sink));
    }

    /// Windows of 3x3 with a stride of `T` and a padding of at most 1, `P` at once. A line has at least as many.
    #[inline(always)]
    fn run_by<S: Simd, const V: usize, const P: usize, const T: usize>(
        &self,
        registers: Registers<S, V>,
        sink: &mut impl Sink<S, V>,
    ) {
        let (width, padding) = (self.to.width, self.window.padding);
        for y in 0..self.to.height {
            let mut lines = [&[][..]; 3];
            for (ky, line) in lines.iter_mut().enumerate() {
                let inside = (T * y + ky).checked_sub(padding).filter(|&y| y < self.from.height);
                if let Some(y) = inside {
                    *line = &self.pixels[y * self.from.width..][..self.from.width];
                }
            }
            let mut next = 0;
            while next < width {
                let x = next.min(width - P);
                let rows = lines.map(|line| Row::new(line, T * x, padding > 0, T * (P - 1) + 3));
                let sums = windows::<S, V, P, T>(registers, rows, self.weights);
                put_rest(registers, (y * width + next, next - x), sums, sink);
                next = x + P;
            }
        }
    }

    /// A line, one window after the other, of any size.
    #[inline(always)]
    fn single<S: Simd, const V: usize>(
        &self,
        registers: Registers<S, V>,
        y: usize,
        sink: &mut impl Sink<S, V>,
    ) {
        let Window { kernel, stride, padding } = self.window;
        for x in 0..self.to.width {
            let mut sum = registers.zero();
            for ky in 0..kernel {
                let line = (stride * y + ky).checked_sub(padding).filter(|&y| y < self.from.height);
                let Some(line) = line else { continue };
                for kx in 0..kernel {
                    let at =
                        (stride * x + kx).checked_sub(padding).filter(|&x| x < self.from.width);
                    let Some(at) = at else { continue };
                    let weight = registers.load(&self.weights[ky * kernel + kx]);
                    let value = registers.load(&self.pixels[line * self.from.width + at]);
                    sum = registers.mul_adds(weight, value, sum);
                }
            }
            sink.put(registers, y * self.to.width + x, sum);
        }
    }
}
