//! A whole evaluation, cell by cell.

use std::path::Path;
use std::sync::Arc;

use facedp::{
    CertifiedMethod, CertifiedPlan, Epsilon, FeatureModel, Method, Plan, Preset, Ranking,
};
use facedp_engine::annotate::grey_png;
use facedp_engine::files::{Existing, Readers, write_whole};
use facedp_engine::{Eyes, Recogniser};
use rayon::prelude::*;
use serde_json::json;

use crate::dataset::{self, Half};
use crate::error::Result;
use crate::journal::{Earlier, Journal};
use crate::progress::Progress;
use crate::recognition::{Noise, Stage};
use crate::report::{self, Panel};
use crate::results::{About, Results};
use crate::sample::{self, Subject};
use crate::{attacks, audit, averaging, law, quality};

/// What is evaluated.
#[derive(Debug, Clone, PartialEq)]
pub struct Options {
    /// Methods.
    pub methods: Vec<Preset>,
    /// Budgets.
    pub epsilons: Vec<f64>,
    /// Further budgets for the paper's matching rule, small enough that something is missed.
    pub matcher_epsilons: Vec<f64>,
    /// Numbers of features.
    pub features: Vec<usize>,
    /// Parameter p of the geometric number.
    pub geometric_p: f64,
    /// Pictures whose chips rank by amplitude too, where the method allows it; 0 for none.
    pub amplitude_images: usize,
    /// Pictures whose chips are released; all if none is given.
    pub images: Option<usize>,
    /// Releases of each chip.
    pub repeats: usize,
    /// Draws for the law of the noise; 0 for none.
    pub draws: usize,
    /// Runs a side of each pair in audits of the claims; 0 for none.
    pub audit_runs: usize,
    /// The recognisers that are asked, by name.
    pub recognisers: Vec<String>,
    /// Pictures that they look at; 0 for none.
    pub recognition_images: usize,
    /// Decibels that all methods are brought to for them.
    pub decibels: Vec<f64>,
    /// Attacks, by name.
    pub attacks: Vec<String>,
    /// Pictures that are attacked.
    pub attack_images: usize,
    /// Decibels of the noise that is attacked.
    pub attack_psnr: f64,
    /// Whose pictures.
    pub half: Half,
    /// The seed of everything random.
    pub seed: u64,
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
            recognisers: vec!["dlib".to_owned(), "sface".to_owned()],
            recognition_images: 1100,
            decibels: vec![40.0, 30.0, 20.0, 15.0],
            attacks: attacks::all().iter().map(|attack| attack.name().to_owned()).collect(),
            attack_images: 300,
            attack_psnr: 20.0,
            half: Half::Odd,
            seed: 1,
        }
    }
}

/// Evaluates a folder of people and writes `results.json`, `results.csv` and `report.html`. `foreign`
/// are asked beside the recognisers inside the program.
pub fn run(
    data: &Path,
    folder: &Path,
    model: &Arc<FeatureModel>,
    options: &Options,
    foreign: Vec<Recogniser>,
    earlier: Earlier,
    progress: &Progress<'_>,
) -> Result<Results> {
    let people = dataset::people(data, options.half)?;
    let name = data.file_name().map(|n| n.to_string_lossy().into_owned()).unwrap_or_default();
    let mut settings =
        json!({ "options": format!("{options:?}"), "data": name, "model": model.hash() });
    let identities: Vec<String> = foreign.iter().filter_map(Recogniser::identity).collect();
    if !identities.is_empty() {
        settings["foreign"] = json!(identities);
    }
    let eyes = Eyes::open()?.keep(&options.recognisers);
    let eyes = foreign.into_iter().fold(eyes, Eyes::with);
    Journal::require_free(folder, earlier)?;
    let chosen = sample::any_pictures(&people, options.images, options.seed);
    let (subjects, mut skipped) = sample::read_all(data, &chosen, model, &eyes, progress)?;
    let journal = Journal::open(folder, &settings, earlier)?;
    let plan = |method: Method| Plan::new(Arc::clone(model), method);
    let method = |preset: Preset, features: usize, epsilon: f64| -> Result<Method> {
        let method = preset.method(Epsilon::new(epsilon)?, features.min(model.features()));
        Ok(Method { geometric_p: options.geometric_p, ..method })
    };

    let mut cells: Vec<(Method, usize)> = Vec::new();
    for &features in &options.features {
        for &preset in &options.methods {
            for &epsilon in &options.matcher_epsilons {
                cells.push((method(preset, features, epsilon)?, subjects.len()));
            }
            for &epsilon in &options.epsilons {
                let method = method(preset, features, epsilon)?;
                let amplitude = Method { ranking: Ranking::Amplitude, ..method.clone() };
                cells.push((method, subjects.len()));
                if options.amplitude_images > 0 && amplitude.validate().is_ok() {
                    cells.push((amplitude, options.amplitude_images.min(subjects.len())));
                }
            }
        }
    }
    progress.begin("releasing chips", cells.len());
    let (mut quality, mut matcher) = (Vec::new(), Vec::new());
    for (method, images) in cells {
        progress.check()?;
        let plan = plan(method)?;
        let cell = journal
            .cell(&format!("quality {}, {} {images}", plan.method().preset, plan.name()), || {
                quality::cell(&plan, &subjects[..images], options.repeats, options.seed, progress)
            })?;
        matcher.extend(cell.matcher);
        if !options.matcher_epsilons.contains(&cell.quality.epsilon) {
            quality.push(cell.quality);
        }
        progress.step();
    }

    let (most, least) = (most(&options.features), options.epsilons.first().copied().unwrap_or(0.2));
    let plans = options.methods.iter().map(|&preset| Ok(plan(method(preset, most, least)?)?));
    let plans: Vec<Plan> = plans.collect::<Result<_>>()?;
    let few = &subjects[..subjects.len().min(200)];
    progress.begin("the law of the noise", plans.len());
    let (mut laws, mut averages) = (Vec::new(), Vec::new());
    for plan in &plans {
        let name = format!("{}, {}", plan.method().preset, plan.name());
        if options.draws > 0 {
            laws.push(journal.cell(&format!("law {name}"), || {
                law::row(plan, options.draws, options.seed, progress)
            })?);
        }
        for keyed in [false, true] {
            let key = format!("average {keyed} {name}");
            averages.push(
                journal.cell(&key, || averaging::row(plan, few, keyed, options.seed, progress))?,
            );
        }
        progress.step();
    }

    let mut audits = Vec::new();
    if options.audit_runs > 0 {
        let (runs, seed) = (options.audit_runs, options.seed);
        let how = audit::Options { runs, confidence: 0.95, seed, real: Vec::new() };
        for plan in &plans {
            let key = format!("audit {}, {}", plan.method().preset, plan.name());
            let subject = audit::Subject::Paper(plan);
            audits.push(journal.cell(&key, || audit::run(&subject, &how, progress))?);
        }
        let certified = CertifiedMethod::new(Epsilon::new(least)?, most.min(model.features()));
        let certified = CertifiedPlan::new(Arc::clone(model), certified)?;
        let subject = audit::Subject::Certified(&certified);
        let key = format!("audit {}", certified.name());
        audits.push(journal.cell(&key, || audit::run(&subject, &how, progress))?);
    }

    let mut results = Results {
        about: about(&name, model, options, &subjects),
        quality,
        law: laws,
        matcher,
        recognisers: Vec::new(),
        recognition: Vec::new(),
        attacks: Vec::new(),
        averaging: averages,
        gallery: Vec::new(),
        audits,
        skipped: Vec::new(),
    };
    if options.recognition_images > 0 && !eyes.recognisers().is_empty() {
        let chosen = sample::pairs_of_pictures(&people, options.recognition_images, options.seed);
        if !chosen.is_empty() {
            let (faces, more) = sample::read_all(data, &chosen, model, &eyes, progress)?;
            skipped.extend(more);
            recognise(&mut results, &eyes, &faces, &plans, options, &journal, progress)?;
        }
    }
    skipped.sort_by(|a, b| a.file.cmp(&b.file));
    skipped.dedup();
    results.skipped = skipped;
    write(folder, &results, &panels(&plans, &subjects, options)?)?;
    Ok(results)
}

/// The parts that recognisers judge.
fn recognise(
    results: &mut Results,
    eyes: &Eyes,
    faces: &[Subject],
    plans: &[Plan],
    options: &Options,
    journal: &Journal,
    progress: &Progress<'_>,
) -> Result<()> {
    let stage = Stage::new(eyes, faces, progress)?;
    results.recognisers = stage.recognisers.clone();
    results.about.recognition_images = faces.len();
    results.about.recognition_pairs = stage.pairs();
    results.gallery = stage.clean_gallery();
    progress.begin("recognising noisy photos", plans.len() * options.decibels.len());
    for plan in plans {
        for &psnr in &options.decibels {
            progress.check()?;
            let noise = Noise { plan, psnr, seed: options.seed };
            let key = format!("recognition {} {psnr} {}", plan.method().preset, plan.name());
            let cell = journal.cell(&key, || stage.cell(&noise, progress))?;
            results.recognition.extend(cell.recognition);
            results.gallery.extend(cell.gallery);
            progress.step();
        }
    }
    let mut attacks = attacks::all();
    attacks.retain(|attack| options.attacks.iter().any(|name| name == attack.name()));
    progress.begin("attacking", attacks.len() * (plans.len() + 1));
    for attack in &attacks {
        for plan in std::iter::once(None).chain(plans.iter().map(Some)) {
            progress.check()?;
            let noise =
                plan.map(|plan| Noise { plan, psnr: options.attack_psnr, seed: options.seed });
            let name = plan.map(|plan| (plan.method().preset, plan.name()));
            let key = format!("attack {} {name:?}", attack.name());
            results.attacks.extend(journal.cell(&key, || {
                stage.attack(&**attack, noise.as_ref(), options.attack_images, progress)
            })?);
            progress.step();
        }
    }
    Ok(())
}

fn most(features: &[usize]) -> usize {
    features.iter().copied().max().unwrap_or(64)
}

fn about(name: &str, model: &FeatureModel, options: &Options, subjects: &[Subject]) -> About {
    let mut people: Vec<usize> = subjects.iter().map(|s| s.person).collect();
    people.dedup();
    About {
        tool: concat!("facedp ", env!("CARGO_PKG_VERSION")).to_owned(),
        data: name.to_owned(),
        model_sha256: model.hash().to_owned(),
        seed: options.seed,
        identities: people.len(),
        images: subjects.len(),
        repeats: options.repeats,
        recognition_images: 0,
        recognition_pairs: 0,
        geometric_p: options.geometric_p,
        side: model.side(),
        epsilons: options.epsilons.clone(),
        features: options.features.clone(),
        decibels: options.decibels.clone(),
    }
}

/// One chip under every method, at the smallest budget and at a twentieth of it, where noise shows.
fn panels(plans: &[Plan], subjects: &[Subject], options: &Options) -> Result<Vec<Panel>> {
    let Some((subject, plan)) = subjects.first().zip(plans.first()) else { return Ok(Vec::new()) };
    let chip = subject.plane(plan.model().side());
    let mut panels = vec![Panel { caption: "original".to_owned(), png: grey_png(&chip)? }];
    for share in [1.0, 0.05] {
        let made: Result<Vec<Panel>> = plans
            .par_iter()
            .map(|plan| {
                let epsilon = plan.method().epsilon.get() * share;
                let method = Method { epsilon: Epsilon::new(epsilon)?, ..plan.method().clone() };
                let plan = Plan::new(Arc::clone(plan.model()), method)?;
                let mut noise = facedp::noise::experiment(options.seed, "panel");
                let release = plan.protect(&chip, &mut noise)?;
                let caption = format!("{}, epsilon {epsilon}", plan.method().preset);
                Ok(Panel { caption, png: grey_png(&release.plane)? })
            })
            .collect();
        panels.extend(made?);
    }
    Ok(panels)
}

fn write(folder: &Path, results: &Results, panels: &[Panel]) -> Result<()> {
    let json = serde_json::to_vec_pretty(results)?;
    for (name, bytes) in [
        ("results.json", json.as_slice()),
        ("results.csv", report::csv(results).as_bytes()),
        ("report.html", report::html(results, panels).as_bytes()),
    ] {
        write_whole(&folder.join(name), bytes, Readers::Usual, Existing::Replace)?;
    }
    Ok(())
}
