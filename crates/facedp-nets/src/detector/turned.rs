//! The search of turned copies of the picture.

use std::f32::consts::FRAC_PI_2;

use super::Detector;
use super::face::Face;
use super::look::Candidate;
use super::pyramid::Pyramid;
use super::upright::{LAST_SIZE, MAX_FACE};
use crate::engine::Workspace;
use crate::similarity::Similarity;

/// Places with a lower score are not looked at again.
pub(super) const WEAKEST: f32 = 0.4;
/// From this score on, a face is turned as it was looked at: turned by 45 degrees or more, the network is
/// hardly ever as sure.
pub(super) const SURE: f32 = 0.9;
/// The longer side of turned copies: share of the picture, and the range.
struct Size {
    share: f32,
    range: [f32; 2],
}
/// Where the upright picture shows no face for sure.
const LARGE: Size = Size { share: 0.64, range: [160.0, 1600.0] };
/// Where it shows one.
const REDUCED: Size = Size { share: 0.38, range: [96.0, 1024.0] };
/// The next smaller copy: the network finds faces of about 12 to 200 pixels, and two sizes overlap.
const STEP: f32 = 0.25;

impl Detector {
    /// Places that may be faces in turned copies of the picture.
    ///
    /// People in a photo are mostly turned the same way. Where a face is upright for sure, quarter turns of
    /// smaller copies must do: a face between two directions shows in both, with a lower score. Where none
    /// is sure in a quarter turn either, the turns in between follow.
    pub(super) fn search_turned(
        &self,
        pyramid: &Pyramid<'_>,
        upright: bool,
        work: &mut Workspace,
    ) -> Vec<Candidate> {
        let size = if upright { REDUCED } else { LARGE };
        let mut found = self.search_turns(pyramid, &[1.0, 2.0, 3.0], &size, work);
        if !upright && !found.iter().any(|place| place.score >= SURE) {
            found.extend(self.search_turns(pyramid, &[0.5, 1.5, 2.5, 3.5], &size, work));
        }
        found
    }

    /// Places in copies turned by a number of quarters.
    fn search_turns(
        &self,
        pyramid: &Pyramid<'_>,
        quarters: &[f32],
        Size { share, range: [low, high] }: &Size,
        work: &mut Workspace,
    ) -> Vec<Candidate> {
        let picture = pyramid.full();
        let longer = picture.width().max(picture.height()) as f32;
        let largest = (share * longer).clamp(*low, *high).min(longer);
        let mut found = Vec::new();
        for turn in quarters.iter().map(|quarters| quarters * FRAC_PI_2) {
            let mut side = largest;
            loop {
                let last = side <= LAST_SIZE as f32;
                self.search_copy(pyramid, turn, side / longer, last, work, &mut found);
                if last {
                    break;
                }
                side *= STEP;
            }
        }
        found
    }

    /// Places in one turned and scaled copy.
    fn search_copy(
        &self,
        pyramid: &Pyramid<'_>,
        turn: f32,
        scale: f32,
        last: bool,
        work: &mut Workspace,
        found: &mut Vec<Candidate>,
    ) {
        let picture = pyramid.full();
        let [width, height] = [picture.width(), picture.height()].map(|n| n as f32);
        let (cos, sin) = (turn.cos().abs(), turn.sin().abs());
        let extent = |a: f32, b: f32| ((scale * (cos * a + sin * b)).round() as usize).max(1);
        let (across, down) = (extent(width, height), extent(height, width));
        let middle = [(width - 1.0) / 2.0, (height - 1.0) / 2.0];
        let target = [(across - 1) as f32 / 2.0, (down - 1) as f32 / 2.0];
        let placement = Similarity::upright(1.0, [target[0] - middle[0], target[1] - middle[1]])
            .turned(turn, scale, target);
        let copy = pyramid.placed(&placement, across, down);
        let back = placement.inverse();
        for face in self.detect_in_size(&copy, WEAKEST, work) {
            let Face { rect, .. } = face;
            if last || rect.width.max(rect.height) <= MAX_FACE {
                found.push(Candidate::new(&face, &back, turn));
            }
        }
    }
}
