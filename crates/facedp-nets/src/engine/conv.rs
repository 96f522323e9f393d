//! Dense convolution, straight from the pixels: no window is copied.

mod rounded;

use std::ops::Range;
use std::sync::OnceLock;

use half::f16;
use pulp::Simd;

use super::activation::{Epilogue, Finishing};
use super::dense::widened;
use super::geometry::{Tables, pad};
use super::lanes::{Halves, LANES, Lanes, grouped};
use super::products::{Products, Sinks, gather, in_order};
use super::registers::{Registers, Row, halves_are_fast};
use super::step::Part;
use super::target::Target;
use super::winograd::Winograd;
use super::workspace::Scratch;
use super::{Shape, Window};
use rounded::RoundedWeights;
pub(super) use rounded::{RoundedBackward, RoundedForward};

/// A convolution with a bias.
#[derive(Debug, Clone)]
pub(crate) struct Conv {
    window: Window,
    outputs: usize,
    /// A matrix of inputs x outputs for each group of outputs, group of inputs and position in the window.
    weights: Rows,
    /// Instead of them where it pays.
    winograd: Option<Winograd>,
    backward: OnceLock<Backward>,
    /// For gradients, and for forward runs of jittered networks, on processors that multiply rounded numbers.
    rounded: RoundedWeights,
    bias: Vec<Lanes>,
}

/// Weights from memory.
#[derive(Debug, Clone)]
enum Rows {
    Single(Vec<Lanes>),
    /// Many weights, as they are in the files of networks: half as many bytes come from memory in half the time.
    Half(Vec<Halves>),
}

/// The same weights for gradients, which few runs of the program need: from when the first one is asked for.
#[derive(Debug, Clone)]
enum Backward {
    /// A matrix of outputs x inputs for each group of inputs, phase, group of outputs and position of the phase.
    Plain(Rows),
    Winograd(Winograd),
}

/// Convolutions with more channels have small pictures, for which transformed windows take longer to come from memory
/// than they save.
const MAX_WINOGRAD: usize = 64;

/// Fewer weights stay in the cache.
const MIN_HALVES: usize = 1 << 15;

/// Places whose pixels are copied at once, so that they stay in the cache.
const GATHERED: usize = 56;

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
        if window == Window::new(3, 1, 1) && inputs.max(outputs) <= MAX_WINOGRAD {
            let forward = Winograd::new(inputs, outputs, &|i, o, tap| weight(o, i, tap));
            return Some(Self::of(window, Rows::Single(Vec::new()), Some(forward), bias));
        }
        let weights = Rows::Single(matrices(inputs, outputs, area, &weight));
        Some(Self::of(window, weights, None, bias))
    }

    fn of(window: Window, weights: Rows, winograd: Option<Winograd>, bias: &[f32]) -> Self {
        Self {
            window,
            outputs: bias.len(),
            weights,
            winograd,
            backward: OnceLock::new(),
            rounded: RoundedWeights::default(),
            bias: grouped(bias, 0.0),
        }
    }

    /// The same for weights in half precision.
    pub(crate) fn from_halves(
        window: Window,
        inputs: usize,
        weights: &[f16],
        bias: &[f32],
    ) -> Option<Self> {
        let is_small = weights.len() < MIN_HALVES || inputs.max(bias.len()) <= MAX_WINOGRAD;
        if is_small || !halves_are_fast() {
            let weights: Vec<f32> = weights.iter().map(|half| widened(*half)).collect();
            return Self::new(window, inputs, &weights, bias);
        }
        Self::packed(window, inputs, weights, bias)
    }

    /// [`Conv::from_halves`] whose weights stay in half precision.
    pub(super) fn packed(
        window: Window,
        inputs: usize,
        weights: &[f16],
        bias: &[f32],
    ) -> Option<Self> {
        let (outputs, area) = (bias.len(), window.kernel * window.kernel);
        if weights.len() != outputs * inputs * area {
            return None;
        }
        let weight = |o: usize, i: usize, tap: usize| {
            let is_there = o < outputs && i < inputs;
            if is_there { weights[(o * inputs + i) * area + tap] } else { f16::ZERO }
        };
        let weights = Rows::Half(matrices(inputs, outputs, area, &weight));
        Some(Self::of(window, weights, None, bias))
    }

    fn for_gradients(&self) -> &Backward {
        self.backward.get_or_init(|| {
            if let Some(winograd) = &self.winograd {
                return Backward::Winograd(winograd.transposed());
            }
            let groups = self.bias.len();
            Backward::Plain(match &self.weights {
                Rows::Single(weights) => Rows::Single(transposed(weights, groups, self.window)),
                Rows::Half(weights) => Rows::Half(transposed(weights, groups, self.window)),
            })
        })
    }

    pub(super) fn shape(&self, from: Shape) -> Shape {
        Shape { channels: self.outputs, ..self.window.shape(from) }
    }

    pub(super) fn outputs(&self) -> usize {
        self.outputs
    }

    /// The number of pixels that it needs in the scratch memory.
    pub(super) fn scratch_len(&self, from: Shape) -> usize {
        let to = self.shape(from);
        let (wide, margins) =
            (from.with_border(self.window.padding), to.with_border(self.window.margin()));
        let area = self.window.kernel * self.window.kernel;
        let plain =
            wide.lanes().max(margins.lanes()) + from.groups().max(to.groups()) * area * GATHERED;
        match &self.winograd {
            // Rounded numbers are multiplied plainly. Two rounded pixels fit into one.
            Some(winograd) => winograd.scratch_len().max(plain.div_ceil(2)),
            None => plain,
        }
    }

    /// The products of pixels with the weights of a pointwise convolution that was made by [`Conv::new`].
    #[inline(always)]
    pub(super) fn products<'a>(
        &'a self,
        pixels: &'a [Lanes],
        tables: &'a Tables,
    ) -> Products<'a, LANES, LANES> {
        let weights = match &self.weights {
            Rows::Single(weights) => &weights[..],
            Rows::Half(_) => &[],
        };
        let terms = &tables.terms[..];
        Products { pixels, terms, weights, pitch: terms.len() * LANES }
    }

    pub(super) fn bias(&self) -> &[Lanes] {
        &self.bias
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
        if let Some(forward) = &self.winograd {
            let groups = output.groups(from.area());
            let mut sinks = Finishing { epilogue, bias: &self.bias, output };
            return forward.run(registers, (input, from), groups, scratch, &mut sinks);
        }
        let widened;
        let all = (input, from);
        let rows = match &self.weights {
            Rows::Single(rows) => rows,
            Rows::Half(rows) if V == 1 => {
                return self.forward_by(registers, rows, all, epilogue, output, scratch);
            }
            Rows::Half(rows) => {
                widened = single(rows);
                &widened
            }
        };
        self.forward_by(registers, rows, all, epilogue, output, scratch);
    }

    #[inline(always)]
    fn forward_by<S: Simd, const V: usize, W: Row>(
        &self,
        registers: Registers<S, V>,
        weights: &[W],
        (input, from): (&[Lanes], Shape),
        epilogue: Epilogue<'_>,
        output: Part<'_>,
        Scratch { memory, tables, terms, .. }: &mut Scratch,
    ) {
        let to = self.shape(from);
        let groups = output.groups(to.area());
        let mut sinks = Finishing { epilogue, bias: &self.bias, output };
        let pitch = from.groups() * self.window.kernel * self.window.kernel * LANES;
        if self.is_pointwise() {
            tables.pointwise(from);
            let terms = &tables.terms[..];
            let products = Products::<LANES, LANES, W> { pixels: input, terms, weights, pitch };
            return products.run(registers, groups, to.area(), in_order(to.area()), &mut sinks);
        }
        let wide = from.with_border(self.window.padding);
        let (padded, gathered) = memory.get_mut(self.scratch_len(from)).split_at_mut(wide.lanes());
        pad(input, from, self.window.padding, [0.0; LANES], padded);
        tables.forward(self.window, from, to);
        let all = Gathered { pixels: padded, tables, weights, pitch };
        all.run(registers, groups, to.area(), (gathered, terms), &mut sinks);
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
        let widened;
        let rows = match self.for_gradients() {
            Backward::Winograd(winograd) => {
                let groups = gradient.groups(from.area());
                return winograd.run(registers, (upstream, from), groups, scratch, &mut gradient);
            }
            Backward::Plain(Rows::Single(rows)) => rows,
            Backward::Plain(Rows::Half(rows)) if V == 1 => {
                return self.backward_by(registers, rows, upstream, from, gradient, scratch);
            }
            Backward::Plain(Rows::Half(rows)) => {
                widened = single(rows);
                &widened
            }
        };
        self.backward_by(registers, rows, upstream, from, gradient, scratch);
    }

    #[inline(always)]
    fn backward_by<S: Simd, const V: usize, W: Row>(
        &self,
        registers: Registers<S, V>,
        weights: &[W],
        upstream: &[Lanes],
        from: Shape,
        mut gradient: Target<'_>,
        Scratch { memory, tables, terms, .. }: &mut Scratch,
    ) {
        let groups = gradient.groups(from.area());
        let (to, area) = (self.shape(from), self.window.kernel * self.window.kernel);
        let pitch = to.groups() * area * LANES;
        if self.is_pointwise() {
            tables.pointwise(to);
            let terms = &tables.terms[..];
            let products = Products::<LANES, LANES, W> { pixels: upstream, terms, weights, pitch };
            let places = in_order(from.area());
            return products.run(registers, groups, from.area(), places, &mut gradient);
        }
        let wide = to.with_border(self.window.margin());
        let (padded, gathered) = memory.get_mut(self.scratch_len(from)).split_at_mut(wide.lanes());
        pad(upstream, to, self.window.margin(), [0.0; LANES], padded);
        let mut before = 0;
        for phase in self.window.phases() {
            tables.backward(self.window, (from, to), phase, before);
            before += to.groups() * self.window.taps_of(phase).count();
            let all = Gathered { pixels: padded, tables, weights, pitch };
            let scratch = (&mut *gathered, &mut *terms);
            all.run(registers, groups.clone(), from.area(), scratch, &mut gradient);
        }
    }
}

/// Weights before they are rounded, or multiplied by processors that cannot convert them in passing: only tests have the
/// latter, since [`Conv::from_halves`] makes no halves there.
fn single(rows: &[Halves]) -> Vec<Lanes> {
    rows.iter().map(|row| row.map(widened)).collect()
}

/// Products at places from a table. Pixels are copied first, which takes little: each is multiplied with the weights of
/// all outputs.
struct Gathered<'a, const I: usize, W> {
    pixels: &'a [[f32; I]],
    tables: &'a Tables,
    weights: &'a [W],
    pitch: usize,
}

impl<const I: usize, W: Row> Gathered<'_, I, W> {
    #[inline(always)]
    fn run<S: Simd, const V: usize>(
        &self,
        registers: Registers<S, V>,
        groups: Range<usize>,
        area: usize,
        (gathered, terms): (&mut [[f32; I]], &mut Tables),
        sinks: &mut impl Sinks<S, V>,
    ) {
        for places in self.tables.places.chunks(GATHERED) {
            gather(self.pixels, &self.tables.terms, places, gathered, &mut terms.terms);
            let Self { weights, pitch, .. } = *self;
            let (pixels, terms) = (&*gathered, &terms.terms[..]);
            let products = Products::<I, I, W> { pixels, terms, weights, pitch };
            products.run(registers, groups.clone(), area, places, sinks);
        }
    }
}

/// The weights in the other direction, from those to `groups` groups of channels: in the order in which phases need them,
/// so that they come from memory one after the other.
fn transposed<T: Copy>(weights: &[[T; LANES]], groups: usize, window: Window) -> Vec<[T; LANES]> {
    let (matrices, area) = (weights.as_chunks::<LANES>().0, window.kernel * window.kernel);
    let others = matrices.len() / (groups * area).max(1);
    let mut rows = Vec::with_capacity(weights.len());
    for other in 0..others {
        for phase in window.phases() {
            for group in 0..groups {
                for tap in window.taps_of(phase) {
                    let matrix = &matrices[(group * others + other) * area + tap];
                    rows.extend((0..LANES).map(|n| matrix.map(|row| row[n])));
                }
            }
        }
    }
    rows
}

/// Weights from `from` to `to` channels, as matrices of 16x16: for each group of `to`, group of `from`, and position
/// in the window. `weight` takes the output, the input and the position.
fn matrices<T>(
    from: usize,
    to: usize,
    area: usize,
    weight: &impl Fn(usize, usize, usize) -> T,
) -> Vec<[T; LANES]> {
    let mut rows = Vec::with_capacity(to.div_ceil(LANES) * from.next_multiple_of(LANES) * area);
    for to in (0..to).step_by(LANES) {
        for from in (0..from).step_by(LANES) {
            for tap in 0..area {
                for row in from..from + LANES {
                    rows.push(std::array::from_fn(|lane| weight(to + lane, row, tap)));
                }
            }
        }
    }
    rows
}
