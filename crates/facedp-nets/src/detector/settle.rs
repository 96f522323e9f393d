//! Deciding which places are faces, and in which frame.

use std::f32::consts::PI;

use super::face::{Face, keep_best};
use super::look::Candidate;
use super::pyramid::Pyramid;
use super::turned::{SURE, WEAKEST};
use super::upright::Upright;
use super::{Detections, Detector};
use crate::engine::Workspace;

/// Below this score, an upright face is also looked at as if it were upside down, about.
const UNSURE: f32 = 0.91;
const OTHER_TURNS: [f32; 3] = [2.0 / 3.0 * PI, PI, 4.0 / 3.0 * PI];
/// A turned look that scores at most this less than the upright one contests it: if that is sure, and if not.
const VERY_SURE: f32 = 0.92;
const NEAR: f32 = 0.04;
const FAR: f32 = 0.12;
/// Looks at a rival end if one scores this much less than the upright look.
const RIVAL: f32 = 0.25;
/// Looks at a place end if one scores less.
const HOPELESS: f32 = 0.3;
/// A closer look at an upright face that scores at most this less gives its landmarks.
const TRUSTED: f32 = 0.25;
/// A face that turns out to be turned by less (radians) is upright.
const UPRIGHT: f32 = 0.3;
/// Smaller places are not looked at again: nobody is recognised in so few pixels.
const MIN_SIZE: f32 = 10.0;
/// Looks at fewer places decide, the most likely ones.
const MAX_PLACES: usize = 60;
/// The score that a face needs which only closer looks find. Of 360 turned faces none had less than 0.9;
/// fists and valves reach 0.82.
const CLOSER: f32 = 0.85;
/// Smaller places that only closer looks find are doubts at best, from the second score on: enlarged, badges
/// look like faces too.
const SMALL: f32 = 28.0;
const SMALL_DOUBT: f32 = 0.9;
/// Places with a lower score are no doubts.
const DOUBT: f32 = 0.6;

/// Faces of the upright picture, each with what a closer look at it found.
pub(super) struct InOwnFrames {
    faces: Vec<(Face, Option<Candidate>)>,
    others: Vec<Face>,
}

impl InOwnFrames {
    /// Whether a face is upright for sure.
    pub(super) fn is_sure(&self) -> bool {
        let upright = |own: &Candidate| own.score >= SURE && own.turn.abs() < UPRIGHT;
        self.faces.iter().any(|(face, own)| face.score >= SURE && own.as_ref().is_some_and(upright))
    }
}

impl Detector {
    pub(super) fn in_own_frames(
        &self,
        pyramid: &Pyramid<'_>,
        Upright { faces, others }: Upright,
        work: &mut Workspace,
    ) -> InOwnFrames {
        let own =
            |face: Face| (face, self.settled(pyramid, Candidate::upright(&face), HOPELESS, work));
        InOwnFrames { faces: faces.into_iter().map(own).collect(), others }
    }

    /// The faces of all looks, and the doubts.
    pub(super) fn settle(
        &self,
        pyramid: &Pyramid<'_>,
        upright: InOwnFrames,
        turned: Vec<Candidate>,
        min_score: f32,
        work: &mut Workspace,
    ) -> Detections {
        let (mut faces, mut doubts) = (Vec::new(), Vec::new());
        for (face, own) in upright.faces {
            faces.push(self.contested(pyramid, face, own, &turned, work));
        }
        let others = upright.others.iter().map(Candidate::upright);
        let mut places: Vec<Candidate> = others.chain(turned).collect();
        places.sort_by(|a, b| b.score.total_cmp(&a.score));
        let mut looked_at: Vec<Candidate> = Vec::new();
        for place in places {
            let known = |face: &Face| face.is_same(&place.face);
            let again = |other: &Candidate| place.leads_to(other);
            if place.size < MIN_SIZE || faces.iter().any(known) || looked_at.iter().any(again) {
                continue;
            }
            if looked_at.len() >= MAX_PLACES {
                break;
            }
            looked_at.push(place);
            let seen =
                self.settled(pyramid, place, HOPELESS, work).filter(|seen| seen.score >= WEAKEST);
            let seen = seen.and_then(|seen| self.averaged(pyramid, &seen, work));
            let Some(seen) = seen else { continue };
            if faces.iter().any(|face: &Face| face.is_same(&seen.face)) {
                continue;
            }
            let (sure, doubt) = match seen.size < SMALL {
                true => (f32::INFINITY, SMALL_DOUBT),
                false => (min_score.max(CLOSER), DOUBT),
            };
            if seen.score >= sure {
                faces.push(seen.face);
            } else if seen.score >= doubt {
                doubts.push(seen.face);
            }
        }
        let faces = keep_best(faces);
        doubts.retain(|doubt| !faces.iter().any(|face| face.is_same(doubt)));
        Detections { faces, doubts: keep_best(doubts) }
    }

    /// A face of the upright picture, in the frame in which the network is surest of it.
    fn contested(
        &self,
        pyramid: &Pyramid<'_>,
        face: Face,
        own: Option<Candidate>,
        turned: &[Candidate],
        work: &mut Workspace,
    ) -> Face {
        let margin = if face.score < VERY_SURE { FAR } else { NEAR };
        let near = |rival: &&Candidate| rival.face.is_same(&face);
        let best = turned.iter().filter(near).max_by(|a, b| a.score.total_cmp(&b.score));
        let best = best.filter(|rival| rival.score > face.score - margin).copied();
        // Upside-down faces are often found with the eyes at the mouth.
        let turns = if face.score < UNSURE { OTHER_TURNS.as_slice() } else { &[] };
        let others =
            turns.iter().map(|turn| Candidate { turn: *turn, ..Candidate::upright(&face) });
        let rivals = best.into_iter().chain(others);
        let hopeless = own.map_or(HOPELESS, |own| own.score - RIVAL);
        let rivals = rivals.filter_map(|rival| self.settled(pyramid, rival, hopeless, work));
        // Looks may have wandered off to another face.
        let stays = |seen: &Candidate| seen.face.is_same(&face);
        let all = own.into_iter().chain(rivals).filter(stays);
        let seen = all.max_by(|a, b| a.score.total_cmp(&b.score));
        match seen.and_then(|seen| self.averaged(pyramid, &seen, work)) {
            Some(seen) if seen.score > face.score - TRUSTED => {
                Face { score: face.score.max(seen.score), ..seen.face }
            }
            _ => face,
        }
    }
}
