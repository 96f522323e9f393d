//! `steered`: changes a face as little as possible until recognisers no longer match it.
//!
//! This applies the paper's idea to real recognisers: features are their embeddings, weights are the
//! derivatives of embeddings (by back-propagation), and the Haar coefficients of the aligned face carry the
//! change of luma. The face's pixels move a little too. Gradient steps lead away from the embeddings of the
//! face and towards those of a person drawn from a public prior. Each step asks two recognisers, each with slightly
//! different weights and a slightly different view of the face: what works on all of these also works on
//! recognisers that are not built in. There is no guarantee; the receipt records what recognisers say
//! afterwards.

mod ask;
mod canvas;
mod chroma;
mod descent;
mod finish;
mod luma;
mod pixel;
mod resize;
mod scene;
mod taps;
#[cfg(test)]
mod tests;
mod texture;
mod view;
mod warp;

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use facedp::noise::{ChaCha, Randomness, Source};
use facedp_nets::{Landmarks, Workspace};

use super::context::NoiseContext;
use super::{Change, Face, MethodInfo, Needs, Treated, Treatment};
use crate::control::Control;
use crate::error::{Error, Result};
use crate::key::Secret;
use crate::lift;
use crate::photo::{Encoding, Photo, Region, Untreated};
use crate::prior::Prior;
use crate::receipt::{Details, SteeringOutcome, Terms};
use crate::recognise::{Reference, Trial};
use crate::request::Request;
use crate::resources::{Networks, Resources};
use crate::steering::Steering;
use descent::{Descent, FaceSite, SteeredFace};
use finish::{Finished, finish, original};

pub(super) const INFO: MethodInfo = MethodInfo {
    settings: &["strength", "goal", "min_quality", "shape", "steer_by", "epsilon", "experiment"],
    randomness: Some(Randomness::Keyed),
    published_unseen: false,
    activity: "steering",
};

/// Smallest width of a face that is steered, in pixels. One in ten or more of narrower faces still match
/// (docs/measurements/steered.md).
const MIN_WIDTH: f32 = 32.0;

impl Steering {
    /// The settings of a request, with their defaults filled in.
    pub(crate) fn of(request: &Request) -> Result<Self> {
        let experiment = request.experiment();
        if experiment.noise_psnr.is_some() {
            let of = request.method.to_string();
            return Err(Error::Setting { setting: "noise_psnr", of });
        }
        let goal = request.goal.unwrap_or_default();
        let strength = request.strength.unwrap_or_default();
        let (min_quality, margin) = strength.floor(goal);
        let steering = Self {
            goal,
            min_quality: request.min_quality.unwrap_or(min_quality),
            shape: request.shape.unwrap_or(true),
            margin: experiment.margin.unwrap_or(margin),
            epsilon: request.epsilon()?,
            recognisers: request.steer_by.clone(),
            tuning: experiment.tuning.unwrap_or(strength.tuning()),
        };
        steering.validate()?;
        Ok(steering)
    }
}

pub(super) struct Steered {
    steering: Steering,
    secret: Secret,
    networks: Arc<Networks>,
    prior: Arc<Prior>,
    encoding: Encoding,
}

impl Steered {
    pub(super) fn new(request: &Request, resources: &Resources) -> Result<Self> {
        let steering = Steering::of(request)?;
        let (networks, secret) = (Arc::clone(&resources.networks), resources.secret.clone());
        if !steering.recognisers.is_empty() {
            networks.recognisers()?.named(&steering.recognisers)?;
        }
        let prior = networks.prior()?;
        Ok(Self { steering, secret, networks, prior, encoding: request.encoding() })
    }

    /// Steers faces that do not overlap, in parallel.
    fn steer_disjoint(
        &self,
        photo: &Photo,
        faces: &mut [PendingFace<'_>],
        control: Control<'_>,
        finished: &(dyn Fn() + Sync),
        work: &mut Workspace,
    ) -> Result<Vec<SteeredFace>> {
        let all = self.networks.recognisers()?;
        let recognisers = all.named(&self.steering.recognisers)?;
        let (prior, steering) = (&*self.prior, &self.steering);
        let one = |face: &mut PendingFace<'_>, work: &mut Workspace| {
            let site = FaceSite {
                photo,
                patch: &face.face.patch,
                landmarks: &face.landmarks,
                square: face.face.square(photo),
                originals: all.embeddings(face.reference, &self.steering.recognisers),
            };
            let descent = Descent { recognisers: &recognisers, prior, steering };
            let steps = descent.run(&site, &mut face.source, &|| control.proceed(), work);
            if steps.is_ok() {
                finished();
            }
            steps
        };
        in_threads(faces, control.threads, work, one).into_iter().collect()
    }
}

/// A face that has not been steered yet.
struct PendingFace<'a> {
    /// Index among the faces of the photo.
    index: usize,
    face: &'a Face,
    landmarks: Landmarks,
    reference: &'a Reference,
    source: Source<ChaCha>,
}

impl Treatment for Steered {
    fn fingerprint(&self) -> String {
        format!("{} {}", self.steering.fingerprint(), self.secret.fingerprint())
    }

    fn terms(&self) -> Option<Terms> {
        Some(Terms::steered(&self.steering, self.secret.randomness()))
    }

    fn needs(&self) -> Needs {
        Needs { faces: true, landmarks: true, reference: true, min_width: MIN_WIDTH }
    }

    fn trial(&self) -> Trial {
        Trial::Degraded
    }

    /// Steers overlapping faces one after the other, so that each starts from the changes of
    /// the others.
    fn treat(
        &self,
        photo: Untreated,
        faces: &[Face],
        control: Control<'_>,
        work: &mut Workspace,
    ) -> Result<Treated> {
        let context = NoiseContext::new(&self.steering.fingerprint(), &photo, &self.secret);
        let mut photo = photo.into_photo();
        let pending = faces.iter().enumerate().map(|(index, face)| {
            let landmarks = face.seen.ok_or(Error::NoFace)?.landmarks;
            let reference = face.reference.as_ref().ok_or(Error::NoFace)?;
            let source = context.source(face.region)?;
            Ok(PendingFace { index, face, landmarks, reference, source })
        });
        let mut pending = pending.collect::<Result<Vec<_>>>()?;
        let (count, done) = (faces.len(), AtomicUsize::new(0));
        (control.progress)(0, count);
        let finished = || (control.progress)(done.fetch_add(1, Ordering::Relaxed) + 1, count);
        let mut changes: Vec<(usize, Change)> = Vec::new();
        let mut changed = false;
        // Where faces are close to each other, each is compared with an original in which all have moved.
        let squares: Vec<Region> = faces.iter().map(|face| face.square(&photo)).collect();
        let mut moved = overlap(&squares).then(|| photo.clone());
        while !pending.is_empty() {
            let mut later;
            (pending, later) = split_disjoint(pending);
            let results = self.steer_disjoint(&photo, &mut pending, control, &finished, work)?;
            for (PendingFace { index, face, .. }, steered) in pending.iter().zip(results) {
                control.proceed()?;
                let floor = self.steering.min_quality;
                let finished = finish(&mut photo, face, &steered, floor, &self.encoding)?;
                changed |= finished.changed;
                if let (Some(moved), Some(field)) = (&mut moved, &steered.field) {
                    lift::displace(field, &face.patch, moved);
                }
                changes.push((*index, change(steered, finished)));
            }
            pending = std::mem::take(&mut later);
        }
        if let Some(moved) = moved {
            for (index, change) in &mut changes {
                change.original = Some(original(&moved, &faces[*index], &self.encoding)?);
            }
        }
        changes.sort_by_key(|(index, _)| *index);
        let faces = changes.into_iter().map(|(_, change)| change).collect();
        Ok(Treated { photo, faces, changed, spent: None })
    }
}

fn change(steered: SteeredFace, finished: Finished) -> Change {
    let SteeredFace { steps, reached, shape, .. } = steered;
    let outcome = SteeringOutcome { steps, reached, shape };
    Change {
        mse: finished.mse,
        expected_mse: None,
        original: Some(finished.original),
        details: Some(Details::Steered(outcome)),
    }
}

fn overlap(regions: &[Region]) -> bool {
    let later = |n: usize| regions[n + 1..].iter();
    regions.iter().enumerate().any(|(n, region)| later(n).any(|other| other.overlaps(*region)))
}

/// Splits faces into disjoint ones, which can be steered in parallel, and those that overlap one of them.
fn split_disjoint(faces: Vec<PendingFace<'_>>) -> (Vec<PendingFace<'_>>, Vec<PendingFace<'_>>) {
    let (mut now, mut later) = (Vec::<PendingFace<'_>>::new(), Vec::new());
    for face in faces {
        let region: Region = face.face.region;
        let overlaps = now.iter().any(|other| other.face.region.overlaps(region));
        if overlaps { later.push(face) } else { now.push(face) }
    }
    (now, later)
}

/// Calls `each` on every item, in up to `threads` threads.
fn in_threads<T: Send, R: Send>(
    items: &mut [T],
    threads: usize,
    work: &mut Workspace,
    each: impl Fn(&mut T, &mut Workspace) -> R + Sync,
) -> Vec<R> {
    if threads < 2 {
        return items.iter_mut().map(|item| each(item, work)).collect();
    }
    if let [item] = items {
        // One face for all threads, in the pool that this runs in or that of the process.
        let before = work.uses_two_threads();
        work.use_two_threads(true);
        let result = rayon::scope(|_| each(item, &mut *work));
        work.use_two_threads(before);
        return vec![result];
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
