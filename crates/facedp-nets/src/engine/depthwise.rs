//! Depthwise convolution: each channel has its own window.

use super::activation::Epilogue;
use super::halving::Halving;
use super::target::Target;
use super::{Shape, Window};

/// A depthwise convolution with a bias.
#[derive(Debug, Clone)]
pub(crate) struct Depthwise {
    window: Window,
    /// `kernel * kernel` per channel.
    weights: Vec<f32>,
    bias: Vec<f32>,
}

impl Depthwise {
    /// One window and one bias per channel. `None` if their numbers do not match.
    pub(crate) fn new(window: Window, weights: Vec<f32>, bias: Vec<f32>) -> Option<Self> {
        let fits = weights.len() == bias.len() * window.kernel * window.kernel;
        fits.then_some(Self { window, weights, bias })
    }

    pub(super) fn window(&self) -> Window {
        self.window
    }

    pub(super) fn scratch_len(&self, from: Shape) -> usize {
        match (self.is_common(), self.window.stride) {
            (true, 1) => Plane::scratch_len(from),
            (true, _) => Halving::scratch_len(from),
            (false, _) => 0,
        }
    }

    pub(super) fn channels(&self) -> usize {
        self.bias.len()
    }

    #[inline(always)]
    pub(super) fn forward(
        &self,
        input: &[f32],
        from: Shape,
        epilogue: Epilogue<'_>,
        (output, passed): (&mut [f32], &mut [bool]),
        scratch: &mut [f32],
    ) {
        let to = self.window.shape(from);
        let stride = self.window.stride;
        if self.is_common() {
            let planes = input.chunks_exact(from.area()).zip(output.chunks_exact_mut(to.area()));
            let channels = self.weights.as_chunks::<9>().0.iter().zip(&self.bias);
            let each = planes.zip(channels).enumerate();
            if stride == 1 {
                let mut plane = Plane::new(scratch, from);
                for (n, ((input, output), (window, &bias))) in each {
                    plane.fill(input);
                    plane.convolve(window, true, output);
                    epilogue.channel(n, bias, output, passed);
                }
            } else {
                let mut halving = Halving::new(scratch, from);
                for (n, ((input, output), (window, &bias))) in each {
                    halving.forward(input, window, to.width, output);
                    epilogue.channel(n, bias, output, passed);
                }
            }
            return;
        }
        output.fill(0.0);
        self.for_each_line(from, |weight, source, target, count| {
            let source = input[source..].iter().step_by(stride);
            let target = &mut output[target..][..count];
            target.iter_mut().zip(source).for_each(|(t, s)| *t += weight * s);
        });
        epilogue.channels(&self.bias, output, passed);
    }

    /// Writes or adds the gradient with respect to the input.
    #[inline(always)]
    pub(super) fn backward(
        &self,
        upstream: &[f32],
        from: Shape,
        gradient: Target<'_>,
        scratch: &mut [f32],
    ) {
        let to = self.window.shape(from);
        let stride = self.window.stride;
        if self.is_common() {
            let Target { first, values } = gradient;
            let planes = upstream.chunks_exact(to.area()).zip(values.chunks_exact_mut(from.area()));
            let each = planes.zip(self.weights.as_chunks::<9>().0);
            if stride == 1 {
                let mut plane = Plane::new(scratch, from);
                for ((upstream, gradient), window) in each {
                    let mut window = *window;
                    // The transpose of this convolution is the one with the reversed window.
                    window.reverse();
                    plane.fill(upstream);
                    plane.convolve(&window, first, gradient);
                }
            } else {
                let mut halving = Halving::new(scratch, from);
                for ((upstream, gradient), window) in each {
                    halving.backward(upstream, window, to.width, (gradient, first));
                }
            }
            return;
        }
        let gradient = gradient.zeroed();
        self.for_each_line(from, |weight, source, target, count| {
            let upstream = &upstream[target..][..count];
            let gradient = gradient[source..].iter_mut().step_by(stride);
            gradient.zip(upstream).for_each(|(g, u)| *g += weight * u);
        });
    }

    /// Whether the window is 3x3 with a padding of 1 and a stride of 1 or 2, as in nearly all layers.
    fn is_common(&self) -> bool {
        (self.window.kernel, self.window.padding) == (3, 1) && self.window.stride <= 2
    }

    /// Calls `visit(weight, first input, first output, count)` for every weight and every line that it
    /// touches. Inputs advance by the stride, outputs by one.
    #[inline(always)]
    fn for_each_line(&self, from: Shape, mut visit: impl FnMut(f32, usize, usize, usize)) {
        let to = self.window.shape(from);
        let Window { kernel, stride, padding } = self.window;
        for channel in 0..from.channels.min(self.bias.len()) {
            for y in 0..to.height {
                for ky in 0..kernel {
                    let line = (y * stride + ky).checked_sub(padding);
                    let Some(line) = line.filter(|&line| line < from.height) else { continue };
                    for kx in 0..kernel {
                        let weight = self.weights[(channel * kernel + ky) * kernel + kx];
                        let (valid, start) = self.window.valid(kx, from.width, to.width);
                        let source = channel * from.area() + line * from.width + start;
                        let target = channel * to.area() + y * to.width + valid.start;
                        visit(weight, source, target, valid.len());
                    }
                }
            }
        }
    }
}

/// A channel with lines of zeros above and below it. One loop runs over all lines at once, which vectorises
/// better than many short loops. It would run into the next line at both ends; masks prevent that.
struct Plane<'s> {
    shape: Shape,
    values: &'s mut [f32],
    /// 0 in the first column, else 1.
    left: &'s [f32],
    /// 0 in the last column, else 1.
    right: &'s [f32],
}

impl<'s> Plane<'s> {
    fn scratch_len(shape: Shape) -> usize {
        3 * shape.area() + 2 * shape.width + 2
    }

    #[inline(always)]
    fn new(scratch: &'s mut [f32], shape: Shape) -> Self {
        let (values, rest) = scratch.split_at_mut(shape.area() + 2 * shape.width + 2);
        let (left, rest) = rest.split_at_mut(shape.area());
        let right = &mut rest[..shape.area()];
        values.fill(0.0);
        left.fill(1.0);
        right.fill(1.0);
        left.iter_mut().step_by(shape.width).for_each(|v| *v = 0.0);
        right.iter_mut().skip(shape.width - 1).step_by(shape.width).for_each(|v| *v = 0.0);
        Self { shape, values, left, right }
    }

    #[inline(always)]
    fn fill(&mut self, channel: &[f32]) {
        self.values[self.shape.width + 1..][..self.shape.area()].copy_from_slice(channel);
    }

    /// Writes the convolution, or adds it. The formula is there twice because the compiler does not inline
    /// every closure, and then does not vectorise.
    #[inline(always)]
    fn convolve(&self, window: &[f32; 9], first: bool, output: &mut [f32]) {
        let count = output.len();
        let shifted = |n: usize| &self.values[n / 3 * self.shape.width + n % 3..][..count];
        let [a, b, c, d, e, f, g, h, i] = std::array::from_fn(shifted);
        let [ka, kb, kc, kd, ke, kf, kg, kh, ki] = *window;
        let (left, right) = (&self.left[..count], &self.right[..count]);
        if first {
            for (n, out) in output.iter_mut().enumerate() {
                *out = (kb * b[n] + ke * e[n] + kh * h[n])
                    + left[n] * (ka * a[n] + kd * d[n] + kg * g[n])
                    + right[n] * (kc * c[n] + kf * f[n] + ki * i[n]);
            }
        } else {
            for (n, out) in output.iter_mut().enumerate() {
                *out += (kb * b[n] + ke * e[n] + kh * h[n])
                    + left[n] * (ka * a[n] + kd * d[n] + kg * g[n])
                    + right[n] * (kc * c[n] + kf * f[n] + ki * i[n]);
            }
        }
    }
}
