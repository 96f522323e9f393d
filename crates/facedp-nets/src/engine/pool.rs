//! Max and average pooling.

use super::lanes::{LANES, Lanes};
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
    pub(super) fn forward(self, input: &[Lanes], from: Shape, output: &mut [Lanes]) {
        let (to, part) = (self.window().shape(from), self.part());
        let groups = input.chunks_exact(from.area()).zip(output.chunks_exact_mut(to.area()));
        for (input, output) in groups {
            if self == Pool::Max(Window::new(2, 2, 0)) {
                halve(input, from.width, to.width, output);
                continue;
            }
            for (n, out) in output.iter_mut().enumerate() {
                let inside = self.window().inside(n / to.width, n % to.width, from);
                if matches!(self, Pool::Max(_)) {
                    let mut largest = [f32::NEG_INFINITY; LANES];
                    for at in inside {
                        for i in 0..LANES {
                            largest[i] =
                                if input[at][i] > largest[i] { input[at][i] } else { largest[i] };
                        }
                    }
                    *out = largest;
                } else {
                    let mut sum = [0.0; LANES];
                    inside.for_each(|at| (0..LANES).for_each(|i| sum[i] += part * input[at][i]));
                    *out = sum;
                }
            }
        }
    }

    /// Writes or adds the gradient with respect to the input. Of equal maxima, the first gets all of it.
    #[inline(always)]
    pub(super) fn backward(
        self,
        (input, from): (&[Lanes], Shape),
        (output, upstream): (&[Lanes], &[Lanes]),
        gradient: Target<'_>,
    ) {
        let (to, part) = (self.window().shape(from), self.part());
        let gradient = gradient.zeroed();
        if let Pool::Max(Window { kernel, stride, padding: 0 }) = self {
            let groups = output.chunks_exact(to.area()).zip(upstream.chunks_exact(to.area()));
            let wide = input.chunks_exact(from.area()).zip(gradient.chunks_exact_mut(from.area()));
            for ((output, upstream), (input, gradient)) in groups.zip(wide) {
                for (n, (output, upstream)) in output.iter().zip(upstream).enumerate() {
                    let first = stride * (n / to.width * from.width + n % to.width);
                    let mut left = *upstream;
                    for row in 0..kernel {
                        let line = first + row * from.width..first + row * from.width + kernel;
                        let pixels = gradient[line.clone()].iter_mut().zip(&input[line]);
                        pixels.for_each(|(to, input)| pass_on(input, output, &mut left, to));
                    }
                }
            }
            return;
        }
        for (n, (output, upstream)) in output.iter().zip(upstream).enumerate() {
            let (group, n) = (n / to.area() * from.area(), n % to.area());
            // What no maximum has got yet.
            let mut left = *upstream;
            for at in self.window().inside(n / to.width, n % to.width, from) {
                let (gradient, input) = (&mut gradient[group + at], &input[group + at]);
                if matches!(self, Pool::Max(_)) {
                    pass_on(input, output, &mut left, gradient);
                } else {
                    (0..LANES).for_each(|i| gradient[i] += part * left[i]);
                }
            }
        }
    }

    /// One divided by the number of values in a window.
    fn part(self) -> f32 {
        1.0 / (self.window().kernel * self.window().kernel) as f32
    }
}

impl Window {
    /// The pixels of the window at an output that are not in the padding.
    #[inline(always)]
    fn inside(self, y: usize, x: usize, from: Shape) -> impl Iterator<Item = usize> {
        let range = |n: usize, side: usize| {
            let first = n * self.stride;
            first.saturating_sub(self.padding)..(first + self.kernel - self.padding).min(side)
        };
        let columns = range(x, from.width);
        range(y, from.height).flat_map(move |y| columns.clone().map(move |x| y * from.width + x))
    }
}

/// Adds what is left of a gradient where the input is the maximum. Then nothing is left.
#[inline(always)]
fn pass_on(input: &Lanes, maximum: &Lanes, left: &mut Lanes, gradient: &mut Lanes) {
    let hit: Lanes = std::array::from_fn(|i| if input[i] == maximum[i] { left[i] } else { 0.0 });
    for i in 0..LANES {
        gradient[i] += hit[i];
        left[i] -= hit[i];
    }
}

/// The maximum of every square of 2x2.
#[inline(always)]
fn halve(input: &[Lanes], width: usize, halved: usize, output: &mut [Lanes]) {
    let lines = input.chunks_exact(2 * width).zip(output.chunks_exact_mut(halved));
    for (two_lines, line) in lines {
        let (upper, lower) = two_lines.split_at(width);
        larger_of_squares(upper, lower, line);
    }
}

/// The maximum of every square of 2x2 of two lines.
#[inline(always)]
pub(super) fn larger_of_squares(upper: &[Lanes], lower: &[Lanes], output: &mut [Lanes]) {
    let squares = upper.as_chunks::<2>().0.iter().zip(lower.as_chunks::<2>().0);
    for (out, ([a, b], [c, d])) in output.iter_mut().zip(squares) {
        for i in 0..LANES {
            let larger = |a: f32, b: f32| if a > b { a } else { b };
            out[i] = larger(larger(a[i], b[i]), larger(c[i], d[i]));
        }
    }
}
