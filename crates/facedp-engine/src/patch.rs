//! The position of a face chip in a photo, and sampling it.

use facedp::Plane;
use facedp::resample::resized;
use facedp_nets::{Landmarks, Recogniser, Similarity};

use crate::error::Result;
use crate::photo::{Photo, Region};

/// Landmarks in a face chip of 128 pixels: their mean positions in the centre 150 pixels of 300 pictures
/// of LFW (deep-funneled, even identities).
pub(crate) const CHIP_LANDMARKS: Landmarks =
    [[45.9, 53.0], [83.1, 52.7], [64.6, 74.1], [49.4, 90.6], [81.0, 90.3]];
/// Side of the chip that [`CHIP_LANDMARKS`] refers to, in pixels.
pub(crate) const CHIP_SIDE: f32 = 128.0;

/// The position of a chip in a photo.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Patch {
    /// An upright square of a face crop.
    Square(Region),
    /// A face aligned by its landmarks: the transform from photo to a chip of 128 pixels.
    Face(Similarity),
}

impl Patch {
    pub fn face(landmarks: &Landmarks) -> Result<Self> {
        Ok(Self::Face(Similarity::fit(landmarks, &CHIP_LANDMARKS)?))
    }

    /// The square that a recogniser sees. It can be smaller than the patch of the face.
    pub fn seen_by(recogniser: &Recogniser, landmarks: &Landmarks) -> Result<Self> {
        let scale = CHIP_SIDE / recogniser.side() as f32;
        Ok(Self::Face(recogniser.placement(landmarks)?.resized(scale)))
    }

    /// The transform from photo to a chip of `side` pixels.
    pub fn placement(&self, side: usize) -> Similarity {
        match self {
            Patch::Face(placement) => placement.resized(side as f32 / CHIP_SIDE),
            Patch::Square(region) => {
                let corner = [-(region.x as f32), -(region.y as f32)];
                let scale = side as f32 / region.width as f32;
                Similarity::upright(1.0, corner).resized(scale)
            }
        }
    }

    /// The pixels of the photo that the chip covers, wholly or in part.
    pub fn region(&self, photo: &Photo) -> Region {
        match self {
            Patch::Square(region) => *region,
            Patch::Face(placement) => bounds(placement, CHIP_SIDE as usize, photo, 1),
        }
    }

    /// Which edges of the chip (left, right, top, bottom) lie inside the photo. Noise must fade out
    /// towards these, or the edge would be visible.
    pub fn inner_edges(&self, photo: &Photo) -> [bool; 4] {
        match self {
            Patch::Face(_) => [true; 4],
            Patch::Square(Region { x, y, width, height }) => {
                [*x > 0, x + width < photo.width(), *y > 0, y + height < photo.height()]
            }
        }
    }

    /// Luma of the chip at `side` pixels. It is linear in the photo's samples; outside the photo it is 0.
    pub fn chip(&self, photo: &Photo, side: usize) -> Plane {
        self.chip_from(photo, side, |region| photo.luma(region))
    }

    /// The chip of any plane of the photo's size. `levels` returns a region of that plane.
    pub(crate) fn chip_from(
        &self,
        photo: &Photo,
        side: usize,
        levels: impl FnOnce(Region) -> Plane,
    ) -> Plane {
        match self {
            Patch::Square(region) => resized(&levels(*region), side, side),
            Patch::Face(_) => {
                let mut placement = self.placement(side);
                let region = bounds(&placement, side, photo, 1);
                let mut plane = levels(region);
                placement = placement.for_crop([region.x as f32, region.y as f32]);
                // Avoids aliasing: a chip pixel then spans at most two pixels of the plane.
                while placement.scale() < 0.5 && plane.width() >= 4 && plane.height() >= 4 {
                    plane = halved(&plane);
                    placement = placement.for_half_size();
                }
                let back = placement.inverse();
                let mut chip = Plane::zeros(side, side);
                for (at, out) in chip.data_mut().iter_mut().enumerate() {
                    *out =
                        interpolated(&plane, back.apply([(at % side) as f32, (at / side) as f32]));
                }
                chip
            }
        }
    }
}

/// The region of a photo that a chip of `side` pixels covers. Its edges are multiples of `grid`, or edges
/// of the photo.
pub(crate) fn bounds(placement: &Similarity, side: usize, photo: &Photo, grid: usize) -> Region {
    let (near, far) = (-0.5, side as f32 - 0.5);
    let back = placement.inverse();
    let corners = [[near, near], [far, near], [near, far], [far, far]].map(|c| back.apply(c));
    let span = |axis: usize, size: usize| {
        let low = corners.iter().map(|c| c[axis]).fold(f32::INFINITY, f32::min).floor();
        let high = corners.iter().map(|c| c[axis]).fold(f32::NEG_INFINITY, f32::max).ceil();
        let start = (low.max(0.0) as usize).min(size.saturating_sub(1)) / grid * grid;
        let end = (high.max(0.0) as usize).min(size) + 1;
        let end = end.next_multiple_of(grid).min(size);
        (start, end.max(start + 1).min(size) - start)
    };
    let ((x, width), (y, height)) = (span(0, photo.width()), span(1, photo.height()));
    Region { x, y, width, height }
}

/// The plane at half its size: each value is the mean of four.
fn halved(plane: &Plane) -> Plane {
    let (width, height) = (plane.width() / 2, plane.height() / 2);
    let mut half = Plane::zeros(width, height);
    for (y, out) in half.data_mut().chunks_exact_mut(width).enumerate() {
        let (upper, lower) = (plane.row(2 * y), plane.row(2 * y + 1));
        for (x, out) in out.iter_mut().enumerate() {
            *out = 0.25 * (upper[2 * x] + upper[2 * x + 1] + lower[2 * x] + lower[2 * x + 1]);
        }
    }
    half
}

/// Bilinear interpolation; pixel centres have integer coordinates, and values outside are 0.
fn interpolated(plane: &Plane, [x, y]: [f32; 2]) -> f64 {
    let (left, top) = (x.floor(), y.floor());
    let (right, bottom) = (f64::from(x - left), f64::from(y - top));
    let value = |dx: f32, dy: f32| {
        let (x, y) = (left + dx, top + dy);
        let inside = x >= 0.0 && y >= 0.0 && x < plane.width() as f32 && y < plane.height() as f32;
        if inside { plane.row(y as usize)[x as usize] } else { 0.0 }
    };
    (1.0 - bottom) * ((1.0 - right) * value(0.0, 0.0) + right * value(1.0, 0.0))
        + bottom * ((1.0 - right) * value(0.0, 1.0) + right * value(1.0, 1.0))
}
