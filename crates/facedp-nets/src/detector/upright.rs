//! The search of the upright picture.
//!
//! The network works best on faces of about 12 to 200 pixels. A photo is therefore searched at several
//! sizes, each half of the previous one: small faces are found at large sizes, large faces at small
//! sizes.

use super::Detector;
use super::face::{Face, Rect, keep_best};
use super::pyramid::Pyramid;
use crate::engine::{Shape, Workspace};
use crate::picture::Picture;
use crate::similarity::Similarity;

/// Larger faces are left to the next smaller size of the picture.
pub(super) const MAX_FACE: f32 = 200.0;
/// From this score on, a face needs no confirmation.
const CONFIDENT: f32 = 0.85;
/// The side of the picture that confirms a face, and of the face in it.
const CONFIRM_SIDE: usize = 256;
const CONFIRM_FACE: f32 = 100.0;
/// The search ends at a size whose longer side is at most this.
pub(super) const LAST_SIZE: usize = 320;

/// What the search of the upright picture found.
pub(super) struct Upright {
    /// Faces with the score that was asked for, best first.
    pub(super) faces: Vec<Face>,
    /// Places that scored less, or were not confirmed.
    pub(super) others: Vec<Face>,
}

impl Detector {
    /// Faces with a score of at least `min_score`, and places with a score of at least `weakest`.
    pub(super) fn search_upright(
        &self,
        pyramid: &Pyramid<'_>,
        min_score: f32,
        weakest: f32,
        work: &mut Workspace,
    ) -> Upright {
        let (mut faces, mut others) = (Vec::new(), Vec::new());
        let mut factor = 1.0;
        for size in pyramid.sizes() {
            let last = size.width().max(size.height()) <= LAST_SIZE;
            for mut face in self.detect_in_size(size, weakest.min(min_score), work) {
                if !last && face.rect.width.max(face.rect.height) > MAX_FACE {
                    continue;
                }
                let sure = face.score >= min_score
                    && (face.score >= CONFIDENT || self.confirms(size, &face, min_score, work));
                face.scale(factor);
                if sure { faces.push(face) } else { others.push(face) }
            }
            if last {
                break;
            }
            factor *= 2.0;
        }
        Upright { faces: keep_best(faces), others }
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
        let found = keep_best(self.decode(work, shape, min_score));
        found.iter().any(|found| found.rect.overlaps(&expected))
    }
}
