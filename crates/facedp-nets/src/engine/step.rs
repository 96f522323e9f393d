//! One node, forward or backward, compiled for the vector instructions of the machine it runs on.

use std::ops::Range;

use pulp::Simd;

use super::activation::Epilogue;
use super::bfloat::Bfloat;
use super::conv::{RoundedBackward, RoundedForward};
use super::lanes::{LANES, Lanes};
use super::picture::Bordered;
use super::registers::{Registers, Work, dispatch, is_widest};
use super::stem::RoundedStem;
use super::target::Target;
use super::workspace::Scratch;
use super::{Op, Shape, simple};

#[derive(Clone, Copy)]
pub(super) struct Input<'a> {
    pub values: &'a [Lanes],
    pub shape: Shape,
}

/// Some of a node's groups of channels: two threads take a part each.
pub(super) struct Part<'a> {
    /// The first of its groups.
    pub first: usize,
    pub values: &'a mut [Lanes],
}

impl Part<'_> {
    /// The groups of channels, of `area` pixels each.
    pub(super) fn groups(&self, area: usize) -> Range<usize> {
        self.first..self.first + self.values.len() / area
    }
}

pub(super) struct Forward<'a> {
    pub op: &'a Op,
    pub inputs: [Input<'a>; 2],
    pub picture: &'a Bordered,
    pub epilogue: Epilogue<'a>,
    pub output: Part<'a>,
    pub shape: Shape,
    pub scratch: &'a mut Scratch,
}

impl<'a> Forward<'a> {
    /// The same for the first half of the groups of channels, and for the others.
    pub(super) fn split(self, other: &'a mut Scratch) -> [Self; 2] {
        let Self { op, inputs, picture, epilogue, output, shape, scratch } = self;
        let count = shape.groups().div_ceil(2);
        let (upper, lower) = output.values.split_at_mut(count * shape.area());
        let half = |first, values, scratch| {
            let output = Part { first, values };
            Self { op, inputs, picture, epilogue, output, shape, scratch }
        };
        [half(output.first, upper, scratch), half(output.first + count, lower, other)]
    }
}

impl Forward<'_> {
    /// Computes it. Of rounded numbers if these may be, where that is fast.
    pub(super) fn start(self, rounded: bool) {
        let Self { inputs: [a, _], epilogue, .. } = self;
        match (self.op, Bfloat::new()) {
            (Op::Conv(conv), Some(instructions)) if rounded && is_widest() => {
                let (input, output, scratch) = ((a.values, a.shape), self.output, self.scratch);
                instructions.dispatch(RoundedForward {
                    instructions,
                    conv,
                    input,
                    epilogue,
                    output,
                    scratch,
                });
            }
            _ => dispatch(self),
        }
    }
}

impl Work for Forward<'_> {
    #[inline(always)]
    fn run<S: Simd, const V: usize>(self, registers: Registers<S, V>) {
        let Self { op, inputs: [a, b], picture, epilogue, output, shape, scratch } = self;
        let (x, from) = (a.values, a.shape);
        match op {
            Op::Stem(conv) => {
                return conv.forward(registers, (picture, from), epilogue, output, scratch);
            }
            Op::Chain(chain) => {
                return chain.forward(registers, (picture, from), output.values, scratch);
            }
            Op::Conv(conv) => {
                return conv.forward(registers, (x, from), epilogue, output, scratch);
            }
            Op::Depthwise(conv) => return conv.forward(registers, (x, from), epilogue, output),
            Op::Unit(unit) => {
                return unit.forward(registers, (x, from), epilogue, output, scratch);
            }
            Op::Dense(dense) => return dense.forward(registers, x, epilogue, output),
            _ => {}
        }
        let output = output.values;
        match op {
            Op::Stem(_) | Op::Chain(_) | Op::Conv(_) | Op::Depthwise(_) | Op::Unit(_) => {}
            Op::Dense(_) | Op::Input => {}
            Op::Relu | Op::Relu6 | Op::Prelu(_) => output.copy_from_slice(x),
            Op::Sigmoid => simple::sigmoid(x, output),
            Op::Pool(pool) => pool.forward(registers, x, from, output),
            Op::GlobalAverage => simple::global_average(registers, x, from, output),
            Op::Upsample => simple::upsample(x, from, output),
            Op::Add if from == b.shape => simple::add(registers, x, b.values, output),
            Op::Add => {
                output.fill([0.0; LANES]);
                simple::add_to_corner(registers, x, from, output, shape);
                simple::add_to_corner(registers, b.values, b.shape, output, shape);
            }
            Op::Scale => simple::scale(registers, x, from, b.values, output),
        }
        epilogue.all(registers, shape.area(), output);
    }
}

/// Turns the gradient of a node into that of its operation.
pub(super) struct Undo<'a> {
    pub epilogue: Epilogue<'a>,
    pub area: usize,
    /// What the node was computed to be.
    pub values: &'a [Lanes],
    pub gradient: &'a mut [Lanes],
}

impl Work for Undo<'_> {
    #[inline(always)]
    fn run<S: Simd, const V: usize>(self, registers: Registers<S, V>) {
        self.epilogue.undo(registers, self.area, self.values, self.gradient);
    }
}

/// The gradient of one of a node's inputs, given that of the node's operation.
pub(super) struct Backward<'a> {
    pub op: &'a Op,
    pub inputs: [Input<'a>; 2],
    /// Which input: 0 or 1.
    pub position: usize,
    pub output: Input<'a>,
    pub upstream: &'a [Lanes],
    pub gradient: Target<'a>,
    /// The gradient with respect to the network's input.
    pub picture: &'a mut Bordered,
    pub scratch: &'a mut Scratch,
}

/// [`Backward`] of an operation that two threads can share: it does not need the picture.
pub(super) struct Share<'a> {
    pub op: &'a Op,
    pub from: Shape,
    pub upstream: &'a [Lanes],
    pub gradient: Target<'a>,
    pub scratch: &'a mut Scratch,
}

impl Share<'_> {
    /// Computes it: of rounded numbers where that is fast.
    pub(super) fn start(self) {
        let Self { op, from, upstream, gradient, scratch } = self;
        match (op, Bfloat::new()) {
            (Op::Conv(conv), Some(instructions)) if is_widest() => {
                instructions.dispatch(RoundedBackward {
                    instructions,
                    conv,
                    upstream,
                    from,
                    gradient,
                    scratch,
                });
            }
            _ => dispatch(Self { op, from, upstream, gradient, scratch }),
        }
    }
}

impl Work for Share<'_> {
    #[inline(always)]
    fn run<S: Simd, const V: usize>(self, registers: Registers<S, V>) {
        let Self { op, from, upstream, gradient, scratch } = self;
        match op {
            Op::Conv(conv) => conv.backward(registers, upstream, from, gradient, scratch),
            Op::Dense(dense) => dense.backward(registers, upstream, from.area(), gradient),
            Op::Depthwise(conv) => conv.backward(registers, upstream, from, gradient),
            _ => {}
        }
    }
}

impl Backward<'_> {
    /// Computes it: of rounded numbers where that is fast.
    pub(super) fn start(self) {
        let from = self.inputs[self.position].shape;
        match (self.op, Bfloat::new()) {
            (Op::Conv(_) | Op::Dense(_) | Op::Depthwise(_), _) => {
                let Self { op, upstream, gradient, scratch, .. } = self;
                Share { op, from, upstream, gradient, scratch }.start();
            }
            (Op::Stem(stem), Some(instructions)) if is_widest() => {
                let Self { upstream, picture, scratch, .. } = self;
                instructions.dispatch(RoundedStem {
                    instructions,
                    stem,
                    upstream,
                    from,
                    picture,
                    scratch,
                });
            }
            _ => dispatch(self),
        }
    }
}

impl Work for Backward<'_> {
    #[inline(always)]
    fn run<S: Simd, const V: usize>(self, registers: Registers<S, V>) {
        let Self { op, inputs, position, output, upstream: up, gradient, picture, scratch } = self;
        let Input { values: x, shape: from } = inputs[position];
        match op {
            // Nobody asks a detector for a gradient.
            Op::Input | Op::Chain(_) => {}
            // [`Backward::start`] makes shares of these.
            Op::Conv(_) | Op::Dense(_) | Op::Depthwise(_) => {}
            Op::Stem(conv) => conv.backward(registers, up, from, picture, scratch),
            Op::Unit(unit) => unit.backward(registers, up, from, gradient, scratch),
            Op::Relu | Op::Relu6 | Op::Prelu(_) => {
                simple::add_from_corner(registers, up, from, gradient, from);
            }
            Op::Sigmoid => simple::sigmoid_backward(registers, output.values, up, gradient),
            Op::Pool(pool) => pool.backward(registers, (x, from), (output.values, up), gradient),
            Op::GlobalAverage => simple::global_average_backward(registers, from, up, gradient),
            Op::Upsample => simple::upsample_backward(registers, from, up, gradient),
            Op::Add => simple::add_from_corner(registers, up, output.shape, gradient, from),
            Op::Scale if position == 0 => {
                simple::scale_backward(registers, from, inputs[1].values, up, gradient);
            }
            Op::Scale => {
                simple::factors_backward(registers, inputs[0].values, inputs[0].shape, up, gradient)
            }
        }
    }
}
