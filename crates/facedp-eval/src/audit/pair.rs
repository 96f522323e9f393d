//! Two neighbours, and what a mechanism makes of them.

use facedp::noise::experiment;
use faer::Mat;
use faer::linalg::solvers::Solve;
use rand_core::CryptoRng;
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use super::bound;
use super::event::{Looks, choose};
use crate::error::Result;
use crate::progress::Progress;

/// A mechanism on two neighbours: outputs of the one (0) or the other (1).
pub type Release<'a> = dyn Fn(usize, &mut dyn CryptoRng) -> Vec<f64> + Sync + 'a;
/// A number that an attacker could compute of an output.
pub type Look<'a> = (&'static str, Box<dyn Fn(&[f64]) -> f64 + Sync + 'a>);

/// Two neighbours that a mechanism should make hard to tell apart.
pub struct Pair<'a> {
    /// What they are.
    pub name: String,
    /// The epsilon that is claimed for them.
    pub claimed: f64,
    /// What either output would be without noise.
    pub inputs: [Vec<f64>; 2],
    /// The mechanism.
    pub release: Box<Release<'a>>,
    /// What an attacker who knows the mechanism looks at, besides what any attacker does.
    pub looks: Vec<Look<'a>>,
}

/// What was found about a pair.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PairResult {
    /// The neighbours.
    pub name: String,
    /// The epsilon that is claimed for them.
    pub claimed: f64,
    /// What the event is about.
    pub look: String,
    /// The event.
    pub event: String,
    /// How often it came true on the side where it is more likely, and on the other.
    pub hits: [u64; 2],
    /// Runs a side that were counted: those that did not choose the event.
    pub counted: u64,
    /// Epsilon is at least this, at the confidence of the audit.
    pub epsilon_lower_bound: f64,
    /// What the Laplace mechanism of the claimed epsilon would have got: no correct mechanism can be
    /// hoped to get more.
    pub attainable: f64,
    /// Whether that is more than was claimed.
    pub refuted: bool,
    /// Runs a side at which it would have been, if hits go on like that.
    pub runs_needed: Option<u64>,
}

/// How thoroughly pairs are looked at.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Effort {
    /// Runs a side.
    pub runs: usize,
    /// The chance that the bound is wrong, at most.
    pub alpha: f64,
    /// The seed of all noise.
    pub seed: u64,
}

/// Runs that are drawn together.
const CHUNK: usize = 1024;
/// Runs a side that the linear classifier is trained on, at most.
const PILOT: usize = 4096;

impl Pair<'_> {
    /// Looks for an event that tells the neighbours apart, and bounds epsilon by it.
    pub fn audit(&self, effort: Effort, progress: &Progress<'_>) -> Result<PairResult> {
        let quarter = (effort.runs / 4).max(1);
        let classifier = self.classifier(quarter.min(PILOT), effort.seed);
        let names = self.names();
        let first = self.looks_of(0..quarter, effort.seed, &classifier, progress)?;
        let second = self.looks_of(quarter..2 * quarter, effort.seed, &classifier, progress)?;
        let Some(event) = choose(&first, &second, effort.alpha) else {
            return Ok(self.nothing(effort));
        };
        drop((first, second));
        let counted = (2 * quarter..effort.runs.max(2 * quarter + 1)).collect::<Vec<_>>();
        let mut hits = [0, 0];
        for chunk in counted.chunks(64 * CHUNK) {
            progress.check()?;
            for (side, hits) in hits.iter_mut().enumerate() {
                let hit =
                    |run: &usize| event.contains(&self.look(side, *run, effort.seed, &classifier));
                *hits += chunk.par_iter().with_min_len(CHUNK).filter(|run| hit(run)).count() as u64;
            }
        }
        let n = counted.len() as u64;
        let hits = [hits[event.side], hits[1 - event.side]];
        let bound = bound::epsilon(hits, n, effort.alpha);
        let rates = hits.map(|hits| hits as f64 / n as f64);
        Ok(PairResult {
            name: self.name.clone(),
            claimed: self.claimed,
            look: names[event.look].to_owned(),
            event: event.in_words(),
            hits,
            counted: n,
            epsilon_lower_bound: bound,
            attainable: bound::attainable(self.claimed, n, effort.alpha),
            refuted: bound > self.claimed,
            runs_needed: bound::runs_needed(rates, self.claimed, n, effort.alpha)
                .filter(|_| bound > self.claimed),
        })
    }

    fn nothing(&self, effort: Effort) -> PairResult {
        PairResult {
            name: self.name.clone(),
            claimed: self.claimed,
            look: "nothing".to_owned(),
            event: "none".to_owned(),
            hits: [0, 0],
            counted: 0,
            epsilon_lower_bound: 0.0,
            attainable: bound::attainable(self.claimed, effort.runs as u64 / 2, effort.alpha),
            refuted: false,
            runs_needed: None,
        }
    }

    /// One output. Every run has randomness of its own.
    fn run(&self, side: usize, run: usize, seed: u64) -> Vec<f64> {
        let label = format!("audit {} side {side} run {run}", self.name);
        (self.release)(side, &mut experiment(seed, &label))
    }

    fn looks_of(
        &self,
        runs: std::ops::Range<usize>,
        seed: u64,
        classifier: &[f64],
        progress: &Progress<'_>,
    ) -> Result<Looks> {
        let mut looks = [Vec::new(), Vec::new()];
        for (side, looks) in looks.iter_mut().enumerate() {
            progress.check()?;
            let look = |run: usize| self.look(side, run, seed, classifier);
            *looks = runs.clone().into_par_iter().with_min_len(CHUNK).map(look).collect();
        }
        Ok(looks)
    }

    fn names(&self) -> Vec<&'static str> {
        let own = self.looks.iter().map(|(name, _)| *name);
        GENERAL.into_iter().chain(own).collect()
    }

    /// What an attacker sees in one run.
    fn look(&self, side: usize, run: usize, seed: u64, classifier: &[f64]) -> Vec<f64> {
        let output = self.run(side, run, seed);
        let [a, b] = &self.inputs;
        let linear = output.iter().zip(classifier).map(|(y, w)| y * w).sum();
        let mut looks =
            vec![linear, nearer(&output, a, b), equal(&output, a, b), low_bit(&output, a, b)];
        looks.extend(self.looks.iter().map(|(_, look)| look(&output)));
        looks
    }

    /// Weights by which the means of both sides lie furthest apart, in units of their spread (Fisher's).
    fn classifier(&self, runs: usize, seed: u64) -> Vec<f64> {
        let m = self.inputs[0].len();
        let sides = [0, 1].map(|side| {
            let run = |run: usize| self.run(side, usize::MAX - run, seed);
            (0..runs).into_par_iter().map(run).collect::<Vec<Vec<f64>>>()
        });
        let mean = |outputs: &[Vec<f64>]| -> Vec<f64> {
            let sum = |i: usize| outputs.iter().map(|y| y[i]).sum::<f64>();
            (0..m).map(|i| sum(i) / outputs.len() as f64).collect()
        };
        let means = sides.each_ref().map(|side| mean(side));
        let mut spread = Mat::<f64>::zeros(m, m);
        for (outputs, mean) in sides.iter().zip(&means) {
            for y in outputs {
                let apart: Vec<f64> = y.iter().zip(mean).map(|(y, m)| y - m).collect();
                for (i, a) in apart.iter().enumerate() {
                    for (j, b) in apart.iter().enumerate().take(i + 1) {
                        spread[(i, j)] += a * b;
                    }
                }
            }
        }
        let apart = |i: usize| self.inputs[0][i] - self.inputs[1][i];
        let far = (0..m).map(|i| apart(i).powi(2)).fold(f64::MIN_POSITIVE, f64::max);
        let most = (0..m).map(|i| spread[(i, i)]).fold(0.0, f64::max);
        for i in 0..m {
            spread[(i, i)] += 1e-9 * (most + far);
            for j in 0..i {
                spread[(j, i)] = spread[(i, j)];
            }
        }
        // Where the inputs differ is known exactly, and the means only about.
        let apart = Mat::from_fn(m, 1, |i, _| apart(i));
        let weights = spread.partial_piv_lu().solve(&apart);
        (0..m).map(|i| weights[(i, 0)]).collect()
    }
}

/// What any attacker looks at.
const GENERAL: [&str; 4] =
    ["linear classifier", "the nearer input", "values without noise", "the lowest bit"];

/// How much nearer an output is to the one input than to the other, by its largest coordinate in units
/// of how far these are apart.
fn nearer(output: &[f64], a: &[f64], b: &[f64]) -> f64 {
    let far = |from: &[f64]| {
        let each = output.iter().zip(from).zip(a.iter().zip(b));
        let each = each.filter(|(_, (a, b))| a != b);
        each.map(|((y, from), (a, b))| (y - from).abs() / (a - b).abs()).fold(0.0, f64::max)
    };
    far(b) - far(a)
}

/// Coordinates that are exactly those of the one input, less those of the other.
fn equal(output: &[f64], a: &[f64], b: &[f64]) -> f64 {
    let different = output.iter().zip(a.iter().zip(b)).filter(|(_, (a, b))| a != b);
    different.map(|(y, (a, b))| f64::from(y == a) - f64::from(y == b)).sum()
}

/// The place of the lowest bit of the first coordinate in which inputs differ: floating point noise
/// leaves traces of what it was added to there (Mironov 2012).
fn low_bit(output: &[f64], a: &[f64], b: &[f64]) -> f64 {
    let at = a.iter().zip(b).position(|(a, b)| a != b).unwrap_or(0);
    let bits = output[at].to_bits();
    let (exponent, mantissa) = ((bits >> 52 & 0x7ff) as i64, bits & ((1 << 52) - 1) | 1 << 52);
    (exponent + i64::from(mantissa.trailing_zeros())) as f64
}
