//! Max and average pooling.

use pulp::Simd;

use super::lanes::Lanes;
use super::registers::Registers;
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
    pub(super) fn forward<S: Simd, const V: usize>(
        self,
        registers: Registers<S, V>,
        input: &[Lanes],
        from: Shape,
        output: &mut [Lanes],
    ) {
        let (to, part) = (self.window().shape(from), [registers.splat(self.part()); V]);
        let groups = input.chunks_exact(from.area()).zip(output.chunks_exact_mut(to.area()));
        for (input, output) in groups {
            if self == Pool::Max(Window::new(2, 2, 0)) {
                halve(registers, input, from.width, to.width, output);
                continue;
            }
            for (n, out) in output.iter_mut().enumerate() {
                let inside = self.window().inside(n / to.width, n % to.width, from);
                let mut result = registers.zero();
                if matches!(self, Pool::Max(_)) {
                    result = [registers.splat(f32::NEG_INFINITY); V];
                    for at in inside {
                        result = registers.max(registers.load(&input[at]), result);
                    }
                } else {
                    for at in inside {
                        result = registers.mul_adds(part, registers.load(&input[at]), result);
                    }
                }
                registers.store(result, out);
            }
        }
    }

    /// Writes or adds the gradient with respect to the input. Of equal maxima, the first gets all of it.
    #[inline(always)]
    pub(super) fn backward<S: Simd, const V: usize>(
        self,
        registers: Registers<S, V>,
        (input, from): (&[Lanes], Shape),
        (output, upstream): (&[Lanes], &[Lanes]),
        gradient: Target<'_>,
    ) {
        let (to, part) = (self.window().shape(from), [registers.splat(self.part()); V]);
        let gradient = gradient.zeroed();
        if let Pool::Max(Window { kernel, stride, padding: 0 }) = self {
            let groups = output.chunks_exact(to.area()).zip(upstream.chunks_exact(to.area()));
            let wide = input.chunks_exact(from.area()).zip(gradient.chunks_exact_mut(from.area()));
            for ((output, upstream), (input, gradient)) in groups.zip(wide) {
                for (n, (output, upstream)) in output.iter().zip(upstream).enumerate() {
                    let first = stride * (n / to.width * from.width + n % to.width);
                    let (maximum, mut left) = (registers.load(output), registers.load(upstream));
                    for row in 0..kernel {
                        let line = first + row * from.width..first + row * from.width + kernel;
                        let pixels = gradient[line.clone()].iter_mut().zip(&input[line]);
                        for (to, input) in pixels {
                            left = pass_on(registers, input, maximum, left, to);
                        }
                    }
                }
            }
            return;
        }
        for (n, (output, upstream)) in output.iter().zip(upstream).enumerate() {
            let (group, n) = (n / to.area() * from.area(), n % to.area());
            // What no maximum has got yet.
            let (maximum, mut left) = (registers.load(output), registers.load(upstream));
            for at in self.window().inside(n / to.width, n % to.width, from) {
                let (gradient, input) = (&mut gradient[group + at], &input[group + at]);
                if matches!(self, Pool::Max(_)) {
                    left = pass_on(registers, input, maximum, left, gradient);
                } else {
                    let sum = registers.mul_adds(part, left, registers.load(gradient));
                    registers.store(sum, gradient);
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

/// Adds what is left of a gradient where the input is the maximum. Returns what is left then.
#[inline(always)]
fn pass_on<S: Simd, const V: usize>(
    registers: Registers<S, V>,
    input: &Lanes,
    maximum: [S::f32s; V],
    left: [S::f32s; V],
    gradient: &mut Lanes,
) -> [S::f32s; V] {
    let hit = registers.where_equal(registers.load(input), maximum, left);
    registers.store(registers.add(registers.load(gradient), hit), gradient);
    registers.sub(left, hit)
}

/// The maximum of every square of 2x2.
#[inline(always)]
fn halve<S: Simd, const V: usize>(
    registers: Registers<S, V>,
    input: &[Lanes],
    width: usize,
    halved: usize,
    output: &mut [Lanes],
) {
    let lines = input.chunks_exact(2 * width).zip(output.chunks_exact_mut(halved));
    for (two_lines, line) in lines {
        let (upper, lower) = two_lines.split_at(width);
        larger_of_squares(registers, upper, lower, line);
    }
}

/// The maximum of every square of 2x2 of two lines.
#[inline(always)]
pub(super) fn larger_of_squares<S: Simd, const V: usize>(
    registers: Registers<S, V>,
    upper: &[Lanes],
    lower: &[Lanes],
    output: &mut [Lanes],
) {
    let squares = upper.as_chunks::<2>().0.iter().zip(lower.as_chunks::<2>().0);
    for (out, ([a, b], [c, d])) in output.iter_mut().zip(squares) {
        let upper = registers.max(registers.load(a), registers.load(b));
        let lower = registers.max(registers.load(c), registers.load(d));
        registers.store(registers.max(upper, lower), out);
    }
}
