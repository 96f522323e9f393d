//! Whether recognisers still match noisy photos, all methods brought to the same PSNR.

use std::collections::HashMap;

use facedp::noise::experiment;
use facedp::{Plan, Plane, Preset};
use facedp_engine::lift::{Lift, apply};
use facedp_engine::{Eyes, MIN_SCORE, Patch, Photo, Picture, Recogniser, Witness, Workspace};
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use crate::attacks::Attack;
use crate::error::Result;
use crate::progress::Progress;
use crate::results::{AttackRow, Estimate, GalleryRow, RecogniserRow, RecognitionRow, Rule};
use crate::sample::Subject;
use crate::statistics::{mean, rate};

/// Embeddings of a face, one per recogniser.
type Embeddings = Vec<Vec<f32>>;

/// The false accept rate of the third rule.
const FAR: f64 = 1e-3;
/// The threshold that the paper sets on dlib's distance.
const PAPER_THRESHOLD: f32 = 0.975;

/// People's faces as recognisers see them untouched, and the rules that follow.
pub struct Stage<'a> {
    eyes: &'a Eyes,
    subjects: &'a [Subject],
    witnesses: Vec<Witness>,
    /// For each subject another one of the same person.
    others: Vec<Option<usize>>,
    rules: Vec<Vec<Rule>>,
    /// What is known of recognisers on untouched photos.
    pub recognisers: Vec<RecogniserRow>,
}

/// How noise is made and scaled.
pub struct Noise<'a> {
    /// The plan.
    pub plan: &'a Plan,
    /// PSNR that each draw is scaled to.
    pub psnr: f64,
    /// The seed.
    pub seed: u64,
}

/// What is found for one method at one PSNR.
#[derive(Serialize, Deserialize)]
pub struct Cell {
    pub recognition: Vec<RecognitionRow>,
    pub gallery: Vec<GalleryRow>,
}

/// One noisy photo, looked at.
struct Look {
    detected: bool,
    embeddings: Embeddings,
}

impl<'a> Stage<'a> {
    /// Looks at untouched photos.
    pub fn new(eyes: &'a Eyes, subjects: &'a [Subject], progress: &Progress<'_>) -> Result<Self> {
        progress.begin("recognising untouched photos", subjects.len());
        let look = |work: &mut Workspace, subject: &Subject| {
            progress.check()?;
            let witness = eyes.witness(&subject.photo()?, &subject.spot, work)?;
            progress.step();
            Ok(witness)
        };
        let witnesses =
            subjects.par_iter().map_init(Workspace::default, look).collect::<Result<_>>()?;
        let mut stage = Self {
            eyes,
            subjects,
            witnesses,
            others: others(subjects),
            rules: Vec::new(),
            recognisers: Vec::new(),
        };
        for (r, recogniser) in eyes.recognisers().iter().enumerate() {
            let impostors = stage.impostors(r, recogniser);
            let allowed = (FAR * impostors.len() as f64) as usize;
            let far = impostors.get(allowed).map_or(recogniser.threshold(), |d| d.next_down());
            let rule = |name: &str, threshold| Rule { name: name.to_owned(), threshold };
            let mut rules = vec![rule("standard", recogniser.threshold())];
            if recogniser.name() == "dlib" {
                rules.push(rule("paper", PAPER_THRESHOLD));
            }
            rules.push(rule("far-1e-3", far));
            let clean = |rule: &Rule| (rule.clone(), stage.clean_pair_fnr(r, rule));
            stage.recognisers.push(RecogniserRow {
                recogniser: recogniser.name().to_owned(),
                identity: recogniser.identity(),
                impostor_pairs: impostors.len(),
                far_1e3_threshold: far,
                clean_pair_fnr: rules.iter().map(clean).collect(),
            });
            stage.rules.push(rules);
        }
        Ok(stage)
    }

    /// Who looks.
    pub(crate) fn eyes(&self) -> &Eyes {
        self.eyes
    }

    /// A subject as it was seen.
    pub(crate) fn witness(&self, subject: usize) -> &Witness {
        &self.witnesses[subject]
    }

    /// Subjects that have another one of the same person.
    pub fn pairs(&self) -> usize {
        self.others.iter().flatten().count()
    }

    /// Distances between different people, smallest first.
    fn impostors(&self, r: usize, recogniser: &Recogniser) -> Vec<f32> {
        let distance = |i: usize, j: usize| {
            let [a, b] = [i, j].map(|n| &self.witnesses[n].embeddings()[r]);
            (self.subjects[i].person != self.subjects[j].person).then(|| recogniser.distance(a, b))
        };
        let rows = (0..self.subjects.len()).into_par_iter();
        let mut all: Vec<f32> =
            rows.flat_map_iter(|i| (0..i).filter_map(move |j| distance(i, j))).collect();
        all.par_sort_unstable_by(f32::total_cmp);
        all
    }

    fn clean_pair_fnr(&self, r: usize, rule: &Rule) -> Estimate {
        let recogniser = &self.eyes.recognisers()[r];
        let distances = (0..self.subjects.len()).filter_map(|i| {
            let [a, b] = [i, self.others[i]?].map(|n| &self.witnesses[n].embeddings()[r]);
            Some(recogniser.distance(a, b))
        });
        fnr(&distances.map(|d| (true, d)).collect::<Vec<_>>(), rule)
    }

    /// Adds noise to every photo and asks.
    pub fn cell(&self, noise: &Noise<'_>, progress: &Progress<'_>) -> Result<Cell> {
        let look = |work: &mut Workspace, n: usize| -> Result<Look> {
            progress.check()?;
            let (subject, witness) = (&self.subjects[n], &self.witnesses[n]);
            let photo = noise.apply(subject)?;
            let found = self.eyes.find(&photo, MIN_SCORE, work)?;
            let detected = found.iter().any(|s| s.rect().overlaps(&subject.spot.rect()));
            let view = self.eyes.view(witness, &photo)?;
            Ok(Look { detected, embeddings: self.eyes.embed_view(witness, &view, work)? })
        };
        let all = (0..self.subjects.len()).into_par_iter();
        let looks: Vec<Look> = all.map_init(Workspace::default, look).collect::<Result<_>>()?;
        let method = noise.plan.method().preset;
        let mut recognition = Vec::new();
        for (r, rules) in self.rules.iter().enumerate() {
            let own = self.distances(&looks, r, Some);
            let pair = self.distances(&looks, r, |n| self.others[n]);
            for rule in rules {
                recognition.push(RecognitionRow {
                    recogniser: self.eyes.recognisers()[r].name().to_owned(),
                    rule: rule.clone(),
                    method,
                    psnr: noise.psnr,
                    self_fnr: fnr(&own, rule),
                    pair_fnr: fnr(&pair, rule),
                    self_fnr_detected: fnr(&detected(&own), rule),
                    pair_fnr_detected: fnr(&detected(&pair), rule),
                    undetected: rate(looks.iter().filter(|l| !l.detected).count(), looks.len()),
                    clean_pair_fnr: self.clean_pair_fnr(r, rule),
                });
            }
        }
        let embeddings: Vec<&Embeddings> = looks.iter().map(|l| &l.embeddings).collect();
        let gallery = self.gallery(&embeddings, Some(method), Some(noise.psnr));
        Ok(Cell { recognition, gallery })
    }

    /// Untouched photos in a gallery of untouched photos.
    pub fn clean_gallery(&self) -> Vec<GalleryRow> {
        let embeddings: Vec<Embeddings> =
            self.witnesses.iter().map(|w| w.embeddings().to_vec()).collect();
        self.gallery(&embeddings.iter().collect::<Vec<_>>(), None, None)
    }

    /// Whether each face was detected, and its distance to a face of an untouched photo.
    fn distances(
        &self,
        looks: &[Look],
        r: usize,
        against: impl Fn(usize) -> Option<usize>,
    ) -> Vec<(bool, f32)> {
        let recogniser = &self.eyes.recognisers()[r];
        let distance = |(n, look): (usize, &Look)| {
            let clean = &self.witnesses[against(n)?].embeddings()[r];
            Some((look.detected, recogniser.distance(&look.embeddings[r], clean)))
        };
        looks.iter().enumerate().filter_map(distance).collect()
    }

    /// One photo of each person looked up among others of all people, all treated alike.
    fn gallery(
        &self,
        embeddings: &[&Embeddings],
        method: Option<Preset>,
        psnr: Option<f64>,
    ) -> Vec<GalleryRow> {
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
            let recogniser = &self.eyes.recognisers()[r];
            let distance =
                |a: usize, b: usize| recogniser.distance(&embeddings[a][r], &embeddings[b][r]);
            let first = |(probe, own): &&(usize, usize)| {
                let nearest = distance(*probe, *own);
                pairs.iter().all(|(_, other)| other == own || distance(*probe, *other) > nearest)
            };
            let rank_1 = rate(pairs.iter().filter(first).count(), pairs.len());
            let distances: Vec<_> = pairs.iter().map(|(a, b)| (true, distance(*a, *b))).collect();
            rows.extend(rules.iter().map(|rule| GalleryRow {
                recogniser: recogniser.name().to_owned(),
                rule: rule.clone(),
                method,
                psnr,
                pair_fnr: fnr(&distances, rule),
                rank_1,
            }));
        }
        rows
    }

    /// An attack on the first `most` photos, with noise or without.
    pub fn attack(
        &self,
        attack: &dyn Attack,
        noise: Option<&Noise<'_>>,
        most: usize,
        progress: &Progress<'_>,
    ) -> Result<Vec<AttackRow>> {
        let look = |work: &mut Workspace, n: usize| -> Result<Look> {
            progress.check()?;
            let (subject, witness) = (&self.subjects[n], &self.witnesses[n]);
            let photo = match noise {
                Some(noise) => noise.apply(subject)?,
                None => subject.photo()?,
            };
            let view: Picture = attack.apply(&self.eyes.view(witness, &photo)?)?;
            Ok(Look { detected: true, embeddings: self.eyes.embed_view(witness, &view, work)? })
        };
        let some = (0..self.subjects.len().min(most)).into_par_iter();
        let looks: Vec<Look> = some.map_init(Workspace::default, look).collect::<Result<_>>()?;
        let mut rows = Vec::new();
        for (r, rules) in self.rules.iter().enumerate() {
            let own = self.distances(&looks, r, Some);
            let pair = self.distances(&looks, r, |n| self.others[n]);
            let away: Vec<f64> = own.iter().map(|(_, d)| f64::from(*d)).collect();
            let label = format!("{} {r} {:?}", attack.name(), noise.map(|n| n.plan.name()));
            rows.extend(rules.iter().map(|rule| AttackRow {
                attack: attack.name().to_owned(),
                recogniser: self.eyes.recognisers()[r].name().to_owned(),
                rule: rule.clone(),
                method: noise.map(|noise| noise.plan.method().preset),
                psnr: noise.map(|noise| noise.psnr),
                self_fnr: fnr(&own, rule),
                pair_fnr: fnr(&pair, rule),
                self_distance: mean(&away, &label),
            }));
        }
        Ok(rows)
    }
}

impl Noise<'_> {
    /// The photo with noise on its face.
    fn apply(&self, subject: &Subject) -> Result<Photo> {
        let mut photo = subject.photo()?;
        let side = self.plan.model().side();
        let chip = subject.plane(side);
        let patch = Patch::face(&subject.spot.landmarks)?;
        let lift = Lift::new(&self.scaled(&chip, &subject.name)?, &patch, &photo);
        apply(&[lift], &mut photo);
        Ok(photo)
    }

    /// A draw, scaled to the PSNR. One that has no noise at all cannot be scaled: the next counts.
    fn scaled(&self, chip: &Plane, name: &str) -> Result<Plane> {
        let target = 255f64.powi(2) / 10f64.powf(self.psnr / 10.0) * chip.data().len() as f64;
        let mut draw = 0;
        loop {
            let label = format!("{} {name} {draw}", self.plan.name());
            let release = self.plan.protect(chip, &mut experiment(self.seed, &label))?;
            let energy = release.real_variance();
            draw += 1;
            if energy > 0.0 || draw == 1000 {
                let factor = if energy > 0.0 { (target / energy).sqrt() } else { 0.0 };
                let mut noise = release.noise;
                noise.data_mut().iter_mut().for_each(|v| *v *= factor);
                return Ok(noise);
            }
        }
    }
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
