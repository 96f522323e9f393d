//! Which pixels a dense convolution multiplies with which weights, forward and backward.
//!
//! Pictures get a border of zeros first, so that no window is cut off. The gradient of an input pixel is a sum over
//! those outputs whose windows contain it. Which positions of the window these are depends on the pixel's place
//! modulo the stride: its phase.

use super::products::{Place, Term};
use super::{Shape, Window};

/// Memory for the tables of one convolution.
#[derive(Debug, Default)]
pub(super) struct Tables {
    pub terms: Vec<Term>,
    pub places: Vec<Place>,
}

/// A position modulo the stride, in both directions.
#[derive(Debug, Clone, Copy)]
pub(super) struct Phase {
    y: usize,
    x: usize,
}

impl Shape {
    pub(super) const fn with_border(self, border: usize) -> Self {
        Self::new(self.channels, self.height + 2 * border, self.width + 2 * border)
    }
}

impl Window {
    /// The border of an upstream gradient.
    pub(super) const fn margin(self) -> usize {
        (self.kernel - 1) / self.stride + 1
    }

    pub(super) fn phases(self) -> impl Iterator<Item = Phase> {
        (0..self.stride * self.stride)
            .map(move |n| Phase { y: n / self.stride, x: n % self.stride })
    }

    /// The number of positions along a side of the window that belong to a phase.
    const fn taps(self, phase: usize) -> usize {
        self.kernel.saturating_sub(phase).div_ceil(self.stride)
    }

    /// Positions in the window that belong to a phase.
    pub(super) fn taps_of(self, phase: Phase) -> impl Iterator<Item = usize> {
        let lines = (phase.y..self.kernel).step_by(self.stride);
        let columns = move || (phase.x..self.kernel).step_by(self.stride);
        lines.flat_map(move |y| columns().map(move |x| y * self.kernel + x))
    }

    /// Whether any output sees a pixel there. Where pictures are smaller than the window, it may be the border for all.
    fn is_used(self, tap: usize, from: Shape, to: Shape) -> bool {
        let Self { kernel, stride, padding } = self;
        let sees = |tap: usize, side: usize, positions: usize| {
            let seen = |n: usize| (n * stride + tap).checked_sub(padding);
            (0..positions).filter_map(seen).any(|seen| seen < side)
        };
        sees(tap / kernel, from.height, to.height) && sees(tap % kernel, from.width, to.width)
    }
}

impl Tables {
    /// For the result of a convolution, from its input with a border.
    pub(super) fn forward(&mut self, window: Window, from: Shape, to: Shape) {
        let (k, padded) = (window.kernel, from.with_border(window.padding));
        self.terms.clear();
        for group in 0..from.groups() {
            for tap in (0..k * k).filter(|&tap| window.is_used(tap, from, to)) {
                let offset = group * padded.area() + tap / k * padded.width + tap % k;
                self.terms.push(term(offset, group * k * k + tap));
            }
        }
        self.places.clear();
        for y in 0..to.height {
            for x in 0..to.width {
                let base = window.stride * (y * padded.width + x);
                self.places.push(place(base, y * to.width + x));
            }
        }
    }

    /// For the gradient with respect to the input, of those of its pixels that are in a phase, from the upstream gradient
    /// with its margin. Matrices are in the order of [`Window::phases`]: `before` belong to earlier phases.
    pub(super) fn backward(
        &mut self,
        window: Window,
        (from, to): (Shape, Shape),
        phase: Phase,
        before: usize,
    ) {
        let (Window { stride, padding, .. }, padded) = (window, to.with_border(window.margin()));
        let (rows, columns) = (window.taps(phase.y), window.taps(phase.x));
        self.terms.clear();
        for group in 0..to.groups() {
            for (n, tap) in window.taps_of(phase).enumerate() {
                if window.is_used(tap, from, to) {
                    // Later positions of the window belong to earlier outputs.
                    let at = (rows - 1 - n / columns) * padded.width + columns - 1 - n % columns;
                    let matrix = before + group * rows * columns + n;
                    self.terms.push(term(group * padded.area() + at, matrix));
                }
            }
        }
        self.places.clear();
        let start =
            |n: usize, taps: usize| (n + padding) / stride + window.margin() + 1 - taps.max(1);
        let is_in = |n: usize, phase: usize| (n + padding) % stride == phase;
        for y in (0..from.height).filter(|&y| is_in(y, phase.y)) {
            for x in (0..from.width).filter(|&x| is_in(x, phase.x)) {
                let base = start(y, rows) * padded.width + start(x, columns);
                self.places.push(place(base, y * from.width + x));
            }
        }
    }

    /// For a line of a convolution of a picture. Terms are whole lines of those windows that `Stem` knows.
    pub(super) fn lines(&mut self, Window { kernel, stride, .. }: Window, width: usize) {
        self.terms.clear();
        if matches!((kernel, stride), (3, 1 | 2) | (7, 2)) {
            self.terms.extend((0..kernel).map(|line| term(line * width, line)));
        } else {
            let taps = 0..kernel * kernel;
            self.terms.extend(taps.map(|tap| term(tap / kernel * width + tap % kernel, tap)));
        }
    }

    /// For a product of every pixel with one matrix for each group.
    pub(super) fn pointwise(&mut self, from: Shape) {
        self.terms.clear();
        self.terms.extend((0..from.groups()).map(|group| term(group * from.area(), group)));
    }
}

// Pictures are far smaller than 2^32 pixels: the detector takes tiles, recognisers take chips.
fn term(offset: usize, matrix: usize) -> Term {
    Term { offset: offset as u32, matrix: matrix as u32 }
}

fn place(base: usize, target: usize) -> Place {
    Place { base: base as u32, target: target as u32 }
}

/// Copies a tensor into a border of zeros.
#[inline(always)]
pub(super) fn pad<T: Copy>(pixels: &[T], shape: Shape, border: usize, zero: T, padded: &mut [T]) {
    let wide = shape.with_border(border);
    let groups = pixels.chunks_exact(shape.area()).zip(padded.chunks_exact_mut(wide.area()));
    for (pixels, padded) in groups {
        let mut lines = padded.chunks_exact_mut(wide.width);
        lines.by_ref().take(border).for_each(|line| line.fill(zero));
        for (line, pixels) in lines.by_ref().zip(pixels.chunks_exact(shape.width)) {
            line[..border].fill(zero);
            line[border..][..shape.width].copy_from_slice(pixels);
            line[border + shape.width..].fill(zero);
        }
        // The iterator above has taken the first line of the lower border.
        let lower = (border + shape.height) * wide.width;
        padded[lower..].fill(zero);
    }
}
