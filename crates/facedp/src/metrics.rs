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

fn similarity(a: &Plane, b: &Plane, taps: &[f64], covariance: f64) -> Result<f64> {
    a.require_same_size(b)?;
    let (width, height, size) = (a.width(), a.height(), taps.len());
    if width < size || height < size {
        return Err(Error::TooSmallForSsim { min: size, width, height });
    }
    let columns = width - size + 1;
    // The horizontally filtered moments of the last rows: a ring buffer one window high.
    let mut ring = vec![vec![0.0; MOMENTS * columns]; size];
    let mut means = vec![0.0; MOMENTS * columns];
    let mut total = 0.0;
    for y in 0..height {
        filter_row(a.row(y), b.row(y), taps, &mut ring[y % size]);
        if y + 1 < size {
            continue;
        }
        means.fill(0.0);
        for (t, tap) in taps.iter().enumerate() {
            let row = &ring[(y + 1 + t) % size];
            means.iter_mut().zip(row).for_each(|(mean, value)| *mean += tap * value);
        }
        total += (0..columns)
            .map(|x| local_similarity(std::array::from_fn(|m| means[m * columns + x]), covariance))
            .sum::<f64>();
    }
    Ok(total / (columns * (height - size + 1)) as f64)
}

/// Filters the five moments along a row. `out` holds one moment after the other.
fn filter_row(a: &[f64], b: &[f64], taps: &[f64], out: &mut [f64]) {
    out.fill(0.0);
    let columns = out.len() / MOMENTS;
    for (m, out) in out.chunks_exact_mut(columns).enumerate() {
        for (t, tap) in taps.iter().enumerate() {
            for ((out, a), b) in out.iter_mut().zip(&a[t..]).zip(&b[t..]) {
                let moment = match m {
                    0 => *a,
                    1 => *b,
                    2 => a * a,
                    3 => b * b,
                    _ => a * b,
                };
                *out += tap * moment;
            }
        }
    }
}

fn local_similarity([a, b, aa, bb, ab]: [f64; MOMENTS], covariance: f64) -> f64 {
    const C1: f64 = (0.01 * 255.0) * (0.01 * 255.0);
    const C2: f64 = (0.03 * 255.0) * (0.03 * 255.0);
    let (var_a, var_b) = (covariance * (aa - a * a), covariance * (bb - b * b));
    let both = covariance * (ab - a * b);
    (2.0 * a * b + C1) * (2.0 * both + C2) / ((a * a + b * b + C1) * (var_a + var_b + C2))
}
