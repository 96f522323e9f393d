//! Dense convolution: windows laid out as columns (im2col), then one matrix product.

use faer::linalg::matmul::matmul;
use faer::{Accum, MatMut, MatRef, Par};

use super::activation::Epilogue;
use super::target::Target;
use super::{Shape, Window};

/// A convolution with a bias.
#[derive(Debug, Clone)]
pub(crate) struct Conv {
    window: Window,
    inputs: usize,
    outputs: usize,
    /// `outputs x (inputs * kernel * kernel)`, row by row.
    weights: Vec<f32>,
    /// Of a pointwise convolution, the weights column by column: its gradient would otherwise read them
    /// with large steps.
    transposed: Vec<f32>,
    bias: Vec<f32>,
}

impl Conv {
    /// A convolution of `inputs` channels, with one bias per output channel. `None` if the number of
    /// weights does not match.
    pub(crate) fn new(
        window: Window,
        inputs: usize,
        weights: Vec<f32>,
        bias: Vec<f32>,
    ) -> Option<Self> {
        let outputs = bias.len();
        let fits = weights.len() == outputs * inputs * window.kernel * window.kernel;
        let transposed = Vec::new();
        let mut conv =
            fits.then_some(Self { window, inputs, outputs, weights, transposed, bias })?;
        if conv.is_pointwise() {
            let column = |n: usize| conv.weights.iter().skip(n).step_by(inputs);
            conv.transposed = (0..inputs).flat_map(column).copied().collect();
        }
        Some(conv)
    }

    pub(super) fn shape(&self, from: Shape) -> Shape {
        Shape { channels: self.outputs, ..self.window.shape(from) }
    }

    /// The number of values in the columns.
    pub(super) fn scratch_len(&self, from: Shape) -> usize {
        if self.is_pointwise() { 0 } else { self.depth() * self.shape(from).area() }
    }

    /// The number of rows in the matrix of columns.
    fn depth(&self) -> usize {
        self.inputs * self.window.kernel * self.window.kernel
    }

    /// A window of one value needs no columns: the picture is already the matrix.
    fn is_pointwise(&self) -> bool {
        self.window == Window::new(1, 1, 0)
    }

    fn weights(&self) -> MatRef<'_, f32> {
        MatRef::from_row_major_slice(&self.weights, self.outputs, self.depth())
    }

    pub(super) fn outputs(&self) -> usize {
        self.outputs
    }

    #[inline(always)]
    pub(super) fn forward(
        &self,
        input: &[f32],
        from: Shape,
        epilogue: Epilogue<'_>,
        (output, passed): (&mut [f32], &mut [bool]),
        scratch: &mut [f32],
    ) {
        let area = self.shape(from).area();
        let columns = if self.is_pointwise() {
            input
        } else {
            self.lay_out(input, from, scratch);
            &scratch[..self.depth() * area]
        };
        let target = MatMut::from_row_major_slice_mut(&mut *output, self.outputs, area);
        let columns = MatRef::from_row_major_slice(columns, self.depth(), area);
        matmul(target, Accum::Replace, self.weights(), columns, 1.0, Par::Seq);
        epilogue.channels(&self.bias, output, passed);
    }

    /// Writes or adds the gradient with respect to the input.
    #[inline(always)]
    pub(super) fn backward(
        &self,
        upstream: &[f32],
        from: Shape,
        gradient: Target<'_>,
        scratch: &mut [f32],
    ) {
        let area = self.shape(from).area();
        let upstream = MatRef::from_row_major_slice(upstream, self.outputs, area);
        let product = |target: &mut [f32], accumulate, weights| {
            let target = MatMut::from_row_major_slice_mut(target, self.depth(), area);
            matmul(target, accumulate, weights, upstream, 1.0, Par::Seq);
        };
        if self.is_pointwise() {
            let accumulate = if gradient.first { Accum::Replace } else { Accum::Add };
            let weights = MatRef::from_row_major_slice(&self.transposed, self.inputs, self.outputs);
            product(gradient.values, accumulate, weights);
        } else {
            let columns = &mut scratch[..self.depth() * area];
            product(columns, Accum::Replace, self.weights().transpose());
            self.gather(columns, from, gradient.zeroed());
        }
    }

    /// Writes every window as a column.
    #[inline(always)]
    fn lay_out(&self, input: &[f32], from: Shape, columns: &mut [f32]) {
        let to = self.shape(from);
        self.for_each_row(from, |row, y, line, at| {
            let out = &mut columns[row * to.area() + y * to.width..][..to.width];
            let Some((line, (valid, start))) = line.zip(Some(at)) else { return out.fill(0.0) };
            out[..valid.start].fill(0.0);
            out[valid.end..].fill(0.0);
            let line = &input[line + start..];
            let out = &mut out[valid];
            if self.window.stride == 1 {
                let count = out.len();
                out.copy_from_slice(&line[..count]);
            } else {
                out.iter_mut()
                    .zip(line.iter().step_by(self.window.stride))
                    .for_each(|(o, i)| *o = *i);
            }
        });
    }

    /// Adds every column back to the positions of its window.
    #[inline(always)]
    fn gather(&self, columns: &[f32], from: Shape, gradient: &mut [f32]) {
        let to = self.shape(from);
        self.for_each_row(from, |row, y, line, (valid, start)| {
            let Some(line) = line else { return };
            let column = &columns[row * to.area() + y * to.width..][..to.width][valid];
            let line = gradient[line + start..].iter_mut().step_by(self.window.stride);
            line.zip(column).for_each(|(g, c)| *g += c);
        });
    }

    /// Calls `visit(row of the columns, y, start of the input line, valid positions)` for every line of
    /// every row. The input line is `None` where the window lies in the padding.
    #[inline(always)]
    fn for_each_row(
        &self,
        from: Shape,
        mut visit: impl FnMut(usize, usize, Option<usize>, (std::ops::Range<usize>, usize)),
    ) {
        let (to, Window { kernel, stride, padding }) = (self.shape(from), self.window);
        for row in 0..self.depth() {
            let (channel, ky, kx) = (row / (kernel * kernel), row / kernel % kernel, row % kernel);
            let across = self.window.valid(kx, from.width, to.width);
            for y in 0..to.height {
                let line = (y * stride + ky).checked_sub(padding).filter(|&y| y < from.height);
                let line = line.map(|y| channel * from.area() + y * from.width);
                visit(row, y, line, across.clone());
            }
        }
    }
}
