//! Colour pictures and the chips cut from them.

mod placed;

use crate::error::{Error, Result};
use crate::similarity::Similarity;
use placed::Placed;
use pulp::Arch;

/// An upright colour picture, 8 bits a sample, red-green-blue, row by row.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Picture {
    width: usize,
    height: usize,
    rgb: Vec<u8>,
}

/// A square of values 0..=255: all reds, then all greens, then all blues, each row by row.
#[derive(Debug, Clone, PartialEq)]
pub struct Chip {
    side: usize,
    values: Vec<f32>,
}

impl Picture {
    /// `rgb` holds `3 * width * height` samples.
    pub fn new(width: usize, height: usize, rgb: Vec<u8>) -> Result<Self> {
        let expected = 3usize.saturating_mul(width).saturating_mul(height);
        if rgb.len() != expected {
            return Err(Error::PictureData { width, height, expected, found: rgb.len() });
        }
        Ok(Self { width, height, rgb })
    }

    pub fn width(&self) -> usize {
        self.width
    }

    pub fn height(&self) -> usize {
        self.height
    }

    pub fn rgb(&self) -> &[u8] {
        &self.rgb
    }

    /// A picture of the same size with other samples; missing ones are black.
    pub(crate) fn with_samples(&self, mut rgb: Vec<u8>) -> Self {
        rgb.resize(self.rgb.len(), 0);
        Self { rgb, ..*self }
    }

    /// A picture of half the size; each pixel is the mean of four. An odd last row or column is dropped.
    pub fn halved(&self) -> Picture {
        halved(self.width, self.height, &self.rgb)
    }

    /// [`Picture::halved`] of samples as [`Picture::new`] takes them, without a copy.
    pub fn half_of(width: usize, height: usize, rgb: &[u8]) -> Result<Self> {
        let expected = 3usize.saturating_mul(width).saturating_mul(height);
        if rgb.len() != expected {
            return Err(Error::PictureData { width, height, expected, found: rgb.len() });
        }
        Ok(halved(width, height, rgb))
    }

    /// The colour at a point, by bilinear interpolation; black outside. Pixel centres are integers.
    fn at(&self, x: f32, y: f32) -> [f32; 3] {
        let (left, top) = (floor(x), floor(y));
        let (right, bottom) = (x - left, y - top);
        let weights = [
            (1.0 - right) * (1.0 - bottom),
            right * (1.0 - bottom),
            (1.0 - right) * bottom,
            right * bottom,
        ];
        let mut colour = [0.0; 3];
        let mut add = |pixel: &[u8], weight: f32| {
            colour.iter_mut().zip(pixel).for_each(|(c, p)| *c += weight * f32::from(*p));
        };
        let (last_x, last_y) = (self.width as f32 - 1.0, self.height as f32 - 1.0);
        if left >= 0.0 && top >= 0.0 && left < last_x && top < last_y {
            let first = 3 * (top as usize * self.width + left as usize);
            let (upper, lower) =
                (&self.rgb[first..][..6], &self.rgb[first + 3 * self.width..][..6]);
            let pixels = [&upper[..3], &upper[3..], &lower[..3], &lower[3..]];
            pixels.into_iter().zip(weights).for_each(|(pixel, weight)| add(pixel, weight));
            return colour;
        }
        let places = [(left, top), (left + 1.0, top), (left, top + 1.0), (left + 1.0, top + 1.0)];
        for ((x, y), weight) in places.into_iter().zip(weights) {
            if x >= 0.0 && y >= 0.0 && x <= last_x && y <= last_y {
                add(&self.rgb[3 * (y as usize * self.width + x as usize)..][..3], weight);
            }
        }
        colour
    }

    /// The picture under a transform, by bilinear interpolation; black outside. Faster than a chip, and
    /// rounded to 8 bits.
    pub(crate) fn placed(&self, placement: &Similarity, width: usize, height: usize) -> Picture {
        let (back, mut rgb) = (&placement.inverse(), vec![0; 3 * width * height]);
        if self.width >= 2 && self.height >= 2 {
            let lines = rgb.chunks_exact_mut(3 * width.max(1));
            for (y, line) in lines.enumerate() {
                let line = line.as_chunks_mut().0;
                Arch::new().dispatch(Placed { picture: self, back, y, line });
            }
        }
        Picture { width, height, rgb }
    }

    /// Cuts a chip. `placement` maps the picture to the chip. To avoid aliasing, the picture is halved
    /// until one chip pixel covers at most two of its pixels.
    pub fn chip(&self, placement: &Similarity, side: usize) -> Chip {
        if placement.scale() < 0.5 && self.width >= 4 && self.height >= 4 {
            return self.halved().chip(&placement.for_half_size(), side);
        }
        let back = placement.inverse();
        let mut values = vec![0.0; 3 * side * side];
        for y in 0..side {
            for x in 0..side {
                let [px, py] = back.apply([x as f32, y as f32]);
                for (c, value) in self.at(px, py).into_iter().enumerate() {
                    values[(c * side + y) * side + x] = value;
                }
            }
        }
        Chip { side, values }
    }
}

/// `x.floor()`, which is a function call on old processors, of numbers that fit.
fn floor(x: f32) -> f32 {
    let whole = x as i32 as f32;
    match whole.partial_cmp(&x) {
        Some(std::cmp::Ordering::Greater) => whole - 1.0,
        Some(_) => whole,
        None => x,
    }
}

fn halved(width: usize, height: usize, rgb: &[u8]) -> Picture {
    let (whole, width, height) = (width, width / 2, height / 2);
    let mut half = vec![0; 3 * width * height];
    let mut sums = vec![0; 6 * width];
    for (y, line) in half.chunks_exact_mut((3 * width).max(1)).enumerate() {
        let [upper, lower] = [2 * y, 2 * y + 1].map(|y| &rgb[3 * y * whole..]);
        for (sum, (a, b)) in sums.iter_mut().zip(upper.iter().zip(lower)) {
            *sum = u16::from(*a) + u16::from(*b);
        }
        for (pixel, sums) in line.as_chunks_mut::<3>().0.iter_mut().zip(sums.as_chunks().0) {
            *pixel = mean_of_four(sums);
        }
    }
    Picture { width, height, rgb: half }
}

/// The mean of four pixels, from the sums of two pairs one above the other.
#[inline]
fn mean_of_four(sums: &[u16; 6]) -> [u8; 3] {
    // Nothing can overflow: a sum is at most 510.
    [0, 1, 2].map(|c| (sums[c].wrapping_add(sums[c + 3]).wrapping_add(2) / 4) as u8)
}

impl Chip {
    /// `values` are three planes of `side x side` values between 0 and 255.
    pub fn new(side: usize, values: Vec<f32>) -> Result<Self> {
        let expected = 3usize.saturating_mul(side).saturating_mul(side);
        if values.len() != expected {
            return Err(Error::ChipSize { expected, found: values.len() });
        }
        if let Some(index) = values.iter().position(|v| !(0.0..=255.0).contains(v)) {
            return Err(Error::ChipValue { index });
        }
        Ok(Self { side, values })
    }

    pub fn side(&self) -> usize {
        self.side
    }

    pub fn values(&self) -> &[f32] {
        &self.values
    }
}
