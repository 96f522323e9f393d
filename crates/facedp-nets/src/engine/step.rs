//! One node, forward or backward, compiled for the vector instructions of the machine it runs on.
//!
//! `pulp` calls its argument from functions that are compiled for each instruction set. Whatever is
//! inlined there is compiled for it too, hence `inline(always)` on the loops of all operations.

use pulp::{Arch, NullaryFnOnce};

use super::{Op, Shape, simple};

#[derive(Clone, Copy)]
pub(super) struct Input<'a> {
    pub values: &'a [f32],
    pub shape: Shape,
}

pub(super) struct Forward<'a> {
    pub op: &'a Op,
    pub inputs: [Input<'a>; 2],
    /// On the weights of each output channel; none means 1.
    pub factors: &'a [f32],
    pub output: &'a mut [f32],
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
        let Self { op, inputs: [a, b], factors, output, shape, scratch } = self;
        let (x, from) = (a.values, a.shape);
        match op {
            Op::Input => {}
            Op::Conv(conv) => conv.forward(x, from, factors, output, scratch),
            Op::Depthwise(conv) => conv.forward(x, from, factors, output, scratch),
            Op::Relu => simple::relu(x, output),
            Op::Relu6 => simple::relu6(x, output),
            Op::Prelu(slopes) => simple::prelu(x, from, slopes, output),
            Op::Sigmoid => simple::sigmoid(x, output),
            Op::Pool(pool) => pool.forward(x, from, output),
            Op::GlobalAverage => simple::global_average(x, from, output),
            Op::Upsample => simple::upsample(x, from, output),
            Op::Add => {
                output.fill(0.0);
                simple::add_to_corner(x, from, output, shape);
                simple::add_to_corner(b.values, b.shape, output, shape);
            }
            Op::Scale => simple::scale(x, from, b.values, output),
        }
    }
}

/// Adds the gradient of one of a node's inputs, given that of the node.
pub(super) struct Backward<'a> {
    pub op: &'a Op,
    pub inputs: [Input<'a>; 2],
    /// Which input: 0 or 1.
    pub position: usize,
    pub output: Input<'a>,
    pub factors: &'a [f32],
    /// The gradient of the node. Nothing reads it afterwards.
    pub upstream: &'a mut [f32],
    pub gradient: &'a mut [f32],
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
        let Self { op, inputs, position, output, factors, upstream: up, gradient, scratch } = self;
        let Input { values: x, shape: from } = inputs[position];
        let y = output.values;
        match op {
            Op::Input => {}
            Op::Conv(conv) => conv.backward(up, from, factors, gradient, scratch),
            Op::Depthwise(conv) => conv.backward(up, from, factors, gradient, scratch),
            Op::Relu => simple::relu_backward(y, up, gradient),
            Op::Relu6 => simple::relu6_backward(y, up, gradient),
            Op::Prelu(slopes) => simple::prelu_backward(x, from, slopes, up, gradient),
            Op::Sigmoid => simple::sigmoid_backward(y, up, gradient),
            Op::Pool(pool) => pool.backward(x, up, from, gradient),
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
