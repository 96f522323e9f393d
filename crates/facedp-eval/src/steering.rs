//! Whether steered photos are recognised: by the recognisers that steered, by others, after attacks,
//! and in galleries of steered photos.

use std::path::Path;

use facedp::noise::experiment;
use facedp::{FeatureModel, Quality};
use facedp_engine::files::{Existing, Readers, write_whole};
use facedp_engine::lift::{Lift, apply};
use facedp_engine::steer::{Place, Prior, steer};
use facedp_engine::{
    Encoding, Eyes, Format, Limits, Patch, Photo, Recogniser, Steering, Workspace, files,
};
use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use serde_json::json;

use crate::attacks::{self, Attack};
use crate::dataset::{self, Half};
use crate::error::Result;
use crate::journal::{Earlier, Journal};
use crate::progress::Progress;
use crate::recognition::Stage;
use crate::results::{Estimate, RecogniserRow, Rule, Skipped};
use crate::sample::{self, Subject};
use crate::statistics::{average, mean, rate};

/// What is evaluated.
#[derive(Debug, Clone, PartialEq)]
pub struct Options {
    /// Each way of steering.
    pub steerings: Vec<Steering>,
    /// People whose photos are steered: of those with two photos at least, in a seeded order.
    pub people: usize,
    /// People at the head of that order who are left out, so that others can tune.
    pub skip: usize,
    /// Photos that thresholds are measured on, at least.
    pub threshold_images: usize,
    /// Whether the second photo is steered too, for galleries of steered photos.
    pub galleries: bool,
    /// Attacks, by name.
    pub attacks: Vec<String>,
    /// The recognisers inside the program that judge, by name.
    pub recognisers: Vec<String>,
    /// Whose pictures.
    pub half: Half,
    /// The seed of everything random.
    pub seed: u64,
}

/// Everything that is found.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SteeringResults {
    /// Program and version.
    pub tool: String,
    /// The name of the data folder.
    pub data: String,
    /// The seed.
    pub seed: u64,
    /// Judges on untouched photos.
    pub recognisers: Vec<RecogniserRow>,
    /// One for each way of steering.
    pub rows: Vec<SteeringRow>,
    /// Pictures that were left out, and why.
    pub skipped: Vec<Skipped>,
}

/// What one way of steering does.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SteeringRow {
    /// The way.
    pub steering: Steering,
    /// People whose photos were steered.
    pub people: usize,
    /// Photos that were steered.
    pub photos: usize,
    /// PSNR of the chip's region, luma, written as PNG.
    pub psnr: Estimate,
    /// The least of them.
    pub psnr_least: f64,
    /// PSNR where dlib looks: a tighter square, in which more of the change lies.
    pub psnr_tight: Estimate,
    /// SSIM of the chip's region (scikit-image's default).
    pub ssim: Estimate,
    /// Mean number of steps.
    pub steps: f64,
    /// Share of faces that came as far as the margin asks.
    pub reached: Estimate,
    /// What each recogniser says, by rule.
    pub judges: Vec<Judge>,
}

/// One recogniser, one rule.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Judge {
    /// The recogniser.
    pub recogniser: String,
    /// Whether photos were steered by it.
    pub known: bool,
    /// The rule.
    pub rule: Rule,
    /// Two untouched photos of one person.
    pub clean_pair_fnr: Estimate,
    /// A steered photo against untouched ones.
    pub attacks: Vec<Attacked>,
    /// Steered photos against each other.
    pub gallery: Option<Gallery>,
}

/// A steered photo after an attack.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Attacked {
    /// The attack.
    pub attack: String,
    /// Against its own original.
    pub self_fnr: Estimate,
    /// Against another photo of the same person.
    pub pair_fnr: Estimate,
}

/// Steered photos looked up among steered photos.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Gallery {
    /// Two steered photos of one person that do not match.
    pub pair_fnr: Estimate,
    /// People whose photo is nearest to their other photo, among all.
    pub rank_1: Estimate,
    /// The same with untouched photos.
    pub clean_rank_1: Estimate,
}

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

/// Steers photos of people, asks recognisers, and writes `steering.json`. Steered photos are kept in
/// the report folder.
pub fn run(
    data: &Path,
    folder: &Path,
    model: &FeatureModel,
    options: &Options,
    foreign: Vec<Recogniser>,
    earlier: Earlier,
    progress: &Progress<'_>,
) -> Result<SteeringResults> {
    let people = dataset::people(data, options.half)?;
    let name = data.file_name().map(|n| n.to_string_lossy().into_owned()).unwrap_or_default();
    let identities: Vec<String> = foreign.iter().filter_map(Recogniser::identity).collect();
    let settings = json!({
        "steering": env!("CARGO_PKG_VERSION"), "data": name, "seed": options.seed,
        "half": format!("{:?}", options.half), "judges": options.recognisers,
        "foreign": identities,
    });
    // Photos that are steered already serve any number of people.
    let journal = Journal::open(folder, &settings, earlier)?;
    let chosen = sample::pairs_in_order(&people, options.seed);
    let wanted = 2 * (options.skip + options.people).max(options.threshold_images.div_ceil(2));
    let chosen = &chosen[..chosen.len().min(wanted)];
    let by_inside = Eyes::open()?;
    let judges = Eyes::open()?.keep(&options.recognisers);
    let judges = foreign.into_iter().fold(judges, Eyes::with);
    let (subjects, skipped) = sample::read_all(data, chosen, model, &judges, progress)?;
    let stage = Stage::new(&judges, &subjects, progress)?;
    let bench = Bench {
        folder,
        journal: &journal,
        stage: &stage,
        subjects: &subjects,
        steerers: &by_inside,
        prior: Prior::embedded()?,
        pairs: pairs(&subjects, options),
        options,
        progress,
    };
    let mut rows = Vec::new();
    for steering in &options.steerings {
        rows.push(bench.row(steering)?);
    }
    let results = SteeringResults {
        tool: concat!("facedp ", env!("CARGO_PKG_VERSION")).to_owned(),
        data: name,
        seed: options.seed,
        recognisers: stage.recognisers.clone(),
        rows,
        skipped,
    };
    let text = serde_json::to_vec_pretty(&results)?;
    write_whole(&folder.join("steering.json"), &text, Readers::Usual, Existing::Replace)?;
    Ok(results)
}

/// The two photos of each person who is steered.
fn pairs(subjects: &[Subject], options: &Options) -> Vec<(usize, usize)> {
    let both = subjects.windows(2).enumerate().filter_map(|(n, two)| {
        let first = n == 0 || subjects[n - 1].person != two[0].person;
        (first && two[0].person == two[1].person).then_some((n, n + 1))
    });
    both.skip(options.skip).take(options.people).collect()
}

/// What all rows share.
struct Bench<'a> {
    folder: &'a Path,
    journal: &'a Journal,
    stage: &'a Stage<'a>,
    subjects: &'a [Subject],
    steerers: &'a Eyes,
    prior: Prior,
    pairs: Vec<(usize, usize)>,
    options: &'a Options,
    progress: &'a Progress<'a>,
}

impl Bench<'_> {
    fn row(&self, steering: &Steering) -> Result<SteeringRow> {
        let label = label(steering);
        let mut photos: Vec<usize> = self.pairs.iter().map(|(first, _)| *first).collect();
        if self.options.galleries {
            photos.extend(self.pairs.iter().map(|(_, second)| *second));
        }
        self.progress.begin(&format!("steering, {}", in_words(steering)), photos.len());
        let make = |work: &mut Workspace, n: &usize| {
            self.progress.check()?;
            let made = self.journal.cell(&format!("{label} {}", self.subjects[*n].name), || {
                self.make(*n, steering, &label, work)
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
        self.progress.begin("recognising steered photos", attacks.len());
        let mut judges = self.judges(steering);
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
        Ok(SteeringRow {
            steering: steering.clone(),
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

    /// Steers a photo and writes it down.
    fn make(
        &self,
        n: usize,
        steering: &Steering,
        label: &str,
        work: &mut Workspace,
    ) -> Result<Made> {
        let subject = &self.subjects[n];
        let photo = subject.photo()?;
        let patch = Patch::face(&subject.spot.landmarks)?;
        let recognisers = self.steerers.named(&steering.recognisers);
        let place = Place { photo: &photo, patch: &patch, landmarks: &subject.spot.landmarks };
        let mut random = experiment(self.options.seed, &format!("{label} {}", subject.name));
        let steered = steer(&place, &recognisers, &self.prior, steering, &mut random, work)?;
        let mut changed = photo.clone();
        let planes = steered.planes.iter();
        let lifts: Vec<Lift> =
            planes.map(|(tint, plane)| Lift::tinted(plane, *tint, &patch, &photo)).collect();
        apply(&lifts, &mut changed);
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
            steps: steered.steps,
            reached: steered.reached,
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
    fn judges(&self, steering: &Steering) -> Vec<Vec<Judge>> {
        let by = self.steerers.named(&steering.recognisers);
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

/// What tells ways of steering apart, as hexadecimal digits.
fn label(steering: &Steering) -> String {
    use sha2::{Digest, Sha256};
    let digest = Sha256::digest(format!("{steering:?}").as_bytes());
    digest.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// A way of steering, for people.
pub fn in_words(steering: &Steering) -> String {
    let by = match steering.recognisers.as_slice() {
        [] => String::new(),
        names => format!(" by {}", names.join(" and ")),
    };
    let colour = if steering.colour { "" } else { ", luma only" };
    format!("{:?}, at least {} dB{by}{colour}", steering.goal, steering.min_psnr).to_lowercase()
}
