//! One request: photos are treated, kept, attacked and shown to recognisers.

use facedp::metrics::Quality;
use facedp_engine::files::{Existing, Readers, write_whole};
use facedp_engine::{
    Displacement, Engine, Error as EngineError, FaceReport, Limits, Patch, Photo, Request,
    Resources, SteeringOutcome, Workspace,
};
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use super::compare::Comparison;
use super::results::{Judge, ProtectionRow, Quantiles};
use super::{Options, known, title};
use crate::attacks::{self, Attack};
use crate::error::{Error, Result};
use crate::journal::Journal;
use crate::recognition::{Baseline, Embeddings};
use crate::results::{Estimate, RecogniserRow, Rule, Skipped};
use crate::sample::{self, Subject};
use crate::statistics::{average, mean, rate};
use crate::task::{Task, engine};

/// What all rows share.
pub(super) struct Evaluation<'a> {
    pub(super) task: &'a Task<'a>,
    pub(super) options: &'a Options,
    pub(super) resources: Resources,
    pub(super) journal: &'a Journal,
    pub(super) baseline: &'a Baseline<'a>,
    pub(super) subjects: &'a [Subject],
    /// The two photos of each person.
    pub(super) pairs: Vec<(usize, usize)>,
}

/// What became of a photo.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(tag = "result", rename_all = "lowercase")]
enum Outcome {
    Treated(TreatedPhoto),
    /// The method cannot treat the face.
    Refused {
        reason: String,
    },
}

#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct TreatedPhoto {
    /// Its path in the report folder.
    file: String,
    /// `None` if infinite.
    psnr: Option<f64>,
    psnr_crop: Option<f64>,
    ssim: f64,
    /// SSIMULACRA2 of the face.
    score: f64,
    /// `None` for a method without steps.
    steered: Option<SteeringOutcome>,
}

/// The photos of people all of whose photos could be treated.
pub(super) struct Treated {
    pub(super) pairs: Vec<(usize, usize)>,
    /// The first photo of each pair, then with galleries the second; with the subject's number.
    pub(super) photos: Vec<(usize, TreatedPhoto)>,
    refused: Vec<Skipped>,
}

impl Evaluation<'_> {
    /// The row of a request, and photos that its method cannot treat.
    pub(super) fn row(&self, request: &Request) -> Result<(ProtectionRow, Vec<Skipped>)> {
        let engine = engine(request, &self.resources)?;
        let label = engine.fingerprint();
        let no_terms = || Error::Unchanging { method: request.method.to_string() };
        let terms = engine.terms().ok_or_else(no_terms)?;
        let treated = self.treat(&title(request)?, &engine, &label)?;
        let judges = self.judges(request, &treated)?;
        let photos: Vec<&TreatedPhoto> = treated.photos.iter().map(|(_, photo)| photo).collect();
        let psnr = |value: Option<f64>| value.unwrap_or(f64::INFINITY);
        let figures = |value: &dyn Fn(&TreatedPhoto) -> f64, what: &str| {
            let values: Vec<f64> = photos.iter().map(|photo| value(photo)).collect();
            mean(&values, &format!("{label} {what}"))
        };
        let courses: Vec<SteeringOutcome> =
            photos.iter().filter_map(|photo| photo.steered).collect();
        let steps: Vec<f64> = courses.iter().map(|course| course.steps as f64).collect();
        let reached = courses.iter().filter(|course| course.reached).count();
        let moved = |value: fn(Displacement) -> f64| {
            courses.iter().filter_map(|course| course.shape).map(value).collect::<Vec<f64>>()
        };
        let row = ProtectionRow {
            terms,
            people: treated.pairs.len(),
            photos: photos.len(),
            psnr: figures(&|photo| psnr(photo.psnr), "psnr"),
            psnr_min: photos.iter().map(|p| psnr(p.psnr)).fold(f64::INFINITY, f64::min),
            psnr_crop: figures(&|photo| psnr(photo.psnr_crop), "psnr_crop"),
            ssim: figures(&|photo| photo.ssim, "ssim"),
            score: Quantiles::of(photos.iter().map(|photo| photo.score)),
            score_by_brightness: self
                .by_brightness(&treated)
                .map(|half| Quantiles::of(half.iter().map(|at| photos[*at].score))),
            displacement: Quantiles::of_some(moved(|shape| shape.displacement)),
            stretch: Quantiles::of_some(moved(|shape| shape.stretch)),
            steps: (!courses.is_empty()).then(|| average(&steps)),
            reached: (!courses.is_empty()).then(|| rate(reached, courses.len())),
            judges,
        };
        Ok((row, treated.refused))
    }

    /// Treats the photos, or takes them from an earlier run.
    fn treat(&self, title: &str, engine: &Engine, label: &str) -> Result<Treated> {
        let mut photos: Vec<usize> = self.pairs.iter().map(|(first, _)| *first).collect();
        if self.options.galleries {
            photos.extend(self.pairs.iter().map(|(_, second)| *second));
        }
        let progress = self.task.progress;
        progress.begin(title, photos.len());
        let one = |work: &mut Workspace, n: &usize| {
            progress.check()?;
            let subject = &self.subjects[*n];
            let key = format!("{label} {}", subject.name);
            let outcome = self.journal.cell(&key, || self.treat_one(subject, engine, label, work));
            progress.step();
            outcome
        };
        let outcomes: Vec<Outcome> = photos
            .par_iter()
            .with_max_len(1)
            .map_init(Workspace::default, one)
            .collect::<Result<_>>()?;

        let count = self.pairs.len();
        let complete = |at: usize| {
            let mut own = outcomes.iter().skip(at % count).step_by(count);
            own.all(|outcome| matches!(outcome, Outcome::Treated(_)))
        };
        let pairs = self.pairs.iter().enumerate().filter(|(at, _)| complete(*at));
        let pairs = pairs.map(|(_, pair)| *pair).collect();
        let (mut kept, mut refused) = (Vec::new(), Vec::new());
        for (at, (n, outcome)) in photos.iter().zip(&outcomes).enumerate() {
            match outcome {
                Outcome::Treated(photo) if complete(at) => kept.push((*n, photo.clone())),
                Outcome::Treated(_) => {}
                Outcome::Refused { reason } => {
                    let (file, reason) = (self.subjects[*n].name.clone(), reason.clone());
                    refused.push(Skipped { file, reason });
                }
            }
        }
        Ok(Treated { pairs, photos: kept, refused })
    }

    /// Treats a photo and writes it into the report folder.
    fn treat_one(
        &self,
        subject: &Subject,
        engine: &Engine,
        label: &str,
        work: &mut Workspace,
    ) -> Result<Outcome> {
        let protected = match subject.protect(engine, work) {
            Err(Error::Engine(refusal @ EngineError::TooSmall { .. })) => {
                return Ok(Outcome::Refused { reason: refusal.to_string() });
            }
            done => done?,
        };
        let file = format!("photos/{}/{}.png", &label[..16], subject.name.replace('/', "_"));
        let path = self.task.folder.join(&file);
        write_whole(&path, &protected.file, Readers::Default, Existing::Replace)?;
        let changed = Photo::decode(&protected.file, &Limits::default())?;
        let report = protected.faces.first();
        let quality = report.and_then(|report| report.quality);
        Ok(Outcome::Treated(TreatedPhoto {
            file,
            psnr: quality.and_then(|quality| quality.psnr),
            psnr_crop: self.crop_quality(subject, &changed)?.psnr,
            ssim: quality.and_then(|quality| quality.ssim).unwrap_or(1.0),
            score: report.and_then(|report| report.ssimulacra2).unwrap_or(100.0),
            steered: report.and_then(|report: &FaceReport| report.steered),
        }))
    }

    /// Quality of luma in the crop of the first built-in recogniser.
    fn crop_quality(&self, subject: &Subject, changed: &Photo) -> Result<Quality> {
        let photo = subject.photo()?;
        let recognisers = self.resources.networks.recognisers()?;
        let patch = Patch::seen_by(&recognisers.as_slice()[0], &subject.face.landmarks)?;
        let region = patch.region(&photo);
        Ok(Quality::compare(&photo.luma(region), &changed.luma(region))?)
    }

    /// What recognisers say of the photos after each attack, by rule.
    fn judges(&self, request: &Request, treated: &Treated) -> Result<Vec<Judge>> {
        let names = self.resources.networks.recognisers()?;
        let names = names.as_slice().iter().map(|r| r.name().to_owned()).collect();
        let known = known(request, names)?;
        let new = |row: &RecogniserRow| -> Vec<Judge> {
            let judge = |(rule, clean): &(Rule, Estimate)| Judge {
                recogniser: row.recogniser.clone(),
                known: known.contains(&row.recogniser),
                rule: rule.clone(),
                clean_pair_fnr: *clean,
                attacks: Vec::new(),
                pair_fnr_by_brightness: None,
                gallery: None,
            };
            row.clean_pair_fnr.iter().filter(|(rule, _)| rule.name != "paper").map(judge).collect()
        };
        let mut judges: Vec<Vec<Judge>> = self.baseline.rows.iter().map(new).collect();
        let mut attacks = attacks::all();
        attacks.retain(|attack| self.options.attacks.iter().any(|name| name == attack.name()));
        self.task.progress.begin("recognising treated photos", attacks.len());
        for attack in &attacks {
            let embeddings = self.embeddings(treated, &**attack)?;
            for (number, recogniser) in self.task.recognisers.as_slice().iter().enumerate() {
                let (baseline, embeddings) = (self.baseline, embeddings.as_slice());
                let comparison = Comparison { recogniser, number, baseline, treated, embeddings };
                for judge in &mut judges[number] {
                    let threshold = judge.rule.threshold;
                    judge.attacks.push(comparison.with_originals(attack.name(), threshold));
                    if attack.name() == "none" {
                        let halves = self.by_brightness(treated);
                        let misses = |half: Vec<usize>| comparison.pair_misses(&half, threshold);
                        judge.pair_fnr_by_brightness = Some(halves.map(misses));
                    }
                    if self.options.galleries && attack.name() == "none" {
                        judge.gallery = Some(comparison.with_each_other(threshold));
                    }
                }
            }
            self.task.progress.step();
        }
        Ok(judges.into_iter().flatten().collect())
    }

    /// The numbers of the treated photos with the darker and with the lighter faces, by mean luma.
    fn by_brightness(&self, treated: &Treated) -> [Vec<usize>; 2] {
        let sum = |at: &usize| {
            let chip = &self.subjects[treated.photos[*at].0].chip;
            chip.iter().map(|v| u64::from(*v)).sum::<u64>()
        };
        let mut photos: Vec<usize> = (0..treated.photos.len()).collect();
        photos.sort_by_key(sum);
        let lighter = photos.split_off(photos.len() / 2);
        [photos, lighter]
    }

    /// The embeddings of all treated photos after an attack.
    fn embeddings(&self, treated: &Treated, attack: &dyn Attack) -> Result<Vec<Embeddings>> {
        let one = |work: &mut Workspace, (n, photo): &(usize, TreatedPhoto)| {
            self.task.progress.check()?;
            let photo = sample::read(&self.task.folder.join(&photo.file))?;
            self.baseline.attacked(self.baseline.reference(*n), &photo, attack, work)
        };
        treated.photos.par_iter().map_init(Workspace::default, one).collect()
    }
}
