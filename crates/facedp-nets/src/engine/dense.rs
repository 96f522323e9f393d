//! A dense layer, with weights in half precision.
//!
//! A large one takes as long as its weights take to come from memory: 26 MB in SFace as f32. Half as many bytes
//! take half the time. The embedded weights have half precision anyway, so that nothing is lost. Both directions read
//! them from start to end, and convert them in registers: anything else takes longer than memory.

use half::f16;
use pulp::Simd;

use super::Shape;
use super::activation::Epilogue;
use super::lanes::{Halves, LANES, Lanes, grouped};
use super::registers::Registers;
use super::step::Part;
use super::target::Target;

/// Rows of weights that lie side by side.
const ROWS: usize = 4;
/// Pixels that are multiplied at once.
const PIXELS: usize = 2;

/// Weights of one pixel of the input.
type Weights = [Halves; ROWS];

/// A matrix product with a bias.
#[derive(Debug, Clone)]
pub(crate) struct Dense {
    /// Pixels of the input, in all groups of channels.
    pixels: usize,
    outputs: usize,
    /// For each four outputs and each pixel.
    weights: Vec<Weights>,
    bias: Vec<Lanes>,
}

impl Dense {
    /// For an input of `channels` x `area` values, with one bias per output. Weights come by output, channel and
    /// pixel. `None` if their number does not match or one is not finite.
    #[cfg_attr(not(feature = "sface"), allow(dead_code))]
    pub(crate) fn new(channels: usize, area: usize, weights: &[f16], bias: &[f32]) -> Option<Self> {
        let (inputs, outputs) = (channels * area, bias.len());
        if weights.len() != inputs * outputs || !weights.iter().all(|w| w.is_finite()) {
            return None;
        }
        let weight = |output: usize, channel: usize, pixel: usize| {
            let is_there = output < outputs && channel < channels;
            if is_there { weights[output * inputs + channel * area + pixel] } else { f16::ZERO }
        };
        let pixels = channels.div_ceil(LANES) * area;
        let mut ordered = Vec::with_capacity(outputs.div_ceil(ROWS) * pixels);
        for output in (0..outputs).step_by(ROWS) {
            for first in (0..channels).step_by(LANES) {
                ordered.extend((0..area).map(|pixel| -> Weights {
                    std::array::from_fn(|row| {
                        std::array::from_fn(|lane| weight(output + row, first + lane, pixel))
                    })
                }));
            }
        }
        Some(Self { pixels, outputs, weights: ordered, bias: grouped(bias, 0.0) })
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
        let rows = self.weights.chunks_exact(self.pixels).skip(LANES / ROWS * first);
        for (outs, weights) in output.as_flattened_mut().chunks_mut(ROWS).zip(rows) {
            let sums = products(registers, weights, input);
            for (out, sum) in outs.iter_mut().zip(sums) {
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
        let start = gradient.start * area;
        let gradient = gradient.zeroed();
        let rows = self.weights.chunks_exact(self.pixels);
        for (weights, up) in rows.zip(upstream.as_flattened().as_chunks::<ROWS>().0) {
            let mut ups = [registers.zero(); ROWS];
            for row in 0..ROWS {
                ups[row] = [registers.splat(up[row]); V];
            }
            for (pixel, weights) in gradient.iter_mut().zip(&weights[start..]) {
                let mut sum = registers.load(pixel);
                for row in 0..ROWS {
                    sum = registers.mul_adds(ups[row], registers.load_halves(&weights[row]), sum);
                }
                registers.store(sum, pixel);
            }
        }
    }
}

/// The products of all pixels with each row of weights, by lane.
#[inline(always)]
fn products<S: Simd, const V: usize>(
    registers: Registers<S, V>,
    weights: &[Weights],
    input: &[Lanes],
) -> [[S::f32s; V]; ROWS] {
    let mut all = [[registers.zero(); PIXELS]; ROWS];
    let (weights, last_weights) = weights.as_chunks::<PIXELS>();
    let (input, last) = input.as_chunks::<PIXELS>();
    for (weights, pixels) in weights.iter().zip(input) {
        for n in 0..PIXELS {
            let pixel = registers.load(&pixels[n]);
            for row in 0..ROWS {
                let weight = registers.load_halves(&weights[n][row]);
                all[row][n] = registers.mul_adds(weight, pixel, all[row][n]);
            }
        }
    }
    for (weights, pixel) in last_weights.iter().zip(last) {
        let pixel = registers.load(pixel);
        for row in 0..ROWS {
            let weight = registers.load_halves(&weights[row]);
            all[row][0] = registers.mul_adds(weight, pixel, all[row][0]);
        }
    }
    let mut sums = [registers.zero(); ROWS];
    for row in 0..ROWS {
        for n in 0..PIXELS {
            sums[row] = registers.add(sums[row], all[row][n]);
        }
    }
    sums
}

/// A finite number in single precision, exactly. Inlined where vectors are wide, unlike the conversion of `half`.
#[inline(always)]
pub(crate) fn widened(half: f16) -> f32 {
    /// 2^112, the ratio of what both formats take the exponents for.
    const RATIO: f32 = f32::from_bits((127 + 112) << 23);
    let bits = u32::from(half.to_bits());
    f32::from_bits((bits & 0x8000) << 16 | (bits & 0x7fff) << 13) * RATIO
}

#[cfg(test)]
mod tests {
    use super::super::registers::{Work, dispatch, with_each_kind};
    use super::*;

    struct Widen<'a>(&'a [f16], &'a mut [f32]);

    impl Work for Widen<'_> {
        #[inline(always)]
        fn run<S: Simd, const V: usize>(self, registers: Registers<S, V>) {
            let pixels = self.1.as_chunks_mut().0.iter_mut();
            for (to, from) in pixels.zip(self.0.as_chunks().0) {
                registers.store(registers.load_halves(from), to);
            }
        }
    }

    /// The same on each kind of processor.
    fn widen(from: &[f16], to: &mut [f32]) {
        let mut all = Vec::new();
        with_each_kind(|| {
            dispatch(Widen(from, to));
            all.push(to.iter().map(|single| single.to_bits()).collect::<Vec<u32>>());
        });
        assert!(all.iter().all(|one| *one == all[0]));
    }

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
