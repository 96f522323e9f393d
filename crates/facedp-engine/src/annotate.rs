//! Pictures to look at: a photo with its faces marked, a chip.

use facedp::Plane;
use facedp_nets::Picture;
use image::codecs::png::PngEncoder;
use image::{ExtendedColorType, ImageEncoder};

use crate::error::{Error, Result};
use crate::eyes::Spot;
use crate::photo::{Format, Photo};

const FRAME: [u8; 3] = [0, 220, 80];
const DOT: [u8; 3] = [255, 40, 40];
const INK: [u8; 3] = [0, 40, 10];
/// Digits of 3x5 dots, row by row from the top, the left dot first.
const DIGITS: [u16; 10] = [
    0b111_101_101_101_111,
    0b010_110_010_010_111,
    0b111_001_111_100_111,
    0b111_001_111_001_111,
    0b101_101_111_001_001,
    0b111_100_111_001_111,
    0b111_100_111_101_111,
    0b111_001_010_010_010,
    0b111_101_111_101_111,
    0b111_101_111_001_111,
];

/// A colour PNG file of the photo, with a numbered frame round every face and its landmarks dotted.
pub fn annotated(photo: &Photo, spots: &[Spot]) -> Result<Vec<u8>> {
    let picture = photo.picture(photo.whole())?;
    let thick = (picture.width().max(picture.height()) as f32 / 500.0).max(1.0).round();
    let mut canvas = Canvas { picture: &picture, rgb: picture.rgb().to_vec() };
    for (number, spot) in (1..).zip(spots) {
        let [x, y, width, height] = spot.rect;
        canvas.write(number, x, y, thick);
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

/// Grey levels as a PNG file, rounded and cut to the range.
pub fn grey_png(plane: &Plane) -> Result<Vec<u8>> {
    let levels: Vec<u8> = plane.data().iter().map(|v| v.round() as u8).collect();
    let mut file = Vec::new();
    let (width, height) = (plane.width() as u32, plane.height() as u32);
    PngEncoder::new(&mut file)
        .write_image(&levels, width, height, ExtendedColorType::L8)
        .map_err(|e| Error::Encoding { format: Format::Png, problem: e.to_string() })?;
    Ok(file)
}

struct Canvas<'a> {
    picture: &'a Picture,
    rgb: Vec<u8>,
}

impl Canvas<'_> {
    /// Writes a number on a plate, from its upper left corner on.
    fn write(&mut self, number: usize, x: f32, y: f32, thick: f32) {
        let dot = 2.0 * thick;
        let digits = number.to_string();
        self.fill(x, y, dot * (4 * digits.len() + 1) as f32, 7.0 * dot, FRAME);
        for (place, digit) in digits.bytes().enumerate() {
            let dots = DIGITS[usize::from(digit - b'0')];
            for at in (0..15).filter(|at| dots >> (14 - at) & 1 == 1) {
                let column = (1 + 4 * place + at % 3) as f32;
                self.fill(x + dot * column, y + dot * (1 + at / 3) as f32, dot, dot, INK);
            }
        }
    }

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
