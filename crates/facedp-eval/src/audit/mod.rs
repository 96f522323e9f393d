//! Whether a claim of differential privacy can be refuted.
//!
//! An audit runs a mechanism on two neighbours again and again and looks for an event that is more
//! likely on one side than the claimed epsilon allows. What it finds is a proof that the claim is wrong,
//! at a stated confidence. What it does not find proves nothing: see `proofs/` for that.

mod bound;
mod certified;
mod event;
mod pair;
mod paper;
mod people;
mod structural;
mod theorem;

use std::sync::Arc;

use facedp::{CertifiedMethod, CertifiedPlan, Plan, Ranking};
use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};
use crate::progress::Progress;
use crate::statistics::median;

pub use certified::pair as certified_pair;
pub use pair::{Effort, Look, Pair, PairResult, Release};
pub use people::real_pairs;
pub use structural::Structural;
pub use theorem::Fit;

/// What is audited.
pub enum Subject<'a> {
    /// One of the paper's methods.
    Paper(&'a Plan),
    /// `certified`.
    Certified(&'a CertifiedPlan),
}

/// How.
#[derive(Debug, Clone, PartialEq)]
pub struct Options {
    /// Runs a side, of each pair.
    pub runs: usize,
    /// The confidence of the bounds, all together.
    pub confidence: f64,
    /// The seed of all noise.
    pub seed: u64,
    /// Features of people of a data folder, two by two.
    pub real: Vec<[Vec<f64>; 2]>,
}

/// Draws that the fit of Theorem 1 is judged by.
const DRAWS: usize = 20_000;

impl Options {
    /// Runs a side that memory holds: half a gigabyte of looks.
    pub const MOST_RUNS: usize = 10_000_000;
    /// Fewer would show nothing.
    pub const LEAST_RUNS: usize = 40;

    fn validate(&self) -> Result<()> {
        if !(Self::LEAST_RUNS..=Self::MOST_RUNS).contains(&self.runs) {
            return Err(Error::Runs { given: self.runs });
        }
        if !(0.5..1.0).contains(&self.confidence) {
            return Err(Error::Confidence { given: self.confidence });
        }
        Ok(())
    }
}

/// Everything that was found.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Audit {
    /// The method.
    pub method: String,
    /// The epsilon that is claimed.
    pub epsilon: f64,
    /// How many features it covers.
    pub features: usize,
    /// Runs a side, of each pair.
    pub runs: usize,
    /// The confidence of all bounds together.
    pub confidence: f64,
    /// The seed.
    pub seed: u64,
    /// What follows without any draw.
    pub structural: Structural,
    /// Epsilon is at least this.
    pub epsilon_lower_bound: f64,
    /// What could have been attained for the claimed epsilon at this number of runs.
    pub attainable: f64,
    /// The pairs.
    pub pairs: Vec<PairResult>,
    /// How the noise of features fits the paper's Theorem 1, if the method rests on it.
    pub theorem_1: Option<Vec<Fit>>,
    /// Whether the claim is wrong.
    pub refuted: bool,
}

/// Audits a method.
pub fn run(subject: &Subject<'_>, options: &Options, progress: &Progress<'_>) -> Result<Audit> {
    options.validate()?;
    match subject {
        Subject::Paper(plan) if plan.method().ranking == Ranking::Amplitude => {
            let swapped = paper::Swapped::new(plan)?;
            let structural = swapped.structure().summary();
            let pairs = looked_at(&[swapped.pair()], options, progress)?;
            Ok(of_paper(plan, options, structural, pairs, None))
        }
        Subject::Paper(plan) => {
            let paper = paper::Paper::new(plan)?;
            let structure = paper.structure();
            let apart = |[a, b]: &[Vec<f64>; 2]| a.iter().zip(b).map(|(a, b)| b - a).collect();
            let real: Vec<Vec<f64>> = options.real.iter().map(apart).collect();
            let pairs = looked_at(&paper.pairs(&structure, &real), options, progress)?;
            let theorem = paper.theorem(DRAWS, options.seed);
            Ok(of_paper(plan, options, structure.summary(), pairs, theorem))
        }
        Subject::Certified(plan) => {
            // Where a prior helps, few features get any budget. Noise on all of them is drawn by the
            // same code.
            let all = CertifiedMethod { shrink: false, ..*plan.method() };
            let all = CertifiedPlan::new(Arc::clone(plan.model()), all)?;
            let mut pairs = certified::pairs(plan, &options.real);
            if plan.method().shrink {
                let more = certified::pairs(&all, &options.real).into_iter();
                pairs.extend(more.map(|pair| Pair { name: pair.name + ", all features", ..pair }));
            }
            let pairs = looked_at(&pairs, options, progress)?;
            let structural = Structural {
                delta_floor: 0.0,
                epsilon_structural: Some(plan.spent()),
                full_rank_at: None,
            };
            let method = plan.method();
            Ok(found(
                "certified",
                method.epsilon.get(),
                method.features,
                options,
                structural,
                pairs,
            ))
        }
    }
}

/// Audits pairs, sharing the chance of an error among them (Bonferroni).
fn looked_at(
    pairs: &[Pair<'_>],
    options: &Options,
    progress: &Progress<'_>,
) -> Result<Vec<PairResult>> {
    let alpha = (1.0 - options.confidence) / pairs.len().max(1) as f64;
    let effort = Effort { runs: options.runs, alpha, seed: options.seed };
    progress.begin("auditing", pairs.len());
    let mut results = Vec::new();
    for pair in pairs {
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
    Audit { theorem_1, ..found(&name, epsilon, method.features, options, structural, pairs) }
}

fn found(
    method: &str,
    epsilon: f64,
    features: usize,
    options: &Options,
    structural: Structural,
    pairs: Vec<PairResult>,
) -> Audit {
    let counted = (options.runs - 2 * (options.runs / 4)) as u64;
    let alpha = (1.0 - options.confidence) / pairs.len().max(1) as f64;
    // Where several releases are claimed to spend more, a bound says nothing of one.
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
        attainable: bound::attainable(epsilon, counted, alpha),
        refuted: pairs.iter().any(|pair| pair.refuted) || structural.delta_floor > 0.0,
        pairs,
        theorem_1: None,
    }
}

impl Audit {
    /// What it means, in a sentence or two.
    pub fn verdict(&self) -> String {
        let percent = 100.0 * self.confidence;
        let worst = self.pairs.iter().filter(|pair| pair.refuted);
        // What is claimed of the whole says more than what is claimed of a feature.
        let whole = |pair: &PairResult| pair.claimed >= self.epsilon;
        let worst = worst.max_by(|a, b| {
            let bounds = a.epsilon_lower_bound.total_cmp(&b.epsilon_lower_bound);
            whole(a).cmp(&whole(b)).then(bounds)
        });
        let mut text = match worst {
            Some(pair) => format!(
                "refuted: epsilon {} is claimed, and at {percent} % confidence it is at least {:.3} ({}: \
                 {} came true in {} of {} runs on one side, in {} on the other)",
                pair.claimed,
                pair.epsilon_lower_bound,
                pair.name,
                pair.look,
                pair.hits[0],
                pair.counted,
                pair.hits[1],
            ),
            None => format!(
                "not refuted at {percent} % confidence: no event that was tried shows more than {:.3} of \
                 the {} that is claimed (a correct mechanism could show {:.3} with so many runs). This is \
                 not a proof that the claim holds",
                self.epsilon_lower_bound, self.epsilon, self.attainable,
            ),
        };
        if self.structural.delta_floor > 0.0 {
            text += &format!(
                ". With a probability of {:.3} some direction of feature space gets no noise, and faces \
                 that differ there are told apart with certainty: no epsilon holds with a smaller delta",
                self.structural.delta_floor
            );
        }
        if let Some(fits) = &self.theorem_1 {
            let off = fits.iter().filter(|fit| fit.distance > fit.critical).count();
            let middle = median(fits.iter().map(|fit| fit.distance).collect()).unwrap_or(0.0);
            text += &format!(
                ". Theorem 1 does not hold for {off} of {} features (Kolmogorov-Smirnov distance {middle:.3} \
                 in the middle, {:.3} allowed)",
                fits.len(),
                fits.first().map_or(0.0, |fit| fit.critical),
            );
        }
        text + "."
    }
}
