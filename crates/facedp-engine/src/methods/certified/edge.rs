//! No seam at the outline: near it, a face is shifted to the colours of the pixels outside.
//!
//! The difference between the pixels just outside the outline and the face there is a function of the
//! angle. Its harmonic continuation into the disc, `sum_n r^n (a_n cos n t + b_n sin n t)`, is smooth, and
//! loses fine detail first. It fades out towards the centre, so that a coloured background does not tint the
//! face.

use super::compose::{Cell, Painting};
use super::erase::PublicPhoto;
use super::frame::{Polar, from_disc};

/// The share of the radius over which the shift fades out.
const BAND: f32 = 0.35;
/// Radii at which the continuation is computed.
const RADII: usize = 25;
/// Fewest and most angles.
const ANGLES: [usize; 2] = [64, 1024];
/// How far outside the outline a known pixel is looked for.
const REACH: f32 = 0.15;

/// Shifts by radius (from the outline inwards) and angle.
pub(super) struct Edge {
    angles: usize,
    shifts: Vec<Vec<Cell>>,
}

impl Edge {
    pub(super) fn new(public: &PublicPhoto, face: usize, painting: &Painting) -> Self {
        let size = public.frames[face].size();
        let angles = ((3.0 * size) as usize).clamp(ANGLES[0], ANGLES[1]);
        let angle = |n: usize| n as f32 * std::f32::consts::TAU / angles as f32;
        let differences: Vec<Option<Cell>> =
            (0..angles).map(|n| difference(public, face, painting, angle(n))).collect();
        let differences = filled(&differences);
        Self { angles, shifts: continued(&differences) }
    }

    /// The shift at a point of the disc.
    pub(super) fn shift(&self, Polar { radius, angle }: Polar) -> Cell {
        let depth = ((1.0 - radius) / BAND).clamp(0.0, 1.0);
        let weight = (1.0 - depth) * (1.0 - depth) * (1.0 + 2.0 * depth);
        let row = depth * (RADII - 1) as f32;
        let turn = angle.rem_euclid(std::f32::consts::TAU) / std::f32::consts::TAU;
        let column = turn * self.angles as f32;
        let (j, i) = ((row as usize).min(RADII - 2), column as usize % self.angles);
        let (v, u) = (row - j as f32, column - column.floor());
        let next = (i + 1) % self.angles;
        let line = |row: &[Cell], c: usize| row[i][c] * (1.0 - u) + row[next][c] * u;
        [0, 1, 2].map(|c| {
            weight * (line(&self.shifts[j], c) * (1.0 - v) + line(&self.shifts[j + 1], c) * v)
        })
    }
}

/// The nearest known colour outside the outline minus that of the face at the outline; none if nothing is
/// known in that direction.
fn difference(public: &PublicPhoto, face: usize, painting: &Painting, angle: f32) -> Option<Cell> {
    let frame = &public.frames[face];
    let step = 0.5 / (0.5 * frame.size()).max(1.0);
    let mut radius = 1.0;
    let outside = loop {
        let place = from_disc(Polar { radius, angle });
        if let Some(known) = public.known(frame.to_photo(place)) {
            break known;
        }
        radius += step;
        if radius > 1.0 + REACH.max(3.0 * step) {
            return None;
        }
    };
    let own = painting.colour(from_disc(Polar { radius: 1.0, angle }));
    Some([0, 1, 2].map(|c| outside[c] - own[c]))
}

/// Missing differences, interpolated between the nearest known ones around the outline; 0 if none is
/// known.
fn filled(differences: &[Option<Cell>]) -> Vec<Cell> {
    let count = differences.len();
    let nearest = |n: usize, step: usize| {
        let mut all = (0..count).map(|k| (k, differences[(n + k * step) % count]));
        all.find_map(|(distance, known)| Some((distance as f32, known?)))
    };
    let fill = |n: usize| match (nearest(n, 1), nearest(n, count - 1)) {
        (Some((0.0, own)), _) => own,
        (Some((right, a)), Some((left, b))) => {
            [0, 1, 2].map(|c| (a[c] * left + b[c] * right) / (left + right))
        }
        _ => [0.0; 3],
    };
    (0..count).map(fill).collect()
}

/// The harmonic continuation at all radii, from the outline inwards.
fn continued(differences: &[Cell]) -> Vec<Vec<Cell>> {
    let count = differences.len();
    let waves: Vec<[f32; 2]> = (0..count)
        .map(|n| {
            let (sin, cos) = (n as f32 * std::f32::consts::TAU / count as f32).sin_cos();
            [cos, sin]
        })
        .collect();
    let orders = count / 2;
    let coefficient = |order: usize, part: usize| -> Cell {
        let mut sum = [0.0; 3];
        for (n, difference) in differences.iter().enumerate() {
            let wave = waves[order * n % count][part];
            sum = [0, 1, 2].map(|c| sum[c] + wave * difference[c]);
        }
        let share = if order == 0 { 1.0 } else { 2.0 } / count as f32;
        sum.map(|v| v * share)
    };
    let coefficients: Vec<[Cell; 2]> =
        (0..orders).map(|order| [0, 1].map(|part| coefficient(order, part))).collect();
    let mut rows = vec![differences.to_vec()];
    for row in 1..RADII {
        let radius = 1.0 - BAND * row as f32 / (RADII - 1) as f32;
        let damped: Vec<(usize, f32)> = (0..orders)
            .map(|order| (order, radius.powi(order as i32)))
            .take_while(|(_, damping)| *damping > 1e-3)
            .collect();
        let shift = |n: usize| {
            let mut sum = [0.0; 3];
            for (order, damping) in &damped {
                let [cos, sin] = waves[order * n % count];
                let [a, b] = coefficients[*order];
                sum = [0, 1, 2].map(|c| sum[c] + damping * (a[c] * cos + b[c] * sin));
            }
            sum
        };
        rows.push((0..count).map(shift).collect());
    }
    rows
}
