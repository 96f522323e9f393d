//! Similarity transforms: rotation, scaling and translation, for alignment.

use crate::error::{Error, Result};

/// `[x, y]`.
pub type Point = [f32; 2];

/// `x' = a x - b y + u`, `y' = b x + a y + v`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Similarity {
    a: f32,
    b: f32,
    shift: Point,
}

impl Similarity {
    /// The transform that maps `from` closest to `to`, by least squares.
    ///
    /// ```
    /// use facedp_nets::Similarity;
    /// let square = [[0.0, 0.0], [1.0, 0.0], [0.0, 1.0], [1.0, 1.0]];
    /// let turned = [[5.0, 5.0], [5.0, 7.0], [3.0, 5.0], [3.0, 7.0]]; // twice as large, a quarter turn
    /// let found = Similarity::fit(&square, &turned)?;
    /// assert_eq!(found.apply([0.5, 0.5]), [4.0, 6.0]);
    /// # Ok::<(), facedp_nets::Error>(())
    /// ```
    pub fn fit(from: &[Point], to: &[Point]) -> Result<Self> {
        let mean = |points: &[Point]| -> [f64; 2] {
            [0, 1]
                .map(|i| points.iter().map(|p| f64::from(p[i])).sum::<f64>() / points.len() as f64)
        };
        let (centre, target) = (mean(from), mean(to));
        let (mut size, mut along, mut across) = (0.0, 0.0, 0.0);
        for (p, q) in from.iter().zip(to) {
            let [x, y] = [0, 1].map(|i| f64::from(p[i]) - centre[i]);
            let [u, v] = [0, 1].map(|i| f64::from(q[i]) - target[i]);
            size += x * x + y * y;
            along += x * u + y * v;
            across += x * v - y * u;
        }
        let (a, b) = (along / size, across / size);
        let shift =
            [target[0] - a * centre[0] + b * centre[1], target[1] - b * centre[0] - a * centre[1]];
        let found = Self { a: a as f32, b: b as f32, shift: shift.map(|s| s as f32) };
        let usable = found.scale() > 0.0 && found.scale().is_finite();
        let finite = found.shift.iter().all(|s| s.is_finite());
        if usable && finite { Ok(found) } else { Err(Error::Landmarks) }
    }

    /// Scaling and translation without rotation.
    pub fn upright(scale: f32, shift: Point) -> Self {
        Self { a: scale, b: 0.0, shift }
    }

    /// `a`, `b`, `u` and `v` of the formula above.
    pub fn parameters(&self) -> [f32; 4] {
        [self.a, self.b, self.shift[0], self.shift[1]]
    }

    /// Whether there is no rotation.
    pub fn is_upright(&self) -> bool {
        self.b == 0.0 && self.a > 0.0
    }

    #[inline]
    pub fn apply(&self, [x, y]: Point) -> Point {
        [self.a * x - self.b * y + self.shift[0], self.b * x + self.a * y + self.shift[1]]
    }

    /// The factor by which lengths grow.
    pub fn scale(&self) -> f32 {
        self.a.hypot(self.b)
    }

    pub fn inverse(&self) -> Self {
        let size = self.a * self.a + self.b * self.b;
        let (a, b) = (self.a / size, -self.b / size);
        let [u, v] = self.shift;
        Self { a, b, shift: [-(a * u - b * v), -(b * u + a * v)] }
    }

    /// The same transform for a picture of half the size, whose pixel (x, y) covers four pixels and has
    /// its centre at (2x + 1/2, 2y + 1/2) of the full picture.
    pub fn for_half_size(&self) -> Self {
        self.for_size(0.5)
    }

    /// The same transform for a picture `factor` times as large, scaled about its corner.
    pub fn for_size(&self, factor: f32) -> Self {
        let (scale, first) = (factor.recip(), 0.5 / factor - 0.5);
        Self { a: scale * self.a, b: scale * self.b, shift: self.apply([first, first]) }
    }

    /// The same transform for a crop of the picture, whose first pixel lies at `corner`.
    pub fn for_crop(&self, corner: Point) -> Self {
        Self { shift: self.apply(corner), ..*self }
    }

    /// This transform, then a translation.
    pub fn shifted(&self, [u, v]: Point) -> Self {
        Self { shift: [self.shift[0] + u, self.shift[1] + v], ..*self }
    }

    /// This transform, then a rotation by `angle` (radians) and a scaling by `factor` about a point.
    pub fn turned(&self, angle: f32, factor: f32, about: Point) -> Self {
        let (a, b) = (factor * angle.cos(), factor * angle.sin());
        let [u, v] = [0, 1].map(|i| self.shift[i] - about[i]);
        let shift = [a * u - b * v + about[0], b * u + a * v + about[1]];
        Self { a: a * self.a - b * self.b, b: b * self.a + a * self.b, shift }
    }

    /// The same transform to a chip `factor` times as large. Scaling is about the chip's corner, half a
    /// pixel before its first pixel centre.
    pub fn resized(&self, factor: f32) -> Self {
        let shift = self.shift.map(|s| (s + 0.5) * factor - 0.5);
        Self { a: factor * self.a, b: factor * self.b, shift }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    #[test]
    fn there_and_back() {
        let from = [[10.0, 20.0], [50.0, 22.0], [31.0, 40.0], [14.0, 61.0], [47.0, 60.0]];
        let to = [[38.3, 51.7], [73.5, 51.5], [56.0, 71.7], [41.5, 92.4], [70.7, 92.2]];
        let there = Similarity::fit(&from, &to).unwrap();
        let [x, y] = there.inverse().apply(there.apply([12.0, 34.0]));
        assert!((x - 12.0).abs() < 1e-3 && (y - 34.0).abs() < 1e-3);
        let half = there.for_half_size();
        let whole = there.apply([2.0 * 7.0 + 0.5, 2.0 * 9.0 + 0.5]);
        let [x, y] = half.apply([7.0, 9.0]);
        assert!((x - whole[0]).abs() < 1e-3 && (y - whole[1]).abs() < 1e-3);
    }

    #[test]
    fn points_without_extent_are_refused() {
        let to = [[0.0, 0.0], [1.0, 1.0]];
        assert_eq!(Similarity::fit(&[[3.0, 3.0]; 2], &to), Err(Error::Landmarks));
        assert_eq!(Similarity::fit(&[[f32::NAN, 3.0], [1.0, 2.0]], &to), Err(Error::Landmarks));
        assert_eq!(Similarity::fit(&[], &[]), Err(Error::Landmarks));
    }
}
