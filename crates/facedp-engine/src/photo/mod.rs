//! A decoded photo: reading its samples, and adding changes to them.

mod boxes;
mod colour;
mod container;
mod curve;
mod decode;
mod displace;
mod encode;
mod exif;
mod fields;
mod heic;
mod jpeg;
mod packed;
mod pixels;
mod plain;
mod profile;
mod untreated;
mod webp;
mod xmp;

use std::ops::Range;

use facedp::Plane;
use facedp_nets::Picture;

use crate::error::{Error, Result};
use crate::format::Format;
use container::Container;

pub(crate) use decode::Head;
pub use decode::Limits;
pub(crate) use encode::{Encoding, Metadata, encode_jpeg};
pub use pixels::Pixels;
pub(crate) use pixels::Source;
pub(crate) use untreated::Untreated;

/// A decoded, upright photo: grey or colour, 8 or 16 bits, with or without alpha. It keeps the other
/// parts of its file for encoding.
#[derive(Clone)]
pub struct Photo {
    width: usize,
    height: usize,
    /// 1: grey; 2: grey and alpha; 3: RGB; 4: RGBA.
    channels: usize,
    samples: Samples,
    container: Container,
}

/// Interleaved samples in row-major order.
#[derive(Clone, PartialEq, Eq)]
enum Samples {
    U8(Vec<u8>),
    U16(Vec<u16>),
}

/// A rectangle of pixels inside a photo.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Region {
    /// Leftmost column.
    pub x: usize,
    /// Top row.
    pub y: usize,
    pub width: usize,
    pub height: usize,
}

/// A sample of 8 or 16 bits, as a grey level from 0 to 255.
trait Sample: Copy + PartialEq {
    /// Sample values per grey level.
    const STEPS_PER_LEVEL: f32;
    /// A change of a sample.
    type Step: Copy + Default;
    fn level(self) -> f64;
    fn to_u8(self) -> u8;
    /// A number of steps, clamped to the largest possible change.
    fn step(steps: i32) -> Self::Step;
    /// The sample plus a number of steps, clamped to the range.
    fn moved(self, by: Self::Step) -> Self;
    /// A number clamped to the range.
    fn clamped(value: i64) -> Self;
}

impl Sample for u8 {
    const STEPS_PER_LEVEL: f32 = 1.0;
    type Step = i16;
    #[inline(always)]
    fn level(self) -> f64 {
        f64::from(self)
    }
    #[inline(always)]
    fn to_u8(self) -> u8 {
        self
    }
    #[inline(always)]
    fn step(steps: i32) -> i16 {
        steps.clamp(-255, 255) as i16
    }
    #[inline(always)]
    fn moved(self, by: i16) -> Self {
        i16::from(self).saturating_add(by).clamp(0, 255) as u8
    }
    #[inline(always)]
    fn clamped(value: i64) -> Self {
        value.clamp(0, 255) as u8
    }
}

impl Sample for u16 {
    const STEPS_PER_LEVEL: f32 = 257.0;
    type Step = i32;
    #[inline(always)]
    fn level(self) -> f64 {
        f64::from(self) / 257.0
    }
    #[inline(always)]
    fn to_u8(self) -> u8 {
        ((u32::from(self) * 255 + 32_767) / 65_535) as u8
    }
    #[inline(always)]
    fn step(steps: i32) -> i32 {
        steps.clamp(-65_535, 65_535)
    }
    #[inline(always)]
    fn moved(self, by: i32) -> Self {
        i32::from(self).wrapping_add(by).clamp(0, 65_535) as u16 // Far from an overflow.
    }
    #[inline(always)]
    fn clamped(value: i64) -> Self {
        value.clamp(0, 65_535) as u16
    }
}

/// Rounds to the nearest integer, clamped to the largest possible change of a sample. Adding 1.5 * 2^23
/// leaves no fraction bits, which is several times faster than `round`, a function call on old processors.
#[inline(always)]
fn rounded(change: f32) -> i32 {
    const WHOLE: f32 = 12_582_912.0;
    (change.clamp(-66_000.0, 66_000.0) + WHOLE).to_bits().wrapping_sub(WHOLE.to_bits()) as i32
}

/// Runs the same code on samples of either depth.
macro_rules! with_samples {
    ($samples:expr, $name:ident => $body:expr) => {
        match $samples {
            Samples::U8($name) => $body,
            Samples::U16($name) => $body,
        }
    };
}
use with_samples;

impl Photo {
    pub fn width(&self) -> usize {
        self.width
    }

    pub fn height(&self) -> usize {
        self.height
    }

    /// The format of the file it was decoded from.
    pub fn format(&self) -> Format {
        self.container.format
    }

    /// Kinds of metadata in the file it was decoded from.
    pub fn metadata(&self) -> &[String] {
        &self.container.metadata_kinds
    }

    /// The region that covers the photo.
    pub fn whole(&self) -> Region {
        Region { x: 0, y: 0, width: self.width, height: self.height }
    }

    /// The centre square: `crop` pixels wide, or the largest that fits.
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

    /// Index range of the samples of row `y` in these columns.
    fn span(&self, y: usize, columns: Range<usize>) -> Range<usize> {
        let first = y * self.width;
        (first + columns.start) * self.channels..(first + columns.end) * self.channels
    }

    /// ITU-R BT.601 luma of a region, 0 to 255, not rounded.
    pub fn luma(&self, region: Region) -> Plane {
        let mut plane = Plane::zeros(region.width, region.height);
        for (y, out) in plane.data_mut().chunks_exact_mut(region.width.max(1)).enumerate() {
            let span = self.span(region.y + y, region.columns());
            with_samples!(&self.samples, samples => luma_row(&samples[span], self.channels, out));
        }
        plane
    }

    /// The photo as it will be in the file that [`Self::encode`] makes.
    pub(crate) fn into_written(self, encoding: &Encoding) -> Result<Self> {
        if self.is_lossless(encoding) {
            return Ok(self);
        }
        let encoding = Encoding { metadata: Metadata::Strip, ..*encoding };
        Self::decode(&self.encode(&encoding)?.file, &Limits::default())
    }

    /// A region as a separate photo with the same compression, without metadata.
    pub fn crop(&self, region: Region) -> Self {
        let rows: Vec<_> =
            (region.y..region.y + region.height).map(|y| self.span(y, region.columns())).collect();
        let samples = match &self.samples {
            Samples::U8(all) => Samples::U8(joined(all, &rows)),
            Samples::U16(all) => Samples::U16(joined(all, &rows)),
        };
        let Region { width, height, .. } = region;
        Self {
            width,
            height,
            channels: self.channels,
            samples,
            container: self.container.emptied(),
        }
    }

    /// A region as 8-bit RGB, the input of networks.
    pub fn picture(&self, region: Region) -> Result<Picture> {
        let mut rgb = Vec::with_capacity(3 * region.width * region.height);
        let step = usize::from(self.has_colour());
        for y in region.y..region.y + region.height {
            let span = self.span(y, region.columns());
            if let (3, Samples::U8(samples)) = (self.channels, &self.samples) {
                rgb.extend_from_slice(&samples[span]);
                continue;
            }
            with_samples!(&self.samples, samples => {
                for pixel in samples[span].chunks_exact(self.channels) {
                    rgb.extend([pixel[0].to_u8(), pixel[step].to_u8(), pixel[2 * step].to_u8()]);
                }
            });
        }
        Ok(Picture::new(region.width, region.height, rgb)?)
    }

    /// The photo at half its size, as 8-bit RGB: each pixel is the mean of four.
    pub fn half_picture(&self) -> Result<Picture> {
        if let (3, Samples::U8(samples)) = (self.channels, &self.samples) {
            return Ok(Picture::half_of(self.width, self.height, samples)?);
        }
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
                        let sum: u16 = four.iter().map(|s| u16::from(s.to_u8())).sum();
                        ((sum + 2) / 4) as u8
                    }));
                }
            });
        }
        Ok(Picture::new(width, height, rgb)?)
    }

    /// Adds a change in grey levels to row `y`, starting at column `x`. All colour channels change alike;
    /// alpha does not. Returns whether any sample changed.
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

    /// Adds changes of red, green and blue in grey levels to row `y` of a coloured photo, starting at column
    /// `x`. Returns whether any sample changed.
    pub(crate) fn add_colours(&mut self, x: usize, y: usize, change: [&[f32]; 3]) -> bool {
        let span = self.span(y, x..x + change[0].len());
        let channels = self.channels;
        with_samples!(&mut self.samples, samples => {
            move_colours(samples[span].chunks_exact_mut(channels), change)
        })
    }

    /// Drops EXIF and XMP, so that they cannot be written.
    pub(crate) fn drop_metadata(&mut self) {
        self.container.drop_metadata();
    }

    /// BLAKE3 of size, channels, depth and samples. Keys' contexts and ledgers depend on it: it must not
    /// change.
    pub fn digest(&self) -> [u8; 32] {
        let mut hash = blake3::Hasher::new();
        let depth: u64 = match self.samples {
            Samples::U8(_) => 8,
            Samples::U16(_) => 16,
        };
        for number in [self.width as u64, self.height as u64, self.channels as u64, depth] {
            hash.update(&number.to_le_bytes());
        }
        match &self.samples {
            Samples::U8(samples) => drop(hash.update(samples)),
            Samples::U16(samples) => {
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
    /// The smallest region that contains both.
    pub fn union(self, other: Self) -> Self {
        let (x, y) = (self.x.min(other.x), self.y.min(other.y));
        let right = (self.x + self.width).max(other.x + other.width);
        let bottom = (self.y + self.height).max(other.y + other.height);
        Self { x, y, width: right - x, height: bottom - y }
    }

    /// The smallest region that contains it and whose edges are multiples of `grid`, or edges of the
    /// `whole`.
    pub(crate) fn on_grid(self, grid: usize, whole: Self) -> Self {
        let (x, y) = (self.x / grid * grid, self.y / grid * grid);
        let right = (self.x + self.width).next_multiple_of(grid).min(whole.width);
        let bottom = (self.y + self.height).next_multiple_of(grid).min(whole.height);
        Self { x, y, width: right - x, height: bottom - y }
    }

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

fn joined<T: Copy>(samples: &[T], rows: &[Range<usize>]) -> Vec<T> {
    rows.iter().map(|row| &samples[row.clone()]).collect::<Vec<_>>().concat()
}

/// Pixels that are changed together.
const RUN: usize = 64;

/// Adds a change to the first `COLOURS` of the `CHANNELS` samples of each pixel. Returns whether any
/// sample changed.
fn move_pixels<S: Sample, const CHANNELS: usize, const COLOURS: usize>(
    samples: &mut [S],
    change: &[f32],
) -> bool {
    pulp::Arch::new().dispatch(Moved::<_, CHANNELS, COLOURS> { samples, change })
}

/// Compiled for the vector instructions of the machine it runs on, which a closure would not be, and without
/// branches: most pixels change.
struct Moved<'a, S, const CHANNELS: usize, const COLOURS: usize> {
    samples: &'a mut [S],
    change: &'a [f32],
}

impl<S: Sample, const CHANNELS: usize, const COLOURS: usize> pulp::NullaryFnOnce
    for Moved<'_, S, CHANNELS, COLOURS>
{
    type Output = bool;

    #[inline(always)]
    fn call(self) -> bool {
        let (runs, rest) = self.samples.as_chunks_mut::<CHANNELS>().0.as_chunks_mut::<RUN>();
        let (changes, last) = self.change.as_chunks::<RUN>();
        let mut changed = false;
        for (run, change) in runs.iter_mut().zip(changes) {
            changed |= move_run::<S, CHANNELS, COLOURS>(run, change);
        }
        // The last pixels, with others that do not change.
        let mut run = [[S::clamped(0); CHANNELS]; RUN];
        let mut change = [0.0; RUN];
        run.iter_mut().zip(&*rest).for_each(|(run, rest)| *run = *rest);
        change.iter_mut().zip(last).for_each(|(change, last)| *change = *last);
        changed |= move_run::<S, CHANNELS, COLOURS>(&mut run, &change);
        rest.iter_mut().zip(run).for_each(|(rest, run)| *rest = run);
        changed
    }
}

#[inline(always)]
fn move_run<S: Sample, const CHANNELS: usize, const COLOURS: usize>(
    run: &mut [[S; CHANNELS]; RUN],
    change: &[f32; RUN],
) -> bool {
    let mut each = [[S::Step::default(); CHANNELS]; RUN];
    for (each, by) in each.iter_mut().zip(change) {
        let step = S::step(rounded(by * S::STEPS_PER_LEVEL));
        each.iter_mut().take(COLOURS).for_each(|colour| *colour = step);
    }
    let mut changed = false;
    for (sample, step) in run.as_flattened_mut().iter_mut().zip(each.as_flattened()) {
        let moved = sample.moved(*step);
        changed |= *sample != moved;
        *sample = moved;
    }
    changed
}

/// Adds a change of its own to each colour. Returns whether any sample changed.
fn move_colours<'a, S: Sample + 'a>(
    pixels: impl Iterator<Item = &'a mut [S]>,
    change: [&[f32]; 3],
) -> bool {
    let mut changed = false;
    for (at, pixel) in pixels.enumerate() {
        for (sample, change) in pixel.iter_mut().zip(change) {
            let moved = sample.moved(S::step(rounded(change[at] * S::STEPS_PER_LEVEL)));
            changed |= *sample != moved;
            *sample = moved;
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

/// ITU-R BT.601 luma.
fn luma([red, green, blue]: [f64; 3]) -> f64 {
    0.299 * red + 0.587 * green + 0.114 * blue
}
