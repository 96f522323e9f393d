//! Running a network, in memory that is reused between runs.

use super::step::{Backward, Forward, Input};
use super::{Network, Op, Shape};

/// The memory of a running network: the values and gradients of every node.
///
/// It grows to the size that the largest input needs. After that, no run allocates.
#[derive(Debug, Default)]
pub struct Workspace {
    shapes: Vec<Shape>,
    values: Vec<Vec<f32>>,
    gradients: Vec<Vec<f32>>,
    scratch: Vec<f32>,
    /// For each node, factors on the weights of its output channels; none means 1.
    factors: Vec<Vec<f32>>,
}

impl Network {
    /// The shapes of all outputs for an input of the given shape.
    #[cfg(test)]
    pub(crate) fn output_shapes(&self, input: Shape) -> Vec<Shape> {
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
    pub(crate) fn forward(
        &self,
        work: &mut Workspace,
        input: Shape,
        fill: impl FnOnce(&mut [f32]),
    ) {
        work.factors.iter_mut().for_each(Vec::clear);
        self.run(work, input, fill);
    }

    /// [`Network::forward`] with the weights of each output channel of each convolution times `factor()`.
    /// Biases stay. [`Network::backward`] keeps to these factors.
    pub(crate) fn forward_scaled(
        &self,
        work: &mut Workspace,
        input: Shape,
        factor: &mut dyn FnMut() -> f32,
        fill: impl FnOnce(&mut [f32]),
    ) {
        work.factors.resize_with(self.nodes.len(), Vec::new);
        for (factors, node) in work.factors.iter_mut().zip(&self.nodes) {
            factors.clear();
            factors.extend(std::iter::repeat_with(&mut *factor).take(node.op.weighted()));
        }
        self.run(work, input, fill);
    }

    fn run(&self, work: &mut Workspace, input: Shape, fill: impl FnOnce(&mut [f32])) {
        work.prepare(self, input);
        fill(&mut work.values[0]);
        for (index, node) in self.nodes.iter().enumerate().skip(1) {
            let (before, rest) = work.values.split_at_mut(index);
            let shapes = &work.shapes;
            let inputs = node.inputs.map(|n| Input { values: &before[n], shape: shapes[n] });
            let (output, shape) = (rest[0].as_mut_slice(), shapes[index]);
            let (factors, scratch) = (work.factors[index].as_slice(), &mut *work.scratch);
            Forward { op: &node.op, inputs, factors, output, shape, scratch }.run();
        }
    }

    /// The value of one output after [`Network::forward`].
    pub(crate) fn output<'w>(&self, work: &'w Workspace, output: usize) -> &'w [f32] {
        &work.values[self.outputs[output].0]
    }

    /// The gradient of `sum(upstream * output)` with respect to the input, after
    /// [`Network::forward`].
    pub(crate) fn backward<'w>(
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
            let read = |n: usize| Input { values: &work.values[n], shape: work.shapes[n] };
            for (position, &input) in node.inputs[..node.op.arity()].iter().enumerate() {
                Backward {
                    op: &node.op,
                    inputs: node.inputs.map(read),
                    position,
                    output: read(index),
                    factors: &work.factors[index],
                    upstream: &mut rest[0],
                    gradient: &mut before[input],
                    scratch: &mut work.scratch,
                }
                .run();
            }
        }
        &work.gradients[0]
    }
}

impl Workspace {
    fn prepare(&mut self, network: &Network, input: Shape) {
        network.shapes(input, &mut self.shapes);
        self.values.resize_with(network.nodes.len(), Vec::new);
        self.factors.resize_with(network.nodes.len(), Vec::new);
        for (values, shape) in self.values.iter_mut().zip(&self.shapes) {
            values.resize(shape.len(), 0.0);
        }
        let scratch = network.nodes.iter().map(|node| match &node.op {
            Op::Conv(conv) => conv.scratch_len(self.shapes[node.inputs[0]]),
            Op::Depthwise(conv) => conv.scratch_len(self.shapes[node.inputs[0]]),
            _ => 0,
        });
        let needed = scratch.max().unwrap_or(0);
        if self.scratch.len() < needed {
            self.scratch.resize(needed, 0.0);
        }
    }
}
