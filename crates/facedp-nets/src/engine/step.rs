//! One node, forward or backward, compiled for the vector instructions of the machine it runs on.
//!
//! `pulp` calls its argument from functions that are compiled for each instruction set. Whatever is
//! inlined there is compiled for it too, hence `inline(always)` on the loops of all operations.

use pulp::{Arch, NullaryFnOnce};

use super::activation::Epilogue;
use super::target::Target;
use super::{Op, Shape, simple};

#[derive(Clone, Copy)]
pub(super) struct Input<'a> {
    pub values: &'a [f32],
    pub shape: Shape,
}

pub(super) struct Forward<'a> {
    pub op: &'a Op,
    pub inputs: [Input<'a>; 2],
    pub epilogue: Epilogue<'a>,
    pub output: &'a mut [f32],
    /// Which values the activation leaves as they are; empty without one.
    pub passed: &'a mut [bool],
    pub shape: Shape,
    pub scratch: &'a mut [f32],
}

impl Forward<'_> {
    pub(super) fn run(self) {
        Arch::new().dispatch(self);
    }
}

impl NullaryFnOnce for Forward<'_> {
    type Output = ();

    #[inline(always)]
    fn call(self) {
        let Self { op, inputs: [a, b], epilogue, output, passed, shape, scratch } = self;
        let (x, from) = (a.values, a.shape);
        match op {
            Op::Conv(conv) => return conv.forward(x, from, epilogue, (output, passed), scratch),
            Op::Depthwise(conv) => {
                return conv.forward(x, from, epilogue, (output, passed), scratch);
            }
            Op::Winograd(conv) => {
                return conv.forward(x, from, epilogue, (output, passed), scratch);
            }
            Op::Dense(dense) => return dense.forward(x, epilogue, (output, passed)),
            Op::Input => {}
            Op::Relu | Op::Relu6 | Op::Prelu(_) => output.copy_from_slice(x),
            Op::Sigmoid => simple::sigmoid(x, output),
            Op::Pool(pool) => pool.forward(x, from, output),
            Op::GlobalAverage => simple::global_average(x, from, output),
            Op::Upsample => simple::upsample(x, from, output),
            Op::Add if from == b.shape => simple::add(x, b.values, output),
            Op::Add => {
                output.fill(0.0);
                simple::add_to_corner(x, from, output, shape);
                simple::add_to_corner(b.values, b.shape, output, shape);
            }
            Op::Scale => simple::scale(x, from, b.values, output),
        }
        epilogue.all(output, passed);
    }
}

/// Turns the gradient of a node into that of its operation.
pub(super) struct Undo<'a> {
    pub epilogue: Epilogue<'a>,
    pub passed: &'a [bool],
    pub gradient: &'a mut [f32],
}

impl Undo<'_> {
    pub(super) fn run(self) {
        Arch::new().dispatch(self);
    }
}

impl NullaryFnOnce for Undo<'_> {
    type Output = ();

    #[inline(always)]
    fn call(self) {
        self.epilogue.backward(self.passed, self.gradient);
    }
}

/// The gradient of one of a node's inputs, given that of the node's operation.
pub(super) struct Backward<'a> {
    pub op: &'a Op,
    pub inputs: [Input<'a>; 2],
    /// Which input: 0 or 1.
    pub position: usize,
    pub output: Input<'a>,
    pub upstream: &'a [f32],
    pub gradient: Target<'a>,
    pub scratch: &'a mut [f32],
}

impl Backward<'_> {
    pub(super) fn run(self) {
        Arch::new().dispatch(self);
    }
}

impl NullaryFnOnce for Backward<'_> {
    type Output = ();

    #[inline(always)]
    fn call(self) {
        let Self { op, inputs, position, output, upstream: up, gradient, scratch } = self;
        let Input { values: x, shape: from } = inputs[position];
        match op {
            Op::Input => {}
            Op::Conv(conv) => conv.backward(up, from, gradient, scratch),
            Op::Winograd(conv) => conv.backward(up, from, gradient, scratch),
            Op::Dense(dense) => dense.backward(up, gradient),
            Op::Depthwise(conv) => conv.backward(up, from, gradient, scratch),
            Op::Relu | Op::Relu6 | Op::Prelu(_) => gradient.put(up.iter().copied()),
            Op::Sigmoid => simple::sigmoid_backward(output.values, up, gradient),
            Op::Pool(pool) => pool.backward((x, from), (output.values, up), gradient, scratch),
            Op::GlobalAverage => simple::global_average_backward(from, up, gradient),
            Op::Upsample => simple::upsample_backward(from, up, gradient),
            Op::Add => simple::add_from_corner(up, output.shape, gradient, from),
            Op::Scale if position == 0 => {
                simple::scale_backward(from, inputs[1].values, up, gradient);
            }
            Op::Scale => simple::factors_backward(inputs[0].values, inputs[0].shape, up, gradient),
        }
    }
}
