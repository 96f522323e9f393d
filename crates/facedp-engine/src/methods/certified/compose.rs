//! Putting faces into a photo from which faces were erased. Nothing here can see what was erased.

use std::sync::OnceLock;

use facedp::certified::{CertifiedPlan, Estimate};

use super::edge::Edge;
use super::erase::{PublicPhoto, SIDE, cells};
use super::frame::{disc, from_disc};
use crate::photo::Photo;

/// How much of the difference from a blurred copy is added to a face: averages of faces are soft.
const SHARPNESS: f32 = 0.6;

/// Red, green and blue of the cells of a frame.
pub(super) type Cell = [f32; 3];

/// Makes faces from the surroundings and estimated features, and puts them where faces were erased. It has
/// no other input (proofs/face.md).
pub(super) fn compose(public: PublicPhoto, estimates: &[Estimate], plan: &CertifiedPlan) -> Photo {
    let model = plan.model();
    let painted = estimates.iter().enumerate().map(|(n, estimate)| {
        let mut coordinates = public.predicted(n, model);
        coordinates.iter_mut().zip(estimate.features()).for_each(|(c, f)| *c += *f as f32);
        let face = Painting::new(&model.face(&coordinates));
        let edge = Edge::new(&public, n, &face);
        paint(&public, n, &face, &edge)
    });
    let painted: Vec<Vec<(usize, usize, Cell)>> = painted.collect();
    let mut photo = public.photo;
    for (x, y, colour) in painted.into_iter().flatten() {
        photo.set_colour(x, y, colour);
    }
    photo
}

/// The pixels of a face.
fn paint(
    public: &PublicPhoto,
    face: usize,
    painting: &Painting,
    edge: &Edge,
) -> Vec<(usize, usize, Cell)> {
    let frame = &public.frames[face];
    let region = frame.region(&public.photo);
    let mut pixels = Vec::new();
    for y in region.y..region.y + region.height {
        for x in region.x..region.x + region.width {
            if public.owner(x, y) == Some(face) {
                let own = painting.colour(frame.to_frame([x as f32, y as f32]));
                let shift = edge.shift(frame.polar(x, y));
                pixels.push((x, y, [0, 1, 2].map(|i| own[i] + shift[i])));
            }
        }
    }
    pixels
}

/// A face as a grid of cells, continued beyond its outline.
pub(super) struct Painting(Vec<Cell>);

impl Painting {
    fn new(face: &[f32]) -> Self {
        let mut grid = vec![[f32::NAN; 3]; SIDE * SIDE];
        for ([x, y], colour) in cells().zip(face.as_chunks::<3>().0) {
            grid[y * SIDE + x] = *colour;
        }
        let whole: Vec<Cell> = nearest_inside().iter().map(|cell| grid[*cell]).collect();
        Self(sharpened(&whole))
    }

    fn at(&self, x: i32, y: i32) -> Cell {
        let [x, y] = [x, y].map(|v| v.clamp(0, SIDE as i32 - 1) as usize);
        self.0[y * SIDE + x]
    }

    /// The colour at a point of the frame (Catmull-Rom).
    pub(super) fn colour(&self, point: [f32; 2]) -> Cell {
        let place = point.map(|v| v.clamp(-1.0, 2.0) * SIDE as f32 - 0.5);
        let first = place.map(f32::floor);
        let weights = [0, 1].map(|i| catmull_rom(place[i] - first[i]));
        let mut sum = [0.0; 3];
        for (j, down) in weights[1].iter().enumerate() {
            for (i, across) in weights[0].iter().enumerate() {
                let cell = self.at(first[0] as i32 + i as i32 - 1, first[1] as i32 + j as i32 - 1);
                let weight = down * across;
                sum = [0, 1, 2].map(|c| sum[c] + weight * cell[c]);
            }
        }
        sum
    }
}

/// For each cell of a frame, the nearest cell towards the centre that is inside the outline.
fn nearest_inside() -> &'static [usize] {
    static CELLS: OnceLock<Vec<usize>> = OnceLock::new();
    CELLS.get_or_init(|| {
        let mut inside = vec![false; SIDE * SIDE];
        cells().for_each(|[x, y]| inside[y * SIDE + x] = true);
        let nearest = |cell: usize| {
            let mut place =
                disc([cell % SIDE, cell / SIDE].map(|v| (v as f32 + 0.5) / SIDE as f32));
            let mut found = cell;
            while !inside[found] && place.radius > 0.0 {
                place.radius = (place.radius - 0.01).min(1.0);
                let [x, y] = from_disc(place).map(|v| ((v * SIDE as f32) as usize).min(SIDE - 1));
                found = y * SIDE + x;
            }
            found
        };
        (0..SIDE * SIDE).map(nearest).collect()
    })
}

fn catmull_rom(t: f32) -> [f32; 4] {
    let (t2, t3) = (t * t, t * t * t);
    [
        0.5 * (-t3 + 2.0 * t2 - t),
        0.5 * (3.0 * t3 - 5.0 * t2 + 2.0),
        0.5 * (-3.0 * t3 + 4.0 * t2 + t),
        0.5 * (t3 - t2),
    ]
}

/// A copy with more contrast between neighbouring cells.
fn sharpened(grid: &[Cell]) -> Vec<Cell> {
    let blurred = blurred(&blurred(grid));
    let pairs = grid.iter().zip(&blurred);
    pairs.map(|(own, soft)| [0, 1, 2].map(|c| own[c] + SHARPNESS * (own[c] - soft[c]))).collect()
}

/// Means over squares of 3x3 cells.
fn blurred(grid: &[Cell]) -> Vec<Cell> {
    let last = SIDE - 1;
    let cell = |n: usize| {
        let (x, y) = (n % SIDE, n / SIDE);
        let (mut sum, mut count) = ([0.0; 3], 0.0);
        for j in y.saturating_sub(1)..=(y + 1).min(last) {
            for i in x.saturating_sub(1)..=(x + 1).min(last) {
                sum = [0, 1, 2].map(|c| sum[c] + grid[j * SIDE + i][c]);
                count += 1.0;
            }
        }
        sum.map(|v| v / count)
    };
    (0..SIDE * SIDE).map(cell).collect()
}
