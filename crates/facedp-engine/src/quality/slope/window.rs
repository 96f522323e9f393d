//! Structural similarity of two planes under a Gaussian window, with derivatives.

/// Half the width of the Gaussian window, in pixels.
const RADIUS: usize = 5;
const TAPS: usize = 2 * RADIUS + 1;
const SIGMA: f32 = 1.5;
/// The constant that keeps structural similarity finite on flat areas.
const FLAT: f32 = 0.0009;

/// A window of both pictures, with the parts of its structural similarity: from means of both pictures, of the
/// sum of their squares and of their product.
pub(super) struct Window {
    p: f32,
    q: f32,
    means: f32,
    covariance: f32,
    variances: f32,
}

impl Window {
    #[inline(always)]
    pub(super) fn new(p: f32, q: f32, squares: f32, product: f32) -> Self {
        Self {
            p,
            q,
            means: 1.0 - (p - q) * (p - q),
            covariance: 2.0 * (product - p * q) + FLAT,
            variances: (squares - p * p - q * q) + FLAT,
        }
    }

    #[inline(always)]
    pub(super) fn value(&self) -> f32 {
        self.means * self.covariance / self.variances
    }

    /// By the mean of the changed picture, the mean of its square and that of the product.
    #[inline(always)]
    pub(super) fn derivatives(&self) -> [f32; 3] {
        let Self { p, q, means, covariance, variances } = self;
        let by_square = -means * covariance / (variances * variances);
        let by_mean =
            (2.0 * (p - q) * covariance - 2.0 * p * means) / variances - 2.0 * q * by_square;
        [by_mean, by_square, 2.0 * means / variances]
    }
}

/// The Gaussian window, for planes of one width.
pub(super) struct Blur {
    width: usize,
    weights: [f32; TAPS],
    /// A row with zeros on both sides.
    padded: Vec<f32>,
    /// The plane after blurring its rows, with rows of zeros above and below.
    across: Vec<f32>,
}

impl Blur {
    pub(super) fn new(width: usize, height: usize) -> Self {
        let tap = |n: usize| (-0.5 * ((n as f32 - RADIUS as f32) / SIGMA).powi(2)).exp();
        let taps: [f32; TAPS] = std::array::from_fn(tap);
        let sum: f32 = taps.iter().sum();
        let across = vec![0.0; (height + 2 * RADIUS) * width];
        Self {
            width,
            weights: taps.map(|t| t / sum),
            padded: vec![0.0; width + 2 * RADIUS],
            across,
        }
    }

    /// Replaces a plane by its mean under the window; outside, a picture is zero.
    #[inline(always)]
    pub(super) fn apply(&mut self, plane: &mut [f32]) {
        let Self { width, weights, padded, across } = self;
        let inner = &mut across[RADIUS * *width..][..plane.len()];
        for (to, from) in inner.chunks_exact_mut(*width).zip(plane.chunks_exact(*width)) {
            padded[RADIUS..][..*width].copy_from_slice(from);
            weighted(weights, std::array::from_fn(|n| &padded[n..]), to);
        }
        for (y, to) in plane.chunks_exact_mut(*width).enumerate() {
            weighted(weights, std::array::from_fn(|n| &across[(y + n) * *width..]), to);
        }
    }
}

/// A weighted sum of eleven lines. Spelled out: the compiler then keeps each sum in a register.
#[inline(always)]
fn weighted(weights: &[f32; TAPS], lines: [&[f32]; TAPS], to: &mut [f32]) {
    let count = to.len();
    let [a, b, c, d, e, f, g, h, i, j, k] = lines.map(|line| &line[..count]);
    let [_, wb, wc, wd, we, wf, wg, wh, wi, wj, wk] = *weights;
    for n in 0..count {
        to[n] = weights[0] * a[n]
            + wb * b[n]
            + wc * c[n]
            + wd * d[n]
            + we * e[n]
            + wf * f[n]
            + wg * g[n]
            + wh * h[n]
            + wi * i[n]
            + wj * j[n]
            + wk * k[n];
    }
}

/// The sums of all values and of their fourth powers.
#[inline(always)]
pub(super) fn sums(values: &[f32]) -> [f32; 2] {
    let (chunks, rest) = values.as_chunks::<8>();
    let (mut first, mut fourth) = ([0.0f64; 8], [0.0f64; 8]);
    for chunk in chunks {
        for i in 0..8 {
            let (v, square) = (chunk[i], chunk[i] * chunk[i]);
            first[i] += f64::from(v);
            fourth[i] += f64::from(square * square);
        }
    }
    for (i, v) in rest.iter().enumerate() {
        first[i] += f64::from(*v);
        fourth[i] += f64::from(v.powi(4));
    }
    [first, fourth].map(|parts| parts.iter().sum::<f64>() as f32)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blurring_equals_plain_loops() {
        for (width, height) in [(13, 9), (4, 20), (30, 3)] {
            let wave: Vec<f32> = (0..width * height).map(|n| (0.9 * n as f32).sin()).collect();
            let mut blur = Blur::new(width, height);
            // Twice, since memory is reused.
            for _ in 0..2 {
                let mut found = wave.clone();
                blur.apply(&mut found);
                for (n, found) in found.iter().enumerate() {
                    let mut expected = 0.0;
                    for (m, v) in wave.iter().enumerate() {
                        let across = (n % width).abs_diff(m % width);
                        let down = (n / width).abs_diff(m / width);
                        if across.max(down) <= RADIUS {
                            expected +=
                                blur.weights[RADIUS + across] * blur.weights[RADIUS + down] * v;
                        }
                    }
                    assert!((found - expected).abs() < 1e-6, "{found} {expected}");
                }
            }
        }
    }

    #[test]
    fn sums_equal_plain_ones() {
        let values: Vec<f32> = (0..83).map(|n| 0.1 * n as f32).collect();
        let expected: [f32; 2] =
            [1, 4].map(|power| values.iter().map(|v| f64::from(v.powi(power))).sum::<f64>() as f32);
        assert_eq!(sums(&values)[0], expected[0]);
        assert!((sums(&values)[1] / expected[1] - 1.0).abs() < 1e-6);
    }
}
