//! Lines of a picture under a transform.

use pulp::NullaryFnOnce;

use super::Picture;
use crate::similarity::Similarity;

/// Fixed-point positions: 1 pixel is 2^16.
const ONE: f32 = 65_536.0;
/// Pixels that are computed together.
const RUN: usize = 64;

/// Writes line `y` of a picture of at least 2x2 pixels under a transform; pixels outside are black. Compiled for
/// the vector instructions of the machine it runs on, which a closure would not be: only loading is done pixel by
/// pixel. Nothing can overflow but positions far outside.
pub(super) struct Placed<'a> {
    pub(super) picture: &'a Picture,
    pub(super) back: &'a Similarity,
    pub(super) y: usize,
    pub(super) line: &'a mut [[u8; 3]],
}

impl NullaryFnOnce for Placed<'_> {
    type Output = ();

    #[inline(always)]
    fn call(self) {
        let Self { picture: Picture { width, height, rgb }, back, y, line } = self;
        let fixed = |place: f32| (place * ONE).round() as i64;
        let [u, v] = back.apply([0.0, y as f32]).map(fixed);
        let [across, down, _, _] = back.parameters().map(fixed);
        let (last_x, last_y) = (width.wrapping_sub(1) as u64, height.wrapping_sub(1) as u64);
        for (n, pixels) in line.chunks_mut(RUN).enumerate() {
            let mut places = [0; RUN];
            let [mut inside, mut right, mut bottom] = [[0; RUN]; 3];
            for i in 0..RUN {
                let x = (n * RUN).wrapping_add(i) as i64;
                let u = u.wrapping_add(x.wrapping_mul(across));
                let v = v.wrapping_add(x.wrapping_mul(down));
                // Negative ones are large numbers.
                let (left, top) = ((u >> 16) as u64, (v >> 16) as u64);
                if (left < last_x) & (top < last_y) {
                    inside[i] = u32::MAX;
                    places[i] = top.wrapping_mul(*width as u64).wrapping_add(left).wrapping_mul(3);
                }
                (right[i], bottom[i]) = ((u >> 8 & 255) as u32, (v >> 8 & 255) as u32);
            }
            let [mut upper, mut lower] = [[0; RUN]; 2];
            for (i, place) in places.iter().enumerate().take(pixels.len()) {
                upper[i] = two_pixels(rgb, *place as usize);
                lower[i] = two_pixels(rgb, *place as usize + 3 * width);
            }
            let mut blended = [0; RUN];
            for shift in [0, 8, 16] {
                for i in 0..RUN {
                    let mix = |a: u32, b: u32, second: u32| {
                        (a << 8).wrapping_add(b.wrapping_sub(a).wrapping_mul(second))
                    };
                    let between = |line: u64| {
                        let (a, b) = ((line >> shift) as u32, (line >> (shift + 24)) as u32);
                        mix(a & 255, b & 255, right[i])
                    };
                    let sum = mix(between(upper[i]), between(lower[i]), bottom[i]);
                    blended[i] |= (sum.wrapping_add(32_768) >> 16 << shift) & inside[i];
                }
            }
            for (pixel, blended) in pixels.iter_mut().zip(blended) {
                let [red, green, blue, _] = blended.to_le_bytes();
                *pixel = [red, green, blue];
            }
        }
    }
}

/// Two neighbouring pixels in the low six bytes of a number, and whatever follows them.
#[inline(always)]
fn two_pixels(rgb: &[u8], at: usize) -> u64 {
    match rgb.get(at..).and_then(|rest| rest.first_chunk()) {
        Some(eight) => u64::from_le_bytes(*eight),
        None => last_pixels(rgb, at),
    }
}

/// [`two_pixels`] at the end of a picture.
#[cold]
fn last_pixels(rgb: &[u8], at: usize) -> u64 {
    let rest = rgb.get(at..).unwrap_or_default();
    rest.iter().rev().fold(0, |number, byte| number << 8 | u64::from(*byte))
}
