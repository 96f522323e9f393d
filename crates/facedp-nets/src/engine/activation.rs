//! What happens to each value of a node after its operation: a bias, then ReLU, ReLU6 or PReLU.
//!
//! All three are `x` where positive, else `slope * x`, and at most `cap`. Gradients need to know which values passed unchanged:
//! of every value after an activation, the lowest bit says so. That costs no memory, and less precision than one
//! rounding.

use pulp::Simd;

use super::lanes::{LANES, Lanes, group_of};
use super::products::Sink;
use super::registers::Registers;

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
}

/// What follows the operation of a node.
#[derive(Clone, Copy)]
pub(super) struct Epilogue<'a> {
    pub activation: Option<&'a Activation>,
    /// On the weights of each output channel; none means 1.
    pub factors: &'a [f32],
}

/// The same for one group of channels: the activation of `bias + factor * x`.
#[derive(Clone, Copy)]
pub(super) struct Finish {
    bias: Lanes,
    factor: Lanes,
    slope: Lanes,
    /// None without an activation.
    cap: Option<f32>,
}

impl Epilogue<'_> {
    #[inline(always)]
    pub(super) fn group(&self, group: usize, bias: Lanes) -> Finish {
        let slopes = self.activation.map_or(&[][..], |activation| &activation.slopes);
        let (factor, slope) = (group_of(self.factors, group, 1.0), group_of(slopes, group, 0.0));
        Finish { bias, factor, slope, cap: self.activation.map(|activation| activation.cap) }
    }

    /// Finishes a node without weights.
    #[inline(always)]
    pub(super) fn all<S: Simd, const V: usize>(
        &self,
        registers: Registers<S, V>,
        area: usize,
        values: &mut [Lanes],
    ) {
        if self.activation.is_none() {
            return;
        }
        for (n, group) in values.chunks_exact_mut(area).enumerate() {
            let finish = self.group(n, [0.0; LANES]);
            for pixel in group {
                let value = finish.apply(registers, registers.load(pixel));
                registers.store(value, pixel);
            }
        }
    }

    /// Turns the gradient of a node into that of its operation. `values` are those of the node.
    #[inline(always)]
    pub(super) fn undo<S: Simd, const V: usize>(
        &self,
        registers: Registers<S, V>,
        area: usize,
        values: &[Lanes],
        gradient: &mut [Lanes],
    ) {
        let groups = gradient.chunks_exact_mut(area).zip(values.chunks_exact(area));
        for (n, (gradient, values)) in groups.enumerate() {
            let finish = self.group(n, [0.0; LANES]);
            for (gradient, value) in gradient.iter_mut().zip(values) {
                let undone = finish.undo(registers, registers.load(gradient), value);
                registers.store(undone, gradient);
            }
        }
    }

    /// Whether values stay as they are.
    pub(super) fn is_empty(&self) -> bool {
        self.activation.is_none() && self.factors.is_empty()
    }
}

impl Finish {
    #[inline(always)]
    pub(super) fn apply<S: Simd, const V: usize>(
        &self,
        registers: Registers<S, V>,
        sum: [S::f32s; V],
    ) -> [S::f32s; V] {
        let (bias, factor) = (registers.load(&self.bias), registers.load(&self.factor));
        let mut values = sum;
        for v in 0..V {
            values[v] = registers.mul_add(sum[v], factor[v], bias[v]);
        }
        if let Some(cap) = self.cap {
            let slope = registers.load(&self.slope);
            for v in 0..V {
                values[v] = registers.activate(values[v], slope[v], cap);
            }
        }
        values
    }

    /// The gradient before, from that after. `value` is the value after.
    #[inline(always)]
    pub(super) fn undo<S: Simd, const V: usize>(
        &self,
        registers: Registers<S, V>,
        gradient: [S::f32s; V],
        value: &Lanes,
    ) -> [S::f32s; V] {
        let (factor, slope) = (registers.load(&self.factor), registers.load(&self.slope));
        let value = registers.load(value);
        let mut undone = gradient;
        for v in 0..V {
            undone[v] = registers.mul(undone[v], factor[v]);
            if self.cap.is_some() {
                undone[v] = registers.undo(undone[v], value[v], slope[v]);
            }
        }
        undone
    }
}

/// Writes finished values.
pub(super) struct Finished<'a> {
    pub finish: Finish,
    pub output: &'a mut [Lanes],
}

impl<S: Simd, const V: usize> Sink<S, V> for Finished<'_> {
    #[inline(always)]
    fn put(&mut self, registers: Registers<S, V>, target: usize, sum: [S::f32s; V]) {
        let value = self.finish.apply(registers, sum);
        registers.store(value, &mut self.output[target]);
    }

    #[inline(always)]
    fn repeats(&self) -> bool {
        true
    }
}
