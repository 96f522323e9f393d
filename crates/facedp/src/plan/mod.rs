//! The pipeline: planning is public, execution is private.
//!
//! ```text
//! model, method --Plan::new--> ranking + scales        sees no photo
//! chip, noise   --protect----> K, sparse noise, plane  the only step that sees a photo
//! ```
//!
//! Everything is linear, so the photo is never transformed: noise is drawn on the ranked
//! coefficients, turned into pixels by one sparse inverse transform, and added. Only the amplitude
//! ranking reads the photo's coefficients, and nothing is claimed for it.

mod fingerprint;
mod release;
mod report;
mod sampler;
#[cfg(test)]
mod tests;

pub use release::Release;
pub use report::PlanReport;
pub use sampler::Sampler;

use std::borrow::Cow;
use std::sync::Arc;

use rand_core::CryptoRng;

use crate::basis::Transform;
use crate::budget::{Problem, Scales};
use crate::error::{Error, Result};
use crate::features::FeatureModel;
use crate::geometric::Geometric;
use crate::method::{Method, Sensitivity};
use crate::noise::Source;
use crate::plane::Plane;
use crate::rank::{self, Ranking};
use crate::receipt::{Claim, Terms};
use crate::scale::{Proposal, Solver, lmgd, lmgd_literal, na, optimal, uniform};
use crate::weights::Weights;

/// Ranking and scales, decided from the model and the method alone. Built once for many photos.
pub struct Plan {
    method: Method,
    model: Arc<FeatureModel>,
    transform: Arc<dyn Transform>,
    law: Geometric,
    sensitivities: Vec<f64>,
    spread: Spread,
    report: PlanReport,
    terms: Arc<Terms>,
}

/// The distribution of noise over coefficients: public, or known only once the photo is.
enum Spread {
    Public(Ranked),
    ByAmplitude { weights: Weights, survivals: Vec<f64> },
}

/// Coefficients in the order of their ranks, with their scales.
#[derive(Clone)]
struct Ranked {
    order: Vec<u32>,
    scales: Scales,
}

impl Plan {
    pub fn new(model: Arc<FeatureModel>, method: Method) -> Result<Self> {
        method.validate()?;
        let (wanted, available) = (method.features, model.features());
        if !(1..=available).contains(&wanted) {
            return Err(Error::Features { wanted, available });
        }
        let transform: Arc<dyn Transform> =
            method.basis.transform(model.side(), model.side())?.into();
        let law = Geometric::new(method.geometric_p, model.pixels())?;
        let survivals = law.survivals();
        let sensitivities = sensitivities(&model, &method);
        let weights = Weights::new(model.eigenfaces(), model.pixels(), wanted, &*transform);
        let epsilon = method.epsilon.get();
        let all = Problem { weights: &weights, sensitivities: &sensitivities, epsilon };
        let public = match method.ranking {
            Ranking::Amplitude => None,
            Ranking::Influence => {
                let order = rank::by_influence(&weights, survivals.len());
                Some(Ranked::in_order(order, method.solver, &all, &survivals)?)
            }
            Ranking::Energy => Some(Ranked::by_energy(method.solver, &all, &survivals)?),
        };
        let (spread, report) = match public {
            Some((ranked, proposal)) => {
                let measured = &model.sensitivities()[..wanted];
                let report = PlanReport::of_public(&ranked, &proposal, &all, &survivals, measured);
                (Spread::Public(ranked), report)
            }
            None => {
                let report = PlanReport::of_amplitude(&all, &model, &method);
                (Spread::ByAmplitude { weights, survivals }, report)
            }
        };
        let claim = match spread {
            // proofs/paper.md shows why not more.
            Spread::Public(_) => Claim::PaperAccounting,
            Spread::ByAmplitude { .. } => Claim::None,
        };
        let terms = Arc::new(Terms::new(&method, &model, &report, claim));
        Ok(Self { method, model, transform, law, sensitivities, spread, report, terms })
    }

    /// Draws noise and adds it to a chip of the model's size (grey levels 0..=255). The result is
    /// neither rounded nor clamped.
    pub fn protect<R: CryptoRng>(&self, chip: &Plane, noise: &mut Source<R>) -> Result<Release> {
        let sampler = self.sampler(chip)?;
        let (geometric_number, sparse) = sampler.draw(noise);
        let scales = &sampler.ranked.scales;
        let (width, height) = (chip.width(), chip.height());
        let sum = self.transform.add(&sparse, chip.data());
        let used = scales.units().len().min(geometric_number);
        Ok(Release {
            plane: Plane::new(width, height, sum)?,
            sparse,
            transform: Arc::clone(&self.transform),
            geometric_number,
            theoretical_variance: (0..used).map(|k| 2.0 * scales.scale(k).powi(2)).sum(),
            expected_variance: sampler.expected_variance(),
            randomness: noise.randomness(),
            terms: Arc::clone(&self.terms),
            model: Arc::clone(&self.model),
        })
    }

    /// The noise of [`Self::protect`] without a release around it, and [`Release::expected_variance`].
    pub fn noise<R: CryptoRng>(&self, chip: &Plane, noise: &mut Source<R>) -> Result<(Plane, f64)> {
        let sampler = self.sampler(chip)?;
        let (_, sparse) = sampler.draw(noise);
        let mut plane = Plane::zeros(chip.width(), chip.height());
        self.transform.synthesise(&sparse, plane.data_mut());
        Ok((plane, sampler.expected_variance()))
    }

    /// The sampler of a chip's noise. It depends on the chip only if the ranking does.
    pub fn sampler(&self, chip: &Plane) -> Result<Sampler<'_>> {
        chip.require_size(self.model.side(), self.model.side())?;
        let ranked = match &self.spread {
            Spread::Public(ranked) => Cow::Borrowed(ranked),
            Spread::ByAmplitude { weights, survivals } => {
                Cow::Owned(self.rank_photo(chip, weights, survivals)?)
            }
        };
        Ok(Sampler { plan: self, ranked })
    }

    /// Ranks by amplitude and scales to the budget. Private: it reads the photo.
    fn rank_photo(&self, chip: &Plane, weights: &Weights, survivals: &[f64]) -> Result<Ranked> {
        chip.require_finite()?;
        let mut coefficients = chip.data().to_vec();
        self.transform.forward(&mut coefficients);
        let order = rank::by_amplitude(&coefficients, survivals.len());
        let epsilon = self.method.epsilon.get();
        let all = Problem { weights, sensitivities: &self.sensitivities, epsilon };
        let (ranked, _) = Ranked::in_order(order, self.method.solver, &all, survivals)?;
        Ok(ranked)
    }

    /// Whether the noise depends on the chip. If not, any chip of the right size gives the same noise.
    pub fn reads_chip(&self) -> bool {
        matches!(self.spread, Spread::ByAmplitude { .. })
    }

    pub fn method(&self) -> &Method {
        &self.method
    }

    pub fn model(&self) -> &Arc<FeatureModel> {
        &self.model
    }

    /// `Delta_i`, in the unit of the budget.
    pub fn sensitivities(&self) -> &[f64] {
        &self.sensitivities
    }

    /// One unit of sensitivity in grey levels of a feature.
    pub fn unit(&self) -> f64 {
        match self.method.sensitivity {
            Sensitivity::Normalised => {
                self.model.sensitivities()[..self.method.features].iter().sum()
            }
            Sensitivity::Measured | Sensitivity::Clipped => 1.0,
        }
    }

    /// The law of the geometric number.
    pub fn law(&self) -> &Geometric {
        &self.law
    }

    pub fn report(&self) -> &PlanReport {
        &self.report
    }

    /// What may be claimed about a release made with system entropy.
    pub fn claim(&self) -> Claim {
        self.terms.claim
    }

    /// The public part of the receipt of a release made with system entropy.
    pub fn terms(&self) -> &Terms {
        &self.terms
    }

    /// `sqrt(v_i)`: the scale of the Laplace noise that the paper assumes for each feature. `None` if
    /// scales are not public. Computed on each call.
    pub fn feature_scales(&self) -> Option<Vec<f64>> {
        let (order, scales) = self.scales()?;
        let (pixels, features) = (self.model.pixels(), self.method.features);
        let all = Weights::new(self.model.eigenfaces(), pixels, features, &*self.transform);
        let variances = all.select(order).variances(scales.energy());
        Some(variances.into_iter().map(f64::sqrt).collect())
    }

    /// Coefficients by rank and their scales `b_k`. `None` if they are not public.
    pub fn scales(&self) -> Option<(&[u32], &Scales)> {
        match &self.spread {
            Spread::Public(ranked) => Some((&ranked.order, &ranked.scales)),
            Spread::ByAmplitude { .. } => None,
        }
    }
}

impl Ranked {
    /// Solves for coefficients in a given order and spends the budget on them.
    fn in_order(
        order: Vec<u32>,
        solver: Solver,
        all: &Problem<'_>,
        survivals: &[f64],
    ) -> Result<(Self, Proposal)> {
        let rows = all.weights.select(&order);
        let problem = Problem { weights: &rows, ..*all };
        let proposal = propose(solver, &problem, all, survivals);
        let scales = Scales::spend(&problem, &proposal.x, survivals)?;
        Ok((Self { order, scales }, proposal))
    }

    /// Solves for all coefficients, ranks them by the energy that the solver gives each, and spends the
    /// budget on those with any.
    fn by_energy(solver: Solver, all: &Problem<'_>, survivals: &[f64]) -> Result<(Self, Proposal)> {
        let proposal = propose(solver, all, all, survivals);
        let support = proposal.x.iter().filter(|&&x| x > 0.0).count();
        let order = rank::largest(&proposal.x, support.min(survivals.len()));
        if support > order.len() {
            // The law reaches fewer ranks (a large p): solve again for the best that it reaches.
            return Self::in_order(order, solver, all, survivals);
        }
        let x: Vec<f64> = order.iter().map(|&k| proposal.x[k as usize]).collect();
        let rows = all.weights.select(&order);
        let scales = Scales::spend(&Problem { weights: &rows, ..*all }, &x, survivals)?;
        Ok((Self { order, scales }, proposal))
    }
}

/// Runs a solver over `problem`, whose coefficients are some or all of those of `all`.
fn propose(
    solver: Solver,
    problem: &Problem<'_>,
    all: &Problem<'_>,
    survivals: &[f64],
) -> Proposal {
    match solver {
        Solver::Uniform => uniform::solve(survivals),
        Solver::Na { significance } => {
            na::solve(problem, survivals, &all.weights.peaks(), significance)
        }
        Solver::Lmgd { eta, max_iterations, delta } => {
            lmgd::solve(problem, survivals, eta, max_iterations, delta)
        }
        Solver::LmgdLiteral { eta, max_iterations, delta } => {
            lmgd_literal::solve(problem, survivals, eta, max_iterations, delta)
        }
        Solver::Optimal { max_gap } => optimal::solve(problem, max_gap),
    }
}

fn sensitivities(model: &FeatureModel, method: &Method) -> Vec<f64> {
    let measured = &model.sensitivities()[..method.features];
    match method.sensitivity {
        Sensitivity::Measured => measured.to_vec(),
        Sensitivity::Normalised => {
            let sum: f64 = measured.iter().sum();
            measured.iter().map(|delta| delta / sum).collect()
        }
        Sensitivity::Clipped => {
            model.boxes()[..method.features].iter().map(|[low, high]| high - low).collect()
        }
    }
}
