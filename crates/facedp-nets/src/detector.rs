//! Finding faces in photos of any size.
//!
//! The network works best on faces of about 12 to 200 pixels. A photo is therefore searched at several
//! sizes, each half of the previous one: small faces are found at large sizes, large faces at small
//! sizes. Large sizes are cut into overlapping tiles to bound memory.

use crate::engine::{Network, Shape, Workspace};
use crate::error::Result;
use crate::networks::yunet::{self, STRIDES};
use crate::picture::Picture;
use crate::recogniser::Landmarks;
use crate::similarity::Similarity;

/// A rectangle in pixels. It may extend beyond the picture.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Rect {
    pub x: f32,
    pub y: f32,
    pub width: f32,
    pub height: f32,
}

/// A face found in a picture.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Face {
    pub rect: Rect,
    pub landmarks: Landmarks,
    /// The detector's confidence, 0 to 1.
    pub score: f32,
}

pub struct Detector {
    network: Network,
}

/// Boxes with a higher intersection over union are one face.
const MAX_OVERLAP: f32 = 0.3;
/// A box of which a larger share lies inside another box is part of that face.
const MAX_INSIDE: f32 = 0.7;
/// Larger faces are left to the next smaller size of the picture.
const MAX_FACE: f32 = 200.0;
/// From this score on, a face needs no confirmation.
const CONFIDENT: f32 = 0.85;
/// The side of the picture that confirms a face, and of the face in it.
const CONFIRM_SIDE: usize = 256;
const CONFIRM_FACE: f32 = 100.0;
/// The search ends at a size whose longer side is at most this.
const LAST_SIZE: usize = 320;
/// The side of a tile, and the overlap of neighbours, which exceeds the largest face.
const TILE: usize = 640;
const TILE_OVERLAP: usize = 224;

impl Detector {
    /// Loads the embedded weights.
    pub fn new() -> Result<Self> {
        Ok(Self { network: yunet::network()? })
    }

    /// All faces with a score of at least `min_score`, in descending order of score.
    pub fn detect(&self, picture: &Picture, min_score: f32, work: &mut Workspace) -> Vec<Face> {
        let mut found = Vec::new();
        let mut factor = 1.0;
        let mut smaller: Option<Picture> = None;
        loop {
            let size = smaller.as_ref().unwrap_or(picture);
            if size.width() == 0 || size.height() == 0 {
                break;
            }
            let last = size.width().max(size.height()) <= LAST_SIZE;
            for mut face in self.detect_in_size(size, min_score, work) {
                let fits = last || face.rect.width.max(face.rect.height) <= MAX_FACE;
                if fits && (face.score >= CONFIDENT || self.confirms(size, &face, min_score, work))
                {
                    face.scale(factor);
                    found.push(face);
                }
            }
            if last {
                break;
            }
            smaller = Some(size.halved());
            factor *= 2.0;
        }
        keep_best(found)
    }

    /// Faces from one run of the network at the picture's own size, as OpenCV's `FaceDetectorYN` does.
    /// For small pictures only; [`Detector::detect`] handles all others.
    pub fn detect_once(&self, picture: &Picture, min: f32, work: &mut Workspace) -> Vec<Face> {
        self.detect_region(picture, (0..picture.width(), 0..picture.height()), min, work)
    }

    /// Whether a second run, with the face at the size that the network knows best, finds it again.
    /// Leaves and stones that look like a face at one size seldom do at another.
    fn confirms(
        &self,
        picture: &Picture,
        face: &Face,
        min_score: f32,
        work: &mut Workspace,
    ) -> bool {
        let Rect { x, y, width, height } = face.rect;
        let (centre, half) = ([x + width / 2.0, y + height / 2.0], CONFIRM_SIDE as f32 / 2.0);
        let scale = CONFIRM_FACE / width.max(height);
        let aside = [centre[0] + 1.0 / scale, centre[1]];
        let placed = Similarity::fit(&[centre, aside], &[[half, half], [half + 1.0, half]]);
        let Ok(placement) = placed else { return false };
        let chip = picture.chip(&placement, CONFIRM_SIDE);
        let shape = Shape::new(3, CONFIRM_SIDE, CONFIRM_SIDE);
        self.network.forward(work, shape, |input| {
            // Blue, green, red.
            let planes = chip.values().chunks_exact(CONFIRM_SIDE * CONFIRM_SIDE).rev();
            input
                .chunks_exact_mut(CONFIRM_SIDE * CONFIRM_SIDE)
                .zip(planes)
                .for_each(|(i, p)| i.copy_from_slice(p));
        });
        let wide = CONFIRM_FACE / 2.0;
        let expected = Rect {
            x: half - wide * width / width.max(height),
            y: half - wide * height / width.max(height),
            width: scale * width,
            height: scale * height,
        };
        self.decode(work, shape, min_score).iter().any(|found| found.rect.overlaps(&expected))
    }

    /// Faces at the picture's own size, tile by tile.
    fn detect_in_size(&self, picture: &Picture, min: f32, work: &mut Workspace) -> Vec<Face> {
        let mut found = Vec::new();
        for (top, bottom) in tiles(picture.height()) {
            for (left, right) in tiles(picture.width()) {
                // A face that an inner edge cuts off is complete in the neighbouring tile.
                let cut = |face: &Face| {
                    let Rect { x, y, width, height } = face.rect;
                    (left > 0 && x < 2.0)
                        || (top > 0 && y < 2.0)
                        || (right < picture.width() && x + width > (right - left) as f32 - 2.0)
                        || (bottom < picture.height() && y + height > (bottom - top) as f32 - 2.0)
                };
                let region = (left..right, top..bottom);
                for mut face in self.detect_region(picture, region, min, work) {
                    if !cut(&face) {
                        face.shift(left as f32, top as f32);
                        found.push(face);
                    }
                }
            }
        }
        keep_best(found)
    }

    /// Faces of one region, in its own coordinates, from one run of the network.
    fn detect_region(
        &self,
        picture: &Picture,
        (columns, rows): (std::ops::Range<usize>, std::ops::Range<usize>),
        min_score: f32,
        work: &mut Workspace,
    ) -> Vec<Face> {
        let padded = |n: usize| n.next_multiple_of(32);
        let shape = Shape::new(3, padded(rows.len()), padded(columns.len()));
        self.network.forward(work, shape, |input| {
            input.fill(0.0);
            for (y, row) in rows.enumerate() {
                let line = &picture.rgb()[3 * (row * picture.width() + columns.start)..];
                for (x, pixel) in line.chunks_exact(3).take(columns.len()).enumerate() {
                    // Blue, green, red.
                    for (channel, value) in pixel.iter().rev().enumerate() {
                        input[channel * shape.area() + y * shape.width + x] = f32::from(*value);
                    }
                }
            }
        });
        self.decode(work, shape, min_score)
    }

    /// Decodes the heads after a run on an input of the given shape.
    fn decode(&self, work: &Workspace, shape: Shape, min_score: f32) -> Vec<Face> {
        let mut found = Vec::new();
        for (output, stride) in STRIDES.into_iter().enumerate() {
            let grid = Shape::new(16, shape.height / stride, shape.width / stride);
            let values = self.network.output(work, output);
            found.extend((0..grid.area()).filter_map(|cell| {
                let value = |channel: usize| values[channel * grid.area() + cell];
                Face::decode(value, cell % grid.width, cell / grid.width, stride, min_score)
            }));
        }
        keep_best(found)
    }
}

/// Start and end of the tiles along a side.
fn tiles(n: usize) -> Vec<(usize, usize)> {
    if n <= TILE {
        return vec![(0, n)];
    }
    // As few as possible, evenly spaced.
    let count = (n - TILE_OVERLAP).div_ceil(TILE - TILE_OVERLAP);
    let start = |i: usize| i * (n - TILE) / (count - 1);
    (0..count).map(|i| (start(i), start(i) + TILE)).collect()
}

impl Face {
    /// Decodes one cell of a head, as OpenCV's `FaceDetectorYN` does.
    fn decode(
        value: impl Fn(usize) -> f32,
        column: usize,
        row: usize,
        stride: usize,
        min_score: f32,
    ) -> Option<Face> {
        let sigmoid = |x: f32| 1.0 / (1.0 + (-x).exp());
        let score = (sigmoid(value(0)) * sigmoid(value(1))).sqrt();
        if score.is_nan() || score < min_score {
            return None;
        }
        let (column, row, stride) = (column as f32, row as f32, stride as f32);
        let point = |c: usize| [(value(c) + column) * stride, (value(c + 1) + row) * stride];
        let [centre_x, centre_y] = point(2);
        let (width, height) = (value(4).exp() * stride, value(5).exp() * stride);
        let rect = Rect { x: centre_x - width / 2.0, y: centre_y - height / 2.0, width, height };
        Some(Face { rect, landmarks: [6, 8, 10, 12, 14].map(point), score })
    }

    pub fn shift(&mut self, x: f32, y: f32) {
        self.rect.x += x;
        self.rect.y += y;
        self.landmarks.iter_mut().for_each(|p| *p = [p[0] + x, p[1] + y]);
    }

    /// Maps the face to a picture `factor` times as large. Pixel centres are integers.
    pub fn scale(&mut self, factor: f32) {
        let Rect { x, y, width, height } = self.rect;
        self.rect =
            Rect { x: x * factor, y: y * factor, width: width * factor, height: height * factor };
        let centre = (factor - 1.0) / 2.0;
        self.landmarks.iter_mut().for_each(|p| *p = p.map(|v| v * factor + centre));
    }
}

impl Rect {
    fn area(&self) -> f32 {
        self.width * self.height
    }

    fn shared(&self, other: &Rect) -> f32 {
        let span = |a: f32, la: f32, b: f32, lb: f32| ((a + la).min(b + lb) - a.max(b)).max(0.0);
        span(self.x, self.width, other.x, other.width)
            * span(self.y, self.height, other.y, other.height)
    }

    /// Whether both are boxes of one face, by their intersection over union.
    pub fn overlaps(&self, other: &Rect) -> bool {
        let shared = self.shared(other);
        shared > MAX_OVERLAP * (self.area() + other.area() - shared)
    }
}

/// Non-maximum suppression: of boxes of one face, keeps the one with the highest score.
fn keep_best(mut faces: Vec<Face>) -> Vec<Face> {
    faces.sort_by(|a, b| b.score.total_cmp(&a.score));
    let mut kept: Vec<Face> = Vec::new();
    for face in faces {
        let same = |other: &Face| {
            let inside = MAX_INSIDE * face.rect.area().min(other.rect.area());
            face.rect.overlaps(&other.rect) || face.rect.shared(&other.rect) > inside
        };
        if !kept.iter().any(same) {
            kept.push(face);
        }
    }
    kept
}
