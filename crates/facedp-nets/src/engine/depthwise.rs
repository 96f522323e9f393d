//! Convolution of each channel with a window of its own.

use super::{Shape, Window};

/// A depthwise convolution with a bias.
#[derive(Debug, Clone)]
pub struct Depthwise {
    window: Window,
    /// `kernel * kernel` per channel.
    weights: Vec<f32>,
    bias: Vec<f32>,
}

impl Depthwise {
    /// One window and one bias per channel. `None` if their numbers do not fit.
    pub fn new(window: Window, weights: Vec<f32>, bias: Vec<f32>) -> Option<Self> {
        let fits = weights.len() == bias.len() * window.kernel * window.kernel;
        fits.then_some(Self { window, weights, bias })
    }

    pub(super) fn window(&self) -> Window {
        self.window
    }

    #[inline(always)]
    pub(super) fn forward(&self, input: &[f32], from: Shape, output: &mut [f32]) {
        let to = self.window.shape(from);
        for (channel, &bias) in output.chunks_exact_mut(to.area()).zip(&self.bias) {
            channel.fill(bias);
        }
        if self.is_common(from) {
            return self.add_common(input, from, output, |weights| weights);
        }
        let stride = self.window.stride;
        self.for_each_line(from, |weight, source, target, count| {
            let source = &input[source..];
            let target = &mut output[target..][..count];
            if stride == 1 {
                target.iter_mut().zip(source).for_each(|(t, s)| *t += weight * s);
            } else {
                let source = source.iter().step_by(stride);
                target.iter_mut().zip(source).for_each(|(t, s)| *t += weight * s);
            }
        });
    }

    /// Adds the gradient with respect to the input.
    #[inline(always)]
    pub(super) fn backward(&self, upstream: &[f32], from: Shape, gradient: &mut [f32]) {
        if self.is_common(from) {
            // The transpose of such a convolution is one with its window turned round.
            return self.add_common(upstream, from, gradient, |mut weights| {
                weights.reverse();
                weights
            });
        }
        let stride = self.window.stride;
        self.for_each_line(from, |weight, source, target, count| {
            let upstream = &upstream[target..][..count];
            let gradient = gradient[source..].iter_mut().step_by(stride);
            gradient.zip(upstream).for_each(|(g, u)| *g += weight * u);
        });
    }

    /// The window that nearly all layers have: 3x3, every pixel, one zero around.
    fn is_common(&self, from: Shape) -> bool {
        self.window == Window::new(3, 1, 1) && from.width >= 2
    }

    /// Adds the convolution of every channel with its (changed) window.
    #[inline(always)]
    fn add_common(
        &self,
        input: &[f32],
        from: Shape,
        output: &mut [f32],
        change: impl Fn([f32; 9]) -> [f32; 9],
    ) {
        let planes = output.chunks_exact_mut(from.area()).zip(input.chunks_exact(from.area()));
        for ((output, input), weights) in planes.zip(self.weights.chunks_exact(9)) {
            let mut window = [0.0; 9];
            window.copy_from_slice(weights);
            add_plane(input, output, from.width, &change(window));
        }
    }

    /// Calls `visit(weight, first input, first output, count)` for every weight and every line it
    /// touches; inputs step by the stride, outputs by one.
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

/// Adds a plane convolved with a 3x3 window, with a zero around.
#[inline(always)]
fn add_plane(input: &[f32], output: &mut [f32], width: usize, window: &[f32; 9]) {
    for (y, out) in output.chunks_exact_mut(width).enumerate() {
        for (dy, taps) in window.chunks_exact(3).enumerate() {
            let line = (y + dy).checked_sub(1).and_then(|y| input.chunks_exact(width).nth(y));
            if let Some(line) = line {
                add_line(line, out, taps);
            }
        }
    }
}

/// Adds a line convolved with three taps, with a zero at both ends.
#[inline(always)]
fn add_line(line: &[f32], out: &mut [f32], taps: &[f32]) {
    let inner = line.len() - 2;
    let (left, middle, right) = (&line[..inner], &line[1..1 + inner], &line[2..2 + inner]);
    for (((o, l), m), r) in out[1..1 + inner].iter_mut().zip(left).zip(middle).zip(right) {
        *o += taps[0] * l + taps[1] * m + taps[2] * r;
    }
    out[0] += taps[1] * line[0] + taps[2] * line[1];
    let last = inner + 1;
    out[last] += taps[0] * line[inner] + taps[1] * line[last];
}
