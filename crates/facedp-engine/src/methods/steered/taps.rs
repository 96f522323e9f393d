//! Bilinear interpolation as a sparse linear map, with its transpose for gradients.

use super::pixel::{Pixel, mix, plus};

/// A linear map in which each output is a weighted sum of four neighbours in a picture.
pub(super) struct Taps {
    /// Outputs in ascending order; those that are always zero are left out.
    taps: Vec<Tap>,
    /// Number of outputs.
    outputs: usize,
    /// From the first of the four neighbours to the one on its right and the one below it.
    right: usize,
    below: usize,
}

pub(super) struct Tap {
    pub(super) output: u32,
    /// The upper left of the four neighbours.
    first: u32,
    /// Of the upper two, then of the lower two.
    weights: [f32; 4],
}

/// Linear interpolation along one axis: the first of two neighbours, and the weights of both.
type Pair = (usize, [f32; 2]);

impl Taps {
    /// A map from a picture to `outputs` values that are all zero so far.
    pub(super) fn new(width: usize, height: usize, outputs: usize) -> Self {
        let below = if height > 1 { width } else { 0 };
        Self { taps: Vec::with_capacity(outputs), outputs, right: width.min(2) - 1, below }
    }

    /// Interpolates a picture at `count` points. Pixel centres have integer coordinates; outside it is black, as in
    /// the chips of recognisers.
    pub(super) fn bilinear(
        points: impl Iterator<Item = [f32; 2]>,
        count: usize,
        width: usize,
        height: usize,
    ) -> Self {
        let mut taps = Self::new(width, height, count);
        for (output, [x, y]) in points.enumerate() {
            if let (Some(across), Some(down)) = (pair(x, width), pair(y, height)) {
                taps.push(output, across, down, width);
            }
        }
        taps
    }

    /// Sets an output. Both neighbours of a pair must be in the picture, unless it has only one row or
    /// column.
    pub(super) fn push(
        &mut self,
        output: usize,
        (left, [west, east]): Pair,
        (top, [north, south]): Pair,
        width: usize,
    ) {
        let weights = [north * west, north * east, south * west, south * east];
        self.taps.push(Tap { output: output as u32, first: (top * width + left) as u32, weights });
    }

    /// The outputs that are not always zero.
    pub(super) fn outputs(&self) -> impl ExactSizeIterator<Item = usize> {
        self.taps.iter().map(|tap| tap.output as usize)
    }

    /// The four neighbours of a tap.
    #[inline(always)]
    fn neighbours(&self, tap: &Tap) -> [usize; 4] {
        let first = tap.first as usize;
        [first, first + self.right, first + self.below, first + self.below + self.right]
    }

    /// Applies the map to several pictures at once.
    pub(super) fn apply<const N: usize>(&self, inputs: [&[f32]; N]) -> [Vec<f32>; N] {
        let mut outputs = [(); N].map(|()| vec![0.0; self.outputs]);
        for tap in &self.taps {
            let (at, [a, b, c, d]) = (self.neighbours(tap), tap.weights);
            for (output, input) in outputs.iter_mut().zip(&inputs) {
                output[tap.output as usize] =
                    (a * input[at[0]] + b * input[at[1]]) + (c * input[at[2]] + d * input[at[3]]);
            }
        }
        outputs
    }

    /// Applies the map to all colours of a picture.
    pub(super) fn apply_to_pixels(&self, input: &[Pixel]) -> Vec<Pixel> {
        let mut outputs = vec![[0.0; 4]; self.outputs];
        for tap in &self.taps {
            let [a, b, c, d] = tap.weights;
            let [p, q, r, s] = self.neighbours(tap);
            let (upper, lower) = (mix(a, input[p], b, input[q]), mix(c, input[r], d, input[s]));
            outputs[tap.output as usize] = plus(upper, lower);
        }
        outputs
    }

    /// [`Self::apply_transpose`] of all colours.
    pub(super) fn apply_transpose_to_pixels(&self, outputs: &[Pixel], inputs: &mut [Pixel]) {
        for tap in &self.taps {
            let output = outputs[tap.output as usize];
            for (at, weight) in self.neighbours(tap).into_iter().zip(tap.weights) {
                inputs[at] = mix(1.0, inputs[at], weight, output);
            }
        }
    }

    /// Adds the transpose of the map, applied to `outputs`, to `inputs`.
    pub(super) fn apply_transpose(&self, outputs: &[f32], inputs: &mut [f32]) {
        for tap in &self.taps {
            let output = outputs[tap.output as usize];
            for (at, weight) in self.neighbours(tap).into_iter().zip(tap.weights) {
                inputs[at] += weight * output;
            }
        }
    }
}

/// Two neighbours on a line of `length` values, outside of which everything is zero; none if both are
/// outside.
fn pair(at: f32, length: usize) -> Option<Pair> {
    if !(at > -1.0 && at < length as f32) {
        return None;
    }
    // Never negative, so that the conversion rounds down.
    // By way of i32: processors have no instruction for usize.
    let second = (at + 1.0) as i32;
    let (share, second) = (at + 1.0 - second as f32, second as usize);
    Some(match second {
        0 => (0, [share, 0.0]),
        _ if second == length && length == 1 => (0, [1.0 - share, 0.0]),
        _ if second == length => (length - 2, [0.0, 1.0 - share]),
        _ => (second - 1, [1.0 - share, share]),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wave(n: usize) -> f32 {
        (n as f32 * 0.7).sin()
    }

    /// Interpolation as a sum over all pixels: each has the shape of a tent.
    #[test]
    fn interpolation_equals_a_plain_sum() {
        for (width, height) in [(9, 8), (1, 5), (6, 1), (2, 2)] {
            let points: Vec<[f32; 2]> = (0..400)
                .map(|n| [(n * 7 % 41) as f32 * 0.37 - 2.6, (n * 5 % 33) as f32 * 0.41 - 2.0])
                .collect();
            let picture: Vec<f32> = (0..width * height).map(wave).collect();
            let taps = Taps::bilinear(points.iter().copied(), 400, width, height);
            let [found] = taps.apply([&picture]);
            for ([x, y], found) in points.into_iter().zip(found) {
                let tent = |at: f32, n: usize| (1.0 - (at - n as f32).abs()).max(0.0);
                let each = picture.iter().enumerate();
                let sum: f32 = each.map(|(n, v)| v * tent(x, n % width) * tent(y, n / width)).sum();
                assert!((found - sum).abs() < 2e-6, "{x} {y}: {found}, not {sum}");
            }
        }
    }

    /// `<A x, y> = <x, A^T y>`.
    #[test]
    fn apply_transpose_is_the_transpose_of_apply() {
        let points =
            (0..300).map(|n| [(n * 7 % 31) as f32 * 0.37 - 1.5, (n * 5 % 23) as f32 * 0.41]);
        let taps = Taps::bilinear(points, 300, 9, 8);
        let x: Vec<f32> = (0..72).map(wave).collect();
        let y: Vec<f32> = (0..300).map(|n| wave(n + 11)).collect();
        let mut back = vec![0.0; 72];
        taps.apply_transpose(&y, &mut back);
        let dot = |a: &[f32], b: &[f32]| -> f32 { a.iter().zip(b).map(|(a, b)| a * b).sum() };
        let [applied] = taps.apply([&x]);
        let pixels = |values: &[f32]| -> Vec<Pixel> {
            values.iter().map(|v| [*v, 2.0 * v, -v, 0.0]).collect()
        };
        assert_eq!(taps.apply_to_pixels(&pixels(&x)), pixels(&applied));
        let mut pixels_back = vec![[0.0; 4]; 72];
        taps.apply_transpose_to_pixels(&pixels(&y), &mut pixels_back);
        assert_eq!(pixels_back, pixels(&back));
        let (left, right) = (dot(&applied, &y), dot(&x, &back));
        assert!((left - right).abs() < 1e-3, "{left} {right}");
        assert!(left.abs() > 0.1, "{left}");
    }
}
