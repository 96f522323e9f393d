//! Where luma may change: more where the texture of the face hides it.

use std::ops::Range;

use facedp::Plane;

/// Grey levels added to local contrast, so that smooth skin may change a little too.
const CONTRAST_OFFSET: f64 = 3.0;
/// Radius of the window of local contrast, in pixels: 7x7.
const CONTRAST_RADIUS: usize = 3;

/// A linear map from gradients to directions.
pub(super) struct Texture {
    side: usize,
    /// Gaussian, with sum 1.
    kernel: Vec<f64>,
    /// Weight of each pixel, with mean 1.
    mask: Vec<f64>,
}

impl Texture {
    /// Blurs with a Gaussian whose standard deviation is `smooth` pixels, and scales by the local contrast
    /// of the chip to the power of `contrast`.
    pub(super) fn new(chip: &Plane, smooth: f64, contrast: f64) -> Self {
        let side = chip.width();
        let radius = (3.0 * smooth).ceil() as i32;
        let kernel: Vec<f64> = (-radius..=radius)
            .map(|i| (-0.5 * (f64::from(i) / smooth.max(1e-9)).powi(2)).exp())
            .collect();
        let sum: f64 = kernel.iter().sum();
        let kernel = kernel.iter().map(|tap| tap / sum).collect();
        let deviations = deviations(chip, CONTRAST_RADIUS);
        let mut mask: Vec<f64> = deviations.map(|v| (v + CONTRAST_OFFSET).powf(contrast)).collect();
        let mean = mask.iter().sum::<f64>() / mask.len() as f64;
        mask.iter_mut().for_each(|m| *m /= mean);
        Self { side, kernel, mask }
    }

    /// Side of the chip, and its number of pixels.
    pub(super) fn size(&self) -> (usize, usize) {
        (self.side, self.side * self.side)
    }

    pub(super) fn apply(&self, gradient: &Plane) -> Plane {
        let mut out = self.smoothed(gradient);
        out.data_mut().iter_mut().zip(&self.mask).for_each(|(v, m)| *v *= m);
        out
    }

    fn smoothed(&self, plane: &Plane) -> Plane {
        let side = self.side;
        let radius = self.kernel.len() / 2;
        let mut across = Plane::zeros(side, side);
        // A row, with its ends repeated.
        let mut padded = vec![0.0; side + 2 * radius];
        for (y, row) in across.data_mut().chunks_exact_mut(side).enumerate() {
            let from = plane.row(y);
            padded[..radius].fill(from[0]);
            padded[radius..radius + side].copy_from_slice(from);
            padded[radius + side..].fill(from[side - 1]);
            for (start, tap) in self.kernel.iter().enumerate() {
                row.iter_mut().zip(&padded[start..]).for_each(|(out, v)| *out += tap * v);
            }
        }
        let mut down = Plane::zeros(side, side);
        for (y, row) in down.data_mut().chunks_exact_mut(side).enumerate() {
            for (t, tap) in self.kernel.iter().enumerate() {
                let y = (y + t).saturating_sub(radius).min(side - 1);
                row.iter_mut().zip(across.row(y)).for_each(|(out, v)| *out += tap * v);
            }
        }
        down
    }
}

/// Standard deviation of the pixels around each pixel of a chip, up to `radius` away along each axis.
fn deviations(chip: &Plane, radius: usize) -> impl Iterator<Item = f64> + '_ {
    let side = chip.width();
    let near = move |n: usize| n.saturating_sub(radius)..(n + radius + 1).min(side);
    (0..side * side).map(move |at| deviation(chip, near(at % side), near(at / side)))
}

/// The smallest standard deviation of the four squares of pixels, `reach` away along each axis, that have each pixel as a
/// corner. Beside an edge it is that of the smooth side, which hides nothing, however strong the edge.
pub(super) fn one_sided_deviations(chip: &Plane, reach: usize) -> impl Iterator<Item = f64> + '_ {
    let side = chip.width();
    let before = move |n: usize| n.saturating_sub(reach)..n + 1;
    let after = move |n: usize| n..(n + reach + 1).min(side);
    (0..side * side).map(move |at| {
        let (x, y) = (at % side, at / side);
        let rows = [before(y), after(y)];
        let squares =
            rows.into_iter().flat_map(|rows| [(before(x), rows.clone()), (after(x), rows)]);
        squares.map(|(columns, rows)| deviation(chip, columns, rows)).fold(f64::INFINITY, f64::min)
    })
}

fn deviation(chip: &Plane, columns: Range<usize>, rows: Range<usize>) -> f64 {
    let (mut n, mut sum, mut squares) = (0.0, 0.0, 0.0);
    for row in rows {
        for value in &chip.row(row)[columns.clone()] {
            n += 1.0;
            sum += value;
            squares += value * value;
        }
    }
    f64::sqrt((squares / n - (sum / n).powi(2)).max(0.0))
}
