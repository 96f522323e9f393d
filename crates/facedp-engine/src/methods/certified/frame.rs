//! The outline of a face in a photo. It follows from rounded landmarks alone, and is public.
//!
//! A frame is a parallelogram with the eyes, the nose and the mouth at fixed places. The outline is an
//! ellipse in it, from the hairline to below the chin. Points of a frame have coordinates of 0 to 1.

use std::cmp::Ordering;
use std::ops::Range;

use facedp_nets::Landmarks;

use crate::error::{Error, Result};
use crate::patch::{CHIP_LANDMARKS, CHIP_SIDE};
use crate::photo::{Photo, Region};

/// Middle of the eyes and middle of the mouth in a frame.
const EYES: [f32; 2] = [0.5, 0.40];
const MOUTH: [f32; 2] = [0.5, 0.715];
/// Distance of the eyes in a frame, and of the corners of the mouth.
const EYE_DISTANCE: f32 = 0.31;
const MOUTH_WIDTH: f32 = 0.256;
/// Centre and radii of the outline.
const CENTRE: [f32; 2] = [0.5, 0.525];
const RADII: [f32; 2] = [0.42, 0.475];
/// A face seen from the side or from below is narrower than from the front. Frames are not narrower than
/// this share of the width that fits their height, or the other way round.
const LEAST_ASPECT: f32 = 0.75;
/// The sine of the smallest angle between the sides of a frame: landmarks can lie on one line.
const LEAST_ANGLE: f32 = 0.2;
/// How far a pixel can be from where it is computed to be, as a share of its coordinates.
const IMPRECISION: f32 = 1.0 / (1 << 20) as f32;
/// Landmarks are rounded to the largest power of two up to this share of the size of a face, which is the largest
/// distance between the eyes, or from an eye to the corner of the mouth below it.
const ROUNDING: f32 = 1.0 / 32.0;

/// A face's frame in a photo.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Frame {
    /// Landmarks as rounded.
    landmarks: Landmarks,
    /// The photo's point of the frame's corner, and the two sides of the frame in pixels.
    corner: [f32; 2],
    across: [f32; 2],
    down: [f32; 2],
}

/// A point of the outline's disc: 1 is the outline, 0 its centre.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Polar {
    pub(super) radius: f32,
    /// Radians, -pi to pi.
    pub(super) angle: f32,
}

impl Frame {
    pub(super) fn new(landmarks: &Landmarks) -> Result<Self> {
        // Fails if they are not finite, or all in one place.
        crate::patch::Patch::face(landmarks)?;
        let landmarks = rounded(landmarks);
        let [left, right, _, mouth_left, mouth_right] = landmarks;
        let middle = |a: [f32; 2], b: [f32; 2]| [0.5 * (a[0] + b[0]), 0.5 * (a[1] + b[1])];
        let (eyes, mouth) = (middle(left, right), middle(mouth_left, mouth_right));
        let width = EYE_DISTANCE + MOUTH_WIDTH;
        let mut across =
            [0, 1].map(|i| (right[i] - left[i] + mouth_right[i] - mouth_left[i]) / width);
        let mut down = [0, 1].map(|i| (mouth[i] - eyes[i]) / (MOUTH[1] - EYES[1]));
        let (wide, high) = (length(across).max(1e-3), length(down).max(1e-3));
        let upright = |v: [f32; 2]| [v[1], -v[0]];
        // Directions that are lost where a face is seen edgewise.
        if wide < 0.1 * high {
            across = upright(down);
        } else if high < 0.1 * wide {
            down = upright(across).map(|v| -v);
        }
        let (wide, high) = (length(across).max(1e-3), length(down).max(1e-3));
        let determinant = across[0] * down[1] - across[1] * down[0];
        if determinant.abs() < LEAST_ANGLE * wide * high {
            down = upright(across).map(|v| -v * high / wide);
        }
        let widened = (LEAST_ASPECT * high / wide).max(1.0);
        let heightened = (LEAST_ASPECT * wide / high).max(1.0);
        across = across.map(|v| v * widened);
        down = down.map(|v| v * heightened);
        // The midpoint between eyes and mouth stays where it is.
        let anchor = middle(eyes, mouth);
        let at = [0.5, 0.5 * (EYES[1] + MOUTH[1])];
        let corner = [0, 1].map(|i| anchor[i] - at[0] * across[i] - at[1] * down[i]);
        let frame = Self { landmarks, corner, across, down };
        // Landmarks can be finite, and the frame not.
        match frame.radius(0, 0).is_finite() {
            true => Ok(frame),
            false => Err(Error::from(facedp_nets::Error::Landmarks)),
        }
    }

    /// The frame of a face crop that is cut like the chips of a model.
    pub(super) fn of_square(region: Region) -> Result<Self> {
        let scale = region.width as f32 / CHIP_SIDE;
        let corner = [region.x as f32, region.y as f32];
        let place = |point: [f32; 2]| [0, 1].map(|i| corner[i] + scale * point[i]);
        Self::new(&CHIP_LANDMARKS.map(place))
    }

    /// The frame as text. Keys' contexts and ledgers hold hashes of it: it must not change.
    pub(super) fn fingerprint(&self) -> String {
        let point = |[x, y]: [f32; 2]| format!("{x:?} {y:?}");
        format!("outline 1: {}", self.landmarks.map(point).join(", "))
    }

    /// A point of the frame in the photo; the centre of a pixel is at whole numbers.
    pub(super) fn to_photo(&self, [u, v]: [f32; 2]) -> [f32; 2] {
        [0, 1].map(|i| self.corner[i] + u * self.across[i] + v * self.down[i])
    }

    /// A point of the photo in the frame.
    pub(super) fn to_frame(&self, [x, y]: [f32; 2]) -> [f32; 2] {
        let [a, b] = self.across;
        let [c, d] = self.down;
        let (x, y) = (x - self.corner[0], y - self.corner[1]);
        let determinant = a * d - b * c;
        [(d * x - c * y) / determinant, (a * y - b * x) / determinant]
    }

    /// The distance of a pixel from the centre of the outline's disc.
    pub(super) fn radius(&self, x: usize, y: usize) -> f32 {
        let [u, v] = self.to_frame([x as f32, y as f32]);
        let (x, y) = ((u - CENTRE[0]) / RADII[0], (v - CENTRE[1]) / RADII[1]);
        (x * x + y * y).sqrt()
    }

    /// The point of the outline's disc at a pixel.
    pub(super) fn polar(&self, x: usize, y: usize) -> Polar {
        disc(self.to_frame([x as f32, y as f32]))
    }

    /// An order that follows from the landmarks alone.
    pub(super) fn cmp_places(&self, other: &Self) -> Ordering {
        let places = |frame: &Self| frame.landmarks.as_flattened().to_vec();
        let pairs = places(self).into_iter().zip(places(other));
        pairs.map(|(a, b)| a.total_cmp(&b)).find(|order| order.is_ne()).unwrap_or(Ordering::Equal)
    }

    /// Whether a pixel of the photo is inside the outline.
    pub(super) fn covers(&self, photo: &Photo) -> bool {
        let Region { x, y, width, height } = self.region(photo);
        (y..y + height).any(|y| (x..x + width).any(|x| self.radius(x, y) < 1.0))
    }

    /// The pixels among which those inside the outline are.
    pub(super) fn region(&self, photo: &Photo) -> Region {
        let size = [photo.width(), photo.height()];
        let reach = self.reach();
        let low = [0, 1].map(|i| reach[i].start.floor().max(0.0) as usize);
        let high = [0, 1].map(|i| (reach[i].end.ceil().max(-1.0) + 1.0) as usize);
        let [left, top] = [0, 1].map(|i| low[i].min(size[i]));
        let [right, bottom] = [0, 1].map(|i| high[i].clamp(low[i].min(size[i]), size[i]));
        Region { x: left, y: top, width: right - left, height: bottom - top }
    }

    /// The extent of the outline, with a pixel and what single precision may miss.
    fn reach(&self) -> [Range<f32>; 2] {
        let centre = self.to_photo(CENTRE);
        [0, 1].map(|i| {
            let reach = (RADII[0] * self.across[i]).hypot(RADII[1] * self.down[i]);
            let reach = reach + 1.0 + IMPRECISION * (centre[i].abs() + reach);
            centre[i] - reach..centre[i] + reach
        })
    }

    /// Pixels of the photo along a side of the frame.
    pub(super) fn size(&self) -> f32 {
        length(self.across).max(length(self.down))
    }
}

/// The point of the outline's disc at a point of the frame.
pub(super) fn disc([u, v]: [f32; 2]) -> Polar {
    let (x, y) = ((u - CENTRE[0]) / RADII[0], (v - CENTRE[1]) / RADII[1]);
    Polar { radius: x.hypot(y), angle: y.atan2(x) }
}

/// The point of the frame at a point of the outline's disc.
pub(super) fn from_disc(Polar { radius, angle }: Polar) -> [f32; 2] {
    let (sin, cos) = angle.sin_cos();
    [CENTRE[0] + RADII[0] * radius * cos, CENTRE[1] + RADII[1] * radius * sin]
}

fn length(v: [f32; 2]) -> f32 {
    v[0].hypot(v[1])
}

/// Landmarks rounded to a grid that depends on the size of the face.
fn rounded(landmarks: &Landmarks) -> Landmarks {
    let far = |a: [f32; 2], b: [f32; 2]| length([a[0] - b[0], a[1] - b[1]]);
    let [left, right, _, mouth_left, mouth_right] = *landmarks;
    let size = far(left, right).max(far(left, mouth_left)).max(far(right, mouth_right));
    let step = (size.max(1.0) * ROUNDING).log2().floor().exp2();
    // There is one zero: -0.0 is another text, and comes before 0.0 in an order of faces.
    landmarks.map(|point| point.map(|v| (v / step).round() * step + 0.0))
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    const FRONTAL: Landmarks =
        [[96.9, 111.9], [146.9, 109.5], [125.2, 138.3], [101.4, 161.3], [144.6, 158.7]];

    #[test]
    fn points_go_there_and_back_and_landmarks_are_inside() {
        let frame = Frame::new(&FRONTAL).unwrap();
        for point in FRONTAL {
            let there = frame.to_frame(point);
            let back = frame.to_photo(there);
            assert!((back[0] - point[0]).abs() < 1e-3 && (back[1] - point[1]).abs() < 1e-3);
            assert!(disc(there).radius < 0.8, "{there:?}");
            let again = from_disc(disc(there));
            assert!((again[0] - there[0]).abs() < 1e-5 && (again[1] - there[1]).abs() < 1e-5);
        }
    }

    /// Landmarks that move by less than the grid give the same frame.
    #[test]
    fn frames_follow_from_rounded_landmarks() {
        let frame = Frame::new(&FRONTAL).unwrap();
        let moved = rounded(&FRONTAL).map(|point| point.map(|v| v + 0.2));
        assert_eq!(Frame::new(&moved).unwrap(), frame);
        assert_eq!(
            frame.fingerprint(),
            "outline 1: 97.0 112.0, 147.0 110.0, 125.0 138.0, 101.0 161.0, 145.0 159.0"
        );
    }

    /// Points on either side of the photo's edge round to the same place, and to the same text.
    #[test]
    fn zero_has_no_sign() {
        let at = |x: f32| {
            let mut landmarks = FRONTAL.map(|[x, y]| [x - FRONTAL[0][0], y]);
            landmarks[0][0] = x;
            Frame::new(&landmarks).unwrap()
        };
        assert_eq!(at(-0.2).fingerprint(), at(0.2).fingerprint());
        assert_eq!(at(-0.2).cmp_places(&at(0.2)), Ordering::Equal);
    }

    /// A face seen from the side keeps an outline that covers it.
    #[test]
    fn faces_seen_edgewise_have_wide_outlines() {
        let side = [[50.0, 50.0], [52.0, 50.0], [40.0, 70.0], [48.0, 90.0], [50.0, 90.0]];
        let frame = Frame::new(&side).unwrap();
        assert!(length(frame.across) > 0.74 * length(frame.down));
        assert!(Frame::new(&[[1.0, 1.0]; 5]).is_err());
        assert!(Frame::new(&FRONTAL.map(|point| point.map(|v| v * 1e30))).is_err());
    }

    /// Landmarks on one line still have an outline around them.
    #[test]
    fn landmarks_on_a_line_have_an_outline() {
        let line = [
            [2592.0, 2304.0],
            [2912.0, 2480.0],
            [3008.0, 2528.0],
            [3072.0, 2560.0],
            [3392.0, 2704.0],
        ];
        let frame = Frame::new(&line).unwrap();
        for [x, y] in line {
            assert!(frame.radius(x as usize, y as usize) < 1.0);
        }
    }

    /// Far from the origin, single precision does not tell pixels apart.
    #[test]
    fn regions_contain_the_outline_far_away() {
        let place = |[x, y]: [f32; 2]| [x / 40.0 + 20_000_000.0, y / 40.0];
        let frame = Frame::new(&FRONTAL.map(place)).unwrap();
        let region = frame.reach();
        for x in 19_999_900..20_000_100 {
            for y in 0..8 {
                assert!(frame.radius(x, y) >= 1.0 || region[0].contains(&(x as f32)));
            }
        }
    }
}
