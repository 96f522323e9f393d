//! A photo with its faces marked.

use facedp_nets::Picture;
use image::codecs::png::PngEncoder;
use image::{ExtendedColorType, ImageEncoder};

use crate::error::{Error, Result};
use crate::eyes::Spot;
use crate::photo::{Format, Photo};

const FRAME: [u8; 3] = [0, 220, 80];
const DOT: [u8; 3] = [255, 40, 40];

/// A colour PNG file of the photo, with a frame round every face and its landmarks dotted.
pub fn annotated(photo: &Photo, spots: &[Spot]) -> Result<Vec<u8>> {
    let picture = photo.picture(photo.whole())?;
    let thick = (picture.width().max(picture.height()) as f32 / 500.0).max(1.0).round();
    let mut canvas = Canvas { picture: &picture, rgb: picture.rgb().to_vec() };
    for spot in spots {
        let [x, y, width, height] = spot.rect;
        canvas.fill(x, y, width, thick, FRAME);
        canvas.fill(x, y + height - thick, width, thick, FRAME);
        canvas.fill(x, y, thick, height, FRAME);
        canvas.fill(x + width - thick, y, thick, height, FRAME);
        for [x, y] in spot.landmarks {
            canvas.fill(x - thick, y - thick, 2.0 * thick, 2.0 * thick, DOT);
        }
    }
    let mut file = Vec::new();
    let (width, height) = (picture.width() as u32, picture.height() as u32);
    PngEncoder::new(&mut file)
        .write_image(&canvas.rgb, width, height, ExtendedColorType::Rgb8)
        .map_err(|e| Error::Encoding { format: Format::Png, problem: e.to_string() })?;
    Ok(file)
}

struct Canvas<'a> {
    picture: &'a Picture,
    rgb: Vec<u8>,
}

impl Canvas<'_> {
    /// Fills the part of a rectangle that lies in the picture.
    fn fill(&mut self, x: f32, y: f32, width: f32, height: f32, colour: [u8; 3]) {
        let (right, bottom) = (self.picture.width(), self.picture.height());
        let cut = |from: f32, length: f32, size: usize| {
            let end = ((from + length).max(0.0) as usize).min(size);
            (from.max(0.0) as usize).min(end)..end
        };
        let columns = cut(x, width, right);
        for row in cut(y, height, bottom) {
            let line =
                &mut self.rgb[3 * (row * right + columns.start)..3 * (row * right + columns.end)];
            line.chunks_exact_mut(3).for_each(|pixel| pixel.copy_from_slice(&colour));
        }
    }
}
