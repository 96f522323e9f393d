//! Reducing a picture as `image` does with its filter `Lanczos3`: the same samples, several times as fast, since
//! whole lines are added up.

use std::ops::Range;

use pulp::{Arch, NullaryFnOnce};

const COLOURS: usize = 3;
/// The reach of the filter, in pixels of the result.
const REACH: f32 = 3.0;

/// `rgb` holds `width * height` pixels; neither size may be 0.
pub(super) fn reduced(rgb: &[u8], from: [usize; 2], to: [usize; 2]) -> Vec<u8> {
    Arch::new().dispatch(Reduced { rgb, from, to })
}

/// Compiled for the vector instructions of the machine it runs on, which a closure would not be.
struct Reduced<'a> {
    rgb: &'a [u8],
    from: [usize; 2],
    to: [usize; 2],
}

impl NullaryFnOnce for Reduced<'_> {
    type Output = Vec<u8>;

    #[inline(always)]
    fn call(self) -> Vec<u8> {
        let Self { rgb, from: [width, height], to: [narrow, low] } = self;
        let across = windows(width, narrow);
        let mut result = Vec::with_capacity(COLOURS * narrow * low);
        let mut line = vec![0.0; COLOURS * width];
        for (rows, weights) in windows(height, low) {
            line.fill(0.0);
            for (row, weight) in rgb.chunks_exact(COLOURS * width).skip(rows.start).zip(&weights) {
                line.iter_mut().zip(row).for_each(|(sum, v)| *sum += f32::from(*v) * weight);
            }
            let pixels = line.as_chunks::<COLOURS>().0;
            for (columns, weights) in &across {
                let mut sum = [0.0; COLOURS];
                for (pixel, weight) in pixels[columns.clone()].iter().zip(weights) {
                    sum.iter_mut().zip(pixel).for_each(|(sum, v)| *sum += v * weight);
                }
                result.extend(sum.map(|v| v.clamp(0.0, 255.0).round() as u8));
            }
        }
        result
    }
}

/// For each place of the result, the places it is made from and their weights.
fn windows(from: usize, to: usize) -> Vec<(Range<usize>, Vec<f32>)> {
    let ratio = from as f32 / to as f32;
    let stretch = ratio.max(1.0);
    let window = |at: usize| {
        let centre = (at as f32 + 0.5) * ratio;
        let first = ((centre - REACH * stretch).floor().max(0.0) as usize).min(from - 1);
        let last = ((centre + REACH * stretch).ceil() as usize).clamp(first + 1, from);
        let weight = |place: usize| lanczos((place as f32 - (centre - 0.5)) / stretch);
        let weights: Vec<f32> = (first..last).map(weight).collect();
        let sum = weights.iter().fold(0.0, |sum, weight| sum + weight);
        (first..last, weights.iter().map(|weight| weight / sum).collect())
    };
    (0..to).map(window).collect()
}

fn lanczos(x: f32) -> f32 {
    if x.abs() < REACH { sinc(x) * sinc(x / REACH) } else { 0.0 }
}

fn sinc(t: f32) -> f32 {
    let a = t * std::f32::consts::PI;
    if t == 0.0 { 1.0 } else { a.sin() / a }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use image::imageops::{FilterType, resize};
    use image::{ImageBuffer, Rgb};

    use super::*;

    #[test]
    fn samples_are_those_of_image() {
        for (from, to) in [([333, 290], [320, 279]), ([900, 41], [320, 15]), ([321, 2], [320, 2])] {
            let sample = |n: usize| ((n as u32).wrapping_mul(2_654_435_761) >> 21) as u8;
            let rgb: Vec<u8> = (0..COLOURS * from[0] * from[1]).map(sample).collect();
            let [width, height, narrow, low] = [from[0], from[1], to[0], to[1]].map(|n| n as u32);
            let full = ImageBuffer::<Rgb<u8>, &[u8]>::from_raw(width, height, &rgb).unwrap();
            let expected = resize(&full, narrow, low, FilterType::Lanczos3).into_raw();
            assert_eq!(reduced(&rgb, from, to), expected, "{from:?}");
        }
    }
}
