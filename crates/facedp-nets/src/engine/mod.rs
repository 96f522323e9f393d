//! A small engine for convolutional networks: forward, and the gradient with respect to the input.
//!
//! A network is a list of nodes, each made from earlier ones; node 0 is the input. Tensors hold one
//! picture, channel by channel, row by row. Weights are constants, so only input gradients exist.
//! Everything runs on one thread; several faces run in parallel, each with its own [`Workspace`],
//! which owns all memory and reuses it.
//!
//! Crates tried: tract has no gradients, candle's max-pool gradient fails where kernel and stride
//! differ, ort needs a shared library of 29 MB.

mod conv;
mod depthwise;
mod pool;
mod simple;
mod step;
mod workspace;

pub use conv::Conv;
pub use depthwise::Depthwise;
pub use pool::Pool;
pub use workspace::Workspace;

/// Channels, rows and columns of a tensor.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Shape {
    /// Channels.
    pub channels: usize,
    /// Rows.
    pub height: usize,
    /// Columns.
    pub width: usize,
}

impl Shape {
    /// A shape.
    pub const fn new(channels: usize, height: usize, width: usize) -> Self {
        Self { channels, height, width }
    }

    /// Values of one channel.
    pub const fn area(self) -> usize {
        self.height * self.width
    }

    /// Values in all.
    pub const fn len(self) -> usize {
        self.channels * self.area()
    }

    /// Whether there are none.
    pub const fn is_empty(self) -> bool {
        self.len() == 0
    }
}

/// Where a window goes: its side, its step, and how many zeros surround the picture.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Window {
    /// Side of the square window.
    pub kernel: usize,
    /// Step.
    pub stride: usize,
    /// Zeros on each side.
    pub padding: usize,
}

impl Window {
    /// A window.
    pub const fn new(kernel: usize, stride: usize, padding: usize) -> Self {
        Self { kernel, stride, padding }
    }

    /// Positions along a line of `n` values; 0 if the window does not fit.
    pub const fn positions(self, n: usize) -> usize {
        let padded = n + 2 * self.padding;
        if padded < self.kernel { 0 } else { (padded - self.kernel) / self.stride + 1 }
    }

    /// The part of a line of output positions whose input position `o * stride + k - padding`
    /// lies in `0..n`, and the first such input position.
    fn valid(self, k: usize, n: usize, positions: usize) -> (std::ops::Range<usize>, usize) {
        let first = self.padding.saturating_sub(k).div_ceil(self.stride);
        let end = (n + self.padding).saturating_sub(k).div_ceil(self.stride).min(positions);
        let first = first.min(end);
        (first..end, (first * self.stride + k).saturating_sub(self.padding))
    }
}

/// What makes a node from others.
#[derive(Debug, Clone)]
pub enum Op {
    /// The network's input.
    Input,
    /// A dense convolution (also a matrix product, as a window of the whole picture).
    Conv(Conv),
    /// A convolution of each channel with its own window.
    Depthwise(Depthwise),
    /// `max(x, 0)`.
    Relu,
    /// `x` where positive, else `x` times the channel's slope.
    Prelu(Vec<f32>),
    /// `scale x + shift`, by channel.
    Affine {
        /// Factors.
        scale: Vec<f32>,
        /// Summands.
        shift: Vec<f32>,
    },
    /// `1 / (1 + e^-x)`.
    Sigmoid,
    /// The largest or mean value under a window.
    Pool(Pool),
    /// The mean of each channel.
    GlobalAverage,
    /// Every value four times, in a picture of twice the side.
    Upsample,
    /// The sum of two nodes. Where sizes differ, the smaller is filled up with zeros at the end of
    /// each dimension, as dlib does.
    Add,
}

#[derive(Debug, Clone)]
struct Node {
    op: Op,
    /// Earlier nodes; the second only for `Add`.
    inputs: [usize; 2],
}

/// A network: nodes in an order in which each can be computed.
#[derive(Debug, Clone)]
pub struct Network {
    nodes: Vec<Node>,
    outputs: Vec<NodeId>,
}

/// A node of a network under construction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NodeId(usize);

/// Builds a network node by node.
#[derive(Debug)]
pub struct Builder {
    nodes: Vec<Node>,
}

impl Default for Builder {
    fn default() -> Self {
        Self { nodes: vec![Node { op: Op::Input, inputs: [0, 0] }] }
    }
}

impl Builder {
    /// The input node.
    pub fn input(&self) -> NodeId {
        NodeId(0)
    }

    /// A node made from one other.
    pub fn then(&mut self, from: NodeId, op: Op) -> NodeId {
        self.push(op, [from.0, from.0])
    }

    /// The sum of two nodes.
    pub fn add(&mut self, a: NodeId, b: NodeId) -> NodeId {
        self.push(Op::Add, [a.0, b.0])
    }

    fn push(&mut self, op: Op, inputs: [usize; 2]) -> NodeId {
        self.nodes.push(Node { op, inputs });
        NodeId(self.nodes.len() - 1)
    }

    /// The network with these outputs.
    pub fn finish(self, outputs: &[NodeId]) -> Network {
        Network { nodes: self.nodes, outputs: outputs.to_vec() }
    }
}

impl Op {
    /// The shape of the result.
    fn shape(&self, a: Shape, b: Shape) -> Shape {
        match self {
            Op::Input | Op::Relu | Op::Prelu(_) | Op::Affine { .. } | Op::Sigmoid => a,
            Op::Conv(conv) => conv.shape(a),
            Op::Depthwise(conv) => conv.window().shape(a),
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
