//! What happens to each value of a node after its operation: ReLU, ReLU6, PReLU.
//!
//! All three are `min(max(x, 0), cap) + slope * min(x, 0)`. A node applies its activation in place, channel by
//! channel, and notes which values passed unchanged: the gradient needs nothing else.

/// An activation, with a slope for each channel.
#[derive(Debug, Clone)]
pub(crate) struct Activation {
    /// Slopes below zero; none means 0.
    slopes: Vec<f32>,
    cap: f32,
}

impl Activation {
    pub(super) const RELU: Self = Self { slopes: Vec::new(), cap: f32::INFINITY };
    pub(super) const RELU6: Self = Self { slopes: Vec::new(), cap: 6.0 };

    pub(super) fn prelu(slopes: Vec<f32>) -> Self {
        Self { slopes, cap: f32::INFINITY }
    }

    fn slope(&self, channel: usize) -> f32 {
        self.slopes.get(channel).copied().unwrap_or(0.0)
    }

    /// Replaces the values of a channel by the activation of `bias + factor * value`.
    #[inline(always)]
    fn forward(&self, channel: usize, line: Line, values: &mut [f32], passed: &mut [bool]) {
        let (slope, cap, Line { bias, factor }) = (self.slope(channel), self.cap, line);
        for (v, p) in values.iter_mut().zip(passed) {
            let x = bias + factor * *v;
            *p = (x > 0.0) & (x < cap);
            *v = x.max(0.0).min(cap) + slope * x.min(0.0);
        }
    }

    /// Multiplies the gradient of a channel by the slope at each value, and by a factor.
    #[inline(always)]
    fn backward(&self, channel: usize, factor: f32, passed: &[bool], gradient: &mut [f32]) {
        let slope = factor * self.slope(channel);
        let rest = factor - slope;
        for (g, p) in gradient.iter_mut().zip(passed) {
            // A number instead of a branch: signs are practically random, and a mispredicted branch costs
            // more than the multiplication.
            *g *= slope + rest * f32::from(u8::from(*p));
        }
    }
}

/// `bias + factor * x`.
#[derive(Clone, Copy)]
struct Line {
    bias: f32,
    factor: f32,
}

/// What follows the operation of a node, for all channels.
#[derive(Clone, Copy)]
pub(super) struct Epilogue<'a> {
    pub activation: Option<&'a Activation>,
    /// On the weights of each output channel; none means 1.
    pub factors: &'a [f32],
    /// The number of values in a channel.
    pub area: usize,
}

impl Epilogue<'_> {
    fn factor(&self, channel: usize) -> f32 {
        self.factors.get(channel).copied().unwrap_or(1.0)
    }

    /// Finishes one channel of a node with weights. `passed` is that of the whole node.
    #[inline(always)]
    pub(super) fn channel(&self, n: usize, bias: f32, values: &mut [f32], passed: &mut [bool]) {
        let line = Line { bias, factor: self.factor(n) };
        match self.activation {
            Some(activation) => {
                activation.forward(n, line, values, &mut passed[n * self.area..][..self.area]);
            }
            None => values.iter_mut().for_each(|v| *v = line.bias + line.factor * *v),
        }
    }

    /// Finishes all channels of a node with weights.
    #[inline(always)]
    pub(super) fn channels(&self, bias: &[f32], values: &mut [f32], passed: &mut [bool]) {
        for (n, (values, &bias)) in values.chunks_exact_mut(self.area).zip(bias).enumerate() {
            self.channel(n, bias, values, passed);
        }
    }

    /// Finishes all channels of a node without weights.
    #[inline(always)]
    pub(super) fn all(&self, values: &mut [f32], passed: &mut [bool]) {
        if self.activation.is_some() {
            for (n, values) in values.chunks_exact_mut(self.area).enumerate() {
                self.channel(n, 0.0, values, passed);
            }
        }
    }

    /// Turns the gradient of a node into that of its operation.
    #[inline(always)]
    pub(super) fn backward(&self, passed: &[bool], gradient: &mut [f32]) {
        for (n, gradient) in gradient.chunks_exact_mut(self.area).enumerate() {
            let factor = self.factor(n);
            match self.activation {
                Some(activation) => {
                    let passed = &passed[n * self.area..][..self.area];
                    activation.backward(n, factor, passed, gradient);
                }
                None if self.factors.is_empty() => return,
                None => gradient.iter_mut().for_each(|g| *g *= factor),
            }
        }
    }
}
