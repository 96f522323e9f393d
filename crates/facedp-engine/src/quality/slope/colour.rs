//! From colours to the channels of XYB, and gradients back.

use std::sync::LazyLock;

/// Response of the three kinds of cones to linear red, green and blue.
const CONES: [[f32; 3]; 3] =
    [[0.30, 0.622, 0.078], [0.23, 0.692, 0.078], [0.243_422_69, 0.204_767_44, 0.551_809_87]];
const BIAS: f32 = 0.003_793_073_3;

#[derive(Clone, Copy, PartialEq)]
pub(super) enum Channel {
    X,
    Y,
    B,
}

/// Values of a function of 0..=255 at steps of 1/16. Linear interpolation is then accurate to about 1e-7 of
/// the function at 255, as f32 is.
struct Table(Vec<f32>);

impl Table {
    const STEPS: f32 = 16.0;
    const LEN: usize = 255 * 16 + 2;

    fn new(function: impl Fn(f64) -> f64) -> Self {
        let at = |n: usize| function(n as f64 / f64::from(Self::STEPS)) as f32;
        Self((0..Self::LEN).map(at).collect())
    }

    #[inline(always)]
    fn at(&self, value: f32) -> f32 {
        let place = (value * Self::STEPS).clamp(0.0, (Self::LEN - 2) as f32);
        let first = place as usize;
        let (low, high) = (self.0[first], self.0[first + 1]);
        low + (place - first as f32) * (high - low)
    }
}

/// Linear light of an sRGB sample.
static LINEAR: LazyLock<Table> = LazyLock::new(|| {
    Table::new(|v| {
        let v = v / 255.0;
        if v <= 0.040_45 { v / 12.92 } else { ((v + 0.055) / 1.055).powf(2.4) }
    })
});

/// The derivative of [`LINEAR`].
static LINEAR_SLOPE: LazyLock<Table> = LazyLock::new(|| {
    Table::new(|v| {
        let v = v / 255.0;
        let slope =
            if v <= 0.040_45 { 1.0 / 12.92 } else { 2.4 / 1.055 * ((v + 0.055) / 1.055).powf(1.4) };
        slope / 255.0
    })
});

/// Planes of linear red, green and blue, or a gradient by them.
pub(super) struct Linear {
    pub(super) width: usize,
    pub(super) height: usize,
    planes: [Vec<f32>; 3],
}

impl Linear {
    #[inline(always)]
    pub(super) fn new(colours: &[Vec<f32>; 3], width: usize, height: usize) -> Self {
        let table = &*LINEAR;
        let mut planes = [(); 3].map(|()| vec![0.0; width * height]);
        for (plane, colour) in planes.iter_mut().zip(colours) {
            plane.iter_mut().zip(colour).for_each(|(to, v)| *to = table.at(*v));
        }
        Self { width, height, planes }
    }

    pub(super) fn zeros(&self) -> Self {
        let planes = std::array::from_fn(|_| vec![0.0; self.planes[0].len()]);
        Self { planes, ..*self }
    }

    /// Each pixel is the mean of two by two; the last row and column repeat where there is no second.
    #[inline(always)]
    pub(super) fn halved(&self) -> Self {
        let (width, height) = (self.width.div_ceil(2), self.height.div_ceil(2));
        let mut planes = [(); 3].map(|()| vec![0.0; width * height]);
        for (half, plane) in planes.iter_mut().zip(&self.planes) {
            for (y, to) in half.chunks_exact_mut(width).enumerate() {
                let [upper, lower] =
                    self.two_rows(y).map(|y| &plane[y * self.width..][..self.width]);
                let (pairs, last) = to.split_at_mut(self.width / 2);
                let (upper, above) = upper.as_chunks::<2>();
                let (lower, below) = lower.as_chunks::<2>();
                for ((to, u), l) in pairs.iter_mut().zip(upper).zip(lower) {
                    *to = 0.25 * (u[0] + u[1] + l[0] + l[1]);
                }
                for ((to, u), l) in last.iter_mut().zip(above).zip(below) {
                    *to = 0.25 * (u + u + l + l);
                }
            }
        }
        Self { width, height, planes }
    }

    /// The rows whose mean is row `y` of the halved picture.
    fn two_rows(&self, y: usize) -> [usize; 2] {
        [2 * y, (2 * y + 1).min(self.height - 1)]
    }

    /// Adds the transpose of [`Self::halved`], for a gradient.
    pub(super) fn spread(&self, larger: &mut Self) {
        let width = larger.width;
        for (plane, small) in (0..3).zip(&self.planes) {
            for (y, from) in small.chunks_exact(self.width).enumerate() {
                for row in larger.two_rows(y) {
                    let to = &mut larger.planes[plane][row * width..][..width];
                    let (pairs, last) = to.as_chunks_mut::<2>();
                    let (inner, rest) = from.split_at(width / 2);
                    for (to, g) in pairs.iter_mut().zip(inner) {
                        *to = to.map(|v| v + 0.25 * g);
                    }
                    last.iter_mut().zip(rest).for_each(|(to, g)| *to += 0.5 * g);
                }
            }
        }
    }

    /// From a gradient by linear colours to one by a change that adds these shares of it to the colours.
    pub(super) fn by_change(
        &self,
        shares: [f32; 3],
        colours: &[Vec<f32>; 3],
        factor: f32,
    ) -> Vec<f32> {
        let table = &*LINEAR_SLOPE;
        let mut sum = vec![0.0; self.planes[0].len()];
        for ((gradient, colour), share) in self.planes.iter().zip(colours).zip(shares) {
            let factor = share * factor;
            for ((sum, g), v) in sum.iter_mut().zip(gradient).zip(colour) {
                *sum += factor * g * table.at(*v);
            }
        }
        sum
    }
}

/// The cube root of a positive number, to the accuracy of f32.
#[inline(always)]
fn cube_root(x: f32) -> f32 {
    // A third of the exponent is a guess within 4 %; each step of Halley's method cubes that error.
    let mut root = f32::from_bits(x.to_bits() / 3 + 709_921_077);
    for _ in 0..2 {
        let cube = root * root * root;
        root *= (cube + 2.0 * x) / (2.0 * cube + x);
    }
    root
}

/// The cones' responses, from which the channels follow. Only B needs short waves.
pub(super) struct Xyb {
    cones: [Vec<f32>; 3],
}

impl Xyb {
    #[inline(always)]
    pub(super) fn new(linear: &Linear, short: bool) -> Self {
        let [red, green, blue] = &linear.planes;
        let zeros = || vec![0.0; red.len()];
        let mut cones = [zeros(), zeros(), if short { zeros() } else { Vec::new() }];
        for (cone, [r, g, b]) in cones.iter_mut().zip(CONES) {
            for (((cone, x), y), z) in cone.iter_mut().zip(red).zip(green).zip(blue) {
                *cone = cube_root(r * x + g * y + b * z + BIAS);
            }
        }
        Self { cones }
    }

    #[inline(always)]
    pub(super) fn channel(&self, channel: Channel) -> Vec<f32> {
        let [long, middle, short] = &self.cones;
        let pairs = long.iter().zip(middle);
        let zero = BIAS.cbrt();
        match channel {
            Channel::X => pairs.map(|(l, m)| 7.0 * (l - m) + 0.42).collect(),
            Channel::Y => pairs.map(|(l, m)| 0.5 * (l + m) - zero + 0.01).collect(),
            Channel::B => pairs.zip(short).map(|((l, m), s)| s - 0.5 * (l + m) + 0.55).collect(),
        }
    }

    /// Adds a gradient by a channel to one by linear colours.
    #[inline(always)]
    pub(super) fn backward(&self, channel: Channel, gradient: &[f32], into: &mut Linear) {
        let shares: [f32; 3] = match channel {
            Channel::X => [7.0, -7.0, 0.0],
            Channel::Y => [0.5, 0.5, 0.0],
            Channel::B => [-0.5, -0.5, 1.0],
        };
        let [red, green, blue] = &mut into.planes;
        for ((cone, share), weights) in self.cones.iter().zip(shares).zip(CONES) {
            if share == 0.0 {
                continue;
            }
            let colours = red.iter_mut().zip(green.iter_mut()).zip(blue.iter_mut());
            for ((((r, g), b), cone), by_channel) in colours.zip(cone).zip(gradient) {
                // The derivative of a cube root.
                let by_mix = share * by_channel / (3.0 * cone * cone);
                *r += weights[0] * by_mix;
                *g += weights[1] * by_mix;
                *b += weights[2] * by_mix;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cube_roots_are_accurate() {
        for n in 0..4000 {
            let x = 1e-4 * 1.003f32.powi(n);
            let (found, expected) = (cube_root(x), x.cbrt());
            assert!((found - expected).abs() < 4e-7 * expected, "{x}: {found}, not {expected}");
        }
    }

    #[test]
    fn tables_are_accurate() {
        for n in 0..=2550 {
            let v = 0.1 * n as f32;
            let light = |v: f64| {
                if v <= 0.040_45 { v / 12.92 } else { ((v + 0.055) / 1.055).powf(2.4) }
            };
            let (low, high) =
                (light(f64::from(v) / 255.0 - 1e-6), light(f64::from(v) / 255.0 + 1e-6));
            assert!((f64::from(LINEAR.at(v)) - (low + high) / 2.0).abs() < 2e-7, "{v}");
            // The slope jumps a little where the two parts of the curve meet.
            let (found, expected) = (f64::from(LINEAR_SLOPE.at(v)), (high - low) / 2e-6 / 255.0);
            assert!((found - expected).abs() < 3e-3 * expected, "{v}: {found}, not {expected}");
        }
    }

    /// Halving by plain loops, and `<H x, y> = <x, H^T y>`.
    #[test]
    fn spreading_is_the_transpose_of_halving() {
        for (width, height) in [(8, 6), (9, 7), (1, 3), (12, 1)] {
            let wave = |n: usize, c: usize| (0.7 * n as f32 + c as f32).sin();
            let planes = [0, 1, 2].map(|c| (0..width * height).map(|n| wave(n, c)).collect());
            let large = Linear { width, height, planes };
            let half = large.halved();
            for (n, found) in half.planes[1].iter().enumerate() {
                let (x, y) = (2 * (n % half.width), 2 * (n / half.width));
                let at = |x: usize, y: usize| {
                    large.planes[1][y.min(height - 1) * width + x.min(width - 1)]
                };
                let mean = 0.25 * (at(x, y) + at(x + 1, y) + at(x, y + 1) + at(x + 1, y + 1));
                assert!((found - mean).abs() < 1e-6);
            }
            let mut back = large.zeros();
            half.spread(&mut back);
            let dot = |a: &Linear, b: &Linear| -> f32 {
                a.planes[2].iter().zip(&b.planes[2]).map(|(a, b)| a * b).sum()
            };
            let (left, right) = (dot(&half, &half), dot(&large, &back));
            assert!((left - right).abs() < 1e-4, "{left} {right}");
        }
    }
}
