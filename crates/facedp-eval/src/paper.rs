//! The paper's evaluation, cell by cell.

use std::sync::Arc;

use facedp::certified::{CertifiedMethod, CertifiedPlan};
use facedp::{Epsilon, FeatureModel, Method, Plan, Preset, Ranking};
use facedp_engine::annotate::grey_png;
use facedp_engine::{FaceDetector, MethodName, Request, Resources, embedded_faces};
use rayon::prelude::*;
use serde::Serialize;

use crate::audit::{self, Audit};
use crate::dataset::{self, Half, Person};
use crate::error::Result;
use crate::journal::Journal;
use crate::recognition::{Baseline, ScaledNoise};
use crate::report::{self, Panel};
use crate::results::{About, AveragingRow, LawRow, MatcherRow, QualityRow, Results};
use crate::sample::{self, Subject};
use crate::task::Task;
use crate::{attacks, averaging, law, quality};

/// What is evaluated. A report is resumed only with equal options.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Options {
    pub methods: Vec<Preset>,
    pub epsilons: Vec<f64>,
    /// Further budgets for the paper's matching rule, small enough for misses.
    pub matcher_epsilons: Vec<f64>,
    pub features: Vec<usize>,
    /// Parameter p of the geometric distribution of K.
    pub geometric_p: f64,
    /// Pictures whose chips are also ranked by amplitude, where the method allows it; 0 for none.
    pub amplitude_images: usize,
    /// Pictures whose chips are released; all if none is given.
    pub images: Option<usize>,
    /// Releases of each chip.
    pub repeats: usize,
    /// Draws for the law of the noise; 0 for none.
    pub draws: usize,
    /// Runs per neighbour in each audit; 0 for no audits.
    pub audit_runs: usize,
    /// Pictures for recognisers; 0 for none.
    pub recognition_images: usize,
    /// PSNRs (dB) that noise is scaled to for recognisers.
    pub decibels: Vec<f64>,
    /// Attacks, by name.
    pub attacks: Vec<String>,
    /// Pictures that are attacked.
    pub attack_images: usize,
    /// PSNR (dB) of the noise that is attacked.
    pub attack_psnr: f64,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            methods: Preset::ALL.to_vec(),
            epsilons: vec![0.2, 0.4, 0.6, 0.8, 1.0],
            matcher_epsilons: vec![0.001, 0.0003, 0.0001],
            features: vec![4, 16, 64],
            geometric_p: 0.02,
            amplitude_images: 100,
            images: Some(1000),
            repeats: 1,
            draws: 10_000,
            audit_runs: 10_000,
            recognition_images: 1100,
            decibels: vec![40.0, 30.0, 20.0, 15.0],
            attacks: attacks::all().iter().map(|attack| attack.name().to_owned()).collect(),
            attack_images: 300,
            attack_psnr: 20.0,
        }
    }
}

impl Options {
    /// One of the paper's methods for chips.
    fn method(&self, preset: Preset, features: usize, epsilon: f64) -> Result<Method> {
        let method = preset.method(Epsilon::new(epsilon)?, features);
        Ok(Method { geometric_p: self.geometric_p, ..method })
    }

    /// The same method for photos.
    fn request(&self, preset: Preset, features: usize, epsilon: f64) -> Result<Request> {
        Ok(Request {
            epsilon: Some(Epsilon::new(epsilon)?),
            features: Some(features),
            geometric_p: Some(self.geometric_p),
            ..Request::new(MethodName::Noise(preset))
        })
    }

    /// The features and the budget of what is evaluated once per method.
    fn strictest(&self, model: &FeatureModel) -> (usize, f64) {
        let features = self.features.iter().copied().max().unwrap_or(64);
        (features.min(model.features()), self.epsilons.first().copied().unwrap_or(0.2))
    }
}

/// Largest number of pictures for averaging.
const AVERAGED_IMAGES: usize = 200;

/// Evaluates a folder of people and writes `results.json`, `results.csv` and `report.html`.
pub fn run(task: &Task<'_>, options: &Options) -> Result<Results> {
    let people = task.people()?;
    let detector = FaceDetector::new()?;
    let chosen = sample::any_pictures(&people, options.images, task.seed);
    let (subjects, mut skipped) = task.read(&chosen, &detector)?;
    let journal = task.journal("paper", options)?;
    let (features, epsilon) = options.strictest(&task.model);
    let plan = |preset: &Preset| -> Result<Plan> {
        Ok(Plan::new(Arc::clone(&task.model), options.method(*preset, features, epsilon)?)?)
    };
    let plans = options.methods.iter().map(plan).collect::<Result<Vec<_>>>()?;
    let evaluation = Evaluation { task, options, journal, subjects: &subjects, plans };
    let (quality, matcher) = evaluation.releases()?;
    let (law, averaging) = evaluation.noise()?;
    let audits = evaluation.audits()?;
    let mut results = Results {
        about: about(task, options, &people, &subjects)?,
        quality,
        law,
        matcher,
        recognisers: Vec::new(),
        recognition: Vec::new(),
        attacks: Vec::new(),
        averaging,
        gallery: Vec::new(),
        audits,
        skipped: Vec::new(),
    };
    if options.recognition_images > 0 && !task.recognisers.as_slice().is_empty() {
        let chosen = sample::pairs_of_pictures(&people, options.recognition_images, task.seed);
        if !chosen.is_empty() {
            let (faces, more) = task.read(&chosen, &detector)?;
            skipped.extend(more);
            evaluation.recognise(&faces, &detector, &mut results)?;
        }
    }
    skipped.sort_by(|a, b| a.file.cmp(&b.file));
    skipped.dedup();
    results.skipped = skipped;
    let panels = panels(&evaluation.plans, &subjects, task.seed)?;
    task.write("results.json", &serde_json::to_vec_pretty(&results)?)?;
    task.write("results.csv", report::csv(&results).as_bytes())?;
    task.write("report.html", report::html(&results, &panels).as_bytes())?;
    Ok(results)
}

/// What all parts share.
struct Evaluation<'a> {
    task: &'a Task<'a>,
    options: &'a Options,
    journal: Journal,
    subjects: &'a [Subject],
    /// One per method.
    plans: Vec<Plan>,
}

impl Evaluation<'_> {
    /// Releases chips at every budget: quality, and the paper's matching rule.
    fn releases(&self) -> Result<(Vec<QualityRow>, Vec<MatcherRow>)> {
        let (options, progress) = (self.options, self.task.progress);
        let cells = self.cells()?;
        progress.begin("releasing chips", cells.len());
        let (mut quality, mut matcher) = (Vec::new(), Vec::new());
        for (method, images) in cells {
            progress.check()?;
            let plan = Plan::new(Arc::clone(&self.task.model), method)?;
            let key = format!("quality {}, {} {images}", plan.method().preset, plan.fingerprint());
            let cell = self.journal.cell(&key, || {
                let (repeats, seed) = (options.repeats, self.task.seed);
                quality::cell(&plan, &self.subjects[..images], repeats, seed, progress)
            })?;
            matcher.extend(cell.matcher);
            if !options.matcher_epsilons.contains(&cell.quality.epsilon) {
                quality.push(cell.quality);
            }
            progress.step();
        }
        Ok((quality, matcher))
    }

    /// Methods, each with the number of pictures whose chips it releases.
    fn cells(&self) -> Result<Vec<(Method, usize)>> {
        let (options, all) = (self.options, self.subjects.len());
        let mut cells = Vec::new();
        for &features in &options.features {
            let features = features.min(self.task.model.features());
            for &preset in &options.methods {
                for &epsilon in &options.matcher_epsilons {
                    cells.push((options.method(preset, features, epsilon)?, all));
                }
                for &epsilon in &options.epsilons {
                    let method = options.method(preset, features, epsilon)?;
                    let amplitude = Method { ranking: Ranking::Amplitude, ..method.clone() };
                    cells.push((method, all));
                    if options.amplitude_images > 0 && amplitude.validate().is_ok() {
                        cells.push((amplitude, options.amplitude_images.min(all)));
                    }
                }
            }
        }
        Ok(cells)
    }

    /// The law of the noise, and what averaging several releases gains.
    fn noise(&self) -> Result<(Vec<LawRow>, Vec<AveragingRow>)> {
        let (options, seed, progress) = (self.options, self.task.seed, self.task.progress);
        let few = &self.subjects[..self.subjects.len().min(AVERAGED_IMAGES)];
        progress.begin("the law of the noise", self.plans.len());
        let (mut laws, mut averages) = (Vec::new(), Vec::new());
        for plan in &self.plans {
            let name = format!("{}, {}", plan.method().preset, plan.fingerprint());
            if options.draws > 0 {
                let law = || law::row(plan, options.draws, seed, progress);
                laws.push(self.journal.cell(&format!("law {name}"), law)?);
            }
            for keyed in [false, true] {
                let average = || averaging::row(plan, few, keyed, seed, progress);
                averages.push(self.journal.cell(&format!("average {keyed} {name}"), average)?);
            }
            progress.step();
        }
        Ok((laws, averages))
    }

    /// Audits of all methods and of `certified`.
    fn audits(&self) -> Result<Vec<Audit>> {
        let (runs, task) = (self.options.audit_runs, self.task);
        if runs == 0 {
            return Ok(Vec::new());
        }
        let how = audit::Options { runs, confidence: 0.95, seed: task.seed, real: Vec::new() };
        let mut audits = Vec::new();
        for plan in &self.plans {
            let key = format!("audit {}, {}", plan.method().preset, plan.fingerprint());
            let subject = audit::Subject::Paper(plan);
            audits.push(self.journal.cell(&key, || audit::run(&subject, &how, task.progress))?);
        }
        let (features, epsilon) = self.options.strictest(&task.model);
        let model = embedded_faces()?;
        let features = features.min(model.features());
        let certified = CertifiedMethod::new(Epsilon::new(epsilon)?, features);
        let certified = CertifiedPlan::new(model, certified)?;
        let subject = audit::Subject::Certified(&certified);
        let key = format!("audit {}", certified.fingerprint());
        audits.push(self.journal.cell(&key, || audit::run(&subject, &how, task.progress))?);
        Ok(audits)
    }

    /// The parts that need recognisers.
    fn recognise(
        &self,
        faces: &[Subject],
        detector: &FaceDetector,
        results: &mut Results,
    ) -> Result<()> {
        let (options, progress) = (self.options, self.task.progress);
        let baseline = Baseline::new(&self.task.recognisers, faces, progress)?;
        results.recognisers = baseline.rows.clone();
        results.about.recognition_images = faces.len();
        results.about.recognition_pairs = baseline.pairs();
        results.gallery = baseline.clean_gallery();
        let resources = self.task.resources()?;
        progress.begin("recognising noisy photos", self.plans.len() * options.decibels.len());
        for &preset in &options.methods {
            for &psnr in &options.decibels {
                progress.check()?;
                let noise = self.scaled(preset, psnr, &resources)?;
                let key = format!("recognition {preset} {psnr} {}", noise.fingerprint());
                let cell = self.journal.cell(&key, || baseline.cell(&noise, detector, progress))?;
                results.recognition.extend(cell.recognition);
                results.gallery.extend(cell.gallery);
                progress.step();
            }
        }
        let mut attacks = attacks::all();
        attacks.retain(|attack| options.attacks.iter().any(|name| name == attack.name()));
        let scaled = options.methods.iter();
        let scaled = scaled.map(|preset| self.scaled(*preset, options.attack_psnr, &resources));
        let scaled = scaled.collect::<Result<Vec<_>>>()?;
        progress.begin("attacking", attacks.len() * (scaled.len() + 1));
        for attack in &attacks {
            for noise in std::iter::once(None).chain(scaled.iter().map(Some)) {
                progress.check()?;
                let name = noise.map_or("untouched".to_owned(), ScaledNoise::fingerprint);
                let key = format!("attack {} {name}", attack.name());
                results.attacks.extend(self.journal.cell(&key, || {
                    baseline.attack(&**attack, noise, options.attack_images, progress)
                })?);
                progress.step();
            }
        }
        Ok(())
    }

    /// A method with its noise scaled to a PSNR.
    fn scaled(&self, preset: Preset, psnr: f64, resources: &Resources) -> Result<ScaledNoise> {
        let (features, epsilon) = self.options.strictest(&self.task.model);
        let request = self.options.request(preset, features, epsilon)?;
        ScaledNoise::new(preset, &request, psnr, resources)
    }
}

fn about(
    task: &Task<'_>,
    options: &Options,
    eligible: &[Person],
    subjects: &[Subject],
) -> Result<About> {
    let mut people: Vec<usize> = subjects.iter().map(|s| s.person).collect();
    people.dedup();
    Ok(About {
        people_given: dataset::people(task.data, Half::All)?.len(),
        people_eligible: eligible.len(),
        images_eligible: eligible.iter().map(|person| person.pictures.len()).sum(),
        tool: concat!("facedp ", env!("CARGO_PKG_VERSION")).to_owned(),
        data: task.name(),
        model_sha256: task.model.hash().to_owned(),
        seed: task.seed,
        identities: people.len(),
        images: subjects.len(),
        repeats: options.repeats,
        recognition_images: 0,
        recognition_pairs: 0,
        geometric_p: options.geometric_p,
        side: task.model.side(),
        epsilons: options.epsilons.clone(),
        features: options.features.clone(),
        decibels: options.decibels.clone(),
    })
}

/// One chip under every method, at the smallest budget and at a twentieth of it, where noise shows.
fn panels(plans: &[Plan], subjects: &[Subject], seed: u64) -> Result<Vec<Panel>> {
    let Some((subject, plan)) = subjects.first().zip(plans.first()) else { return Ok(Vec::new()) };
    let chip = subject.plane(plan.model().side());
    let mut panels = vec![Panel { caption: "original".to_owned(), png: grey_png(&chip)? }];
    for share in [1.0, 0.05] {
        let made: Result<Vec<Panel>> = plans
            .par_iter()
            .map(|plan| {
                let epsilon = plan.method().epsilon.get() * share;
                let shown = report::short(epsilon);
                let method = Method { epsilon: Epsilon::new(epsilon)?, ..plan.method().clone() };
                let plan = Plan::new(Arc::clone(plan.model()), method)?;
                let mut noise = facedp::noise::experiment(seed, "panel");
                let release = plan.protect(&chip, &mut noise)?;
                let caption = format!("{}, epsilon {shown}", plan.method().preset);
                Ok(Panel { caption, png: grey_png(&release.plane)? })
            })
            .collect();
        panels.extend(made?);
    }
    Ok(panels)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use facedp_engine::{AnyPlan, embedded_model};

    use super::*;

    /// Chips and photos get the same noise.
    #[test]
    fn methods_for_chips_and_requests_for_photos_agree() {
        let (options, model) = (Options::default(), embedded_model().unwrap());
        for preset in Preset::ALL {
            let method = options.method(preset, 16, 0.4).unwrap();
            let plan = Plan::new(Arc::clone(&model), method).unwrap();
            let request = options.request(preset, 16, 0.4).unwrap();
            match request.plan(Arc::clone(&model)).unwrap() {
                AnyPlan::Noise(other) => assert_eq!(other.fingerprint(), plan.fingerprint()),
                AnyPlan::Certified(_) => unreachable!("{preset}"),
            }
        }
    }
}
