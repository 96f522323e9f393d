//! The perceptual quality of a face: SSIMULACRA2 of the face as it is seen on a screen.
//!
//! The score is 100 if nothing changed. According to its authors, 90 is visually lossless, 70 high quality
//! and 50 medium quality.

use facedp_nets::Picture;
use fast_ssim2::{PixelDescriptor, PixelSlice, Ssimulacra2Reference};
use image::imageops::{FilterType, resize};
use image::{ImageBuffer, Rgb};

use crate::detect::DetectedFace;
use crate::error::{Error, Result};
use crate::photo::{Photo, Region};

/// Side of the square around a face, as a multiple of the longer side of its box.
const SURROUNDINGS: f32 = 1.5;
/// Largest side at which a face is seen, in pixels.
const MAX_SIDE: usize = 320;

/// The square in which the quality of a face is measured, cut off at the edges of the photo.
pub(crate) fn square(face: &DetectedFace, photo: &Photo) -> Region {
    let [left, top, width, height] = face.rect;
    let side = SURROUNDINGS * width.max(height);
    let span = |start: f32, length: f32, size: usize| {
        let low = (start + (length - side) / 2.0).round().clamp(0.0, (size - 1) as f32) as usize;
        let high = (start + (length + side) / 2.0).round().clamp(0.0, size as f32) as usize;
        (low, high.max(low + 1) - low)
    };
    let ((x, width), (y, height)) =
        (span(left, width, photo.width()), span(top, height, photo.height()));
    Region { x, y, width, height }
}

/// A picture as it is seen on a screen: reduced to at most 320 pixels, never enlarged.
pub(crate) fn seen(picture: &Picture) -> Result<Picture> {
    let (width, height) = (picture.width(), picture.height());
    let longer = width.max(height);
    if longer <= MAX_SIDE {
        return Ok(picture.clone());
    }
    let wrong = || Error::Score { problem: format!("a picture of {width}x{height} pixels") };
    let size = |length: usize| ((length * MAX_SIDE + longer / 2) / longer).max(1) as u32;
    let full = ImageBuffer::<Rgb<u8>, &[u8]>::from_raw(width as u32, height as u32, picture.rgb());
    let small = resize(&full.ok_or_else(wrong)?, size(width), size(height), FilterType::Lanczos3);
    let (width, height) = (small.width() as usize, small.height() as usize);
    Ok(Picture::new(width, height, small.into_raw())?)
}

/// A picture that others are compared with.
pub(crate) struct Original(Ssimulacra2Reference);

impl Original {
    pub(crate) fn new(picture: &Picture) -> Result<Self> {
        Ok(Self(Ssimulacra2Reference::new(&pixels(picture)?).map_err(failed)?))
    }

    /// The SSIMULACRA2 score of a changed picture of the same size: 100 if nothing changed.
    pub(crate) fn score(&self, changed: &Picture) -> Result<f64> {
        self.0.compare(&pixels(changed)?).map_err(failed)
    }
}

fn pixels(picture: &Picture) -> Result<PixelSlice<'_>> {
    let (width, height) = (picture.width() as u32, picture.height() as u32);
    let stride = 3 * picture.width();
    PixelSlice::new(picture.rgb(), width, height, stride, PixelDescriptor::RGB8_SRGB)
        .map_err(|e| Error::Score { problem: e.to_string() })
}

fn failed(error: fast_ssim2::Ssimulacra2Error) -> Error {
    Error::Score { problem: error.to_string() }
}
