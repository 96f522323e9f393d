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
        let part = 1.0 / (self.window().kernel * self.window().kernel) as f32;
        let to = self.window().shape(from);
        for (at, out) in output.iter_mut().enumerate() {
            let inside = self.positions(at, from, to);
            *out = match self {
                Pool::Max(_) => inside.map(|i| input[i]).fold(f32::NEG_INFINITY, f32::max),
                Pool::Average(_) => inside.map(|i| input[i]).sum::<f32>() * part,
            };
        }
    }

    /// Writes or adds the gradient with respect to the input. Of equal maxima, the first gets all of it.
    #[inline(always)]
    pub(super) fn backward(
        self,
        input: &[f32],
        upstream: &[f32],
        from: Shape,
        gradient: Target<'_>,
    ) {
        let gradient = gradient.zeroed();
        let part = 1.0 / (self.window().kernel * self.window().kernel) as f32;
        let to = self.window().shape(from);
        for (at, up) in upstream.iter().enumerate() {
            let inside = self.positions(at, from, to);
            match self {
                Pool::Max(_) => {
                    let largest = inside.reduce(|a, b| if input[b] > input[a] { b } else { a });
                    if let Some(largest) = largest {
                        gradient[largest] += up;
                    }
                }
                Pool::Average(_) => inside.for_each(|i| gradient[i] += up * part),
            }
        }
    }

    /// The input positions under the window of output `at`.
    #[inline(always)]
    fn positions(self, at: usize, from: Shape, to: Shape) -> impl Iterator<Item = usize> {
        let Window { kernel, stride, padding } = self.window();
        let (channel, y, x) = (at / to.area(), at % to.area() / to.width, at % to.width);
        let span = move |o: usize, n: usize| {
            let end = (o * stride + kernel).saturating_sub(padding).min(n);
            (o * stride).saturating_sub(padding).min(end)..end
        };
        let columns = span(x, from.width);
        span(y, from.height).flat_map(move |y| {
            let line = channel * from.area() + y * from.width;
            columns.clone().map(move |x| line + x)
        })
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
