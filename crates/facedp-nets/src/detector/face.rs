//! Faces and their boxes, as the network gives them.

use crate::recogniser::Landmarks;
use crate::similarity::{Point, Similarity};

/// Boxes with a higher intersection over union are one face.
const MAX_OVERLAP: f32 = 0.3;
/// A box of which a larger share lies inside another box is part of that face.
const MAX_INSIDE: f32 = 0.7;
/// By how much a value may be below the one that gives the smallest score: more than rounding errors.
const MARGIN: f32 = 0.01;
/// Landmarks of an upright face, up to scale and shift: mean positions in boxes of LFW, made symmetric.
const UPRIGHT: Landmarks =
    [[-0.203, -0.148], [0.203, -0.148], [0.0, 0.081], [-0.172, 0.259], [0.172, 0.259]];

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

impl Face {
    /// Decodes one cell of a head, as OpenCV's `FaceDetectorYN` does.
    pub(super) fn decode(
        value: impl Fn(usize) -> f32,
        column: usize,
        row: usize,
        stride: usize,
        min_score: f32,
    ) -> Option<Face> {
        // The score is at most the root of either probability. Few cells see anything: without exponentials, the
        // others take no time.
        let least = min_score * min_score;
        if least < 1.0 && value(0).min(value(1)) < (least / (1.0 - least)).ln() - MARGIN {
            return None;
        }
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

    /// The face in a picture that `placement` maps this one to. The box becomes that of the turned ellipse
    /// that fills it, which grows less than that of the turned box.
    pub(super) fn mapped(&self, placement: &Similarity) -> Self {
        let [a, b, _, _] = placement.parameters();
        let [x, y] = placement.apply(self.rect.centre());
        let Rect { width, height, .. } = self.rect;
        let (width, height) = ((a * width).hypot(b * height), (b * width).hypot(a * height));
        let rect = Rect { x: x - width / 2.0, y: y - height / 2.0, width, height };
        Self { rect, landmarks: self.landmarks.map(|p| placement.apply(p)), score: self.score }
    }

    /// By how much the landmarks are turned, in radians, clockwise.
    pub(super) fn roll(&self) -> f32 {
        let Ok(placed) = Similarity::fit(&UPRIGHT, &self.landmarks) else { return 0.0 };
        let [a, b, _, _] = placed.parameters();
        b.atan2(a)
    }

    /// The weighted mean of boxes, landmarks and scores; none of no faces.
    pub(super) fn mean(faces: &[(&Face, f32)]) -> Option<Face> {
        let total: f32 = faces.iter().map(|(_, weight)| weight).sum();
        if total.is_nan() || total <= 0.0 {
            return None;
        }
        let mean = |value: &dyn Fn(&Face) -> f32| {
            faces.iter().map(|(face, weight)| weight / total * value(face)).sum::<f32>()
        };
        Some(Face {
            rect: Rect {
                x: mean(&|face| face.rect.x),
                y: mean(&|face| face.rect.y),
                width: mean(&|face| face.rect.width),
                height: mean(&|face| face.rect.height),
            },
            landmarks: std::array::from_fn(|n| {
                [0, 1].map(|axis| mean(&|face| face.landmarks[n][axis]))
            }),
            score: mean(&|face| face.score),
        })
    }

    /// Whether both are detections of one face.
    pub(super) fn is_same(&self, other: &Face) -> bool {
        let inside = MAX_INSIDE * self.rect.area().min(other.rect.area());
        self.rect.overlaps(&other.rect) || self.rect.shared(&other.rect) > inside
    }
}

impl Rect {
    fn area(&self) -> f32 {
        self.width * self.height
    }

    pub(super) fn centre(&self) -> Point {
        [self.x + self.width / 2.0, self.y + self.height / 2.0]
    }

    pub(super) fn contains(&self, [x, y]: Point) -> bool {
        (self.x..self.x + self.width).contains(&x) && (self.y..self.y + self.height).contains(&y)
    }

    /// The side of the square with the same area.
    pub(super) fn size(&self) -> f32 {
        self.area().sqrt()
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
pub(super) fn keep_best(mut faces: Vec<Face>) -> Vec<Face> {
    faces.sort_by(|a, b| b.score.total_cmp(&a.score));
    let mut kept: Vec<Face> = Vec::new();
    for face in faces {
        if !kept.iter().any(|other| face.is_same(other)) {
            kept.push(face);
        }
    }
    kept
}

/// [`keep_best`], with boxes and landmarks averaged over all cells that see a face, weighted by squared
/// scores: those of a single cell jitter.
pub(super) fn blended(cells: &[Face]) -> Vec<Face> {
    let mean = |best: &Face| {
        let same = cells.iter().filter(|cell| cell.rect.overlaps(&best.rect));
        let same: Vec<(&Face, f32)> = same.map(|cell| (cell, cell.score * cell.score)).collect();
        Face { score: best.score, ..Face::mean(&same).unwrap_or(*best) }
    };
    keep_best(cells.to_vec()).iter().map(mean).collect()
}
