//! A dense layer, with weights in half precision.
//!
//! A large one takes as long as its weights take to come from memory: 26 MB in SFace as f32. Half as many bytes
//! take half the time. The embedded weights have half precision anyway, so that nothing is lost.

use half::f16;

use super::Shape;
use super::activation::Epilogue;
use super::target::Target;

/// Values that are computed together.
const LANES: usize = 32;
/// Values of a gradient that stay in the cache while all rows of weights pass.
const BLOCK: usize = 2048;

/// A matrix product with a bias.
#[derive(Debug, Clone)]
pub(crate) struct Dense {
    inputs: usize,
    /// Bits of f16, `outputs x inputs`, row by row.
    weights: Vec<u16>,
    bias: Vec<f32>,
}

/// The value of a finite f16, from its bits.
#[inline(always)]
fn value(bits: u16) -> f32 {
    // Exponents are stored with an offset of 15 instead of 127. The product is exact.
    const OFFSET: f32 = f32::from_bits((127 + 127 - 15) << 23);
    let bits = u32::from(bits);
    let size = f32::from_bits((bits & 0x7fff) << 13) * OFFSET;
    f32::from_bits(size.to_bits() | (bits & 0x8000) << 16)
}

#[inline(always)]
fn dot(weights: &[u16], input: &[f32]) -> f32 {
    let (chunks, rest) = weights.as_chunks::<LANES>();
    let (values, last) = input.as_chunks::<LANES>();
    let mut sums = [0.0; LANES];
    for (weights, values) in chunks.iter().zip(values) {
        for i in 0..LANES {
            sums[i] += value(weights[i]) * values[i];
        }
    }
    let rest: f32 = rest.iter().zip(last).map(|(w, v)| value(*w) * v).sum();
    sums.iter().sum::<f32>() + rest
}

impl Dense {
    /// One bias per output. `None` if the number of weights does not match or one is not finite.
    #[cfg_attr(not(feature = "sface"), allow(dead_code))]
    pub(crate) fn new(inputs: usize, weights: &[f16], bias: Vec<f32>) -> Option<Self> {
        let fits = weights.len() == inputs * bias.len() && weights.iter().all(|w| w.is_finite());
        let weights = weights.iter().map(|w| w.to_bits()).collect();
        fits.then_some(Self { inputs, weights, bias })
    }

    pub(super) fn outputs(&self) -> usize {
        self.bias.len()
    }

    pub(super) fn shape(&self) -> Shape {
        Shape::new(self.bias.len(), 1, 1)
    }

    #[inline(always)]
    pub(super) fn forward(
        &self,
        input: &[f32],
        epilogue: Epilogue<'_>,
        (output, passed): (&mut [f32], &mut [bool]),
    ) {
        for (out, weights) in output.iter_mut().zip(self.weights.chunks_exact(self.inputs)) {
            *out = dot(weights, input);
        }
        epilogue.channels(&self.bias, output, passed);
    }

    /// Writes or adds the gradient with respect to the input.
    #[inline(always)]
    pub(super) fn backward(&self, upstream: &[f32], gradient: Target<'_>) {
        for (n, block) in gradient.zeroed().chunks_mut(BLOCK).enumerate() {
            for (row, up) in self.weights.chunks_exact(self.inputs).zip(upstream) {
                let weights = &row[n * BLOCK..][..block.len()];
                for (g, w) in block.iter_mut().zip(weights) {
                    *g += up * value(*w);
                }
            }
        }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn values_are_those_of_half_precision() {
        for number in (0..=u16::MAX).map(f16::from_bits).filter(|number| number.is_finite()) {
            assert_eq!(value(number.to_bits()).to_bits(), number.to_f32().to_bits(), "{number}");
        }
    }
    #[test]
    fn products_equal_plain_loops() {
        let inputs = BLOCK + 45;
        let weight = |n: usize| f16::from_f32((0.37 * n as f32).sin());
        let weights: Vec<f16> = (0..3 * inputs).map(weight).collect();
        let dense = Dense::new(inputs, &weights, vec![0.5, -1.0, 0.0]).unwrap();
        assert!(Dense::new(inputs, &weights, vec![0.0]).is_none());
        let input: Vec<f32> = (0..inputs).map(|n| (0.11 * n as f32).cos()).collect();
        let (mut output, upstream) = ([0.0; 3], [0.3, -2.0, 1.0]);
        let mut gradient = vec![1.0; inputs];
        let epilogue = Epilogue { activation: None, factors: &[], area: 1 };
        dense.forward(&input, epilogue, (&mut output, &mut []));
        dense.backward(&upstream, Target { first: false, values: &mut gradient });
        for (o, (found, bias)) in output.iter().zip([0.5, -1.0, 0.0]).enumerate() {
            let terms = input.iter().zip(&weights[o * inputs..]);
            let sum = bias + terms.map(|(i, w)| f64::from(*i) * w.to_f64()).sum::<f64>();
            assert!((f64::from(*found) - sum).abs() < 1e-4, "{found}, not {sum}");
        }
        for (i, found) in gradient.iter().enumerate() {
            let terms = upstream.iter().enumerate();
            let sum: f32 = terms.map(|(o, up)| up * weights[o * inputs + i].to_f32()).sum();
            assert!((found - 1.0 - sum).abs() < 1e-5, "{found}, not {sum}");
        }
    }
}
