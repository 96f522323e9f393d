//! The perceptual quality of a face: SSIMULACRA2 of the face as it is seen on a screen.
//!
//! The score is 100 if nothing changed. According to its authors, 90 is visually lossless, 70 high quality
//! and 50 medium quality.

mod reduced;
mod slope;

use facedp_nets::Picture;
use fast_ssim2::{PixelDescriptor, PixelSlice, Ssimulacra2Reference};

use crate::detect::DetectedFace;
use crate::error::{Error, Result};
use crate::photo::{Photo, Region};
use reduced::reduced;
pub(crate) use slope::{Cost, cost, cost_along, join, loss_at, score_at};

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
    let size = [width, height].map(|length| ((length * MAX_SIDE + longer / 2) / longer).max(1));
    let [narrow, low] = size;
    Ok(Picture::new(narrow, low, reduced(picture.rgb(), [width, height], size))?)
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

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use crate::photo::Limits;

    fn portrait() -> Photo {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/portrait.png");
        Photo::decode(&std::fs::read(path).unwrap(), &Limits::default()).unwrap()
    }

    fn changed(picture: &Picture, change: impl Fn(usize, usize, usize) -> i32) -> Picture {
        let (width, height) = (picture.width(), picture.height());
        let value = |n: usize| {
            let (x, y) = (n / 3 % width, n / 3 / width);
            change(x, y, n).clamp(0, 255) as u8
        };
        Picture::new(width, height, (0..3 * width * height).map(value).collect()).unwrap()
    }

    /// Scores of the Python package ssimulacra2 0.3.0 for the same pictures.
    #[test]
    fn scores_are_those_of_another_implementation() {
        let photo = portrait();
        let picture = photo.picture(photo.whole()).unwrap();
        let original = Original::new(&picture).unwrap();
        assert_eq!(original.score(&picture).unwrap(), 100.0);
        let at = |n: usize| i32::from(picture.rgb()[n]);
        let pattern = |x: usize, y: usize| ((7 * x + 13 * y) % 9) as i32 - 4;
        for (strength, expected) in [(1, 90.2709), (3, 71.8753)] {
            let noisy = changed(&picture, |x, y, n| at(n) + strength * pattern(x, y));
            let found = original.score(&noisy).unwrap();
            assert!((found - expected).abs() < 0.3, "{strength}: {found}");
        }
        // Implementations differ by a few points where hardly anything is left; so low, only the order counts.
        let shifted = changed(&picture, |x, _, n| if x > 0 { at(n - 3) } else { at(n) });
        let found = original.score(&shifted).unwrap();
        assert!((15.0..30.0).contains(&found), "{found}");
    }

    #[test]
    fn squares_stay_in_the_photo_and_are_reduced() {
        let photo = portrait();
        let face = |rect| DetectedFace { rect, landmarks: [[0.0; 2]; 5], score: None };
        let inside = square(&face([100.0, 90.0, 40.0, 50.0]), &photo);
        assert_eq!(inside, Region { x: 83, y: 78, width: 75, height: 75 });
        for rect in
            [[-30.0, -40.0, 60.0, 90.0], [200.0, 220.0, 90.0, 90.0], [-900.0, 0.0, 9.0, 9.0]]
        {
            let Region { x, y, width, height } = square(&face(rect), &photo);
            assert!(width > 0 && x + width <= photo.width(), "{rect:?}");
            assert!(height > 0 && y + height <= photo.height(), "{rect:?}");
        }
        let wide = Picture::new(1000, 500, vec![90; 1_500_000]).unwrap();
        let small = seen(&wide).unwrap();
        assert_eq!((small.width(), small.height()), (320, 160));
    }
}
