//! A mechanism on two neighbours, and the search for an event that tells them apart.

use facedp::noise::experiment;
use facedp_linalg::{Mat, solve};
use rand_core::CryptoRng;
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use super::bound;
use super::event::{Values, choose};
use crate::error::Result;
use crate::progress::Progress;

/// A mechanism on two neighbours. The first argument selects the neighbour, 0 or 1.
pub type Release<'a> = dyn Fn(usize, &mut dyn CryptoRng) -> Vec<f64> + Sync + 'a;
/// A number that an attacker can compute from an output, with its name.
pub type Statistic<'a> = (&'static str, Box<dyn Fn(&[f64]) -> f64 + Sync + 'a>);

/// Two neighbours that a mechanism should make hard to tell apart.
pub struct Pair<'a> {
    /// A description for readers. It also labels the noise, so changing it changes the draws.
    pub name: String,
    /// The epsilon claimed for these neighbours.
    pub claimed: f64,
    /// The two outputs as they would be without noise.
    pub inputs: [Vec<f64>; 2],
    pub release: Box<Release<'a>>,
    /// Statistics of an attacker who knows the mechanism, in addition to those that apply to any
    /// mechanism.
    pub statistics: Vec<Statistic<'a>>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PairResult {
    /// A description of the neighbours.
    pub name: String,
    /// The epsilon claimed for these neighbours.
    pub claimed: f64,
    /// The name of the statistic that defines the event.
    pub statistic: String,
    /// The condition on the statistic.
    pub event: String,
    /// Runs in which the event occurred: on the neighbour where it is more likely, then on the other.
    pub hits: [u64; 2],
    /// Counted runs per neighbour, without those that chose the event.
    pub counted: u64,
    /// A lower bound on epsilon at the confidence of the audit.
    pub epsilon_lower_bound: f64,
    /// The bound that the Laplace mechanism of the claimed epsilon is expected to show with as many runs.
    pub expected_bound: f64,
    /// Whether the lower bound exceeds the claim.
    pub refuted: bool,
    /// For a refuted claim: the runs per neighbour that would be enough at the same rates.
    pub runs_needed: Option<u64>,
}

/// The settings for one pair.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Effort {
    /// Runs per neighbour.
    pub runs: usize,
    /// The largest probability that the bound is wrong.
    pub alpha: f64,
    pub seed: u64,
}

/// Runs per parallel task.
const CHUNK: usize = 1024;
/// The largest number of runs per neighbour that train the linear classifier.
const PILOT: usize = 4096;

impl Pair<'_> {
    /// Searches for an event that tells the neighbours apart, and derives a lower bound on epsilon from it.
    pub fn audit(&self, effort: Effort, progress: &Progress<'_>) -> Result<PairResult> {
        let quarter = (effort.runs / 4).max(1);
        let classifier = self.classifier(quarter.min(PILOT), effort.seed);
        let names = self.names();
        let first = self.values_of(0..quarter, effort.seed, &classifier, progress)?;
        let second = self.values_of(quarter..2 * quarter, effort.seed, &classifier, progress)?;
        let Some(event) = choose(&first, &second, effort.alpha) else {
            return Ok(self.nothing(effort));
        };
        drop((first, second));
        let counted = (2 * quarter..effort.runs.max(2 * quarter + 1)).collect::<Vec<_>>();
        let mut hits = [0, 0];
        for chunk in counted.chunks(64 * CHUNK) {
            progress.check()?;
            for (side, hits) in hits.iter_mut().enumerate() {
                let hit = |run: &usize| {
                    event.contains(&self.values(side, *run, effort.seed, &classifier))
                };
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
            statistic: names[event.statistic].to_owned(),
            event: event.in_words(),
            hits,
            counted: n,
            epsilon_lower_bound: bound,
            expected_bound: bound::expected_bound(self.claimed, n, effort.alpha),
            refuted: bound > self.claimed,
            runs_needed: bound::runs_needed(rates, self.claimed, n, effort.alpha)
                .filter(|_| bound > self.claimed),
        })
    }

    fn nothing(&self, effort: Effort) -> PairResult {
        PairResult {
            name: self.name.clone(),
            claimed: self.claimed,
            statistic: "nothing".to_owned(),
            event: "none".to_owned(),
            hits: [0, 0],
            counted: 0,
            epsilon_lower_bound: 0.0,
            expected_bound: bound::expected_bound(
                self.claimed,
                effort.runs as u64 / 2,
                effort.alpha,
            ),
            refuted: false,
            runs_needed: None,
        }
    }

    /// One output. Every run has its own randomness.
    fn run(&self, side: usize, run: usize, seed: u64) -> Vec<f64> {
        let label = format!("audit {} side {side} run {run}", self.name);
        (self.release)(side, &mut experiment(seed, &label))
    }

    fn values_of(
        &self,
        runs: std::ops::Range<usize>,
        seed: u64,
        classifier: &[f64],
        progress: &Progress<'_>,
    ) -> Result<Values> {
        let mut both = [Vec::new(), Vec::new()];
        for (side, values) in both.iter_mut().enumerate() {
            progress.check()?;
            let one = |run: usize| self.values(side, run, seed, classifier);
            *values = runs.clone().into_par_iter().with_min_len(CHUNK).map(one).collect();
        }
        Ok(both)
    }

    fn names(&self) -> Vec<&'static str> {
        let own = self.statistics.iter().map(|(name, _)| *name);
        GENERAL.into_iter().chain(own).collect()
    }

    /// All statistics of one run.
    fn values(&self, side: usize, run: usize, seed: u64, classifier: &[f64]) -> Vec<f64> {
        let output = self.run(side, run, seed);
        let [a, b] = &self.inputs;
        let linear = output.iter().zip(classifier).map(|(y, w)| y * w).sum();
        let mut values =
            vec![linear, nearer(&output, a, b), equal(&output, a, b), low_bit(&output, a, b)];
        values.extend(self.statistics.iter().map(|(_, statistic)| statistic(&output)));
        values
    }

    /// Weights of Fisher's linear discriminant: they put the means of the two neighbours furthest apart in
    /// units of their spread.
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
        let largest = (0..m).map(|i| spread[(i, i)]).fold(0.0, f64::max);
        for i in 0..m {
            spread[(i, i)] += 1e-9 * (largest + far);
            for j in 0..i {
                spread[(j, i)] = spread[(i, j)];
            }
        }
        // The difference of the inputs is known exactly, that of the means only approximately.
        let apart = Mat::from_fn(m, 1, |i, _| apart(i));
        let weights = solve(spread.as_ref(), apart.as_ref());
        (0..m).map(|i| weights[(i, 0)]).collect()
    }
}

/// Statistics that apply to any mechanism.
const GENERAL: [&str; 4] =
    ["linear classifier", "the nearer input", "values without noise", "the lowest bit"];

/// How much nearer the output is to `a` than to `b`. The distance is that of the farthest coordinate, in
/// units of the distance between `a` and `b` there.
fn nearer(output: &[f64], a: &[f64], b: &[f64]) -> f64 {
    let far = |from: &[f64]| {
        let each = output.iter().zip(from).zip(a.iter().zip(b));
        let each = each.filter(|(_, (a, b))| a != b);
        each.map(|((y, from), (a, b))| (y - from).abs() / (a - b).abs()).fold(0.0, f64::max)
    };
    far(b) - far(a)
}

/// The number of coordinates that equal those of `a` exactly, minus the number that equal those of `b`.
fn equal(output: &[f64], a: &[f64], b: &[f64]) -> f64 {
    let different = output.iter().zip(a.iter().zip(b)).filter(|(_, (a, b))| a != b);
    different.map(|(y, (a, b))| f64::from(y == a) - f64::from(y == b)).sum()
}

/// The position of the lowest set bit of the first coordinate in which the inputs differ. Floating-point
/// noise leaves traces of the input there (Mironov 2012).
fn low_bit(output: &[f64], a: &[f64], b: &[f64]) -> f64 {
    let at = a.iter().zip(b).position(|(a, b)| a != b).unwrap_or(0);
    let bits = output[at].to_bits();
    let (exponent, mantissa) = ((bits >> 52 & 0x7ff) as i64, bits & ((1 << 52) - 1) | 1 << 52);
    (exponent + i64::from(mantissa.trailing_zeros())) as f64
}
