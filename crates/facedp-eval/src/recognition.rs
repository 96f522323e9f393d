//! Recognisers on untouched photos, and on noisy photos with all methods scaled to the same PSNR.

use std::collections::HashMap;

use facedp::Preset;
use facedp_engine::{
    Engine, Experiment, FaceDetector, Limits, MIN_SCORE, Photo, Recogniser, Recognisers, Reference,
    Request, Resources, Workspace,
};
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use crate::attacks::Attack;
use crate::error::Result;
use crate::progress::Progress;
use crate::results::{AttackRow, Estimate, GalleryRow, RecogniserRow, RecognitionRow, Rule};
use crate::sample::Subject;
use crate::statistics::{mean, rate};
use crate::task::engine;

/// Embeddings of a face, one per recogniser.
pub type Embeddings = Vec<Vec<f32>>;

/// The false accept rate of the rule `far-1e-3`.
const FAR: f64 = 1e-3;
/// The paper's threshold for dlib's distance.
const PAPER_THRESHOLD: f32 = 0.975;

/// Faces as recognisers see them in untouched photos, and the rules that follow from their distances.
pub struct Baseline<'a> {
    recognisers: &'a Recognisers,
    subjects: &'a [Subject],
    references: Vec<Reference>,
    /// For each subject another one of the same person.
    others: Vec<Option<usize>>,
    rules: Vec<Vec<Rule>>,
    /// Each recogniser on untouched photos.
    pub rows: Vec<RecogniserRow>,
}

/// One of the paper's methods, its noise scaled to a PSNR.
pub struct ScaledNoise {
    engine: Engine,
    pub preset: Preset,
    pub psnr: f64,
}

/// The rows of one method at one PSNR.
#[derive(Serialize, Deserialize)]
pub struct Cell {
    pub recognition: Vec<RecognitionRow>,
    pub gallery: Vec<GalleryRow>,
}

/// What networks make of a photo.
struct Observation {
    detected: bool,
    embeddings: Embeddings,
}

impl ScaledNoise {
    pub fn new(
        preset: Preset,
        request: &Request,
        psnr: f64,
        resources: &Resources,
    ) -> Result<Self> {
        let experiment = Some(Experiment { noise_psnr: Some(psnr), ..Experiment::default() });
        let request = Request { experiment, measure: false, ..request.clone() };
        Ok(Self { engine: engine(&request, resources)?, preset, psnr })
    }

    /// Everything that decides the noise.
    pub fn fingerprint(&self) -> String {
        self.engine.fingerprint()
    }

    /// A photo with noise on its face.
    fn apply(&self, subject: &Subject, work: &mut Workspace) -> Result<Photo> {
        let noisy = subject.protect(&self.engine, work)?;
        Ok(Photo::decode(&noisy.file, &Limits::default())?)
    }
}

impl<'a> Baseline<'a> {
    pub fn new(
        recognisers: &'a Recognisers,
        subjects: &'a [Subject],
        progress: &Progress<'_>,
    ) -> Result<Self> {
        progress.begin("recognising untouched photos", subjects.len());
        let one = |work: &mut Workspace, subject: &Subject| {
            progress.check()?;
            let reference = recognisers.reference(&subject.photo()?, &subject.face, work)?;
            progress.step();
            Ok(reference)
        };
        let references =
            subjects.par_iter().map_init(Workspace::default, one).collect::<Result<_>>()?;
        let others = others(subjects);
        let (rules, rows) = (Vec::new(), Vec::new());
        let mut baseline = Self { recognisers, subjects, references, others, rules, rows };
        for (r, recogniser) in recognisers.as_slice().iter().enumerate() {
            let impostors = baseline.impostors(r, recogniser);
            let rules = rules_of(recogniser, &impostors);
            let clean = |rule: &Rule| (rule.clone(), baseline.clean_pair_fnr(r, rule));
            baseline.rows.push(RecogniserRow {
                recogniser: recogniser.name().to_owned(),
                identity: recogniser.fingerprint(),
                impostor_pairs: impostors.len(),
                far_1e3_threshold: far_threshold(recogniser, &impostors),
                clean_pair_fnr: rules.iter().map(clean).collect(),
            });
            baseline.rules.push(rules);
        }
        Ok(baseline)
    }

    /// A subject as recognisers saw it.
    pub fn reference(&self, subject: usize) -> &Reference {
        &self.references[subject]
    }

    /// Subjects that have another one of the same person.
    pub fn pairs(&self) -> usize {
        self.others.iter().flatten().count()
    }

    /// Distances between different people, smallest first.
    fn impostors(&self, r: usize, recogniser: &Recogniser) -> Vec<f32> {
        let distance = |i: usize, j: usize| {
            let [a, b] = [i, j].map(|n| &self.references[n].embeddings()[r]);
            (self.subjects[i].person != self.subjects[j].person).then(|| recogniser.distance(a, b))
        };
        let rows = (0..self.subjects.len()).into_par_iter();
        let mut all: Vec<f32> =
            rows.flat_map_iter(|i| (0..i).filter_map(move |j| distance(i, j))).collect();
        all.par_sort_unstable_by(f32::total_cmp);
        all
    }

    fn clean_pair_fnr(&self, r: usize, rule: &Rule) -> Estimate {
        let recogniser = &self.recognisers.as_slice()[r];
        let distances = (0..self.subjects.len()).filter_map(|i| {
            let [a, b] = [i, self.others[i]?].map(|n| &self.references[n].embeddings()[r]);
            Some(recogniser.distance(a, b))
        });
        fnr(&distances.map(|d| (true, d)).collect::<Vec<_>>(), rule)
    }

    /// Adds noise to every photo.
    pub fn cell(
        &self,
        noise: &ScaledNoise,
        detector: &FaceDetector,
        progress: &Progress<'_>,
    ) -> Result<Cell> {
        let observe = |work: &mut Workspace, n: usize| -> Result<Observation> {
            progress.check()?;
            let (subject, reference) = (&self.subjects[n], &self.references[n]);
            let photo = noise.apply(subject, work)?;
            let found = detector.find(&photo, MIN_SCORE, work)?;
            let detected = found.iter().any(|face| face.rect().overlaps(&subject.face.rect()));
            let view = self.recognisers.view(reference, &photo)?;
            let embeddings = self.recognisers.embed_view(reference, &view, work)?;
            Ok(Observation { detected, embeddings })
        };
        let all = (0..self.subjects.len()).into_par_iter();
        let observed: Vec<Observation> =
            all.map_init(Workspace::default, observe).collect::<Result<_>>()?;
        let undetected = observed.iter().filter(|observation| !observation.detected).count();
        let mut recognition = Vec::new();
        for (r, rules) in self.rules.iter().enumerate() {
            let own = self.distances(&observed, r, Some);
            let pair = self.distances(&observed, r, |n| self.others[n]);
            for rule in rules {
                recognition.push(RecognitionRow {
                    recogniser: self.recognisers.as_slice()[r].name().to_owned(),
                    rule: rule.clone(),
                    method: noise.preset,
                    psnr: noise.psnr,
                    self_fnr: fnr(&own, rule),
                    pair_fnr: fnr(&pair, rule),
                    self_fnr_detected: fnr(&detected(&own), rule),
                    pair_fnr_detected: fnr(&detected(&pair), rule),
                    undetected: rate(undetected, observed.len()),
                    clean_pair_fnr: self.clean_pair_fnr(r, rule),
                });
            }
        }
        let embeddings: Vec<&[Vec<f32>]> =
            observed.iter().map(|observation| observation.embeddings.as_slice()).collect();
        let gallery = self.gallery(&embeddings, Some(noise));
        Ok(Cell { recognition, gallery })
    }

    /// Untouched photos in a gallery of untouched photos.
    pub fn clean_gallery(&self) -> Vec<GalleryRow> {
        let embeddings: Vec<&[Vec<f32>]> =
            self.references.iter().map(Reference::embeddings).collect();
        self.gallery(&embeddings, None)
    }

    /// Whether each face was detected, and its distance to a face of an untouched photo.
    fn distances(
        &self,
        observed: &[Observation],
        r: usize,
        against: impl Fn(usize) -> Option<usize>,
    ) -> Vec<(bool, f32)> {
        let recogniser = &self.recognisers.as_slice()[r];
        let distance = |(n, observation): (usize, &Observation)| {
            let clean = &self.references[against(n)?].embeddings()[r];
            let distance = recogniser.distance(&observation.embeddings[r], clean);
            Some((observation.detected, distance))
        };
        observed.iter().enumerate().filter_map(distance).collect()
    }

    /// One photo of each person looked up among other photos of all people, all treated alike.
    fn gallery(&self, embeddings: &[&[Vec<f32>]], noise: Option<&ScaledNoise>) -> Vec<GalleryRow> {
        let mut pairs: HashMap<usize, (usize, usize)> = HashMap::new();
        for (n, subject) in self.subjects.iter().enumerate() {
            if let Some(other) = self.others[n] {
                pairs.entry(subject.person).or_insert((n, other));
            }
        }
        let mut pairs: Vec<(usize, usize)> = pairs.into_values().collect();
        pairs.sort_unstable();
        let mut rows = Vec::new();
        for (r, rules) in self.rules.iter().enumerate() {
            let recogniser = &self.recognisers.as_slice()[r];
            let distance =
                |a: usize, b: usize| recogniser.distance(&embeddings[a][r], &embeddings[b][r]);
            let rank_1 = rank_1(pairs.len(), |i, j| distance(pairs[i].0, pairs[j].1));
            let distances: Vec<_> = pairs.iter().map(|(a, b)| (true, distance(*a, *b))).collect();
            rows.extend(rules.iter().map(|rule| GalleryRow {
                recogniser: recogniser.name().to_owned(),
                rule: rule.clone(),
                method: noise.map(|noise| noise.preset),
                psnr: noise.map(|noise| noise.psnr),
                pair_fnr: fnr(&distances, rule),
                rank_1,
            }));
        }
        rows
    }

    /// An attack on the first `max` photos, with noise or without.
    pub fn attack(
        &self,
        attack: &dyn Attack,
        noise: Option<&ScaledNoise>,
        max: usize,
        progress: &Progress<'_>,
    ) -> Result<Vec<AttackRow>> {
        let observe = |work: &mut Workspace, n: usize| -> Result<Observation> {
            progress.check()?;
            let (subject, reference) = (&self.subjects[n], &self.references[n]);
            let photo = match noise {
                Some(noise) => noise.apply(subject, work)?,
                None => subject.photo()?,
            };
            let embeddings = self.attacked(reference, &photo, attack, work)?;
            Ok(Observation { detected: true, embeddings })
        };
        let some = (0..self.subjects.len().min(max)).into_par_iter();
        let observed: Vec<Observation> =
            some.map_init(Workspace::default, observe).collect::<Result<_>>()?;
        let mut rows = Vec::new();
        for (r, rules) in self.rules.iter().enumerate() {
            let own = self.distances(&observed, r, Some);
            let pair = self.distances(&observed, r, |n| self.others[n]);
            let away: Vec<f64> = own.iter().map(|(_, d)| f64::from(*d)).collect();
            let noise_label = noise.map_or("untouched".to_owned(), ScaledNoise::fingerprint);
            let label = format!("{} {r} {noise_label}", attack.name());
            rows.extend(rules.iter().map(|rule| AttackRow {
                attack: attack.name().to_owned(),
                recogniser: self.recognisers.as_slice()[r].name().to_owned(),
                rule: rule.clone(),
                method: noise.map(|noise| noise.preset),
                psnr: noise.map(|noise| noise.psnr),
                self_fnr: fnr(&own, rule),
                pair_fnr: fnr(&pair, rule),
                self_distance: mean(&away, &label),
            }));
        }
        Ok(rows)
    }

    /// The embeddings of a photo after an attack, aligned as its original was.
    pub fn attacked(
        &self,
        reference: &Reference,
        photo: &Photo,
        attack: &dyn Attack,
        work: &mut Workspace,
    ) -> Result<Embeddings> {
        let view = attack.apply(&self.recognisers.view(reference, photo)?)?;
        Ok(self.recognisers.embed_view(reference, &view, work)?)
    }
}

/// The rules of a recogniser, given the distances between different people, smallest first.
fn rules_of(recogniser: &Recogniser, impostors: &[f32]) -> Vec<Rule> {
    let rule = |name: &str, threshold| Rule { name: name.to_owned(), threshold };
    let mut rules = vec![rule("standard", recogniser.threshold())];
    if recogniser.name() == "dlib" {
        rules.push(rule("paper", PAPER_THRESHOLD));
    }
    rules.push(rule("far-1e-3", far_threshold(recogniser, impostors)));
    rules
}

/// The threshold at a false accept rate of [`FAR`]; the recogniser's own if there are no impostors.
fn far_threshold(recogniser: &Recogniser, impostors: &[f32]) -> f32 {
    let allowed = (FAR * impostors.len() as f64) as usize;
    impostors.get(allowed).map_or(recogniser.threshold(), |d| d.next_down())
}

/// Share of people whose first photo is nearer to their own second photo than to any other, given the
/// distance of one person's first photo from another's second.
pub fn rank_1(people: usize, distance: impl Fn(usize, usize) -> f32) -> Estimate {
    let found = |i: &usize| (0..people).all(|j| j == *i || distance(*i, j) > distance(*i, *i));
    rate((0..people).filter(found).count(), people)
}

/// For each subject the next one of the same person, the last one's being the first.
fn others(subjects: &[Subject]) -> Vec<Option<usize>> {
    let mut by_person: HashMap<usize, Vec<usize>> = HashMap::new();
    for (n, subject) in subjects.iter().enumerate() {
        by_person.entry(subject.person).or_default().push(n);
    }
    let next = |(n, subject): (usize, &Subject)| {
        let own = &by_person[&subject.person];
        let place = own.iter().position(|m| *m == n)?;
        Some(own[(place + 1) % own.len()]).filter(|other| *other != n)
    };
    subjects.iter().enumerate().map(next).collect()
}

/// Only faces that were detected.
fn detected(distances: &[(bool, f32)]) -> Vec<(bool, f32)> {
    distances.iter().filter(|(detected, _)| *detected).copied().collect()
}

/// Share of no match; undetected faces do not match.
fn fnr(distances: &[(bool, f32)], rule: &Rule) -> Estimate {
    let misses = distances.iter().filter(|(detected, d)| !*detected || *d > rule.threshold).count();
    rate(misses, distances.len())
}
