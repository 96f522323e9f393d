//! A cubic B-spline over a grid of control points: a smooth displacement of each pixel of a chip.

use facedp::Plane;

/// Control points along each side of the chip.
pub(super) const GRID: usize = 32;

/// The displacement of each control point, row by row.
pub(super) type Controls = [[f32; 2]];

/// How control points act on the pixels of a chip.
pub(super) struct Spline {
    side: usize,
    /// For each pixel of a line, the first of its four control points and their weights.
    taps: Vec<(usize, [f32; 4])>,
}

impl Spline {
    /// For a chip of `side` pixels.
    pub(super) fn new(side: usize) -> Self {
        Self { side, taps: taps(side) }
    }

    /// The distance of neighbouring control points, in pixels.
    pub(super) fn spacing(&self) -> f32 {
        self.side as f32 / (GRID - 1) as f32
    }

    /// The positions of control points, in pixels.
    pub(super) fn positions(&self) -> impl Iterator<Item = [f32; 2]> {
        let at = |n: usize| n as f32 * self.spacing() - 0.5;
        (0..GRID * GRID).map(move |n| [at(n % GRID), at(n / GRID)])
    }

    /// Writes the displacement of each pixel, horizontal and vertical.
    pub(super) fn evaluate(&self, controls: &Controls, field: &mut [Plane; 2]) {
        let side = self.side;
        for (axis, plane) in field.iter_mut().enumerate() {
            // Along the lines of the grid first.
            let mut lines = vec![0.0; GRID * side];
            for (row, line) in lines.chunks_exact_mut(side).enumerate() {
                let controls = &controls[row * GRID..(row + 1) * GRID];
                for (out, (first, weights)) in line.iter_mut().zip(&self.taps) {
                    let near = &controls[*first..first + 4];
                    *out = near.iter().zip(weights).map(|(c, w)| w * c[axis]).sum();
                }
            }
            let rows = plane.data_mut().chunks_exact_mut(side).zip(&self.taps);
            for (out, (first, weights)) in rows {
                let near = lines[first * side..].chunks_exact(side);
                let mut sums = vec![0.0; side];
                for (weight, line) in weights.iter().zip(near) {
                    sums.iter_mut().zip(line).for_each(|(sum, v)| *sum += weight * v);
                }
                out.iter_mut().zip(sums).for_each(|(out, sum)| *out = f64::from(sum));
            }
        }
    }

    /// The transpose of [`Self::evaluate`]: a gradient with respect to the field becomes one with respect to control points.
    pub(super) fn transposed(&self, field: &[Plane; 2]) -> Vec<[f32; 2]> {
        let side = self.side;
        let mut controls = vec![[0.0; 2]; GRID * GRID];
        for (axis, plane) in field.iter().enumerate() {
            let mut lines = vec![0.0; GRID * side];
            for (y, (first, weights)) in self.taps.iter().enumerate() {
                for (i, weight) in weights.iter().enumerate() {
                    let line = &mut lines[(first + i) * side..][..side];
                    line.iter_mut().zip(plane.row(y)).for_each(|(l, v)| *l += weight * *v as f32);
                }
            }
            for (row, line) in lines.chunks_exact(side).enumerate() {
                for (value, (first, weights)) in line.iter().zip(&self.taps) {
                    for (i, weight) in weights.iter().enumerate() {
                        controls[row * GRID + first + i][axis] += weight * value;
                    }
                }
            }
        }
        controls
    }
}

/// Smooths displacements of control points with a Gaussian, whose standard deviation is in control points. Beyond the ends of
/// the grid they count as zero.
pub(super) fn smooth(controls: &mut Controls, deviation: f32) {
    let radius = (3.0 * deviation).ceil() as usize;
    if radius == 0 {
        return;
    }
    let kernel: Vec<f32> = (0..=2 * radius)
        .map(|n| (-0.5 * ((n as f32 - radius as f32) / deviation).powi(2)).exp())
        .collect();
    let sum: f32 = kernel.iter().sum();
    for step in [1, GRID] {
        let before = controls.to_vec();
        for (n, control) in controls.iter_mut().enumerate() {
            let at = n / step % GRID;
            let near = |(k, weight): (usize, &f32)| {
                let other = (at + k).checked_sub(radius).filter(|other| *other < GRID)?;
                Some((before[n + step * other - step * at], weight / sum))
            };
            let near = kernel.iter().enumerate().filter_map(near);
            *control = near.fold([0.0; 2], |[x, y], ([a, b], w)| [x + w * a, y + w * b]);
        }
    }
}

/// The weights of a uniform cubic B-spline at each pixel of a line. Points beyond the ends of the grid count
/// as zero.
fn taps(side: usize) -> Vec<(usize, [f32; 4])> {
    let tap = |pixel: usize| {
        let at = (pixel as f32 + 0.5) / side as f32 * (GRID - 1) as f32;
        let cell = (at as usize).clamp(1, GRID - 3);
        let t = at - cell as f32;
        if !(0.0..=1.0).contains(&t) {
            // Within the fixed edge, where the field is zero.
            return (cell - 1, [0.0; 4]);
        }
        let u = 1.0 - t;
        let weights = [
            u.powi(3) / 6.0,
            (3.0 * t.powi(3) - 6.0 * t * t + 4.0) / 6.0,
            (3.0 * u.powi(3) - 6.0 * u * u + 4.0) / 6.0,
            t.powi(3) / 6.0,
        ];
        (cell - 1, weights)
    };
    (0..side).map(tap).collect()
}
