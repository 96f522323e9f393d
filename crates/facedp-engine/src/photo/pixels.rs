//! Photos that never were a file: samples in memory, as other programs hold them.

use super::container::Container;
use super::decode::{Head, Limits};
use super::encode::Encoded;
use super::{Photo, Samples};
use crate::error::{Error, Result};
use crate::format::Format;

/// 8-bit samples of an upright picture, interleaved, in row-major order. Their colours are taken for sRGB.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pixels {
    pub width: usize,
    pub height: usize,
    /// 1: grey; 2: grey and alpha; 3: RGB; 4: RGBA.
    pub channels: usize,
    pub samples: Vec<u8>,
}

impl Pixels {
    /// The photo with these samples. It counts as a PNG file, which would hold them exactly.
    pub fn into_photo(self, limits: &Limits) -> Result<Photo> {
        let Self { width, height, channels, samples } = self;
        let wrong = Error::Pixels { samples: samples.len(), width, height, channels };
        let sides = u32::try_from(width).ok().zip(u32::try_from(height).ok());
        let (Some(sides), 1..=4, 1..) = (sides, channels, samples.len()) else { return Err(wrong) };
        limits.require(sides, samples.len() as u64)?;
        if width.checked_mul(height).and_then(|n| n.checked_mul(channels)) != Some(samples.len()) {
            return Err(wrong);
        }
        let (samples, container) = (Samples::U8(samples), Container::new(Format::Png));
        Ok(Photo { width, height, channels, samples, container })
    }
}

impl Photo {
    /// The samples in place of a file, and the photo itself if it is still needed.
    pub(crate) fn into_encoded(self, needed: bool) -> (Encoded, Option<Self>) {
        let copy = needed.then(|| self.clone());
        let file = match self.samples {
            Samples::U8(samples) => samples,
            Samples::U16(samples) => samples.into_iter().flat_map(u16::to_ne_bytes).collect(),
        };
        let Container { format, notes, .. } = self.container;
        (Encoded { file, format, stripped: Vec::new(), notes }, copy)
    }
}

/// Where a photo comes from.
pub(crate) enum Source<'a> {
    File(Head<'a>),
    Pixels(Photo),
}

impl Source<'_> {
    /// Bytes that it takes, decoded.
    pub(crate) fn bytes(&self) -> u64 {
        match self {
            Source::File(head) => head.bytes(),
            Source::Pixels(photo) => (photo.width * photo.height * photo.channels) as u64,
        }
    }

    pub(crate) fn decode(self) -> Result<Photo> {
        match self {
            Source::File(head) => head.decode(),
            Source::Pixels(photo) => Ok(photo),
        }
    }
}
