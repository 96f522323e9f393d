//! Dense convolution, straight from the pixels: no window is copied.

use pulp::Simd;

use super::activation::{Epilogue, Finished, Finishing};
use super::geometry::pad;
use super::lanes::{LANES, Lanes, grouped};
use super::products::{InOrder, Products};
use super::registers::Registers;
use super::step::Part;
use super::target::Target;
use super::winograd::Winograd;
use super::workspace::Scratch;
use super::{Shape, Window};

/// A convolution with a bias.
#[derive(Debug, Clone)]
pub(crate) struct Conv {
    window: Window,
    outputs: usize,
    /// A matrix of inputs x outputs for each group of outputs, group of inputs and position in the window.
    weights: Vec<Lanes>,
    /// A matrix of outputs x inputs for each group of inputs, group of outputs and position in the window.
    transposed: Vec<Lanes>,
    /// Instead of both where it pays: forward and backward.
    winograd: Option<[Winograd; 2]>,
    bias: Vec<Lanes>,
}

/// Convolutions with more channels have small pictures, for which transformed windows take longer to come from memory
/// than they save.
const MAX_WINOGRAD: usize = 128;

impl Conv {
    /// A convolution of `inputs` channels, with one bias per output channel. Weights come by output, input and
    /// position in the window. `None` if their number does not match.
    pub(crate) fn new(
        window: Window,
        inputs: usize,
        weights: &[f32],
        bias: &[f32],
    ) -> Option<Self> {
        let (outputs, area) = (bias.len(), window.kernel * window.kernel);
        if weights.len() != outputs * inputs * area {
            return None;
        }
        let weight = |o: usize, i: usize, tap: usize| {
            if o < outputs && i < inputs { weights[(o * inputs + i) * area + tap] } else { 0.0 }
        };
        let bias = grouped(bias, 0.0);
        if window == Window::new(3, 1, 1) && inputs.max(outputs) <= MAX_WINOGRAD {
            let forward = Winograd::new(inputs, outputs, &|i, o, tap| weight(o, i, tap));
            // The transpose of this convolution has its windows turned by 180 degrees.
            let backward =
                Winograd::new(outputs, inputs, &|o, i, tap| weight(o, i, area - 1 - tap));
            let winograd = Some([forward, backward]);
            let (weights, transposed) = (Vec::new(), Vec::new());
            return Some(Self { window, outputs, weights, transposed, winograd, bias });
        }
        let weights = matrices(inputs, outputs, area, &|i, o, tap| weight(o, i, tap));
        let transposed = matrices(outputs, inputs, area, &weight);
        Some(Self { window, outputs, weights, transposed, winograd: None, bias })
    }

    pub(super) fn shape(&self, from: Shape) -> Shape {
        Shape { channels: self.outputs, ..self.window.shape(from) }
    }

    pub(super) fn outputs(&self) -> usize {
        self.outputs
    }

    /// The number of pixels that it needs in the scratch memory.
    pub(super) fn scratch_len(&self, from: Shape) -> usize {
        if let Some([forward, backward]) = &self.winograd {
            return forward.scratch_len().max(backward.scratch_len());
        }
        let margins = self.shape(from).with_border(self.window.margin());
        from.with_border(self.window.padding).lanes().max(margins.lanes())
    }

    /// The weights of one group of outputs from `groups` groups of inputs, and its bias.
    #[inline(always)]
    pub(super) fn group(&self, n: usize, groups: usize) -> (&[Lanes], Lanes) {
        let count = groups * self.window.kernel * self.window.kernel * LANES;
        (&self.weights[n * count..][..count], self.bias[n])
    }

    /// A window of one value: pixels are multiplied in their order.
    pub(super) fn is_pointwise(&self) -> bool {
        self.window == Window::new(1, 1, 0)
    }

    #[inline(always)]
    pub(super) fn forward<S: Simd, const V: usize>(
        &self,
        registers: Registers<S, V>,
        (input, from): (&[Lanes], Shape),
        epilogue: Epilogue<'_>,
        output: Part<'_>,
        scratch: &mut Scratch,
    ) {
        if let Some([forward, _]) = &self.winograd {
            let groups = output.groups(from.area());
            let mut sinks = Finishing { epilogue, bias: &self.bias, output };
            return forward.run(registers, (input, from), groups, scratch, &mut sinks);
        }
        let Scratch { memory, tables, .. } = scratch;
        let to = self.shape(from);
        let mut pixels = input;
        if self.is_pointwise() {
            tables.pointwise(from);
        } else {
            let wide = from.with_border(self.window.padding);
            let padded = memory.get_mut(wide.lanes());
            pad(input, from, self.window.padding, [0.0; LANES], padded);
            tables.forward(self.window, wide, to);
            pixels = padded;
        }
        let terms = &tables.terms[..];
        let weights = self.weights.chunks_exact(terms.len() * LANES).zip(&self.bias);
        let Part { first, values } = output;
        let groups = (first..).zip(values.chunks_exact_mut(to.area())).zip(weights.skip(first));
        for ((n, output), (weights, bias)) in groups {
            let products = Products::<LANES, LANES> { pixels, terms, weights };
            let mut sink = Finished { finish: epilogue.group(n, *bias), output };
            if self.is_pointwise() {
                products.run(registers, InOrder(to.area()), &mut sink);
            } else {
                products.run(registers, &tables.places[..], &mut sink);
            }
        }
    }

    /// Writes or adds the gradient with respect to the input.
    #[inline(always)]
    pub(super) fn backward<S: Simd, const V: usize>(
        &self,
        registers: Registers<S, V>,
        upstream: &[Lanes],
        from: Shape,
        mut gradient: Target<'_>,
        scratch: &mut Scratch,
    ) {
        if let Some([_, backward]) = &self.winograd {
            let groups = gradient.groups(from.area());
            return backward.run(registers, (upstream, from), groups, scratch, &mut gradient);
        }
        let Scratch { memory, tables, .. } = scratch;
        let (to, area) = (self.shape(from), self.window.kernel * self.window.kernel);
        let groups = gradient.groups(from.area());
        let weights = self.transposed.chunks_exact(to.groups() * area * LANES).enumerate();
        let weights = weights.skip(groups.start).take(groups.len());
        if self.is_pointwise() {
            tables.pointwise(to);
            for (n, weights) in weights {
                let products =
                    Products::<LANES, LANES> { pixels: upstream, terms: &tables.terms, weights };
                let sink = &mut gradient.group(n, from.area());
                products.run(registers, InOrder(from.area()), sink);
            }
            return;
        }
        let wide = to.with_border(self.window.margin());
        let padded = memory.get_mut(wide.lanes());
        pad(upstream, to, self.window.margin(), [0.0; LANES], padded);
        for phase in self.window.phases() {
            tables.backward(self.window, wide, from, phase);
            for (n, weights) in weights.clone() {
                let products =
                    Products::<LANES, LANES> { pixels: &*padded, terms: &tables.terms, weights };
                let sink = &mut gradient.group(n, from.area());
                products.run(registers, &tables.places[..], sink);
            }
        }
    }
}

/// Weights from `from` to `to` channels, as matrices of 16x16: for each group of `to`, group of `from`, and position
/// in the window.
fn matrices(
    from: usize,
    to: usize,
    area: usize,
    weight: &impl Fn(usize, usize, usize) -> f32,
) -> Vec<Lanes> {
    let mut rows = Vec::with_capacity(to.div_ceil(LANES) * from.next_multiple_of(LANES) * area);
    for to in (0..to).step_by(LANES) {
        for from in (0..from).step_by(LANES) {
            for tap in 0..area {
                for row in from..from + LANES {
                    rows.push(std::array::from_fn(|lane| weight(row, to + lane, tap)));
                }
            }
        }
    }
    rows
}
