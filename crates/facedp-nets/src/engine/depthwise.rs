//! Depthwise convolution: each channel has its own window.

use super::activation::{Epilogue, Line};
use super::target::{Target, put};
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

    /// The number of values in a padded channel and its convolution.
    pub(super) fn scratch_len(&self, from: Shape) -> usize {
        if self.is_common() { (2 * from.height + 2) * (from.width + 2) } else { 0 }
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
            let mut padded = Padded::new(scratch, from);
            for (n, ((input, output), (window, &bias))) in planes.zip(channels).enumerate() {
                padded.fill(input, from.width, 1);
                let lines = padded.convolved(window).step_by(stride);
                for (line, output) in lines.zip(output.chunks_exact_mut(to.width)) {
                    let line = line.iter().step_by(stride);
                    output.iter_mut().zip(line).for_each(|(o, v)| *o = *v);
                }
                let line = Line { bias, factor: epilogue.factor(n) };
                epilogue.channel(n, line, output, passed);
            }
            return;
        }
        output.fill(0.0);
        self.for_each_line(from, |weight, source, target, count| {
            let source = input[source..].iter().step_by(stride);
            let target = &mut output[target..][..count];
            target.iter_mut().zip(source).for_each(|(t, s)| *t += weight * s);
        });
        for (n, (values, &bias)) in output.chunks_exact_mut(to.area()).zip(&self.bias).enumerate() {
            let line = Line { bias, factor: epilogue.factor(n) };
            epilogue.channel(n, line, values, passed);
        }
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
            let mut padded = Padded::new(scratch, from);
            for ((upstream, gradient), window) in planes.zip(self.weights.as_chunks::<9>().0) {
                let mut window = *window;
                // The transpose of this convolution is the one with the reversed window.
                window.reverse();
                padded.fill(upstream, to.width, stride);
                let lines = padded.convolved(&window).zip(gradient.chunks_exact_mut(from.width));
                for (line, gradient) in lines {
                    put(gradient, first, line.iter().copied());
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

    /// Whether the window is 3x3 with a padding of 1, as in nearly all layers.
    fn is_common(&self) -> bool {
        (self.window.kernel, self.window.padding) == (3, 1)
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

/// A channel padded with zeros, and space for its convolution. One loop runs over all lines at once,
/// which vectorises better than many short loops.
struct Padded<'s> {
    pitch: usize,
    plane: &'s mut [f32],
    result: &'s mut [f32],
}

impl<'s> Padded<'s> {
    #[inline(always)]
    fn new(scratch: &'s mut [f32], shape: Shape) -> Self {
        let pitch = shape.width + 2;
        let (plane, rest) = scratch.split_at_mut((shape.height + 2) * pitch);
        plane.fill(0.0);
        Self { pitch, plane, result: &mut rest[..shape.height * pitch] }
    }

    /// Writes lines of `width` values, `stride` pixels apart in both directions.
    #[inline(always)]
    fn fill(&mut self, lines: &[f32], width: usize, stride: usize) {
        let places = self.plane[self.pitch..].chunks_exact_mut(self.pitch).step_by(stride);
        for (place, line) in places.zip(lines.chunks_exact(width)) {
            if stride == 1 {
                place[1..=width].copy_from_slice(line);
            } else {
                place[1..].iter_mut().step_by(stride).zip(line).for_each(|(p, v)| *p = *v);
            }
        }
    }

    /// The lines of the convolution. Their last two values are meaningless.
    #[inline(always)]
    fn convolved(&mut self, window: &[f32; 9]) -> std::slice::ChunksExact<'_, f32> {
        let count = self.result.len() - 2;
        let shifted = |n: usize| &self.plane[n / 3 * self.pitch + n % 3..][..count];
        let [a, b, c, d, e, f, g, h, i] = std::array::from_fn(shifted);
        let [ka, kb, kc, kd, ke, kf, kg, kh, ki] = *window;
        for (n, out) in self.result[..count].iter_mut().enumerate() {
            *out = (ka * a[n] + kb * b[n] + kc * c[n])
                + (kd * d[n] + ke * e[n] + kf * f[n])
                + (kg * g[n] + kh * h[n] + ki * i[n]);
        }
        self.result.chunks_exact(self.pitch)
    }
}
