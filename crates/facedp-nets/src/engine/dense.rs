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

/// Weights that are converted at once. Values of a gradient stay in the cache while all rows of weights pass.
const BLOCK: usize = 2048;

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
            for n in 0..channels.next_multiple_of(LANES) * area {
                let (group, pixel, lane) = (n / (area * LANES), n / LANES % area, n % LANES);
                let weight = row.get((group * LANES + lane) * area + pixel);
                ordered.push(weight.copied().unwrap_or_default());
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
        let rows = self.weights.chunks_exact(self.inputs).skip(LANES * first);
        for (out, row) in output.as_flattened_mut().iter_mut().zip(rows) {
            let mut sums = [registers.zero(); 4];
            for (weights, input) in row.chunks(BLOCK).zip(input.chunks(BLOCK / LANES)) {
                let block = &mut block[..weights.len()];
                widen(weights, block);
                for (n, (weights, input)) in block.as_chunks().0.iter().zip(input).enumerate() {
                    let (weights, input) = (registers.load(weights), registers.load(input));
                    sums[n % 4] = registers.mul_adds(weights, input, sums[n % 4]);
                }
            }
            let sum =
                registers.add(registers.add(sums[0], sums[1]), registers.add(sums[2], sums[3]));
            let mut lanes = [0.0; LANES];
            registers.store(sum, &mut lanes);
            *out = lanes.iter().sum();
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
        let (mut block, start) = ([0.0; BLOCK], gradient.start * area * LANES);
        for (n, part) in gradient.zeroed().chunks_mut(BLOCK / LANES).enumerate() {
            let rows = self.weights.chunks_exact(self.inputs);
            for (row, up) in rows.zip(upstream.as_flattened()) {
                let block = &mut block[..part.len() * LANES];
                widen(&row[start + n * BLOCK..][..block.len()], block);
                let up = [registers.splat(*up); V];
                for (weights, pixel) in block.as_chunks().0.iter().zip(&mut *part) {
                    let sum =
                        registers.mul_adds(up, registers.load(weights), registers.load(pixel));
                    registers.store(sum, pixel);
                }
            }
        }
    }
}

/// Finite numbers in single precision. Inlined where vectors are wide, unlike the conversion of `half`.
#[inline(always)]
fn widen(from: &[f16], to: &mut [f32]) {
    /// 2^112, the ratio of what both formats take the exponents for.
    const RATIO: f32 = f32::from_bits((127 + 112) << 23);
    for (to, from) in to.iter_mut().zip(from) {
        let bits = u32::from(from.to_bits());
        *to = f32::from_bits((bits & 0x8000) << 16 | (bits & 0x7fff) << 13) * RATIO;
    }
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
