//! What happens to each value of a node after its operation: a bias, then ReLU, ReLU6 or PReLU.
//!
//! All three are `x` where positive, else `slope * x`, and at most `cap`. Gradients need to know which values passed
//! unchanged. Without slopes, these are the values between 0 and the cap. With slopes, which may be negative, the lowest
//! bit of every value says so: that costs no memory, and less precision than one rounding.

use pulp::Simd;

use super::lanes::{LANES, Lanes, group_of};
use super::products::{Sink, Sinks};
use super::registers::Registers;
use super::step::Part;

/// An activation, with a slope for each channel or a cap.
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
    kind: Kind,
}

/// What an activation does to a value.
#[derive(Clone, Copy)]
enum Kind {
    None,
    /// Between 0 and a cap.
    Clip(f32),
    /// Values below zero times a slope, and a mark in the others.
    Slope,
}

impl Epilogue<'_> {
    #[inline(always)]
    pub(super) fn group(&self, group: usize, bias: Lanes) -> Finish {
        let slopes = self.activation.map_or(&[][..], |activation| &activation.slopes);
        let (factor, slope) = (group_of(self.factors, group, 1.0), group_of(slopes, group, 0.0));
        let kind = match self.activation {
            None => Kind::None,
            Some(activation) if activation.slopes.is_empty() => Kind::Clip(activation.cap),
            Some(_) => Kind::Slope,
        };
        Finish { bias, factor, slope, kind }
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
        let [value] = self.apply_all(registers, [sum]);
        value
    }

    #[inline(always)]
    fn apply_all<S: Simd, const V: usize, const P: usize>(
        &self,
        registers: Registers<S, V>,
        sums: [[S::f32s; V]; P],
    ) -> [[S::f32s; V]; P] {
        let (bias, factor) = (registers.load(&self.bias), registers.load(&self.factor));
        let mut values = sums;
        for p in 0..P {
            values[p] = registers.mul_adds(sums[p], factor, bias);
        }
        match self.kind {
            Kind::None => {}
            Kind::Clip(cap) => {
                for p in 0..P {
                    for v in 0..V {
                        values[p][v] = registers.clip(values[p][v], cap);
                    }
                }
            }
            Kind::Slope => {
                let slope = registers.load(&self.slope);
                for p in 0..P {
                    for v in 0..V {
                        values[p][v] = registers.marked(values[p][v], slope[v]);
                    }
                }
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
        let [undone] = self.undo_all(registers, [gradient], std::slice::from_ref(value));
        undone
    }

    /// [`Finish::undo`] of as many gradients as there are values.
    #[inline(always)]
    pub(super) fn undo_all<S: Simd, const V: usize, const P: usize>(
        &self,
        registers: Registers<S, V>,
        gradients: [[S::f32s; V]; P],
        values: &[Lanes],
    ) -> [[S::f32s; V]; P] {
        let (factor, slope) = (registers.load(&self.factor), registers.load(&self.slope));
        let values = &values[..P];
        let mut undone = gradients;
        for p in 0..P {
            undone[p] = registers.muls(undone[p], factor);
        }
        match self.kind {
            Kind::None => {}
            Kind::Clip(cap) => {
                for p in 0..P {
                    let value = registers.load(&values[p]);
                    for v in 0..V {
                        undone[p][v] = registers.undo_clip(undone[p][v], value[v], cap);
                    }
                }
            }
            Kind::Slope => {
                for p in 0..P {
                    let value = registers.load(&values[p]);
                    for v in 0..V {
                        undone[p][v] = registers.undo_marked(undone[p][v], value[v], slope[v]);
                    }
                }
            }
        }
        undone
    }
}

/// Writes finished values of all groups of a part.
pub(super) struct Finishing<'a> {
    pub epilogue: Epilogue<'a>,
    pub bias: &'a [Lanes],
    pub output: Part<'a>,
}

impl<S: Simd, const V: usize> Sinks<S, V> for Finishing<'_> {
    type Of<'a>
        = Finished<'a>
    where
        Self: 'a;

    #[inline(always)]
    fn groups<const G: usize>(&mut self, n: usize, area: usize) -> [Finished<'_>; G] {
        let mut parts = self.output.values[(n - self.output.first) * area..].chunks_mut(area);
        std::array::from_fn(|g| Finished {
            finish: self.epilogue.group(n + g, self.bias[n + g]),
            output: parts.next().unwrap_or_default(),
        })
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
    fn put_all<const P: usize>(
        &mut self,
        registers: Registers<S, V>,
        target: usize,
        sums: [[S::f32s; V]; P],
    ) {
        let values = self.finish.apply_all(registers, sums);
        let output = &mut self.output[target..target + P];
        for p in 0..P {
            registers.store(values[p], &mut output[p]);
        }
    }
}
