//! Recognisers: embeddings of the original, and whether the result still matches.

use std::panic::resume_unwind;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread::{Builder, ScopedJoinHandle};

use facedp_nets::{Landmarks, Picture, Recogniser, Similarity, Workspace};
use serde::{Deserialize, Serialize};

use crate::detect::DetectedFace;
use crate::error::{Error, Result};
use crate::patch::bounds;
use crate::photo::{Limits, Photo, Region, encode_jpeg};

#[cfg(not(any(
    feature = "dlib",
    feature = "sface",
    feature = "intel",
    feature = "mobilefacenet",
    feature = "facexzoo"
)))]
compile_error!("a recogniser is needed, such as --features dlib");

/// A set of recognisers. Each thread uses its own [`Workspace`].
pub struct Recognisers(Vec<Recogniser>);

/// How recognisers see a face of a photo.
pub(crate) struct Alignment {
    region: Region,
    /// From the region to each recogniser's chip.
    placements: Vec<Similarity>,
}

/// A face as the recognisers saw it in the original.
pub struct Reference {
    alignment: Alignment,
    embeddings: Vec<Vec<f32>>,
}

impl Reference {
    /// One embedding per recogniser.
    pub fn embeddings(&self) -> &[Vec<f32>] {
        &self.embeddings
    }

    pub(crate) fn alignment(&self) -> &Alignment {
        &self.alignment
    }
}

/// Distance of a face from its original.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Distance {
    /// In the metric of the recogniser.
    pub distance: f32,
    #[serde(rename = "match")]
    pub matches: bool,
}

/// The verdict of one recogniser on a face and its original.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Verdict {
    pub name: String,
    /// Largest distance that counts as a match.
    pub threshold: f32,
    /// The face as written.
    #[serde(flatten)]
    pub plain: Distance,
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub jpeg_75: Option<Distance>,
    /// At half size.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub half_size: Option<Distance>,
}

/// How a result is shown to recognisers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Trial {
    /// As written.
    Plain,
    /// Also after JPEG 75 and at half size, as platforms show photos.
    Degraded,
}

impl Recognisers {
    /// All recognisers that are built in.
    pub fn embedded() -> Result<Self> {
        let loads: [fn() -> facedp_nets::Result<Recogniser>; _] = [
            #[cfg(feature = "dlib")]
            Recogniser::dlib,
            #[cfg(feature = "sface")]
            Recogniser::sface,
            #[cfg(feature = "intel")]
            Recogniser::intel,
            #[cfg(feature = "mobilefacenet")]
            Recogniser::mobilefacenet,
            #[cfg(feature = "facexzoo")]
            Recogniser::facexzoo,
        ];
        let next = AtomicUsize::new(0);
        let part = || taken(&next, loads.len()).map(|n| (n, loads[n]())).collect::<Vec<_>>();
        // Two threads, since the largest network takes as long as all others together. Not those of a pool, which would take
        // up other photos that wait for this.
        let (loaded, others) = std::thread::scope(|scope| {
            // Without a second thread, which the system may refuse, this one takes all.
            let other = Builder::new().spawn_scoped(scope, part).ok();
            let loaded = part();
            let join =
                |other: ScopedJoinHandle<'_, _>| other.join().unwrap_or_else(|p| resume_unwind(p));
            (loaded, other.map(join).unwrap_or_default())
        });
        Ok(Self(in_order(loaded, others).collect::<Result<_, _>>()?))
    }

    /// Keeps only the recognisers with these names.
    pub fn keep(mut self, names: &[String]) -> Self {
        self.0.retain(|recogniser| names.iter().any(|name| name == recogniser.name()));
        self
    }

    /// Adds a recogniser.
    pub fn with(mut self, recogniser: Recogniser) -> Self {
        self.0.push(recogniser);
        self
    }

    pub(crate) fn names(&self) -> Vec<String> {
        self.0.iter().map(|recogniser| recogniser.name().to_owned()).collect()
    }

    pub fn as_slice(&self) -> &[Recogniser] {
        &self.0
    }

    /// The recognisers with these names; all if no name is given.
    pub(crate) fn named(&self, names: &[String]) -> Result<Vec<&Recogniser>> {
        if names.is_empty() {
            return Ok(self.0.iter().collect());
        }
        let find = |name: &String| self.0.iter().find(|r| r.name() == name);
        let unknown = |name: &String| Error::UnknownRecogniser {
            name: name.clone(),
            known: self.0.iter().map(|r| r.name().to_owned()).collect(),
        };
        names.iter().map(|name| find(name).ok_or_else(|| unknown(name))).collect()
    }

    /// The embeddings of a face by the recognisers that [`Self::named`] returns.
    pub(crate) fn embeddings(&self, reference: &Reference, names: &[String]) -> Vec<Vec<f32>> {
        let of = |name: &String| self.0.iter().position(|r| r.name() == name);
        let numbers: Vec<usize> = match names.is_empty() {
            true => (0..self.0.len()).collect(),
            false => names.iter().filter_map(of).collect(),
        };
        numbers.into_iter().map(|n| reference.embeddings[n].clone()).collect()
    }

    /// Computes the embeddings of a face of the original.
    pub fn reference(
        &self,
        photo: &Photo,
        face: &DetectedFace,
        work: &mut Workspace,
    ) -> Result<Reference> {
        let alignment = self.alignment(photo, &face.landmarks)?;
        let picture = photo.picture(alignment.region)?;
        let embeddings = embed(&self.0, &alignment.placements, &picture, work)?;
        Ok(Reference { alignment, embeddings })
    }

    pub(crate) fn alignment(&self, photo: &Photo, landmarks: &Landmarks) -> Result<Alignment> {
        let placements = self.0.iter().map(|r| r.placement(landmarks));
        let placements = placements.collect::<Result<Vec<_>, _>>()?;
        // On JPEG's block grid, so that trials have the same blocks as the whole photo.
        let each = placements.iter().zip(&self.0);
        let regions = each.map(|(placement, r)| bounds(placement, r.side(), photo, 16));
        let region = regions.reduce(Region::union).unwrap_or(photo.whole());
        let corner = [region.x as f32, region.y as f32];
        let placements = placements.iter().map(|p| p.for_crop(corner)).collect();
        Ok(Alignment { region, placements })
    }

    /// The region of a photo that recognisers see.
    pub fn view(&self, reference: &Reference, photo: &Photo) -> Result<Picture> {
        photo.picture(reference.alignment.region)
    }

    /// One embedding per recogniser of the face in a [`Self::view`], aligned like the original.
    pub fn embed_view(
        &self,
        reference: &Reference,
        view: &Picture,
        work: &mut Workspace,
    ) -> Result<Vec<Vec<f32>>> {
        embed(&self.0, &reference.alignment.placements, view, work)
    }

    /// Whether recognisers still match a face in the changed photo, seen in the given alignment.
    pub(crate) fn judge(
        &self,
        reference: &Reference,
        changed: &Photo,
        alignment: &Alignment,
        trial: Trial,
        work: &mut Workspace,
    ) -> Result<Vec<Verdict>> {
        let picture = changed.picture(alignment.region)?;
        let degraded = match trial {
            Trial::Plain => None,
            Trial::Degraded => Some((after_jpeg(&picture, 75)?, picture.halved())),
        };
        let mut views = vec![(&picture, false)];
        if let Some((compressed, halved)) = &degraded {
            views.extend([(compressed, false), (halved, true)]);
        }
        let compare = |n: usize, work: &mut Workspace| {
            let (r, (view, half_size)) = (n / views.len(), views[n % views.len()]);
            let (recogniser, placement) = (&self.0[r], &alignment.placements[r]);
            let placement = if half_size { placement.for_half_size() } else { *placement };
            let chip = view.chip(&placement, recogniser.side());
            let embedding = recogniser.embed(&chip, work)?;
            let distance = recogniser.distance(&reference.embeddings[r], &embedding);
            Ok(Distance { distance, matches: recogniser.matches(distance) })
        };
        let distances = each(self.0.len() * views.len(), work, compare)?;
        let verdict = |(recogniser, distances): (&Recogniser, &[Distance])| Verdict {
            name: recogniser.name().to_owned(),
            threshold: recogniser.threshold(),
            plain: distances[0],
            jpeg_75: distances.get(1).copied(),
            half_size: distances.get(2).copied(),
        };
        Ok(self.0.iter().zip(distances.chunks_exact(views.len())).map(verdict).collect())
    }
}

fn embed(
    recognisers: &[Recogniser],
    placements: &[Similarity],
    picture: &Picture,
    work: &mut Workspace,
) -> Result<Vec<Vec<f32>>> {
    each(recognisers.len(), work, |n, work| {
        let recogniser = &recognisers[n];
        Ok(recogniser.embed(&picture.chip(&placements[n], recogniser.side()), work)?)
    })
}

/// The results of all numbers below `count`, in their order. Where two threads are allowed, each takes the next number as
/// soon as it is done with one: that takes less time than sharing the layers of a network.
fn each<T: Send>(
    count: usize,
    work: &mut Workspace,
    one: impl Fn(usize, &mut Workspace) -> Result<T> + Sync,
) -> Result<Vec<T>> {
    if !work.uses_two_threads() {
        return (0..count).map(|n| one(n, work)).collect();
    }
    let next = AtomicUsize::new(0);
    let part = |work: &mut Workspace| -> Vec<(usize, Result<T>)> {
        taken(&next, count).map(|n| (n, one(n, work))).collect()
    };
    let (results, others) = work.at_once(part, part);
    in_order(results, others).collect()
}

/// The numbers below `count` that no other thread has taken.
fn taken(next: &AtomicUsize, count: usize) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || Some(next.fetch_add(1, Ordering::Relaxed)).filter(|n| *n < count))
}

/// Results of two threads by their numbers.
fn in_order<T>(mut all: Vec<(usize, T)>, others: Vec<(usize, T)>) -> impl Iterator<Item = T> {
    all.extend(others);
    all.sort_by_key(|(n, _)| *n);
    all.into_iter().map(|(_, result)| result)
}

/// A picture after JPEG compression at a quality of 1 to 100, 4:2:0.
pub fn after_jpeg(picture: &Picture, quality: u8) -> Result<Picture> {
    let file = encode_jpeg(picture.rgb(), picture.width(), picture.height(), quality)?;
    let decoded = Photo::decode(&file, &Limits::default())?;
    decoded.picture(decoded.whole())
}
