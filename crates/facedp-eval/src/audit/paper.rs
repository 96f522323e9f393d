//! Neighbours for the paper's methods: noise on ranked coefficients, as it appears in the features.
//!
//! The release is `F' = F + sum over k <= K of n_k w_k`, where the `w_k` are public. However large the
//! noise is, the sum stays in the span of `w_1 .. w_K`.

use facedp::{Plan, Plane, Sampler};
use rand_core::CryptoRng;

use super::pair::Pair;
use super::structural::Structure;
use super::theorem::{self, Fit};
use crate::error::Result;

/// A plan whose ranking does not depend on the photo.
pub(super) struct Paper<'a> {
    plan: &'a Plan,
    sampler: Sampler<'a>,
    noise: Noise,
    deltas: Vec<f64>,
    base: Vec<f64>,
}

/// How noise on coefficients becomes noise on features.
struct Noise {
    /// The rank of each coefficient.
    ranks: std::collections::HashMap<usize, usize>,
    directions: Vec<Vec<f64>>,
    features: usize,
}

impl Noise {
    fn new(sampler: &Sampler<'_>, features: usize) -> Self {
        let ranks = sampler.ranks().enumerate().map(|(rank, (k, _))| (k, rank)).collect();
        Self { ranks, directions: sampler.directions(), features }
    }

    fn structure(&self, sampler: &Sampler<'_>, plan: &Plan) -> Structure {
        let scales: Vec<f64> = sampler.ranks().map(|(_, scale)| scale).collect();
        Structure::new(&self.directions, &scales, self.features, plan.law())
    }

    /// What one draw adds to the features.
    fn draw(&self, sampler: &Sampler<'_>, random: &mut dyn CryptoRng) -> Vec<f64> {
        let mut sum = vec![0.0; self.features];
        for (k, value) in sampler.draw(random).1 {
            let direction = &self.directions[self.ranks[&k]];
            sum.iter_mut().zip(direction).for_each(|(sum, w)| *sum += value * w);
        }
        sum
    }
}

impl<'a> Paper<'a> {
    pub(super) fn new(plan: &'a Plan) -> Result<Self> {
        let side = plan.model().side();
        let mean = Plane::new(side, side, plan.model().mean().to_vec())?;
        let sampler = plan.sampler(&mean)?;
        let noise = Noise::new(&sampler, plan.method().features);
        let base = plan.model().project(&mean, plan.method().features)?;
        Ok(Self { plan, sampler, noise, deltas: plan.sensitivities().to_vec(), base })
    }

    /// The directions of the noise, in the order of their ranks.
    pub(super) fn structure(&self) -> Structure {
        self.noise.structure(&self.sampler, self.plan)
    }

    /// Neighbours whose features differ by `apart`.
    fn pair<'b>(
        &'b self,
        name: String,
        claimed: f64,
        apart: &[f64],
        structure: &'b Structure,
    ) -> Pair<'b> {
        let other: Vec<f64> = self.base.iter().zip(apart).map(|(f, d)| f + d).collect();
        let inputs = [self.base.clone(), other];
        let release = {
            let inputs = inputs.clone();
            move |side: usize, random: &mut dyn CryptoRng| {
                let noise = self.noise.draw(&self.sampler, random);
                inputs[side].iter().zip(noise).map(|(f, n)| f + n).collect()
            }
        };
        let tolerance = 1e-9 * apart.iter().fold(0.0, |max: f64, d| max.max(d.abs()));
        let statistics = inputs.clone().map(|input| {
            let rank = move |output: &[f64]| structure.rank_of(output, &input, tolerance);
            ("the rank that explains the noise", Box::new(rank) as Box<_>)
        });
        Pair { name, claimed, inputs, release: Box::new(release), statistics: statistics.into() }
    }

    /// Neighbours at the plan's sensitivities, and `real` ones: measured differences of features.
    pub(super) fn pairs<'b>(
        &'b self,
        structure: &'b Structure,
        real: &[Vec<f64>],
    ) -> Vec<Pair<'b>> {
        let (epsilon, deltas) = (self.plan.method().epsilon.get(), &self.deltas);
        let mut pairs = Vec::new();
        let last = structure.last();
        let fit = last.iter().zip(deltas).map(|(u, d)| d / u.abs()).fold(f64::INFINITY, f64::min);
        let apart: Vec<f64> = last.iter().map(|u| u * fit).collect();
        pairs.push(self.pair(
            "the direction that noise reaches last".to_owned(),
            epsilon,
            &apart,
            structure,
        ));
        pairs.push(self.pair("opposite corners of the box".to_owned(), epsilon, deltas, structure));
        let signs = |n: usize, d: &f64| if (n * 7919) >> 4 & 1 == 0 { *d } else { -*d };
        let mixed: Vec<f64> = deltas.iter().enumerate().map(|(n, d)| signs(n, d)).collect();
        pairs.push(self.pair("two other corners".to_owned(), epsilon, &mixed, structure));
        if let Some(scales) = self.plan.feature_scales() {
            let own: Vec<f64> = deltas.iter().zip(&scales).map(|(d, scale)| d / scale).collect();
            let mut order: Vec<usize> = (0..own.len()).collect();
            order.sort_by(|a, b| own[*b].total_cmp(&own[*a]));
            let mut chosen = vec![order[0], order[order.len() / 2], order[order.len() - 1]];
            chosen.sort_unstable();
            chosen.dedup();
            for n in chosen {
                let mut apart = vec![0.0; deltas.len()];
                apart[n] = deltas[n];
                pairs.push(self.pair(
                    format!("feature {} alone", n + 1),
                    own[n],
                    &apart,
                    structure,
                ));
            }
        }
        let unit = self.plan.unit();
        for (n, apart) in real.iter().enumerate() {
            // In the unit of epsilon, and within the sensitivities.
            let apart: Vec<f64> =
                apart.iter().zip(deltas).map(|(a, d)| (a / unit).clamp(-d, *d)).collect();
            pairs.push(self.pair(
                format!("two people of the data, {}", n + 1),
                epsilon,
                &apart,
                structure,
            ));
        }
        pairs
    }

    /// How far the noise of each feature is from the distribution that the paper's Theorem 1 states.
    pub(super) fn theorem(&self, draws: usize, seed: u64) -> Option<Vec<Fit>> {
        let scales = self.plan.feature_scales()?;
        let draw = |random: &mut dyn CryptoRng| self.noise.draw(&self.sampler, random);
        Some(theorem::fits(&scales, draw, draws, seed))
    }
}

/// Two faces whose coefficients swap ranks. This needs a ranking that depends on the photo.
pub(super) struct Swapped<'a> {
    samplers: [Sampler<'a>; 2],
    noises: [Noise; 2],
    inputs: [Vec<f64>; 2],
    structures: [Structure; 2],
    claimed: f64,
}

impl<'a> Swapped<'a> {
    /// Two versions of the mean face: one with its first and second coefficient in order, one with them
    /// swapped.
    pub(super) fn new(plan: &'a Plan) -> Result<Self> {
        let (model, features) = (plan.model(), plan.method().features);
        let side = model.side();
        let transform = plan.method().basis.transform(side, side)?;
        let mut coefficients = model.mean().to_vec();
        transform.forward(&mut coefficients);
        let mean = Plane::new(side, side, model.mean().to_vec())?;
        let ranked: Vec<usize> = plan.sampler(&mean)?.ranks().map(|(k, _)| k).take(2).collect();
        let [first, second] = ranked[..] else {
            return Err(facedp::Error::Ranks { expected: 2, found: ranked.len() }.into());
        };
        // The two are almost equal, so a change far below every sensitivity swaps them.
        let nudge = 1e-4 * plan.sensitivities().iter().copied().fold(f64::INFINITY, f64::min);
        let level = coefficients[second].abs();
        let chips = [nudge, -nudge].map(|by| {
            let mut changed = coefficients.clone();
            changed[first] = (level + by) * coefficients[first].signum();
            transform.inverse(&mut changed);
            Plane::new(side, side, changed)
        });
        let [a, b] = chips;
        let chips = [a?, b?];
        let samplers = [plan.sampler(&chips[0])?, plan.sampler(&chips[1])?];
        let noises = samplers.each_ref().map(|sampler| Noise::new(sampler, features));
        let structures = [0, 1].map(|n| noises[n].structure(&samplers[n], plan));
        let inputs = [model.project(&chips[0], features)?, model.project(&chips[1], features)?];
        Ok(Self { samplers, noises, inputs, structures, claimed: plan.method().epsilon.get() })
    }

    pub(super) fn pair(&self) -> Pair<'_> {
        let release = |side: usize, random: &mut dyn CryptoRng| {
            let noise = self.noises[side].draw(&self.samplers[side], random);
            self.inputs[side].iter().zip(noise).map(|(f, n)| f + n).collect()
        };
        let statistics = [0, 1].map(|n| {
            let largest = self.samplers[n].ranks().map(|(_, scale)| scale).fold(0.0, f64::max);
            let rank = move |output: &[f64]| {
                self.structures[n].rank_of(output, &self.inputs[n], 1e-9 * largest)
            };
            ("the rank that explains the noise", Box::new(rank) as Box<_>)
        });
        Pair {
            name: "faces whose coefficients change ranks".to_owned(),
            claimed: self.claimed,
            inputs: self.inputs.clone(),
            release: Box::new(release),
            statistics: statistics.into(),
        }
    }

    /// The structure of the first face, for the probability that a direction gets no noise.
    pub(super) fn structure(&self) -> &Structure {
        &self.structures[0]
    }
}
