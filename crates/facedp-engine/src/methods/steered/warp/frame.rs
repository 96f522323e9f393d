//! Where the face lies in a chip, and how far each of its points may move.

use facedp_nets::{Landmarks, Point, Similarity};

use super::natural::Natural;
use super::spline::{GRID, Spline};
use crate::error::Result;
use crate::patch::CHIP_LANDMARKS;

/// Rows of control points at each edge that stay where they are. The field is then zero at the edge.
const FIXED: usize = 2;
/// Centre of the face in a chip of 128 pixels, and half the axes of an ellipse around it.
const CENTRE: Point = [64.5, 67.2];
const AXES: Point = [48.0, 59.0];
/// Where the field fades out, in multiples of the axes.
const FADE: [f32; 2] = [0.9, 1.28];
/// Where the largest stretch falls to that of the outline of the face, in multiples of the axes: an outline that
/// wobbles is what people see first.
const OUTLINE: [f32; 2] = [0.65, 0.9];

/// What is known about each control point and pixel from the landmarks.
pub(super) struct Frame {
    /// How far each control point may move, 0 to 1.
    pub(super) window: Vec<f32>,
    /// Share of the largest stretch that is allowed at each control point.
    pub(super) stretch: Vec<f32>,
    pub(super) natural: Natural,
    /// Position of each control point, in pixels of the chip.
    pub(super) positions: Vec<Point>,
    /// Whether a control point lies on the face.
    pub(super) on_face: Vec<bool>,
    /// Whether a pixel lies on the face.
    pub(super) face: Vec<bool>,
    /// Distance of the eyes, in pixels of the chip.
    pub(super) eye_distance: f32,
}

impl Frame {
    /// For a face with these landmarks in a chip of `side` pixels. `outline` is the share of the largest stretch that its
    /// outline allows.
    pub(super) fn new(
        side: usize,
        spline: &Spline,
        landmarks: &Landmarks,
        outline: f32,
    ) -> Result<Self> {
        // From the chip to the template, a chip of 128 pixels with mean landmarks.
        let to_template = Similarity::fit(landmarks, &CHIP_LANDMARKS)?;
        let [left, right, ..] = CHIP_LANDMARKS;
        let template_distance = (right[0] - left[0]).hypot(right[1] - left[1]);
        let positions: Vec<Point> = spline.positions().collect();
        let places: Vec<Point> =
            positions.iter().map(|position| to_template.apply(*position)).collect();
        let inner = FIXED..GRID - FIXED;
        let window = places.iter().enumerate().map(|(n, place)| {
            if !inner.contains(&(n % GRID)) || !inner.contains(&(n / GRID)) {
                return 0.0;
            }
            falling(radius(*place), FADE)
        });
        let stretch =
            places.iter().map(|place| outline + (1.0 - outline) * falling(radius(*place), OUTLINE));
        let eye_distance = template_distance / to_template.scale();
        let spacing = spline.spacing();
        Ok(Self {
            window: window.collect(),
            stretch: stretch.collect(),
            natural: Natural::new(landmarks, &to_template, &positions, spacing, eye_distance),
            on_face: places.iter().map(|place| radius(*place) < 1.0).collect(),
            positions,
            face: on_face(side, landmarks)?,
            eye_distance,
        })
    }
}

/// Whether each pixel of a chip of `side` pixels lies on the face with these landmarks.
pub(in super::super) fn on_face(side: usize, landmarks: &Landmarks) -> Result<Vec<bool>> {
    let to_template = Similarity::fit(landmarks, &CHIP_LANDMARKS)?;
    let pixel = |at: usize| to_template.apply([(at % side) as f32, (at / side) as f32]);
    Ok((0..side * side).map(|at| radius(pixel(at)) < 1.0).collect())
}

/// The distance of a place in the template from the middle of the face, in multiples of the axes.
fn radius([x, y]: Point) -> f32 {
    ((x - CENTRE[0]) / AXES[0]).hypot((y - CENTRE[1]) / AXES[1])
}

/// Falls smoothly from 1 to 0 between two values.
fn falling(value: f32, [from, to]: [f32; 2]) -> f32 {
    let t = ((to - value) / (to - from)).clamp(0.0, 1.0);
    t * t * (3.0 - 2.0 * t)
}
