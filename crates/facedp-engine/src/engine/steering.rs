//! Steering all faces of a photo.

use std::sync::atomic::{AtomicUsize, Ordering};

use facedp::Plane;
use facedp::noise::Source;
use facedp_nets::{Landmarks, Workspace};
use rand_chacha::ChaCha20Rng;

use super::context::Context;
use super::{Done, Engine, Hands, Subject};
use crate::error::{Error, Result};
use crate::eyes::Spot;
use crate::key::Secret;
use crate::lift::{self, Lift, Tint};
use crate::outcome::Left;
use crate::patch::Patch;
use crate::photo::{Photo, Region};
use crate::receipt::Course;
use crate::steer::{MIN_WIDTH, Place, Steered, Steering, steer};

/// A face to be steered.
struct Steerable {
    spot: Option<Spot>,
    landmarks: Landmarks,
    patch: Patch,
    region: Region,
    source: Source<ChaCha20Rng>,
}

impl Engine {
    /// Steers all faces that are large enough. Faces that overlap go one after the other, so that
    /// each sees what was done to the others.
    pub(super) fn steer(
        &self,
        photo: &mut Photo,
        steering: &Steering,
        secret: &Secret,
        hands: Hands<'_>,
        work: &mut Workspace,
    ) -> Result<(Vec<Subject>, Vec<Left>, bool)> {
        let (Some(eyes), Some(prior)) = (&self.eyes, &self.prior) else {
            return Ok((Vec::new(), Vec::new(), false));
        };
        let found = self.subjects(photo, work)?;
        let context = Context::new(&steering.name(), photo, secret);
        let (mut faces, mut left) = (Vec::new(), Vec::new());
        for (spot, patch) in found {
            let face = eyes.face_to_check(spot, photo, work)?.ok_or(Error::NoFace)?;
            if face.rect[2] < MIN_WIDTH {
                let reason = format!(
                    "{:.0} pixels wide, too small to be steered: {MIN_WIDTH} are needed",
                    face.rect[2]
                );
                left.push(Left { spot: face, reason });
                continue;
            }
            let region = patch.region(photo);
            let source = context.source(region)?;
            faces.push(Steerable { spot, landmarks: face.landmarks, patch, region, source });
        }
        if faces.is_empty() && !left.is_empty() {
            let found =
                if left.len() == 1 { "1 face".to_owned() } else { format!("{} faces", left.len()) };
            return Err(Error::TooSmall { found, least: MIN_WIDTH });
        }
        let recognisers = eyes.named(&steering.recognisers);
        let (count, done) = (faces.len(), AtomicUsize::new(0));
        (hands.tell)(0, count);
        let mut subjects = Vec::new();
        for face in &faces {
            // Of the original, before any face is changed. What was done follows.
            hands.go_on()?;
            let done = Done::Steered { course: Course { steps: 0, reached: false }, mse: 0.0 };
            subjects.push(self.subject(photo, face.spot, face.region, done, work)?);
        }
        let mut changed = false;
        let mut waiting: Vec<(usize, Steerable)> = faces.into_iter().enumerate().collect();
        while !waiting.is_empty() {
            let (mut now, mut later) = (Vec::<(usize, Steerable)>::new(), Vec::new());
            for (number, face) in waiting {
                let clash = now.iter().any(|(_, other)| other.region.overlaps(face.region));
                if clash { later.push((number, face)) } else { now.push((number, face)) }
            }
            let seen = &*photo;
            let one = |face: &mut Steerable, work: &mut Workspace| {
                let Steerable { patch, landmarks, source, .. } = face;
                let place = Place { photo: seen, patch, landmarks };
                let go_on = || hands.go_on();
                let steered = steer(&place, &recognisers, prior, steering, source, &go_on, work);
                (hands.tell)(done.fetch_add(1, Ordering::Relaxed) + 1, count);
                steered
            };
            let results = shared(&mut now, hands.threads, work, |(_, face), work| one(face, work));
            let mut lifts = Vec::new();
            for ((number, face), steered) in now.iter().zip(results) {
                let Steered { planes, steps, reached } = steered?;
                let luma = planes.iter().find(|(tint, _)| *tint == Tint::Luma);
                let mse = luma.map_or(0.0, |(_, p)| p.energy() / p.data().len() as f64);
                subjects[*number].done = Done::Steered { course: Course { steps, reached }, mse };
                let lift =
                    |(tint, plane): &(Tint, Plane)| Lift::tinted(plane, *tint, &face.patch, photo);
                lifts.extend(planes.iter().map(lift));
            }
            changed |= lift::apply(&lifts, photo);
            waiting = later;
        }
        Ok((subjects, left, changed))
    }
}

/// Does something to each item, in up to `threads` threads.
fn shared<T: Send, R: Send>(
    items: &mut [T],
    threads: usize,
    work: &mut Workspace,
    each: impl Fn(&mut T, &mut Workspace) -> R + Sync,
) -> Vec<R> {
    if threads < 2 || items.len() < 2 {
        return items.iter_mut().map(|item| each(item, work)).collect();
    }
    let part = items.len().div_ceil(threads);
    std::thread::scope(|scope| {
        let threads: Vec<_> = items
            .chunks_mut(part)
            .map(|items| {
                let each = &each;
                scope.spawn(move || {
                    let mut work = Workspace::default();
                    items.iter_mut().map(|item| each(item, &mut work)).collect::<Vec<R>>()
                })
            })
            .collect();
        let results = threads.into_iter().flat_map(|thread| match thread.join() {
            Ok(results) => results,
            Err(panic) => std::panic::resume_unwind(panic),
        });
        results.collect()
    })
}
