//! Changing the size of a plane.
//!
//! A triangle filter with half-pixel centres, as Pillow's `BILINEAR`: linear interpolation when
//! enlarging, a weighted average when shrinking, so nothing aliases. Values are not clamped, so noise
//! keeps its negative values (the `image` crate's resize clamps floats to 0..=1).

use crate::plane::Plane;

/// A copy of `plane` with another size.
///
/// ```
/// use facedp::{Plane, resample::resized};
/// let row = Plane::new(2, 1, vec![0.0, 8.0])?;
/// assert_eq!(resized(&row, 4, 1).data(), [0.0, 2.0, 6.0, 8.0]);
/// # Ok::<(), facedp::Error>(())
/// ```
pub fn resized(plane: &Plane, width: usize, height: usize) -> Plane {
    if (plane.width(), plane.height()) == (width, height) {
        return plane.clone();
    }
    let across = Kernel::new(plane.width(), width);
    let down = Kernel::new(plane.height(), height);
    let mut narrow = Plane::zeros(width, plane.height());
    for (y, row) in narrow.data_mut().chunks_exact_mut(width.max(1)).enumerate() {
        let from = plane.row(y);
        for (out, (start, weights)) in row.iter_mut().zip(&across.taps) {
            *out = weights.iter().zip(&from[*start..]).map(|(w, v)| w * v).sum();
        }
    }
    let mut result = Plane::zeros(width, height);
    for (row, (start, weights)) in result.data_mut().chunks_exact_mut(width.max(1)).zip(&down.taps)
    {
        for (i, w) in weights.iter().enumerate() {
            row.iter_mut().zip(narrow.row(start + i)).for_each(|(out, v)| *out += w * v);
        }
    }
    result
}

/// For each output position, the first input position and the weights from there on.
struct Kernel {
    taps: Vec<(usize, Vec<f64>)>,
}

impl Kernel {
    fn new(from: usize, to: usize) -> Self {
        let ratio = from as f64 / to as f64;
        let reach = ratio.max(1.0);
        let tap = |out: usize| {
            let centre = (out as f64 + 0.5) * ratio;
            // Pillow's rounding of the window's ends.
            let start = (centre - reach + 0.5).max(0.0) as usize;
            let end = ((centre + reach + 0.5) as usize).min(from);
            let weight = |i: usize| (1.0 - ((i as f64 + 0.5 - centre) / reach).abs()).max(0.0);
            let sum: f64 = (start..end).map(weight).sum();
            (start, (start..end).map(|i| weight(i) / sum).collect())
        };
        Self { taps: (0..to).map(tap).collect() }
    }
}
