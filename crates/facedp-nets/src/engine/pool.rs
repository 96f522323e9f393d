//! Max and average pooling.

use super::target::Target;
use super::{Shape, Window};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Pool {
    /// Padding is never the maximum.
    Max(Window),
    /// The mean of the whole window; padding counts as zeros.
    Average(Window),
}

impl Pool {
    pub(super) fn window(self) -> Window {
        match self {
            Pool::Max(window) | Pool::Average(window) => window,
        }
    }

    #[inline(always)]
    pub(super) fn forward(self, input: &[f32], from: Shape, output: &mut [f32]) {
        if self == Pool::Max(Window::new(2, 2, 0)) && from.height.is_multiple_of(2) {
            return halve(input, from.width, output);
        }
        let part = self.part();
        let (to, stride) = (self.window().shape(from), self.window().stride);
        output.fill(if matches!(self, Pool::Max(_)) { f32::NEG_INFINITY } else { 0.0 });
        for (n, line) in output.chunks_exact_mut(to.width).enumerate() {
            self.for_each_shift(n, from, to, |source, valid| {
                let pairs = line[valid].iter_mut().zip(input[source..].iter().step_by(stride));
                match self {
                    Pool::Max(_) => pairs.for_each(|(t, s)| *t = t.max(*s)),
                    Pool::Average(_) => pairs.for_each(|(t, s)| *t += s * part),
                }
            });
        }
    }

    /// Writes or adds the gradient with respect to the input. Of equal maxima, the first gets all of it.
    #[inline(always)]
    pub(super) fn backward(
        self,
        (input, from): (&[f32], Shape),
        (output, upstream): (&[f32], &[f32]),
        gradient: Target<'_>,
        scratch: &mut [f32],
    ) {
        let part = self.part();
        let (to, stride) = (self.window().shape(from), self.window().stride);
        let (gradient, left) = (gradient.zeroed(), &mut scratch[..to.width]);
        let lines = output.chunks_exact(to.width).zip(upstream.chunks_exact(to.width));
        for (n, (output, upstream)) in lines.enumerate() {
            // What no maximum has got yet.
            left.copy_from_slice(upstream);
            self.for_each_shift(n, from, to, |source, valid| {
                let gradient = gradient[source..].iter_mut().step_by(stride);
                match self {
                    Pool::Max(_) => {
                        let input = input[source..].iter().step_by(stride);
                        let rest = left[valid.clone()].iter_mut().zip(&output[valid]);
                        for ((g, i), (l, o)) in gradient.zip(input).zip(rest) {
                            let hit = if i == o { *l } else { 0.0 };
                            *g += hit;
                            *l -= hit;
                        }
                    }
                    Pool::Average(_) => {
                        gradient.zip(&left[valid]).for_each(|(g, l)| *g += l * part);
                    }
                }
            });
        }
    }

    /// One divided by the number of values in a window.
    fn part(self) -> f32 {
        1.0 / (self.window().kernel * self.window().kernel) as f32
    }

    /// Calls `visit(first input, outputs)` for each position in the windows of an output line. Inputs
    /// advance by the stride.
    #[inline(always)]
    fn for_each_shift(
        self,
        line: usize,
        from: Shape,
        to: Shape,
        mut visit: impl FnMut(usize, std::ops::Range<usize>),
    ) {
        let Window { kernel, stride, padding } = self.window();
        let (channel, y) = (line / to.height, line % to.height);
        for ky in 0..kernel {
            let row = (y * stride + ky).checked_sub(padding).filter(|&row| row < from.height);
            let Some(row) = row else { continue };
            for kx in 0..kernel {
                let (valid, start) = self.window().valid(kx, from.width, to.width);
                visit(channel * from.area() + row * from.width + start, valid);
            }
        }
    }
}

/// The maximum of every 2x2 square. The number of rows must be even.
#[inline(always)]
fn halve(input: &[f32], width: usize, output: &mut [f32]) {
    let pairs = input.chunks_exact(2 * width).zip(output.chunks_exact_mut(width / 2));
    for (two_lines, line) in pairs {
        let (upper, lower) = two_lines.split_at(width);
        let squares = upper.chunks_exact(2).zip(lower.chunks_exact(2));
        for (out, (u, l)) in line.iter_mut().zip(squares) {
            *out = u[0].max(u[1]).max(l[0].max(l[1]));
        }
    }
}
