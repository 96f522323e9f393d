//! Running a network, with memory that is reused from one run to the next.

use super::{Network, Op, Shape, simple};

/// The memory of a running network: the values and gradients of every node.
///
/// It grows to what the largest input needs and is then reused: no run allocates.
#[derive(Debug, Default)]
pub struct Workspace {
    shapes: Vec<Shape>,
    values: Vec<Vec<f32>>,
    gradients: Vec<Vec<f32>>,
    scratch: Vec<f32>,
}

impl Network {
    /// The shapes of all outputs for an input of the given shape. A dimension of 0 says that the
    /// input is too small for the network.
    pub fn output_shapes(&self, input: Shape) -> Vec<Shape> {
        let mut shapes = Vec::new();
        self.shapes(input, &mut shapes);
        self.outputs.iter().map(|output| shapes[output.0]).collect()
    }

    /// The shape of every node.
    fn shapes(&self, input: Shape, shapes: &mut Vec<Shape>) {
        shapes.clear();
        shapes.push(input);
        for node in &self.nodes[1..] {
            let [a, b] = node.inputs;
            shapes.push(node.op.shape(shapes[a], shapes[b]));
        }
    }

    /// Computes all nodes. `fill` writes the input (of the given shape) in place.
    ///
    /// The input must be large enough that every node has at least one value.
    pub fn forward(&self, work: &mut Workspace, input: Shape, fill: impl FnOnce(&mut [f32])) {
        work.prepare(self, input);
        fill(&mut work.values[0]);
        for (index, node) in self.nodes.iter().enumerate().skip(1) {
            let (before, rest) = work.values.split_at_mut(index);
            let output = rest[0].as_mut_slice();
            let [a, b] = node.inputs;
            let (x, from) = (before[a].as_slice(), work.shapes[a]);
            match &node.op {
                Op::Input => {}
                Op::Conv(conv) => conv.forward(x, from, output, &mut work.scratch),
                Op::Depthwise(conv) => conv.forward(x, from, output),
                Op::Relu => simple::relu(x, output),
                Op::Prelu(slopes) => simple::prelu(x, from, slopes, output),
                Op::Affine { scale, shift } => simple::affine(x, from, scale, shift, output),
                Op::Sigmoid => simple::sigmoid(x, output),
                Op::Pool(pool) => pool.forward(x, from, output),
                Op::GlobalAverage => simple::global_average(x, from, output),
                Op::Upsample => simple::upsample(x, from, output),
                Op::Add => {
                    let into = work.shapes[index];
                    output.fill(0.0);
                    simple::add_to_corner(x, from, output, into);
                    simple::add_to_corner(&before[b], work.shapes[b], output, into);
                }
            }
        }
    }

    /// The value of one output after [`Network::forward`].
    pub fn output<'w>(&self, work: &'w Workspace, output: usize) -> &'w [f32] {
        &work.values[self.outputs[output].0]
    }

    /// The gradient with respect to the input of `sum(upstream * output)`, after
    /// [`Network::forward`].
    pub fn backward<'w>(
        &self,
        work: &'w mut Workspace,
        output: usize,
        upstream: &[f32],
    ) -> &'w [f32] {
        work.gradients.resize_with(self.nodes.len(), Vec::new);
        for (gradient, shape) in work.gradients.iter_mut().zip(&work.shapes) {
            gradient.clear();
            gradient.resize(shape.len(), 0.0);
        }
        let last = self.outputs[output].0;
        work.gradients[last].copy_from_slice(upstream);
        for (index, node) in self.nodes.iter().enumerate().take(last + 1).skip(1).rev() {
            let (before, rest) = work.gradients.split_at_mut(index);
            let up = rest[0].as_slice();
            let [a, b] = node.inputs;
            let (x, from, y) = (&work.values[a], work.shapes[a], &work.values[index]);
            let gradient = before[a].as_mut_slice();
            match &node.op {
                Op::Input => {}
                Op::Conv(conv) => conv.backward(up, from, gradient, &mut work.scratch),
                Op::Depthwise(conv) => conv.backward(up, from, gradient),
                Op::Relu => simple::relu_backward(y, up, gradient),
                Op::Prelu(slopes) => simple::prelu_backward(x, from, slopes, up, gradient),
                Op::Affine { scale, .. } => simple::affine_backward(from, scale, up, gradient),
                Op::Sigmoid => simple::sigmoid_backward(y, up, gradient),
                Op::Pool(pool) => pool.backward(x, up, from, gradient),
                Op::GlobalAverage => simple::global_average_backward(from, up, gradient),
                Op::Upsample => simple::upsample_backward(from, up, gradient),
                Op::Add => {
                    let shape = work.shapes[index];
                    simple::add_from_corner(up, shape, gradient, from);
                    simple::add_from_corner(up, shape, &mut before[b], work.shapes[b]);
                }
            }
        }
        &work.gradients[0]
    }
}

impl Workspace {
    fn prepare(&mut self, network: &Network, input: Shape) {
        network.shapes(input, &mut self.shapes);
        self.values.resize_with(network.nodes.len(), Vec::new);
        for (values, shape) in self.values.iter_mut().zip(&self.shapes) {
            values.resize(shape.len(), 0.0);
        }
        let scratch = network.nodes.iter().map(|node| match &node.op {
            Op::Conv(conv) => conv.scratch_len(self.shapes[node.inputs[0]]),
            _ => 0,
        });
        let most = scratch.max().unwrap_or(0);
        if self.scratch.len() < most {
            self.scratch.resize(most, 0.0);
        }
    }
}
