//! One way of changing photos: they are changed, kept, attacked and shown to recognisers.

use std::path::Path;

use facedp::noise::experiment;
use facedp::{CertifiedPlan, Quality};
use facedp_engine::certify::{compose, split};
use facedp_engine::files::{Existing, Readers, write_whole};
use facedp_engine::lift::{Lift, apply};
use facedp_engine::steer::{Place, Prior, steer};
use facedp_engine::{Encoding, Eyes, Format, Limits, Patch, Photo, Steering, Workspace, files};
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use super::results::{Attacked, Gallery, Judge, SteeringRow};
use super::{Options, Way, in_words};
use crate::attacks::{self, Attack};
use crate::error::Result;
use crate::journal::Journal;
use crate::progress::Progress;
use crate::recognition::Stage;
use crate::results::{Estimate, RecogniserRow, Rule};
use crate::sample::Subject;
use crate::statistics::{average, mean, rate};

/// A photo that was steered: its file in the report folder, and what became of it.
#[derive(Debug, Clone, Serialize, Deserialize)]
struct Made {
    file: String,
    psnr: f64,
    psnr_tight: f64,
    ssim: f64,
    steps: usize,
    reached: bool,
}

/// What all rows share.
pub(super) struct Bench<'a> {
    pub(super) folder: &'a Path,
    pub(super) journal: &'a Journal,
    pub(super) stage: &'a Stage<'a>,
    pub(super) subjects: &'a [Subject],
    pub(super) steerers: &'a Eyes,
    pub(super) prior: Prior,
    pub(super) pairs: Vec<(usize, usize)>,
    pub(super) options: &'a Options,
    pub(super) progress: &'a Progress<'a>,
}

/// What is done to photos.
pub(super) enum Change<'a> {
    Steer(&'a Steering),
    Certify(&'a CertifiedPlan),
}

impl Change<'_> {
    fn way(&self) -> Way {
        match self {
            Change::Steer(steering) => Way::Steered((*steering).clone()),
            Change::Certify(plan) => Way::Certified(*plan.method()),
        }
    }

    /// What tells ways apart, as hexadecimal digits.
    fn label(&self) -> String {
        use sha2::{Digest, Sha256};
        let name = match self {
            Change::Steer(steering) => format!("{steering:?}"),
            Change::Certify(plan) => plan.name(),
        };
        Sha256::digest(name.as_bytes()).iter().map(|byte| format!("{byte:02x}")).collect()
    }
}

impl Bench<'_> {
    pub(super) fn row(&self, change: &Change<'_>) -> Result<SteeringRow> {
        let label = change.label();
        let mut photos: Vec<usize> = self.pairs.iter().map(|(first, _)| *first).collect();
        if self.options.galleries {
            photos.extend(self.pairs.iter().map(|(_, second)| *second));
        }
        self.progress.begin(&in_words(&change.way()), photos.len());
        let make = |work: &mut Workspace, n: &usize| {
            self.progress.check()?;
            let made = self.journal.cell(&format!("{label} {}", self.subjects[*n].name), || {
                self.make(*n, change, &label, work)
            });
            self.progress.step();
            made
        };
        let made: Vec<Made> = photos
            .par_iter()
            .with_max_len(1)
            .map_init(Workspace::default, make)
            .collect::<Result<_>>()?;

        let mut attacks = attacks::all();
        attacks.retain(|attack| self.options.attacks.iter().any(|name| name == attack.name()));
        self.progress.begin("recognising changed photos", attacks.len());
        let mut judges = self.judges(change);
        for attack in &attacks {
            let look = |work: &mut Workspace, (n, made): (&usize, &Made)| {
                self.progress.check()?;
                self.look(*n, made, &**attack, work)
            };
            let looks: Vec<Vec<Vec<f32>>> = photos
                .par_iter()
                .zip(&made)
                .map_init(Workspace::default, look)
                .collect::<Result<_>>()?;
            for (r, rows) in judges.iter_mut().enumerate() {
                for judge in rows {
                    self.judge(judge, r, &photos, &looks, &**attack);
                }
            }
            self.progress.step();
        }
        let figures = |value: fn(&Made) -> f64, what: &str| {
            mean(&made.iter().map(value).collect::<Vec<_>>(), &format!("{label} {what}"))
        };
        let (steering, certified) = match change.way() {
            Way::Steered(steering) => (Some(steering), None),
            Way::Certified(method) => (None, Some(method)),
        };
        Ok(SteeringRow {
            steering,
            certified,
            people: self.pairs.len(),
            photos: photos.len(),
            psnr: figures(|m| m.psnr, "psnr"),
            psnr_least: made.iter().map(|m| m.psnr).fold(f64::INFINITY, f64::min),
            psnr_tight: figures(|m| m.psnr_tight, "tight"),
            ssim: figures(|m| m.ssim, "ssim"),
            steps: average(&made.iter().map(|m| m.steps as f64).collect::<Vec<_>>()),
            reached: rate(made.iter().filter(|m| m.reached).count(), made.len()),
            judges: judges.into_iter().flatten().collect(),
        })
    }

    /// Changes a photo and writes it down.
    fn make(
        &self,
        n: usize,
        change: &Change<'_>,
        label: &str,
        work: &mut Workspace,
    ) -> Result<Made> {
        let subject = &self.subjects[n];
        let photo = subject.photo()?;
        let patch = Patch::face(&subject.spot.landmarks)?;
        let mut random = experiment(self.options.seed, &format!("{label} {}", subject.name));
        let (changed, steps, reached) = match change {
            Change::Steer(steering) => {
                let recognisers = self.steerers.named(&steering.recognisers);
                let landmarks = &subject.spot.landmarks;
                let place = Place { photo: &photo, patch: &patch, landmarks };
                let go_on = || Ok(());
                let prior = &self.prior;
                let steered =
                    steer(&place, &recognisers, prior, steering, &mut random, &go_on, work)?;
                let mut changed = photo.clone();
                let planes = steered.planes.iter();
                let lifts: Vec<Lift> = planes
                    .map(|(tint, plane)| Lift::tinted(plane, *tint, &patch, &photo))
                    .collect();
                apply(&lifts, &mut changed);
                (changed, steered.steps, steered.reached)
            }
            Change::Certify(plan) => {
                let (public, cells) = split(photo.clone(), &[patch], plan)?;
                let noisy = plan.mechanism(&cells[0], &mut random)?;
                (compose(public, &[plan.estimate(&noisy)], plan), 0, false)
            }
        };
        let region = patch.region(&photo);
        let quality = Quality::compare(&photo.luma(region), &changed.luma(region))?;
        let encoding = Encoding { format: Some(Format::Png), ..Encoding::default() };
        let hash = &label[..16];
        let file = format!("steered/{hash}/{}.png", subject.name.replace('/', "_"));
        let encoded = changed.encode(&encoding)?;
        let path = self.folder.join(&file);
        write_whole(&path, &encoded.file, Readers::Usual, Existing::Replace)?;
        Ok(Made {
            file,
            psnr: quality.psnr.unwrap_or(f64::INFINITY),
            psnr_tight: self.psnr_tight(&photo, &changed, subject)?,
            ssim: quality.ssim.unwrap_or(1.0),
            steps,
            reached,
        })
    }

    /// PSNR of luma where the first recogniser inside the program looks: dlib, unless it was left out.
    fn psnr_tight(&self, photo: &Photo, changed: &Photo, subject: &Subject) -> Result<f64> {
        let first = &self.steerers.recognisers()[0];
        let region = Patch::seen_by(first, &subject.spot.landmarks)?.region(photo);
        let quality = Quality::compare(&photo.luma(region), &changed.luma(region))?;
        Ok(quality.psnr.unwrap_or(f64::INFINITY))
    }

    /// The embeddings of a steered photo after an attack.
    fn look(
        &self,
        n: usize,
        made: &Made,
        attack: &dyn Attack,
        work: &mut Workspace,
    ) -> Result<Vec<Vec<f32>>> {
        let limits = Limits::default();
        let file = files::read(&self.folder.join(&made.file), limits.file_bytes)?;
        let photo = Photo::decode(&file, &limits)?;
        let (eyes, witness) = (self.stage.eyes(), self.stage.witness(n));
        let view = attack.apply(&eyes.view(witness, &photo)?)?;
        Ok(eyes.embed_view(witness, &view, work)?)
    }

    /// For each recogniser, its rules with nothing judged yet.
    fn judges(&self, change: &Change<'_>) -> Vec<Vec<Judge>> {
        let by = match change {
            Change::Steer(steering) => self.steerers.named(&steering.recognisers),
            Change::Certify(_) => Vec::new(),
        };
        let known = |name: &str| by.iter().any(|r| r.name() == name);
        let row = |row: &RecogniserRow| {
            let judge = |(rule, clean): &(Rule, Estimate)| Judge {
                recogniser: row.recogniser.clone(),
                known: known(&row.recogniser),
                rule: rule.clone(),
                clean_pair_fnr: *clean,
                attacks: Vec::new(),
                gallery: None,
            };
            row.clean_pair_fnr.iter().filter(|(rule, _)| rule.name != "paper").map(judge).collect()
        };
        self.stage.recognisers.iter().map(row).collect()
    }

    fn judge(
        &self,
        judge: &mut Judge,
        r: usize,
        photos: &[usize],
        looks: &[Vec<Vec<f32>>],
        attack: &dyn Attack,
    ) {
        let recogniser = &self.stage.eyes().recognisers()[r];
        let clean = |n: usize| &self.stage.witness(n).embeddings()[r];
        let misses = |distances: &mut dyn Iterator<Item = f32>| {
            distances.filter(|d| *d > judge.rule.threshold).count()
        };
        let other = |at: usize| {
            let (first, second) = self.pairs[at % self.pairs.len()];
            if at < self.pairs.len() { second } else { first }
        };
        let own = photos.iter().zip(looks);
        let own = misses(&mut own.map(|(n, look)| recogniser.distance(&look[r], clean(*n))));
        let others = looks.iter().enumerate().map(|(at, look)| (look, clean(other(at))));
        let pair = misses(&mut others.map(|(look, clean)| recogniser.distance(&look[r], clean)));
        if self.options.galleries && attack.name() == "none" {
            let count = self.pairs.len();
            let (first, second) = looks.split_at(count);
            let linked = |i: usize, j: usize| recogniser.distance(&first[i][r], &second[j][r]);
            let untouched = |i: usize, j: usize| {
                recogniser.distance(clean(self.pairs[i].0), clean(self.pairs[j].1))
            };
            judge.gallery = Some(Gallery {
                pair_fnr: rate(misses(&mut (0..count).map(|i| linked(i, i))), count),
                rank_1: rank_1(count, linked),
                clean_rank_1: rank_1(count, untouched),
            });
        }
        judge.attacks.push(Attacked {
            attack: attack.name().to_owned(),
            self_fnr: rate(own, photos.len()),
            pair_fnr: rate(pair, photos.len()),
        });
    }
}

/// Share of people whose first photo is nearer to their own second one than to any other.
fn rank_1(count: usize, distance: impl Fn(usize, usize) -> f32) -> Estimate {
    let found = |i: &usize| (0..count).all(|j| j == *i || distance(*i, j) > distance(*i, *i));
    rate((0..count).filter(found).count(), count)
}
