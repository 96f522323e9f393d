//! Image quality: PSNR, structural similarity and squared error.
//!
//! There are two structural similarities because libraries differ: `ssim` is scikit-image's default
//! (7x7 uniform window, sample covariance), `ssim_wang` is Wang et al. 2004 (Gaussian window of sigma
//! 1.5, 11 taps, population covariance). Both use K1 = 0.01, K2 = 0.03 and a range of 255, and leave
//! out the border that the window does not fill.

use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};
use crate::linear::dot;
use crate::plane::Plane;

#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Quality {
    /// Peak signal-to-noise ratio in dB, with a peak of 255; `None` if nothing changed.
    pub psnr: Option<f64>,
    /// PSNR as the paper defines it: the peak is the released picture's largest value. `None` also if
    /// that is 0.
    pub psnr_paper: Option<f64>,
    /// Structural similarity, scikit-image's default; `None` for pictures smaller than 7x7.
    pub ssim: Option<f64>,
    /// Structural similarity, Wang et al. 2004; `None` for pictures smaller than 11x11.
    pub ssim_wang: Option<f64>,
    /// Sum of squared differences: the paper's real variance.
    pub variance: f64,
}

impl Quality {
    pub fn compare(original: &Plane, released: &Plane) -> Result<Self> {
        let variance = variance(original, released)?;
        let mse = variance / original.data().len() as f64;
        let peak = released.data().iter().copied().fold(f64::NEG_INFINITY, f64::max);
        Ok(Self {
            psnr: psnr(mse, 255.0),
            psnr_paper: psnr(mse, peak),
            ssim: ssim(original, released).ok(),
            ssim_wang: ssim_wang(original, released).ok(),
            variance,
        })
    }
}

/// Sum of squared differences, the paper's `sigma_r^2`.
pub fn variance(a: &Plane, b: &Plane) -> Result<f64> {
    a.require_same_size(b)?;
    let mut differences = [0.0; 4096];
    let parts = a.data().chunks(differences.len()).zip(b.data().chunks(differences.len()));
    let energy = |(a, b): (&[f64], &[f64])| {
        let part = &mut differences[..a.len()];
        part.iter_mut().zip(a.iter().zip(b)).for_each(|(d, (a, b))| *d = a - b);
        dot(part, part)
    };
    Ok(parts.map(energy).sum())
}

/// `10 log10(peak^2 / mse)`, or `None` where that is infinite or undefined.
///
/// ```
/// assert_eq!(facedp::metrics::psnr(255.0 * 255.0 / 100.0, 255.0), Some(20.0));
/// assert_eq!(facedp::metrics::psnr(0.0, 255.0), None);
/// ```
pub fn psnr(mse: f64, peak: f64) -> Option<f64> {
    Some(10.0 * (peak * peak / mse).log10()).filter(|decibels| decibels.is_finite())
}

/// Structural similarity as `skimage.metrics.structural_similarity(a, b, data_range=255)`.
pub fn ssim(a: &Plane, b: &Plane) -> Result<f64> {
    let window = 7.0 * 7.0;
    similarity(a, b, &[1.0 / 7.0; 7], window / (window - 1.0))
}

/// Structural similarity after Wang et al. 2004: scikit-image's with `gaussian_weights=True,
/// sigma=1.5, use_sample_covariance=False`.
pub fn ssim_wang(a: &Plane, b: &Plane) -> Result<f64> {
    let bell: [f64; 11] = std::array::from_fn(|i| (-0.5 * ((i as f64 - 5.0) / 1.5).powi(2)).exp());
    let sum: f64 = bell.iter().sum();
    similarity(a, b, &bell.map(|tap| tap / sum), 1.0)
}

/// Means under a window of `a`, `b`, `a^2`, `b^2` and `ab`, in this order.
const MOMENTS: usize = 5;
/// Columns that are filtered together.
const RUN: usize = 16;

fn similarity<const TAPS: usize>(
    a: &Plane,
    b: &Plane,
    taps: &[f64; TAPS],
    covariance: f64,
) -> Result<f64> {
    a.require_same_size(b)?;
    let (width, height) = (a.width(), a.height());
    if width < TAPS || height < TAPS {
        return Err(Error::TooSmallForSsim { min: TAPS, width, height });
    }
    Ok(pulp::Arch::new().dispatch(Similarity { a, b, taps, covariance }))
}

/// Compiled for the vector instructions of the machine it runs on: `pulp` calls it from functions that are, and
/// everything in it is inlined there. A closure would not be.
struct Similarity<'a, const TAPS: usize> {
    a: &'a Plane,
    b: &'a Plane,
    taps: &'a [f64; TAPS],
    covariance: f64,
}

impl<const TAPS: usize> pulp::NullaryFnOnce for Similarity<'_, TAPS> {
    type Output = f64;

    #[inline(always)]
    fn call(self) -> f64 {
        let Self { a, b, taps, covariance } = self;
        let (width, height) = (a.width(), a.height());
        let columns = width - TAPS + 1;
        let mut moments = vec![0.0; MOMENTS * width];
        // The horizontally filtered moments of the last rows: a ring buffer one window high.
        let mut ring: [Vec<f64>; TAPS] = std::array::from_fn(|_| vec![0.0; MOMENTS * columns]);
        let mut means = vec![0.0; MOMENTS * columns];
        let mut values = vec![0.0; columns];
        let mut total = 0.0;
        for y in 0..height {
            of_row(a.row(y), b.row(y), &mut moments);
            let filtered = ring[y % TAPS].chunks_exact_mut(columns);
            for (row, filtered) in moments.chunks_exact(width).zip(filtered) {
                weighted(taps, std::array::from_fn(|t| &row[t..][..columns]), filtered);
            }
            if y + 1 < TAPS {
                continue;
            }
            let rows = std::array::from_fn(|t| ring[(y + 1 + t) % TAPS].as_slice());
            weighted(taps, rows, &mut means);
            let [a, b, aa, bb, ab] = std::array::from_fn(|m| &means[m * columns..][..columns]);
            for (x, value) in values.iter_mut().enumerate() {
                *value = local_similarity([a[x], b[x], aa[x], bb[x], ab[x]], covariance);
            }
            total += values.iter().sum::<f64>();
        }
        total / (columns * (height - TAPS + 1)) as f64
    }
}

/// The moments of single pixels, one after the other.
#[inline(always)]
fn of_row(a: &[f64], b: &[f64], moments: &mut [f64]) {
    for (m, out) in moments.chunks_exact_mut(a.len()).enumerate() {
        let pairs = out.iter_mut().zip(a.iter().zip(b));
        match m {
            0 => pairs.for_each(|(out, (a, _))| *out = *a),
            1 => pairs.for_each(|(out, (_, b))| *out = *b),
            2 => pairs.for_each(|(out, (a, _))| *out = a * a),
            3 => pairs.for_each(|(out, (_, b))| *out = b * b),
            _ => pairs.for_each(|(out, (a, b))| *out = a * b),
        }
    }
}

/// A weighted sum of lines, which are at least as long as `out`. The sums of a run stay in registers.
#[inline(always)]
fn weighted<const TAPS: usize>(taps: &[f64; TAPS], lines: [&[f64]; TAPS], out: &mut [f64]) {
    let (runs, rest) = out.as_chunks_mut::<RUN>();
    let last = RUN * runs.len();
    for (n, out) in runs.iter_mut().enumerate() {
        let mut sums = [0.0; RUN];
        for (tap, line) in taps.iter().zip(lines) {
            let line = line[n * RUN..].first_chunk().unwrap_or(&[0.0; RUN]);
            sums.iter_mut().zip(line).for_each(|(sum, value)| *sum += tap * value);
        }
        *out = sums;
    }
    for (i, out) in rest.iter_mut().enumerate() {
        *out = taps.iter().zip(lines).fold(0.0, |sum, (tap, line)| sum + tap * line[last + i]);
    }
}

#[inline(always)]
fn local_similarity([a, b, aa, bb, ab]: [f64; MOMENTS], covariance: f64) -> f64 {
    const C1: f64 = (0.01 * 255.0) * (0.01 * 255.0);
    const C2: f64 = (0.03 * 255.0) * (0.03 * 255.0);
    let (var_a, var_b) = (covariance * (aa - a * a), covariance * (bb - b * b));
    let both = covariance * (ab - a * b);
    (2.0 * a * b + C1) * (2.0 * both + C2) / ((a * a + b * b + C1) * (var_a + var_b + C2))
}
