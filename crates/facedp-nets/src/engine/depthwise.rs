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

    pub(super) fn forward(&self, input: &[f32], from: Shape, output: &mut [f32]) {
        let to = self.window.shape(from);
        for (channel, &bias) in output.chunks_exact_mut(to.area()).zip(&self.bias) {
            channel.fill(bias);
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
    pub(super) fn backward(&self, upstream: &[f32], from: Shape, gradient: &mut [f32]) {
        let stride = self.window.stride;
        self.for_each_line(from, |weight, source, target, count| {
            let upstream = &upstream[target..][..count];
            let gradient = gradient[source..].iter_mut().step_by(stride);
            gradient.zip(upstream).for_each(|(g, u)| *g += weight * u);
        });
    }

    /// Calls `visit(weight, first input, first output, count)` for every weight and every line it
    /// touches; inputs step by the stride, outputs by one.
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
