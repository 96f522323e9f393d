//! PNG pictures for users: a photo with its faces marked, and a chip.

use facedp::Plane;
use facedp_nets::Picture;
use image::codecs::png::PngEncoder;
use image::{ExtendedColorType, ImageEncoder};

use crate::detect::Found;
use crate::error::{Error, Result};
use crate::format::Format;
use crate::photo::Photo;

const FRAME_COLOUR: [u8; 3] = [0, 220, 80];
const DOUBT_COLOUR: [u8; 3] = [255, 170, 0];
const LANDMARK_COLOUR: [u8; 3] = [255, 40, 40];
const DIGIT_COLOUR: [u8; 3] = [0, 40, 10];
/// A 3x5 bitmap of each digit: rows from the top, leftmost dot in the highest bit.
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

/// The photo as a PNG file, with a numbered frame around every face and dots on its landmarks. Frames of
/// places that may be faces have another colour.
pub fn annotated(photo: &Photo, found: &Found) -> Result<Vec<u8>> {
    let picture = photo.picture(photo.whole())?;
    let thickness = (picture.width().max(picture.height()) as f32 / 500.0).max(1.0).round();
    let mut canvas = Canvas { picture: &picture, rgb: picture.rgb().to_vec() };
    let faces = (1..).zip(&found.faces).map(|(number, face)| (number, face, FRAME_COLOUR));
    let doubts = found.doubts.iter().map(|doubt| (doubt.number, &doubt.face, DOUBT_COLOUR));
    for (number, face, colour) in faces.chain(doubts) {
        let [x, y, width, height] = face.rect;
        canvas.draw_number(number, x, y, thickness, colour);
        canvas.fill(x, y, width, thickness, colour);
        canvas.fill(x, y + height - thickness, width, thickness, colour);
        canvas.fill(x, y, thickness, height, colour);
        canvas.fill(x + width - thickness, y, thickness, height, colour);
        for [x, y] in face.landmarks {
            canvas.fill(
                x - thickness,
                y - thickness,
                2.0 * thickness,
                2.0 * thickness,
                LANDMARK_COLOUR,
            );
        }
    }
    let mut file = Vec::new();
    let (width, height) = (picture.width() as u32, picture.height() as u32);
    PngEncoder::new(&mut file)
        .write_image(&canvas.rgb, width, height, ExtendedColorType::Rgb8)
        .map_err(|e| Error::Encoding { format: Format::Png, problem: e.to_string() })?;
    Ok(file)
}

/// A plane of grey levels as a PNG file, rounded and clamped to 0..=255.
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
    /// Draws a number on a filled rectangle whose top left corner is given.
    fn draw_number(&mut self, number: usize, x: f32, y: f32, thickness: f32, colour: [u8; 3]) {
        let dot = 2.0 * thickness;
        let digits = number.to_string();
        self.fill(x, y, dot * (4 * digits.len() + 1) as f32, 7.0 * dot, colour);
        for (position, digit) in digits.bytes().enumerate() {
            let dots = DIGITS[usize::from(digit - b'0')];
            for at in (0..15).filter(|at| dots >> (14 - at) & 1 == 1) {
                let column = (1 + 4 * position + at % 3) as f32;
                self.fill(x + dot * column, y + dot * (1 + at / 3) as f32, dot, dot, DIGIT_COLOUR);
            }
        }
    }

    /// Fills the part of a rectangle that lies inside the picture.
    fn fill(&mut self, x: f32, y: f32, width: f32, height: f32, colour: [u8; 3]) {
        let (right, bottom) = (self.picture.width(), self.picture.height());
        let clip = |from: f32, length: f32, size: usize| {
            let end = ((from + length).max(0.0) as usize).min(size);
            (from.max(0.0) as usize).min(end)..end
        };
        let columns = clip(x, width, right);
        for row in clip(y, height, bottom) {
            let line =
                &mut self.rgb[3 * (row * right + columns.start)..3 * (row * right + columns.end)];
            line.chunks_exact_mut(3).for_each(|pixel| pixel.copy_from_slice(&colour));
        }
    }
}
