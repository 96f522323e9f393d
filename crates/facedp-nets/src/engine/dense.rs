//! A dense layer, with weights in half precision.
//!
//! A large one takes as long as its weights take to come from memory: 26 MB in SFace as f32. Half as many bytes
//! take half the time. The embedded weights have half precision anyway, so that nothing is lost.

use half::f16;
use pulp::Simd;

use super::Shape;
use super::activation::Epilogue;
use super::lanes::{LANES, Lanes, grouped};
use super::registers::Registers;
use super::step::Part;
use super::target::Target;

/// Weights of a row that are converted at once.
const BLOCK: usize = 512;
/// Rows of weights that are read at once, and pixels that are multiplied at once.
const FOUR: usize = 4;

/// A matrix product with a bias.
#[derive(Debug, Clone)]
pub(crate) struct Dense {
    /// Values of the input, with those that fill up its channels.
    inputs: usize,
    outputs: usize,
    /// `outputs x inputs`, row by row.
    weights: Vec<f16>,
    bias: Vec<Lanes>,
}

impl Dense {
    /// For an input of `channels` x `area` values, with one bias per output. Weights come by output, channel and
    /// pixel. `None` if their number does not match or one is not finite.
    #[cfg_attr(not(feature = "sface"), allow(dead_code))]
    pub(crate) fn new(channels: usize, area: usize, weights: &[f16], bias: &[f32]) -> Option<Self> {
        let inputs = channels * area;
        if weights.len() != inputs * bias.len() || !weights.iter().all(|w| w.is_finite()) {
            return None;
        }
        let mut ordered = Vec::with_capacity(bias.len() * channels.next_multiple_of(LANES) * area);
        for row in weights.chunks_exact(inputs.max(1)) {
            for first in (0..channels).step_by(LANES) {
                for pixel in 0..area {
                    let weight = |lane: usize| row.get((first + lane) * area + pixel);
                    ordered.extend((0..LANES).map(|n| weight(n).copied().unwrap_or_default()));
                }
            }
        }
        let inputs = channels.next_multiple_of(LANES) * area;
        Some(Self { inputs, outputs: bias.len(), weights: ordered, bias: grouped(bias, 0.0) })
    }

    pub(super) fn outputs(&self) -> usize {
        self.outputs
    }

    pub(super) fn shape(&self) -> Shape {
        Shape::new(self.outputs, 1, 1)
    }

    #[inline(always)]
    pub(super) fn forward<S: Simd, const V: usize>(
        &self,
        registers: Registers<S, V>,
        input: &[Lanes],
        epilogue: Epilogue<'_>,
        Part { first, values: output }: Part<'_>,
    ) {
        let mut block = [0.0; BLOCK];
        let rows = self.weights.chunks(FOUR * self.inputs).skip(LANES / FOUR * first);
        // Several rows at once: memory delivers them faster than one after the other.
        for (outs, rows) in output.as_flattened_mut().chunks_mut(FOUR).zip(rows) {
            let mut all = [[registers.zero(); FOUR]; FOUR];
            for (n, input) in input.chunks(BLOCK / LANES).enumerate() {
                for (sums, row) in all.iter_mut().zip(rows.chunks_exact(self.inputs)) {
                    let block = &mut block[..input.len() * LANES];
                    widen(&row[n * BLOCK..][..block.len()], block);
                    *sums = add_products(registers, block.as_chunks().0, input, *sums);
                }
            }
            for (out, [a, b, c, d]) in outs.iter_mut().zip(all) {
                let sum = registers.add(registers.add(a, b), registers.add(c, d));
                let mut lanes = [0.0; LANES];
                registers.store(sum, &mut lanes);
                *out = lanes.iter().sum();
            }
        }
        for (n, (out, bias)) in (first..).zip(output.iter_mut().zip(&self.bias[first..])) {
            let value = epilogue.group(n, *bias).apply(registers, registers.load(out));
            registers.store(value, out);
        }
    }

    /// Writes or adds the gradient with respect to the input.
    #[inline(always)]
    pub(super) fn backward<S: Simd, const V: usize>(
        &self,
        registers: Registers<S, V>,
        upstream: &[Lanes],
        area: usize,
        gradient: Target<'_>,
    ) {
        let (mut blocks, start) = ([[0.0; BLOCK]; FOUR], gradient.start * area * LANES);
        for (n, part) in gradient.zeroed().chunks_mut(BLOCK / LANES).enumerate() {
            let rows = self.weights.chunks(FOUR * self.inputs);
            for (rows, up) in rows.zip(upstream.as_flattened().chunks(FOUR)) {
                let mut ups = [registers.zero(); FOUR];
                let rows = rows.chunks_exact(self.inputs).zip(up);
                for ((block, factor), (row, up)) in blocks.iter_mut().zip(&mut ups).zip(rows) {
                    let count = part.len() * LANES;
                    widen(&row[start + n * BLOCK..][..count], &mut block[..count]);
                    *factor = [registers.splat(*up); V];
                }
                let [a, b, c, d] = &blocks;
                let weights = a.as_chunks().0.iter().zip(b.as_chunks().0);
                let weights = weights.zip(c.as_chunks().0.iter().zip(d.as_chunks().0));
                for (((a, b), (c, d)), pixel) in weights.zip(&mut *part) {
                    let mut sum = registers.load(pixel);
                    for (up, weights) in ups.iter().zip([a, b, c, d]) {
                        sum = registers.mul_adds(*up, registers.load(weights), sum);
                    }
                    registers.store(sum, pixel);
                }
            }
        }
    }
}

/// Adds the products of weights and pixels, of every fourth one to the same sum.
#[inline(always)]
fn add_products<S: Simd, const V: usize>(
    registers: Registers<S, V>,
    weights: &[Lanes],
    input: &[Lanes],
    mut sums: [[S::f32s; V]; FOUR],
) -> [[S::f32s; V]; FOUR] {
    let (fours, rest) = weights.as_chunks::<FOUR>();
    let (inputs, last) = input.as_chunks::<FOUR>();
    for (weights, input) in fours.iter().zip(inputs) {
        for i in 0..FOUR {
            let (weights, input) = (registers.load(&weights[i]), registers.load(&input[i]));
            sums[i] = registers.mul_adds(weights, input, sums[i]);
        }
    }
    for (sum, (weights, input)) in sums.iter_mut().zip(rest.iter().zip(last)) {
        *sum = registers.mul_adds(registers.load(weights), registers.load(input), *sum);
    }
    sums
}

/// Finite numbers in single precision, exactly. Inlined where vectors are wide, unlike the conversion of `half`.
#[inline(always)]
fn widen(from: &[f16], to: &mut [f32]) {
    to.iter_mut().zip(from).for_each(|(to, from)| *to = widened(*from));
}

#[inline(always)]
pub(crate) fn widened(half: f16) -> f32 {
    /// 2^112, the ratio of what both formats take the exponents for.
    const RATIO: f32 = f32::from_bits((127 + 112) << 23);
    let bits = u32::from(half.to_bits());
    f32::from_bits((bits & 0x8000) << 16 | (bits & 0x7fff) << 13) * RATIO
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_finite_numbers_are_widened_exactly() {
        let finite = (0..=u16::MAX).map(f16::from_bits).filter(|h| h.is_finite());
        let halves: Vec<f16> = finite.collect();
        let mut widened = vec![0.0; halves.len()];
        widen(&halves, &mut widened);
        for (half, found) in halves.iter().zip(widened) {
            assert_eq!(half.to_f32().to_bits(), found.to_bits(), "{half}");
        }
    }
}
