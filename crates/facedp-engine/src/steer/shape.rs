//! The shape of a change: smooth, and stronger where the face has contrast of its own.

use facedp::Plane;

/// Grey levels added to local contrast, so that smooth skin takes a little too.
const FLOOR: f64 = 6.0;
/// Half the window of local contrast.
const REACH: usize = 3;

/// A linear map that turns gradients into directions.
pub(super) struct Shape {
    side: usize,
    bell: Vec<f64>,
    mask: Vec<f64>,
}

impl Shape {
    /// For a chip: blurring by a Gaussian of `smooth` pixels, scaling by (local contrast)^`contrast`.
    pub(super) fn new(chip: &Plane, smooth: f64, contrast: f64) -> Self {
        let side = chip.width();
        let reach = (3.0 * smooth).ceil() as i32;
        let bell: Vec<f64> = (-reach..=reach)
            .map(|i| (-0.5 * (f64::from(i) / smooth.max(1e-9)).powi(2)).exp())
            .collect();
        let sum: f64 = bell.iter().sum();
        let bell = bell.iter().map(|tap| tap / sum).collect();
        let mut mask: Vec<f64> = (0..side * side)
            .map(|at| (deviation(chip, at % side, at / side) + FLOOR).powf(contrast))
            .collect();
        let mean = mask.iter().sum::<f64>() / mask.len() as f64;
        mask.iter_mut().for_each(|m| *m /= mean);
        Self { side, bell, mask }
    }

    /// The direction that follows from a gradient.
    pub(super) fn apply(&self, gradient: &Plane) -> Plane {
        let mut out = self.smoothed(gradient);
        out.data_mut().iter_mut().zip(&self.mask).for_each(|(v, m)| *v *= m);
        out
    }

    fn smoothed(&self, plane: &Plane) -> Plane {
        let side = self.side;
        let reach = self.bell.len() / 2;
        let mut across = Plane::zeros(side, side);
        for (y, row) in across.data_mut().chunks_exact_mut(side).enumerate() {
            let from = plane.row(y);
            for (x, out) in row.iter_mut().enumerate() {
                for (t, tap) in self.bell.iter().enumerate() {
                    let x = (x + t).saturating_sub(reach).min(side - 1);
                    *out += tap * from[x];
                }
            }
        }
        let mut down = Plane::zeros(side, side);
        for (y, row) in down.data_mut().chunks_exact_mut(side).enumerate() {
            for (t, tap) in self.bell.iter().enumerate() {
                let y = (y + t).saturating_sub(reach).min(side - 1);
                row.iter_mut().zip(across.row(y)).for_each(|(out, v)| *out += tap * v);
            }
        }
        down
    }
}

/// Standard deviation of the pixels round one.
fn deviation(chip: &Plane, x: usize, y: usize) -> f64 {
    let side = chip.width();
    let columns = x.saturating_sub(REACH)..(x + REACH + 1).min(side);
    let rows = y.saturating_sub(REACH)..(y + REACH + 1).min(side);
    let (mut n, mut sum, mut squares) = (0.0, 0.0, 0.0);
    for row in rows {
        for value in &chip.row(row)[columns.clone()] {
            n += 1.0;
            sum += value;
            squares += value * value;
        }
    }
    (squares / n - (sum / n).powi(2)).max(0.0).sqrt()
}
