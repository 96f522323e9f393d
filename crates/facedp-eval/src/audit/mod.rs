//! Audits that try to refute a claim of differential privacy.
//!
//! An audit runs a mechanism many times on two neighbours and searches for an event that is more likely
//! on one of them than the claimed epsilon allows. Such an event proves, at a stated confidence, that the
//! claim is wrong. Finding none proves nothing; `proofs/` has the proofs.

mod bound;
mod certified;
mod event;
mod files;
mod pair;
mod paper;
mod people;
mod structural;
mod theorem;

use std::path::Path;
use std::sync::Arc;

use facedp::certified::{CertifiedMethod, CertifiedPlan};
use facedp::{FeatureModel, Plan, Ranking};
use facedp_engine::{AnyPlan, Request};
use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};
use crate::progress::Progress;
use crate::statistics::median;

pub use certified::pair as certified_pair;
pub use files::{
    FileRelease, file_pair, file_release, observed as observed_file, photo as file_photo,
};
pub use pair::{Effort, Pair, PairResult, Release, Statistic};
pub use people::{real_faces, real_pairs};
pub use structural::Structural;
pub use theorem::Fit;

/// The method to audit.
pub enum Subject<'a> {
    /// One of the paper's methods.
    Paper(&'a Plan),
    Certified(&'a CertifiedPlan),
}

#[derive(Debug, Clone, PartialEq)]
pub struct Options {
    /// Runs per neighbour, for each pair.
    pub runs: usize,
    /// The joint confidence of all bounds.
    pub confidence: f64,
    pub seed: u64,
    /// Features of pairs of real people, audited in addition to the constructed pairs.
    pub real: Vec<[Vec<f64>; 2]>,
}

/// Draws for the test of Theorem 1.
const DRAWS: usize = 20_000;

impl Options {
    /// More runs do not fit into memory: their statistics take half a gigabyte.
    pub const MAX_RUNS: usize = 10_000_000;
    /// Fewer runs show nothing.
    pub const MIN_RUNS: usize = 40;

    fn validate(&self) -> Result<()> {
        if !(Self::MIN_RUNS..=Self::MAX_RUNS).contains(&self.runs) {
            return Err(Error::Runs { given: self.runs });
        }
        if !(0.5..1.0).contains(&self.confidence) {
            return Err(Error::Confidence { given: self.confidence });
        }
        Ok(())
    }
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Audit {
    pub method: String,
    /// The claimed epsilon.
    pub epsilon: f64,
    /// The number of features that epsilon covers.
    pub features: usize,
    /// Runs per neighbour, for each pair.
    pub runs: usize,
    /// The joint confidence of all bounds.
    pub confidence: f64,
    pub seed: u64,
    /// What follows from the directions of the noise; none for a method that draws it in all directions.
    pub structural: Option<Structural>,
    /// The largest lower bound on epsilon among pairs of single releases.
    pub epsilon_lower_bound: f64,
    /// The bound that the Laplace mechanism of the claimed epsilon is expected to show with as many runs.
    pub expected_bound: f64,
    pub pairs: Vec<PairResult>,
    /// How the noise of each feature fits the paper's Theorem 1, if the method relies on it.
    pub theorem_1: Option<Vec<Fit>>,
    /// Whether the claim is proven wrong, by a pair or by the structure.
    pub refuted: bool,
}

/// Pairs of people that are taken from a data folder.
const PEOPLE: usize = 4;

/// Audits the method of a request, also with pairs of people from a data folder if there is one.
pub fn request(
    request: &Request,
    model: &Arc<FeatureModel>,
    data: Option<&Path>,
    options: Options,
    progress: &Progress<'_>,
) -> Result<Audit> {
    let seed = options.seed;
    let with = |real: Option<Vec<_>>| Options { real: real.unwrap_or_default(), ..options };
    match request.plan(Arc::clone(model))? {
        AnyPlan::Noise(plan) => {
            let features = plan.method().features;
            let real = data.map(|data| real_pairs(data, model, features, PEOPLE, seed, progress));
            run(&Subject::Paper(&plan), &with(real.transpose()?), progress)
        }
        AnyPlan::Certified(plan) => {
            let real = data.map(|data| real_faces(data, model, &plan, PEOPLE, seed, progress));
            run(&Subject::Certified(&plan), &with(real.transpose()?), progress)
        }
    }
}

pub fn run(subject: &Subject<'_>, options: &Options, progress: &Progress<'_>) -> Result<Audit> {
    options.validate()?;
    match subject {
        Subject::Paper(plan) if plan.method().ranking == Ranking::Amplitude => {
            let swapped = paper::Swapped::new(plan)?;
            let structural = swapped.structure().summary();
            let pairs = audit_pairs(&[swapped.pair()], &[], options, progress)?;
            Ok(of_paper(plan, options, structural, pairs, None))
        }
        Subject::Paper(plan) => {
            let paper = paper::Paper::new(plan)?;
            let structure = paper.structure();
            let apart = |[a, b]: &[Vec<f64>; 2]| a.iter().zip(b).map(|(a, b)| b - a).collect();
            let real: Vec<Vec<f64>> = options.real.iter().map(apart).collect();
            let pairs = audit_pairs(&paper.pairs(&structure, &real), &[], options, progress)?;
            let theorem = paper.theorem(DRAWS, options.seed);
            Ok(of_paper(plan, options, structure.summary(), pairs, theorem))
        }
        Subject::Certified(plan) => {
            // With shrinkage few features get any budget. The same code draws noise for all features
            // without it, so that plan is audited too.
            let all = CertifiedMethod { shrink: false, ..*plan.method() };
            let all = CertifiedPlan::new(Arc::clone(plan.model()), all)?;
            let mut pairs = certified::pairs(plan, &options.real);
            if plan.method().shrink {
                let more = certified::pairs(&all, &options.real).into_iter();
                pairs.extend(more.map(|pair| Pair { name: pair.name + ", all features", ..pair }));
            }
            let pairs = audit_pairs(&pairs, &files::pairs(plan)?, options, progress)?;
            let method = plan.method();
            let (epsilon, features) = (method.epsilon.get(), method.features);
            Ok(found("certified", epsilon, features, options, None, pairs))
        }
    }
}

/// Audits pairs, and pairs of whole files with fewer runs. They share the allowed error probability
/// (Bonferroni).
fn audit_pairs(
    pairs: &[Pair<'_>],
    files: &[Pair<'_>],
    options: &Options,
    progress: &Progress<'_>,
) -> Result<Vec<PairResult>> {
    let count = pairs.len() + files.len();
    let alpha = (1.0 - options.confidence) / count.max(1) as f64;
    let effort = Effort { runs: options.runs, alpha, seed: options.seed };
    let fewer = Effort { runs: options.runs.min(files::MAX_RUNS), ..effort };
    progress.begin("auditing", count);
    let mut results = Vec::new();
    let all = pairs.iter().map(|pair| (pair, effort));
    for (pair, effort) in all.chain(files.iter().map(|pair| (pair, fewer))) {
        results.push(pair.audit(effort, progress)?);
        progress.step();
    }
    Ok(results)
}

fn of_paper(
    plan: &Plan,
    options: &Options,
    structural: Structural,
    pairs: Vec<PairResult>,
    theorem_1: Option<Vec<Fit>>,
) -> Audit {
    let method = plan.method();
    let (name, epsilon) = (method.preset.to_string(), method.epsilon.get());
    let structural = Some(structural);
    Audit { theorem_1, ..found(&name, epsilon, method.features, options, structural, pairs) }
}

fn found(
    method: &str,
    epsilon: f64,
    features: usize,
    options: &Options,
    structural: Option<Structural>,
    pairs: Vec<PairResult>,
) -> Audit {
    let counted = (options.runs - 2 * (options.runs / 4)) as u64;
    let alpha = (1.0 - options.confidence) / pairs.len().max(1) as f64;
    // Pairs of several releases claim more than epsilon; their bounds say nothing about one release.
    let single = pairs.iter().filter(|pair| pair.claimed <= epsilon);
    let bounds = single.map(|pair| pair.epsilon_lower_bound);
    Audit {
        method: method.to_owned(),
        epsilon,
        features,
        runs: options.runs,
        confidence: options.confidence,
        seed: options.seed,
        structural,
        epsilon_lower_bound: bounds.fold(0.0, f64::max),
        expected_bound: bound::expected_bound(epsilon, counted, alpha),
        refuted: pairs.iter().any(|pair| pair.refuted)
            || structural.is_some_and(|structural| structural.delta_floor > 0.0),
        pairs,
        theorem_1: None,
    }
}

impl Audit {
    /// Whether so few runs were made that even a mechanism without slack would hardly show half of the
    /// claimed epsilon: not being refuted then means nothing.
    pub fn too_few_runs(&self) -> bool {
        self.expected_bound < 0.5 * self.epsilon
    }

    /// The result in a few sentences.
    pub fn verdict(&self) -> String {
        let percent = 100.0 * self.confidence;
        let worst = self.pairs.iter().filter(|pair| pair.refuted);
        // A claim about all features says more than a claim about one.
        let whole = |pair: &PairResult| pair.claimed >= self.epsilon;
        let worst = worst.max_by(|a, b| {
            let bounds = a.epsilon_lower_bound.total_cmp(&b.epsilon_lower_bound);
            whole(a).cmp(&whole(b)).then(bounds)
        });
        let mut text = match worst {
            Some(pair) => format!(
                "refuted: the claimed epsilon is {}; at {percent} % confidence epsilon is at least {:.3} \
                 ({}: an event of {} occurred in {} of {} runs on one neighbour and in {} on the other)",
                pair.claimed,
                pair.epsilon_lower_bound,
                pair.name,
                pair.statistic,
                pair.hits[0],
                pair.counted,
                pair.hits[1],
            ),
            None if self.too_few_runs() => format!(
                "too few runs to tell: nothing was refuted at {percent} % confidence, but the Laplace \
                 mechanism of the claimed epsilon {} would be expected to show only {:.3} with {} runs",
                self.epsilon, self.expected_bound, self.runs,
            ),
            None => format!(
                "not refuted at {percent} % confidence: the best event shows an epsilon of at least {:.3}; \
                 the claim is {}, and the Laplace mechanism would be expected to show {:.3} with as many \
                 runs. This is not a proof that the claim holds",
                self.epsilon_lower_bound, self.epsilon, self.expected_bound,
            ),
        };
        if let Some(structural) = self.structural.filter(|found| found.delta_floor > 0.0) {
            text += &format!(
                ". With probability {:.3} some direction of feature space gets no noise, and faces that \
                 differ there are told apart with certainty: no epsilon holds with a smaller delta",
                structural.delta_floor
            );
        }
        if let Some(fits) = &self.theorem_1 {
            let off = fits.iter().filter(|fit| fit.distance > fit.critical).count();
            let median = median(fits.iter().map(|fit| fit.distance).collect()).unwrap_or(0.0);
            text += &format!(
                ". Theorem 1 does not hold for {off} of {} features (median Kolmogorov-Smirnov distance \
                 {median:.3}, critical value {:.3})",
                fits.len(),
                fits.first().map_or(0.0, |fit| fit.critical),
            );
        }
        text + "."
    }
}
