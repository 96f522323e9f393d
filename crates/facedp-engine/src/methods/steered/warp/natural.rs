//! What keeps a displacement natural: faces are nearly symmetric, and eyes, nose and mouth have a form of their own.
//!
//! A crooked mouth or a pinched nose is seen at once. So both halves of the face move alike, eyes move as a whole, and nose and
//! mouth become wider or higher rather than another form. What is left tells people apart, too: how large these parts are,
//! where they lie, and the form of what is between them.

use facedp_nets::{Landmarks, Point, Similarity};

use super::spline::{Controls, GRID};

/// Radii of eyes, nose and mouth across the face and along it, as shares of the distance of the eyes. That of the mouth across
/// the face is a multiple of its width.
const EYE: [f32; 2] = [0.2, 0.2];
const NOSE: [f32; 2] = [0.25, 0.2];
const MOUTH: [f32; 2] = [0.55, 0.3];
/// Smallest width of a mouth: in profile, its corners can lie on top of each other.
const MIN_MOUTH: f32 = 0.5;
/// Smallest sum of weights of a part that lies within the grid.
const MIN_WEIGHT: f32 = 1e-3;

/// Symmetry and parts of one face, in pixels of the chip.
pub(super) struct Natural {
    /// Unit vectors across the face and along it.
    axes: [Point; 2],
    /// For each control point, the cell of its mirror image: the first of four control points, and their weights.
    mirrored: Vec<(usize, [f32; 4])>,
    eyes: [Part; 2],
    /// Nose and mouth.
    parts: [Part; 2],
}

/// A part of the face that moves as a whole.
struct Part {
    /// How much each control point belongs to it.
    weights: Vec<f32>,
    /// Control points, seen from its centre along both axes.
    places: Vec<Point>,
    /// Whether it may become wider and higher.
    grows: bool,
}

impl Natural {
    /// `eye_distance` is that of a face of this size, seen from the front.
    pub(super) fn new(
        landmarks: &Landmarks,
        to_template: &Similarity,
        positions: &[Point],
        spacing: f32,
        eye_distance: f32,
    ) -> Self {
        let to_chip = to_template.inverse();
        let origin = to_chip.apply([0.0, 0.0]);
        let axes = [[1.0, 0.0], [0.0, 1.0]].map(|end| {
            let axis = minus(to_chip.apply(end), origin);
            axis.map(|v| v / dot(axis, axis).sqrt())
        });
        let [left, right, nose, corner, last] = *landmarks;
        let mouth = middle(corner, last);
        // Halfway between the middles of eyes and mouth: a turned face is not symmetric about its template's middle.
        let centre = middle(middle(left, right), mouth);
        let mirrored = positions.iter().map(|position| {
            let beside = dot(minus(*position, centre), axes[0]);
            let image = [0, 1].map(|i| position[i] - 2.0 * beside * axes[0][i]);
            cell(image.map(|v| (v + 0.5) / spacing))
        });
        let part = |centre: Point, [wide, high]: [f32; 2], grows: bool| {
            let place = |position: &Point| axes.map(|axis| dot(minus(*position, centre), axis));
            let places: Vec<Point> = positions.iter().map(place).collect();
            let weight = |[u, v]: &Point| {
                let [u, v] = [u / wide, v / high].map(|radii| radii / eye_distance);
                (-0.25 * (u * u + v * v).powi(2)).exp()
            };
            Part { weights: places.iter().map(weight).collect(), places, grows }
        };
        let width = dot(minus(last, corner), axes[0]).abs() / eye_distance;
        let eyes = [left, right].map(|eye| part(eye, EYE, false));
        let parts = [
            part(nose, NOSE, true),
            part(mouth, [MOUTH[0] * width.max(MIN_MOUTH), MOUTH[1]], true),
        ];
        Self { axes, mirrored: mirrored.collect(), eyes, parts }
    }

    /// Takes out a share of what is not symmetric: of the difference from the mirror image.
    pub(super) fn keep_symmetric(&self, controls: &mut Controls, share: f32) {
        let [across, _] = self.axes;
        let image = |(first, weights): &(usize, [f32; 4])| {
            let near = [0, 1, GRID, GRID + 1].map(|step| controls[first + step]);
            let sum = |i: usize| near.iter().zip(weights).map(|(c, w)| w * c[i]).sum();
            let vector = [sum(0), sum(1)];
            let beside = dot(vector, across);
            [0, 1].map(|i| vector[i] - 2.0 * beside * across[i])
        };
        let images: Vec<[f32; 2]> = self.mirrored.iter().map(image).collect();
        for (c, image) in controls.iter_mut().zip(images) {
            *c = [0, 1].map(|i| c[i] + 0.5 * share * (image[i] - c[i]));
        }
    }

    /// Makes each eye move as a whole.
    pub(super) fn keep_eyes(&self, controls: &mut Controls) {
        self.eyes.iter().for_each(|eye| eye.keep(controls, &self.axes, 1.0));
    }

    /// Takes out a share of what would give nose and mouth another form.
    pub(super) fn keep_parts(&self, controls: &mut Controls, share: f32) {
        self.parts.iter().for_each(|part| part.keep(controls, &self.axes, share));
    }
}

impl Part {
    /// Brings displacements closer to the shift, and the growth along both axes, that fit them best: all the way for a share
    /// of 1.
    fn keep(&self, controls: &mut Controls, axes: &[Point; 2], share: f32) {
        let total: f32 = self.weights.iter().sum();
        if total < MIN_WEIGHT {
            return;
        }
        let fits = [0, 1].map(|i| {
            let (mut sum, mut product, mut squares) = (0.0, 0.0, f32::MIN_POSITIVE);
            for ((c, place), w) in controls.iter().zip(&self.places).zip(&self.weights) {
                let along = dot(*c, axes[i]);
                sum += w * along;
                product += w * place[i] * along;
                squares += w * place[i] * place[i];
            }
            [sum / total, if self.grows { product / squares } else { 0.0 }]
        });
        for ((c, place), w) in controls.iter_mut().zip(&self.places).zip(&self.weights) {
            let [across, along] = [0, 1].map(|i| fits[i][0] + fits[i][1] * place[i]);
            let whole = [0, 1].map(|i| across * axes[0][i] + along * axes[1][i]);
            *c = [0, 1].map(|i| c[i] + share * w * (whole[i] - c[i]));
        }
    }
}

/// The first of the four control points around a place, and their bilinear weights.
fn cell(place: Point) -> (usize, [f32; 4]) {
    let [x, y] = place.map(|v| v.clamp(0.0, (GRID - 1) as f32));
    let (column, row) = ((x as usize).min(GRID - 2), (y as usize).min(GRID - 2));
    let (t, u) = (x - column as f32, y - row as f32);
    let weights = [(1.0 - t) * (1.0 - u), t * (1.0 - u), (1.0 - t) * u, t * u];
    (row * GRID + column, weights)
}

fn middle(a: Point, b: Point) -> Point {
    [0, 1].map(|i| (a[i] + b[i]) / 2.0)
}

fn minus(a: Point, b: Point) -> Point {
    [0, 1].map(|i| a[i] - b[i])
}

fn dot(a: Point, b: Point) -> f32 {
    a[0] * b[0] + a[1] * b[1]
}
