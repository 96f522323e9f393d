//! A decoded photo: samples, the parts of them that others look at, and adding noise.

mod container;
mod decode;
mod encode;
mod exif;
mod fixed;
mod jpeg;
mod webp;

use std::fmt::{self, Display};
use std::ops::Range;

use facedp::Plane;
use facedp_nets::Picture;
use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};
use crate::lift::Tint;
use container::Wrapping;

pub(crate) use decode::Head;
pub use decode::Limits;
pub(crate) use encode::jpeg as encode_jpeg;
pub use encode::{Encoded, Encoding, Metadata};

/// File formats that are read and written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Format {
    /// JPEG.
    Jpeg,
    /// PNG.
    Png,
    /// WebP.
    WebP,
}

impl Format {
    /// What a web server calls it.
    pub fn media_type(self) -> &'static str {
        match self {
            Format::Jpeg => "image/jpeg",
            Format::Png => "image/png",
            Format::WebP => "image/webp",
        }
    }
}

impl Display for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Format::Jpeg => "JPEG",
            Format::Png => "PNG",
            Format::WebP => "WebP",
        })
    }
}

/// A decoded photo, upright: grey or colour, 8 or 16 bit, with or without alpha, and what its file
/// held besides pixels.
#[derive(Clone)]
pub struct Photo {
    width: usize,
    height: usize,
    /// 1 grey, 2 grey and alpha, 3 red-green-blue, 4 with alpha.
    channels: usize,
    samples: Samples,
    wrapping: Wrapping,
}

/// Samples pixel by pixel, row by row.
#[derive(Clone, PartialEq, Eq)]
enum Samples {
    Eight(Vec<u8>),
    Sixteen(Vec<u16>),
}

/// A rectangle of pixels inside a photo.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Region {
    /// Leftmost column.
    pub x: usize,
    /// Uppermost row.
    pub y: usize,
    /// Columns.
    pub width: usize,
    /// Rows.
    pub height: usize,
}

/// Samples of one depth as grey levels 0..=255.
trait Sample: Copy + PartialEq {
    /// Steps of a sample to a grey level.
    const STEPS: f32;
    fn level(self) -> f64;
    fn byte(self) -> u8;
    /// The sample that many steps away, cut to the range.
    fn moved(self, steps: i32) -> Self;
    /// The sample nearest to a number.
    fn nearest(value: i64) -> Self;
}

impl Sample for u8 {
    const STEPS: f32 = 1.0;
    fn level(self) -> f64 {
        f64::from(self)
    }
    fn byte(self) -> u8 {
        self
    }
    fn moved(self, steps: i32) -> Self {
        i32::from(self).saturating_add(steps).clamp(0, 255) as u8
    }
    fn nearest(value: i64) -> Self {
        value.clamp(0, 255) as u8
    }
}

impl Sample for u16 {
    const STEPS: f32 = 257.0;
    fn level(self) -> f64 {
        f64::from(self) / 257.0
    }
    fn byte(self) -> u8 {
        ((u32::from(self) * 255 + 32_767) / 65_535) as u8
    }
    fn moved(self, steps: i32) -> Self {
        i32::from(self).saturating_add(steps).clamp(0, 65_535) as u16
    }
    fn nearest(value: i64) -> Self {
        value.clamp(0, 65_535) as u16
    }
}

/// To the nearest whole number, cut to what any sample can move by. Adding this much leaves no room
/// for a fraction: several times faster than `round`, which is a function call on old processors.
fn rounded(change: f32) -> i32 {
    const WHOLE: f32 = 12_582_912.0; // 1.5 * 2^23
    (change.clamp(-66_000.0, 66_000.0) + WHOLE).to_bits().wrapping_sub(WHOLE.to_bits()) as i32
}

/// A sample moved by so many grey levels.
fn move_by<S: Sample>(sample: S, levels: f32) -> S {
    sample.moved(rounded(levels * S::STEPS))
}

/// Runs the same code on samples of either depth.
macro_rules! with_samples {
    ($samples:expr, $name:ident => $body:expr) => {
        match $samples {
            Samples::Eight($name) => $body,
            Samples::Sixteen($name) => $body,
        }
    };
}
use with_samples;

impl Photo {
    /// Pixels in a row.
    pub fn width(&self) -> usize {
        self.width
    }

    /// Number of rows.
    pub fn height(&self) -> usize {
        self.height
    }

    /// The format of its file.
    pub fn format(&self) -> Format {
        self.wrapping.format
    }

    /// Kinds of metadata in its file.
    pub fn metadata(&self) -> &[String] {
        &self.wrapping.found
    }

    /// All of it.
    pub fn whole(&self) -> Region {
        Region { x: 0, y: 0, width: self.width, height: self.height }
    }

    /// The centre square: `crop` pixels wide, or as large as fits.
    pub fn centre(&self, crop: Option<u32>) -> Result<Region> {
        let (width, height) = (self.width, self.height);
        let fits = width.min(height);
        let side = crop.map_or(fits, |side| side as usize);
        if side > fits {
            return Err(Error::Crop { side, width, height });
        }
        Ok(Region { x: (width - side) / 2, y: (height - side) / 2, width: side, height: side })
    }

    pub(crate) fn has_colour(&self) -> bool {
        self.channels >= 3
    }

    fn has_alpha(&self) -> bool {
        matches!(self.channels, 2 | 4)
    }

    /// Where samples of a row of a region lie.
    fn span(&self, y: usize, columns: Range<usize>) -> Range<usize> {
        let first = y * self.width;
        (first + columns.start) * self.channels..(first + columns.end) * self.channels
    }

    /// Grey levels 0..=255 of a region (ITU-R BT.601 luma), not rounded.
    pub fn luma(&self, region: Region) -> Plane {
        let mut plane = Plane::zeros(region.width, region.height);
        for (y, out) in plane.data_mut().chunks_exact_mut(region.width.max(1)).enumerate() {
            let span = self.span(region.y + y, region.columns());
            with_samples!(&self.samples, samples => luma_row(&samples[span], self.channels, out));
        }
        plane
    }

    /// A region as a photo of its own.
    pub fn crop(&self, region: Region) -> Self {
        let rows = (region.y..region.y + region.height).map(|y| self.span(y, region.columns()));
        let samples = match &self.samples {
            Samples::Eight(all) => {
                Samples::Eight(rows.flat_map(|row| &all[row]).copied().collect())
            }
            Samples::Sixteen(all) => {
                Samples::Sixteen(rows.flat_map(|row| &all[row]).copied().collect())
            }
        };
        let Region { width, height, .. } = region;
        Self { width, height, channels: self.channels, samples, wrapping: self.wrapping.bare() }
    }

    /// A region in colour, 8 bits a sample, as networks take it.
    pub fn picture(&self, region: Region) -> Result<Picture> {
        let mut rgb = Vec::with_capacity(3 * region.width * region.height);
        let step = usize::from(self.has_colour());
        for y in region.y..region.y + region.height {
            let span = self.span(y, region.columns());
            with_samples!(&self.samples, samples => {
                for pixel in samples[span].chunks_exact(self.channels) {
                    rgb.extend([pixel[0].byte(), pixel[step].byte(), pixel[2 * step].byte()]);
                }
            });
        }
        Ok(Picture::new(region.width, region.height, rgb)?)
    }

    /// The whole photo at half its size, in colour: each pixel the mean of four.
    pub fn half_picture(&self) -> Result<Picture> {
        let (width, height) = (self.width / 2, self.height / 2);
        let mut rgb = Vec::with_capacity(3 * width * height);
        let step = usize::from(self.has_colour());
        for y in 0..height {
            let lines = [2 * y, 2 * y + 1].map(|y| self.span(y, 0..2 * width));
            with_samples!(&self.samples, samples => {
                let [upper, lower] = lines.map(|line| samples[line].chunks_exact(2 * self.channels));
                for (upper, lower) in upper.zip(lower) {
                    rgb.extend([0, step, 2 * step].map(|c| {
                        let four = [upper[c], upper[self.channels + c], lower[c], lower[self.channels + c]];
                        let sum: u16 = four.iter().map(|s| u16::from(s.byte())).sum();
                        ((sum + 2) / 4) as u8
                    }));
                }
            });
        }
        Ok(Picture::new(width, height, rgb)?)
    }

    /// Adds a change in grey levels to a row from column `x` on, to all colour channels alike; alpha
    /// stays. Returns whether any sample changed.
    pub(crate) fn add_row(&mut self, x: usize, y: usize, change: &[f32]) -> bool {
        let span = self.span(y, x..x + change.len());
        let channels = self.channels;
        with_samples!(&mut self.samples, samples => match channels {
            1 => move_pixels::<_, 1, 1>(&mut samples[span], change),
            2 => move_pixels::<_, 2, 1>(&mut samples[span], change),
            3 => move_pixels::<_, 3, 3>(&mut samples[span], change),
            _ => move_pixels::<_, 4, 3>(&mut samples[span], change),
        })
    }

    /// Adds changes of luma, blue and red (see [`Tint`](crate::lift::Tint)); grey photos take only the
    /// first. An empty line changes nothing. Returns whether any sample changed.
    pub(crate) fn add_row_tinted(&mut self, x: usize, y: usize, changes: [&[f32]; 3]) -> bool {
        if !self.has_colour() {
            return self.add_row(x, y, changes[0]);
        }
        let count = changes.iter().map(|line| line.len()).max().unwrap_or(0);
        let shares = [Tint::Luma, Tint::Blue, Tint::Red].map(Tint::shares);
        let span = self.span(y, x..x + count);
        let channels = self.channels;
        let mut changed = false;
        with_samples!(&mut self.samples, samples => {
            for (at, pixel) in samples[span].chunks_exact_mut(channels).enumerate() {
                for (c, sample) in pixel.iter_mut().take(3).enumerate() {
                    let parts = changes.iter().zip(&shares);
                    let by: f32 = parts.map(|(line, s)| line.get(at).map_or(0.0, |v| s[c] * v)).sum();
                    let moved = move_by(*sample, by);
                    changed |= moved != *sample;
                    *sample = moved;
                }
            }
        });
        changed
    }

    /// Forgets metadata, whether or not it would be written.
    pub(crate) fn forget_metadata(&mut self) {
        self.wrapping.forget_metadata();
    }

    /// BLAKE3 of what the photo shows: size, channels, depth and samples.
    pub fn digest(&self) -> [u8; 32] {
        let mut hash = blake3::Hasher::new();
        let depth: u64 = match self.samples {
            Samples::Eight(_) => 8,
            Samples::Sixteen(_) => 16,
        };
        for number in [self.width as u64, self.height as u64, self.channels as u64, depth] {
            hash.update(&number.to_le_bytes());
        }
        match &self.samples {
            Samples::Eight(samples) => drop(hash.update(samples)),
            Samples::Sixteen(samples) => {
                for row in samples.chunks(4096) {
                    let bytes: Vec<u8> = row.iter().flat_map(|s| s.to_le_bytes()).collect();
                    hash.update(&bytes);
                }
            }
        }
        *hash.finalize().as_bytes()
    }
}

impl Region {
    /// The smallest region that holds both.
    pub fn union(self, other: Self) -> Self {
        let (x, y) = (self.x.min(other.x), self.y.min(other.y));
        let right = (self.x + self.width).max(other.x + other.width);
        let bottom = (self.y + self.height).max(other.y + other.height);
        Self { x, y, width: right - x, height: bottom - y }
    }

    /// Whether any pixel is in both.
    pub fn overlaps(self, other: Self) -> bool {
        self.x < other.x + other.width
            && other.x < self.x + self.width
            && self.y < other.y + other.height
            && other.y < self.y + self.height
    }

    fn columns(&self) -> Range<usize> {
        self.x..self.x + self.width
    }
}

/// Moves the first `COLOURS` of the `CHANNELS` samples of each pixel alike. Returns whether any
/// changed.
fn move_pixels<S: Sample, const CHANNELS: usize, const COLOURS: usize>(
    samples: &mut [S],
    change: &[f32],
) -> bool {
    let mut changed = false;
    for (pixel, by) in samples.as_chunks_mut::<CHANNELS>().0.iter_mut().zip(change) {
        let steps = rounded(by * S::STEPS);
        if steps != 0 {
            for sample in &mut pixel[..COLOURS] {
                let before = std::mem::replace(sample, sample.moved(steps));
                changed |= before != *sample;
            }
        }
    }
    changed
}

fn luma_row<S: Sample>(samples: &[S], channels: usize, out: &mut [f64]) {
    let pixels = samples.chunks_exact(channels);
    if channels < 3 {
        pixels.zip(out).for_each(|(pixel, out)| *out = pixel[0].level());
    } else {
        for (pixel, out) in pixels.zip(out) {
            *out = luma([0, 1, 2].map(|c| pixel[c].level()));
        }
    }
}

/// The grey level of a colour (ITU-R BT.601).
fn luma([red, green, blue]: [f64; 3]) -> f64 {
    0.299 * red + 0.587 * green + 0.114 * blue
}
