//! Running a network, in memory that is reused between runs.

use std::sync::atomic::{AtomicBool, Ordering};

use super::activation::Epilogue;
use super::chain::Progress;
use super::geometry::Tables;
use super::lanes::{LANES, Memory, from_planes, to_planes};
use super::picture::{Bordered, COLOURS, Lines};
use super::registers::dispatch;
use super::step::{Backward, Forward, Input, Part, Share, Undo};
use super::target::Target;
use super::{Network, Node, Op, Shape};

/// The memory of a running network: the values of every node, and gradients where they are needed.
///
/// It grows to the size that the largest input needs. After that, no run allocates.
#[derive(Debug, Default)]
pub struct Workspace {
    shapes: Vec<Shape>,
    picture: Bordered,
    /// The gradient with respect to the picture.
    gradient: Bordered,
    /// The picture, then its gradient, plane by plane.
    planes: Vec<f32>,
    values: Vec<Memory>,
    /// The gradient of a node, from the first of the nodes computed from it to the node itself.
    gradients: Vec<Option<Memory>>,
    /// Memory for gradients. The last one was used last and is likely to be in the cache.
    free: Vec<Memory>,
    /// One for each thread.
    scratch: [Scratch; 2],
    /// Whether runs may use a second thread.
    pair: bool,
    /// For work of its own on a second thread.
    second: Option<Box<Workspace>>,
    /// For each node, factors on the weights of its output channels; none means 1.
    factors: Vec<Vec<f32>>,
    /// Whether values may be those of rounded numbers.
    rounded: bool,
}

/// Operations on fewer pixels, times the groups of channels that each takes, run on one thread: to wake another one
/// takes longer.
const MIN_SHARED: usize = 200;

/// Runs work whose parts two threads share, and keeps a second thread of the pool awake meanwhile: layers take less
/// time than waking one up.
fn with_helper(pair: bool, work: impl FnOnce() + Send) {
    if !pair {
        return work();
    }
    let (done, owner) = (AtomicBool::new(false), rayon::current_thread_index());
    let finished = Finished(&done);
    let all = move || {
        // Set when the work panics, too.
        let _finished = finished;
        work();
    };
    rayon::join(all, || {
        while !done.load(Ordering::Acquire) && rayon::current_thread_index() != owner {
            if rayon::yield_now() != Some(rayon::Yield::Executed) {
                std::hint::spin_loop();
            }
        }
    });
}

struct Finished<'a>(&'a AtomicBool);

impl Drop for Finished<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Release);
    }
}

/// What an operation needs while it runs.
#[derive(Debug, Default)]
pub(super) struct Scratch {
    pub memory: Memory,
    pub tables: Tables,
    /// Terms of pointwise convolutions, beside other tables.
    pub terms: Tables,
    pub links: Vec<Progress>,
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

    /// Computes all nodes. `fill` writes the input (of the given shape) plane by plane.
    ///
    /// The input must be large enough that every node has at least one value.
    pub(crate) fn forward(
        &self,
        work: &mut Workspace,
        input: Shape,
        fill: impl FnOnce(&mut [f32]),
    ) {
        work.factors.iter_mut().for_each(Vec::clear);
        work.rounded = false;
        work.prepare(self, input);
        work.fill(input, fill);
        self.run(work);
    }

    /// [`Network::forward`] with a `fill` that writes the input pixel by pixel.
    pub(crate) fn forward_lines(
        &self,
        work: &mut Workspace,
        input: Shape,
        fill: impl FnOnce(Lines<'_>),
    ) {
        work.factors.iter_mut().for_each(Vec::clear);
        work.rounded = false;
        work.prepare(self, input);
        fill(work.picture.lines());
        self.run(work);
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
        work.rounded = true;
        work.factors.resize_with(self.nodes.len(), Vec::new);
        for (factors, node) in work.factors.iter_mut().zip(&self.nodes) {
            factors.clear();
            factors.extend(std::iter::repeat_with(&mut *factor).take(node.op.weighted()));
        }
        work.prepare(self, input);
        work.fill(input, fill);
        self.run(work);
    }

    /// The number of factors of [`Network::forward_scaled`].
    pub(crate) fn factors(&self) -> usize {
        self.nodes.iter().map(|node| node.op.weighted()).sum()
    }

    fn run(&self, work: &mut Workspace) {
        let pair = work.pair;
        with_helper(pair, || self.run_nodes(work));
    }

    fn run_nodes(&self, work: &mut Workspace) {
        for (index, node) in self.nodes.iter().enumerate().skip(1) {
            let (before, rest) = work.values.split_at_mut(index);
            let shapes = &work.shapes;
            let inputs = node.inputs.map(|n| {
                let shape = shapes[n];
                let values = if n == 0 { &[][..] } else { before[n].get(shape.lanes()) };
                Input { values, shape }
            });
            let shape = shapes[index];
            let [scratch, other] = &mut work.scratch;
            let forward = Forward {
                op: &node.op,
                inputs,
                picture: &work.picture,
                epilogue: node.epilogue(&work.factors[index]),
                output: Part { first: 0, values: rest[0].get_mut(shape.lanes()) },
                shape,
                scratch,
            };
            let rounded = work.rounded;
            if work.pair && node.op.is_shared(inputs[0].shape, shape) {
                let [first, second] = forward.split(other);
                rayon::join(|| first.start(rounded), || second.start(rounded));
            } else {
                forward.start(rounded);
            }
        }
    }

    /// The value of one output after [`Network::forward`], channel by channel.
    pub(crate) fn output(&self, work: &Workspace, output: usize) -> Vec<f32> {
        let node = self.outputs[output].0;
        to_planes(work.values[node].get(work.shapes[node].lanes()), work.shapes[node])
    }

    /// The value of one output with at most 16 channels, pixel by pixel.
    pub(crate) fn output_pixels<'w>(
        &self,
        work: &'w Workspace,
        output: usize,
    ) -> &'w [[f32; LANES]] {
        let node = self.outputs[output].0;
        work.values[node].get(work.shapes[node].area())
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
        work.gradient.prepare(work.shapes[0], self.border());
        work.gradient.pixels_mut().fill([0.0; COLOURS]);
        let last = self.outputs[output].0;
        let (mut gradient, shape) = (work.take(last), work.shapes[last]);
        from_planes(upstream, shape, gradient.get_mut(shape.lanes()));
        self.undo(last, work, &mut gradient);
        work.gradients[last] = Some(gradient);
        with_helper(work.pair, || {
            for (index, node) in self.nodes.iter().enumerate().take(last + 1).skip(1).rev() {
                // Nothing that leads to the output was computed from a node without a gradient.
                if let Some(gradient) = work.gradients[index].take() {
                    let gradient = self.pass_on(node, index, gradient, work);
                    work.free.push(gradient);
                }
            }
        });
        work.planes.resize(work.shapes[0].len(), 0.0);
        for (colour, plane) in work.planes.chunks_exact_mut(work.shapes[0].area()).enumerate() {
            work.gradient.copy_colour(colour, plane);
        }
        &work.planes
    }

    /// The largest padding of the picture.
    fn border(&self) -> usize {
        let paddings = self.nodes.iter().map(|node| match &node.op {
            Op::Stem(conv) => conv.padding(),
            Op::Chain(chain) => chain.padding(),
            _ => 0,
        });
        paddings.max().unwrap_or(0)
    }

    /// Turns the gradient of a node into that of its operation.
    fn undo(&self, index: usize, work: &Workspace, gradient: &mut Memory) {
        let (epilogue, shape) =
            (self.nodes[index].epilogue(&work.factors[index]), work.shapes[index]);
        if index > 0 && !epilogue.is_empty() {
            let (area, values) = (shape.area(), work.values[index].get(shape.lanes()));
            let gradient = gradient.get_mut(shape.lanes());
            dispatch(Undo { epilogue, area, values, gradient });
        }
    }

    /// Passes the gradient of a node's operation on to its inputs. Returns the memory of that gradient.
    fn pass_on(&self, node: &Node, index: usize, own: Memory, work: &mut Workspace) -> Memory {
        let shape = work.shapes[index];
        for (position, &input) in node.inputs[..node.op.arity()].iter().enumerate() {
            let before = work.gradients[input].take();
            let (first, mut memory) =
                (before.is_none(), before.unwrap_or_else(|| work.take(input)));
            let length = if input == 0 { 0 } else { work.shapes[input].lanes() };
            let read = |n: usize| {
                let shape = work.shapes[n];
                let values = if n == 0 { &[][..] } else { work.values[n].get(shape.lanes()) };
                Input { values, shape }
            };
            // Nodes are visited from last to first: nothing will be added after the first that uses the input.
            let complete = self.first_use[input] == index;
            let fused = matches!(node.op, Op::Conv(_) | Op::Depthwise(_) | Op::Unit(_));
            let epilogue = self.nodes[input].epilogue(&work.factors[input]);
            let undo = complete && fused && !epilogue.is_empty();
            let undo = undo.then(|| (epilogue, read(input).values));
            let (op, upstream) = (&node.op, own.get(shape.lanes()));
            let gradient = Target { first, start: 0, values: memory.get_mut(length), undo };
            let [scratch, other] = &mut work.scratch;
            let from = work.shapes[input];
            if work.pair && input > 0 && !matches!(op, Op::Unit(_)) && op.is_shared(shape, from) {
                let [upper, lower] = gradient.split(from.groups().div_ceil(2), from.area());
                let first = Share { op, from, upstream, gradient: upper, scratch };
                let second = Share { op, from, upstream, gradient: lower, scratch: other };
                rayon::join(|| first.start(), || second.start());
            } else {
                let step = Backward {
                    op,
                    inputs: node.inputs.map(read),
                    position,
                    output: read(index),
                    upstream,
                    gradient,
                    picture: &mut work.gradient,
                    scratch,
                };
                step.start();
            }
            if complete && !fused {
                self.undo(input, work, &mut memory);
            }
            work.gradients[input] = Some(memory);
        }
        own
    }
}

impl Node {
    fn epilogue<'a>(&'a self, factors: &'a [f32]) -> Epilogue<'a> {
        Epilogue { activation: self.activation.as_ref(), factors }
    }
}

impl Op {
    /// Whether two threads share it: one takes the first half of the groups of channels, the other one the rest. `from`
    /// has the values that are read, `to` those that are written.
    fn is_shared(&self, from: Shape, to: Shape) -> bool {
        let each = match self {
            Op::Conv(_) | Op::Stem(_) | Op::Unit(_) | Op::Dense(_) => from.groups(),
            Op::Depthwise(_) => 1,
            _ => return false,
        };
        to.groups() > 1 && each * from.lanes().max(to.lanes()) >= MIN_SHARED
    }
}

impl Workspace {
    /// Allows runs to use a second thread, of the `rayon` pool that they are in. Results are the same.
    pub fn use_two_threads(&mut self, allowed: bool) {
        self.pair = allowed;
    }

    /// Whether runs may use a second thread.
    pub fn uses_two_threads(&self) -> bool {
        self.pair
    }

    /// Does two things at the same time, each with a workspace of one thread.
    pub fn at_once<A: Send, B: Send>(
        &mut self,
        a: impl FnOnce(&mut Self) -> A + Send,
        b: impl FnOnce(&mut Self) -> B + Send,
    ) -> (A, B) {
        let mut second = self.second.take().unwrap_or_default();
        let pair = std::mem::replace(&mut self.pair, false);
        let both = rayon::join(|| a(self), || b(&mut second));
        (self.pair, self.second) = (pair, Some(second));
        both
    }

    /// Memory for the gradient of a node, with any values.
    fn take(&mut self, node: usize) -> Memory {
        let mut memory = self.free.pop().unwrap_or_default();
        memory.reserve(if node == 0 { 0 } else { self.shapes[node].lanes() });
        memory
    }

    /// Writes the picture from planes.
    fn fill(&mut self, input: Shape, fill: impl FnOnce(&mut [f32])) {
        self.planes.resize(input.len(), 0.0);
        fill(&mut self.planes);
        for (colour, plane) in self.planes.chunks_exact(input.area()).enumerate() {
            let mut lines = self.picture.lines();
            for (line, values) in lines.iter().zip(plane.chunks_exact(input.width)) {
                line.iter_mut().zip(values).for_each(|(pixel, value)| pixel[colour] = *value);
            }
        }
    }

    fn prepare(&mut self, network: &Network, input: Shape) {
        network.shapes(input, &mut self.shapes);
        self.picture.prepare(input, network.border());
        self.values.resize_with(self.values.len().max(network.nodes.len()), Memory::default);
        self.factors.resize_with(network.nodes.len(), Vec::new);
        for (values, shape) in self.values.iter_mut().zip(&self.shapes).skip(1) {
            values.reserve(shape.lanes());
        }
        let scratch = network.nodes.iter().map(|node| match &node.op {
            Op::Stem(conv) => conv.scratch_len(self.shapes[node.inputs[0]]),
            Op::Chain(chain) => chain.scratch_len(self.shapes[node.inputs[0]]),
            Op::Conv(conv) => conv.scratch_len(self.shapes[node.inputs[0]]),
            Op::Unit(unit) => unit.scratch_len(self.shapes[node.inputs[0]]),
            _ => 0,
        });
        let scratch = scratch.max().unwrap_or(0);
        let needed = if self.pair { 2 } else { 1 };
        self.scratch.iter_mut().take(needed).for_each(|own| own.memory.reserve(scratch));
    }
}
