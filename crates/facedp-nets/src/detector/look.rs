//! Closer looks at a place that may be a face, in the frame of that face.
//!
//! The network turns landmarks by about half of what a face is turned, and its landmarks jitter with the
//! position of the face on its grid. A look therefore shows the place turned upright, at one size, and takes
//! the mean of what neighbouring cells of the grid say. Looks repeat, each in the frame that the one before it
//! found, until the frame stays: it then hardly depends on where the search began.

use std::f32::consts::TAU;

use super::Detector;
use super::face::{Face, blended};
use super::pyramid::Pyramid;
use super::turned::SURE;
use crate::engine::Workspace;
use crate::similarity::{Point, Similarity};

/// The side of a look, and the range of sizes of the face in it: small faces are enlarged less.
const SIDE: usize = 128;
const FACE: [f32; 2] = [48.0, 64.0];
/// By how much the frame turns, as a multiple of what the landmarks say.
const GAIN: f32 = 2.1;
/// Cells with a lower score say nothing about a place.
const WEAKEST_CELL: f32 = 0.1;
/// The frame stays if it turns by less (radians) and moves by less, as a share of the size of the face. Looks
/// that begin at a sure face of the upright picture begin near its frame, and may end earlier.
const STEADY_TURN: f32 = 0.02;
const STEADY_SHIFT: f32 = 0.01;
const EARLIER: f32 = 1.4;
const NEARLY_UPRIGHT: f32 = 0.2;
/// Looks that find the frame end after this many.
const MAX_LOOKS: usize = 8;
/// Looks at one place that begin with turns closer to each other (radians) lead to the same frame.
const SAME_TURN: f32 = 1.0;
/// The last view, which is averaged with the look before it: turn in radians, scale, shift in pixels.
const LAST_VIEW: (f32, f32, Point) = (0.05, 1.04, [4.0, 4.0]);

/// A place that may be a face.
#[derive(Debug, Clone, Copy)]
pub(super) struct Candidate {
    pub(super) centre: Point,
    /// Side of the square with the area of its box, in pixels of the picture.
    pub(super) size: f32,
    /// The rotation of the picture that turns the face upright, in radians.
    pub(super) turn: f32,
    pub(super) score: f32,
    /// The face in the picture, with the landmarks of its look.
    pub(super) face: Face,
}

impl Candidate {
    /// A face of a look at the picture turned by `turn`, which `back` undoes.
    pub(super) fn new(face: &Face, back: &Similarity, turn: f32) -> Self {
        let size = back.scale() * face.rect.size();
        let centre = back.apply(face.rect.centre());
        Self { centre, size, turn, score: face.score, face: face.mapped(back) }
    }

    /// A face of the upright picture, turned by what its landmarks say.
    pub(super) fn upright(face: &Face) -> Self {
        let (centre, size) = (face.rect.centre(), face.rect.size());
        Self { centre, size, turn: -GAIN * face.roll(), score: face.score, face: *face }
    }

    /// From the picture to a look, in which the face is upright and has `size`.
    fn placement(&self, size: f32) -> Similarity {
        let middle = (SIDE - 1) as f32 / 2.0;
        let shift = [middle - self.centre[0], middle - self.centre[1]];
        Similarity::upright(1.0, shift).turned(self.turn, size / self.size, [middle; 2])
    }

    /// Whether a look at this place would lead to where a look at the other one did.
    pub(super) fn leads_to(&self, other: &Candidate) -> bool {
        let turn = (self.turn - other.turn).rem_euclid(TAU);
        turn.min(TAU - turn) < SAME_TURN && self.face.is_same(&other.face)
    }

    /// Whether another look found the same frame, within a multiple of the tolerance.
    fn agrees(&self, other: &Candidate, factor: f32) -> bool {
        let [x, y] = [0, 1].map(|axis| self.centre[axis] - other.centre[axis]);
        let moved = x.hypot(y).max((self.size - other.size).abs());
        moved < factor * STEADY_SHIFT * self.size
            && (self.turn - other.turn).abs() < factor * STEADY_TURN
    }
}

impl Detector {
    /// Looks at a place until its frame stays. None as soon as a look scores less than `hopeless`.
    pub(super) fn settled(
        &self,
        pyramid: &Pyramid<'_>,
        place: Candidate,
        hopeless: f32,
        work: &mut Workspace,
    ) -> Option<Candidate> {
        let mut place = place;
        let near = place.score >= SURE && place.turn.abs() < NEARLY_UPRIGHT;
        let factor = if near { EARLIER } else { 1.0 };
        for _ in 0..MAX_LOOKS {
            let seen = self.look(pyramid, &place, (0.0, 1.0, [0.0; 2]), work)?;
            if seen.score < hopeless {
                return None;
            }
            let steady = seen.agrees(&place, factor);
            place = seen;
            if steady {
                break;
            }
        }
        Some(place)
    }

    /// The mean of two views of a place whose frame was found.
    pub(super) fn averaged(
        &self,
        pyramid: &Pyramid<'_>,
        place: &Candidate,
        work: &mut Workspace,
    ) -> Option<Candidate> {
        let seen = self.look(pyramid, place, LAST_VIEW, work)?;
        let face = Face::mean(&[(&place.face, 1.0), (&seen.face, 1.0)])?;
        Some(Candidate { score: face.score, face, ..*place })
    }

    /// Looks at a place turned upright. The result is turned further, by what its landmarks say.
    fn look(
        &self,
        pyramid: &Pyramid<'_>,
        place: &Candidate,
        (angle, scale, shift): (f32, f32, Point),
        work: &mut Workspace,
    ) -> Option<Candidate> {
        let (size, middle) = (place.size.clamp(FACE[0], FACE[1]), (SIDE - 1) as f32 / 2.0);
        let placement = place.placement(size).turned(angle, scale, [middle; 2]).shifted(shift);
        let chip = pyramid.placed(&placement, SIDE, SIDE);
        let near = |face: &Face| {
            let [x, y] = face.rect.centre();
            let ratio = face.rect.size() / size;
            (x - middle).hypot(y - middle) < 0.5 * size && (0.5..2.0).contains(&ratio)
        };
        let mut found = self.cells(&chip, (0..SIDE, 0..SIDE), WEAKEST_CELL, work);
        found.retain(near);
        let seen = *blended(&found).first()?;
        let turn = place.turn + angle;
        let found = Candidate::new(&seen, &placement.inverse(), turn);
        Some(Candidate { turn: turn - GAIN * seen.roll(), ..found })
    }
}
