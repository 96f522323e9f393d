//! A small engine for convolutional networks: forward, and the gradient with respect to the input.
//!
//! A network is a list of nodes, each computed from earlier ones; node 0 is the input, a picture, of which only
//! [`Stem`] makes use. All other tensors lie in memory as `lanes` says. Weights are constants, so only
//! input gradients exist. An activation right after another operation is part of that operation's node.
//! A run uses one thread, or two that share each layer. Several faces can run in parallel, each with its own
//! [`Workspace`], which owns all memory and reuses it.
//!
//! Existing crates do not fit: tract has no gradients, candle's max-pool gradient fails where kernel
//! and stride differ, ort needs a shared library of 29 MB.

// Loops over lanes, registers and positions are indexed: several arrays advance together, and the compiler unrolls
// such loops and keeps the arrays in registers.
#![allow(clippy::needless_range_loop, clippy::manual_memcpy)]

mod activation;
mod bfloat;
mod chain;
mod conv;
mod dense;
mod depthwise;
#[cfg(test)]
mod emulated;
mod geometry;
mod lanes;
mod picture;
mod pool;
mod products;
mod registers;
mod simple;
mod stem;
mod step;
mod target;
#[cfg(test)]
mod tests;
mod unit;
mod winograd;
mod workspace;

use activation::Activation;
pub(crate) use chain::{Chain, Link};
pub(crate) use conv::Conv;
pub(crate) use dense::{Dense, widened};
pub(crate) use depthwise::Depthwise;
use picture::Bordered;
pub(crate) use pool::Pool;
pub(crate) use stem::Stem;
pub(crate) use unit::Unit;
pub use workspace::Workspace;

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Shape {
    pub channels: usize,
    pub height: usize,
    pub width: usize,
}

impl Shape {
    pub(crate) const fn new(channels: usize, height: usize, width: usize) -> Self {
        Self { channels, height, width }
    }

    /// The number of values in one channel.
    pub(crate) const fn area(self) -> usize {
        self.height * self.width
    }

    /// The number of values in all channels.
    pub(crate) const fn len(self) -> usize {
        self.channels * self.area()
    }
}

/// A square sliding window.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Window {
    /// The side of the window.
    pub kernel: usize,
    pub stride: usize,
    /// Zeros on each side of the picture.
    pub padding: usize,
}

impl Window {
    pub(crate) const fn new(kernel: usize, stride: usize, padding: usize) -> Self {
        Self { kernel, stride, padding }
    }

    /// The number of positions along a line of `n` values; 0 if the window does not fit.
    pub(crate) const fn positions(self, n: usize) -> usize {
        let padded = n + 2 * self.padding;
        if padded < self.kernel { 0 } else { (padded - self.kernel) / self.stride + 1 }
    }
}

/// An operation that computes a node from earlier ones.
#[derive(Debug, Clone)]
pub(crate) enum Op {
    Input,
    /// A dense convolution of the network's input.
    Stem(Stem),
    /// The first layers of a detector, without a gradient.
    Chain(Chain),
    /// A dense convolution; with a window of the whole picture, a matrix product.
    Conv(Conv),
    /// A matrix product of all values, for matrices that are large.
    Dense(Dense),
    /// A convolution of each channel with its own window.
    Depthwise(Depthwise),
    /// A pointwise and a depthwise convolution, without an activation between them.
    Unit(Unit),
    /// `max(x, 0)`.
    Relu,
    /// `min(max(x, 0), 6)`.
    Relu6,
    /// `x` where positive, else `x` times the channel's slope.
    Prelu(Vec<f32>),
    /// `1 / (1 + e^-x)`.
    Sigmoid,
    Pool(Pool),
    /// The mean of each channel.
    GlobalAverage,
    /// Nearest-neighbour upsampling to twice the side.
    Upsample,
    /// The sum of two nodes. The smaller one is padded with zeros at the end of each dimension, as in
    /// dlib.
    Add,
    /// Each channel of the first node times the one value that the second node has for it.
    Scale,
}

#[derive(Debug, Clone)]
struct Node {
    op: Op,
    /// Earlier nodes; the second only for `Add` and `Scale`.
    inputs: [usize; 2],
    activation: Option<Activation>,
}

/// Nodes in an order in which each can be computed.
#[derive(Debug, Clone)]
pub(crate) struct Network {
    nodes: Vec<Node>,
    outputs: Vec<NodeId>,
    /// For each node, the first node that is computed from it.
    first_use: Vec<usize>,
}

/// A node of a network under construction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct NodeId(usize);

/// Builds a network node by node.
#[derive(Debug)]
pub(crate) struct Builder {
    nodes: Vec<Node>,
}

impl Default for Builder {
    fn default() -> Self {
        Self { nodes: vec![Node { op: Op::Input, inputs: [0, 0], activation: None }] }
    }
}

impl Builder {
    pub(crate) fn input(&self) -> NodeId {
        NodeId(0)
    }

    /// Adds a node with one input.
    pub(crate) fn then(&mut self, from: NodeId, op: Op) -> NodeId {
        self.push(op, [from.0, from.0])
    }

    /// The sum of two nodes.
    pub(crate) fn add(&mut self, a: NodeId, b: NodeId) -> NodeId {
        self.push(Op::Add, [a.0, b.0])
    }

    /// Each channel of a node times its value in `factors`, which has as many channels of one value.
    pub(crate) fn scale(&mut self, x: NodeId, factors: NodeId) -> NodeId {
        self.push(Op::Scale, [x.0, factors.0])
    }

    fn push(&mut self, op: Op, inputs: [usize; 2]) -> NodeId {
        let activation = op.activation();
        self.nodes.push(Node { op, inputs, activation });
        NodeId(self.nodes.len() - 1)
    }

    /// The network. Activations move into the nodes before them, unless something else needs their
    /// values.
    pub(crate) fn finish(self, outputs: &[NodeId]) -> Network {
        let mut uses = vec![0; self.nodes.len()];
        let inputs = self.nodes.iter().skip(1).flat_map(|n| &n.inputs[..n.op.arity()]);
        inputs.chain(outputs.iter().map(|output| &output.0)).for_each(|n| uses[*n] += 1);
        let mut nodes: Vec<Node> = Vec::new();
        // Where each node is now.
        let mut places: Vec<usize> = Vec::new();
        for Node { op, inputs, activation } in self.nodes {
            let before = inputs[0];
            if activation.is_some() && uses[before] == 1 && before != 0 {
                let place = places[before];
                // The gradients of these need their own results.
                let kept = matches!(nodes[place].op, Op::Sigmoid | Op::Pool(_));
                if nodes[place].activation.is_none() && !kept {
                    nodes[place].activation = activation;
                    places.push(place);
                    continue;
                }
            }
            let inputs = if places.is_empty() { inputs } else { inputs.map(|n| places[n]) };
            places.push(nodes.len());
            nodes.push(Node { op, inputs, activation });
        }
        let mut first_use = vec![usize::MAX; nodes.len()];
        for (n, node) in nodes.iter().enumerate().skip(1).rev() {
            node.inputs[..node.op.arity()].iter().for_each(|&input| first_use[input] = n);
        }
        let outputs = outputs.iter().map(|output| NodeId(places[output.0])).collect();
        Network { nodes, outputs, first_use }
    }
}

impl Op {
    /// The number of nodes that it is computed from.
    fn arity(&self) -> usize {
        if matches!(self, Op::Add | Op::Scale) { 2 } else { 1 }
    }

    fn activation(&self) -> Option<Activation> {
        match self {
            Op::Relu => Some(Activation::RELU),
            Op::Relu6 => Some(Activation::RELU6),
            Op::Prelu(slopes) => Some(Activation::prelu(slopes.clone())),
            _ => None,
        }
    }

    /// The number of output channels that have weights.
    fn weighted(&self) -> usize {
        match self {
            Op::Stem(conv) => conv.outputs(),
            Op::Conv(conv) => conv.outputs(),
            Op::Dense(dense) => dense.outputs(),
            Op::Depthwise(conv) => conv.channels(),
            Op::Unit(unit) => unit.outputs(),
            _ => 0,
        }
    }

    /// The shape of the result.
    fn shape(&self, a: Shape, b: Shape) -> Shape {
        match self {
            Op::Input | Op::Relu | Op::Relu6 | Op::Prelu(_) | Op::Sigmoid | Op::Scale => a,
            Op::Stem(conv) => conv.shape(a),
            Op::Chain(chain) => chain.shape(a),
            Op::Conv(conv) => conv.shape(a),
            Op::Dense(dense) => dense.shape(),
            Op::Depthwise(conv) => conv.window().shape(a),
            Op::Unit(unit) => unit.shape(a),
            Op::Pool(pool) => pool.window().shape(a),
            Op::GlobalAverage => Shape::new(a.channels, 1, 1),
            Op::Upsample => Shape::new(a.channels, 2 * a.height, 2 * a.width),
            Op::Add => {
                Shape::new(a.channels.max(b.channels), a.height.max(b.height), a.width.max(b.width))
            }
        }
    }
}

impl Window {
    /// The shape of a window's positions, with the same channels.
    fn shape(self, from: Shape) -> Shape {
        Shape::new(from.channels, self.positions(from.height), self.positions(from.width))
    }
}
