//! Running a network, in memory that is reused between runs.

use super::activation::Epilogue;
use super::step::{Backward, Forward, Input, Undo};
use super::target::Target;
use super::{Network, Node, Op, Shape};

/// The memory of a running network: the values of every node, and gradients where they are needed.
///
/// It grows to the size that the largest input needs. After that, no run allocates.
#[derive(Debug, Default)]
pub struct Workspace {
    shapes: Vec<Shape>,
    values: Vec<Vec<f32>>,
    /// Which values the activation of a node left as they were.
    passed: Vec<Vec<bool>>,
    /// The gradient of a node, from the first of the nodes computed from it to the node itself.
    gradients: Vec<Option<Vec<f32>>>,
    /// Memory for gradients. The last one was used last and is likely to be in the cache.
    free: Vec<Vec<f32>>,
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
        fill(&mut work.values[0][..input.len()]);
        for (index, node) in self.nodes.iter().enumerate().skip(1) {
            let (before, rest) = work.values.split_at_mut(index);
            let shapes = &work.shapes;
            let inputs = node.inputs.map(|n| {
                let shape = shapes[n];
                Input { values: &before[n][..shape.len()], shape }
            });
            let shape = shapes[index];
            let output = &mut rest[0][..shape.len()];
            let passed = &mut work.passed[index][..node.flags(shape)];
            let scratch = &mut *work.scratch;
            let epilogue = node.epilogue(&work.factors[index], shape);
            Forward { op: &node.op, inputs, epilogue, output, passed, shape, scratch }.run();
        }
    }

    /// The value of one output after [`Network::forward`].
    pub(crate) fn output<'w>(&self, work: &'w Workspace, output: usize) -> &'w [f32] {
        let node = self.outputs[output].0;
        &work.values[node][..work.shapes[node].len()]
    }

    /// The gradient of `sum(upstream * output)` with respect to the input, after
    /// [`Network::forward`].
    pub(crate) fn backward<'w>(
        &self,
        work: &'w mut Workspace,
        output: usize,
        upstream: &[f32],
    ) -> &'w [f32] {
        work.free.extend(work.gradients.drain(..).flatten());
        work.gradients.resize_with(self.nodes.len(), || None);
        let last = self.outputs[output].0;
        let mut gradient = work.take(last);
        gradient[..upstream.len()].copy_from_slice(upstream);
        work.gradients[last] = Some(gradient);
        for (index, node) in self.nodes.iter().enumerate().take(last + 1).skip(1).rev() {
            // Nothing that leads to the output was computed from a node without a gradient.
            if let Some(gradient) = work.gradients[index].take() {
                let gradient = node.backward(index, gradient, work);
                work.free.push(gradient);
            }
        }
        let length = work.shapes[0].len();
        match &mut work.gradients[0] {
            Some(gradient) => &gradient[..length],
            none => &none.insert(vec![0.0; length])[..],
        }
    }
}

impl Node {
    fn epilogue<'a>(&'a self, factors: &'a [f32], shape: Shape) -> Epilogue<'a> {
        Epilogue { activation: self.activation.as_ref(), factors, area: shape.area() }
    }

    /// The number of values of which its activation notes whether they passed.
    fn flags(&self, shape: Shape) -> usize {
        if self.activation.is_some() { shape.len() } else { 0 }
    }

    /// Passes the gradient of a node on to its inputs. Returns the memory of that gradient.
    fn backward(&self, index: usize, mut own: Vec<f32>, work: &mut Workspace) -> Vec<f32> {
        let shape = work.shapes[index];
        let upstream = &mut own[..shape.len()];
        let epilogue = self.epilogue(&work.factors[index], shape);
        let passed = &work.passed[index][..self.flags(shape)];
        Undo { epilogue, passed, gradient: upstream }.run();
        for (position, &input) in self.inputs[..self.op.arity()].iter().enumerate() {
            let before = work.gradients[input].take();
            let (first, mut values) =
                (before.is_none(), before.unwrap_or_else(|| work.take(input)));
            let read = |n: usize| {
                let shape = work.shapes[n];
                Input { values: &work.values[n][..shape.len()], shape }
            };
            Backward {
                op: &self.op,
                inputs: self.inputs.map(read),
                position,
                output: read(index),
                upstream,
                gradient: Target { first, values: &mut values[..work.shapes[input].len()] },
                scratch: &mut work.scratch,
            }
            .run();
            work.gradients[input] = Some(values);
        }
        own
    }
}

impl Workspace {
    /// Memory for the gradient of a node, at least as long as needed, with any values.
    fn take(&mut self, node: usize) -> Vec<f32> {
        let mut memory = self.free.pop().unwrap_or_default();
        memory.resize(memory.len().max(self.shapes[node].len()), 0.0);
        memory
    }

    fn prepare(&mut self, network: &Network, input: Shape) {
        network.shapes(input, &mut self.shapes);
        self.values.resize_with(network.nodes.len(), Vec::new);
        self.factors.resize_with(network.nodes.len(), Vec::new);
        // Memory never gets shorter: to make it longer again would fill it with zeros, and networks take
        // turns.
        for (values, shape) in self.values.iter_mut().zip(&self.shapes) {
            values.resize(values.len().max(shape.len()), 0.0);
        }
        self.passed.resize_with(network.nodes.len(), Vec::new);
        for ((passed, shape), node) in self.passed.iter_mut().zip(&self.shapes).zip(&network.nodes)
        {
            passed.resize(passed.len().max(node.flags(*shape)), false);
        }
        let scratch = network.nodes.iter().map(|node| match &node.op {
            Op::Conv(conv) => conv.scratch_len(self.shapes[node.inputs[0]]),
            Op::Winograd(conv) => conv.scratch_len(self.shapes[node.inputs[0]]),
            Op::Depthwise(conv) => conv.scratch_len(self.shapes[node.inputs[0]]),
            Op::Pool(_) => self.shapes[node.inputs[0]].width,
            _ => 0,
        });
        let needed = scratch.max().unwrap_or(0);
        if self.scratch.len() < needed {
            self.scratch.resize(needed, 0.0);
        }
    }
}
