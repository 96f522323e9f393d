//! The pipeline: plan in public, execute in private.
//!
//! ```text
//! model, method --Plan::new--> ranking + scales        no photo anywhere
//! chip, noise   --protect----> K, sparse noise, plane  the only place that sees a photo
//! ```
//!
//! Everything is linear, so the photo is never transformed: the noise is drawn on the ranked
//! coefficients, brought to pixels by one sparse inverse transform, and added. Only the
//! amplitude ranking reads the photo's coefficients, and for it nothing is claimed.

use std::borrow::Cow;
use std::sync::Arc;

use rand_core::CryptoRng;
use serde::{Deserialize, Serialize};

use crate::basis::Transform;
use crate::budget::{Problem, Scales};
use crate::error::{Error, Result};
use crate::features::FeatureModel;
use crate::geometric::Geometric;
use crate::method::{Method, Sensitivity};
use crate::metrics::psnr;
use crate::noise::discrete_laplace;
use crate::plane::Plane;
use crate::rank::{self, Ranking};
use crate::receipt::Claim;
use crate::scale::{Proposal, Solver, lmgd, na, optimal, uniform};
use crate::weights::Weights;

/// Everything decided from public things: model, method and budget. Built once for many photos.
pub struct Plan {
    method: Method,
    model: Arc<FeatureModel>,
    transform: Box<dyn Transform>,
    law: Geometric,
    sensitivities: Vec<f64>,
    spread: Spread,
    report: PlanReport,
}

/// How noise is spread over coefficients: known in public, or only once the photo is.
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

/// What a plan will do, before any photo.
///
/// `None` where the ranking depends on the photo.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PlanReport {
    /// `eps(b)`, at most the budget and equal to it up to 1e-9.
    pub budget_spent: f64,
    /// The same noise's budget against the measured sensitivities, in grey levels.
    pub budget_in_grey_levels: Option<f64>,
    /// `f`, half the expected energy of the noise.
    pub cost: Option<f64>,
    /// PSNR (dB) of the expected mean squared error. Not the expected PSNR: energy varies from
    /// draw to draw, and its median is below its mean.
    pub psnr_of_expected_mse: Option<f64>,
    /// PSNR (dB) that no additive noise exceeds under this accounting.
    pub bound_psnr: f64,
    /// How far the cost can at most be from the least one in this basis (relative).
    pub gap: Option<f64>,
    /// Steps of the solver.
    pub iterations: Option<usize>,
    /// Coefficients that can get noise.
    pub support: Option<usize>,
    /// The chance that a draw reaches all of them.
    pub prob_full_support: Option<f64>,
    /// Share of the expected energy at ranks that fewer than 1 in 100 draws reach.
    pub energy_below_g01: Option<f64>,
    /// LMGD's residual of the budget.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub f1: Option<f64>,
    /// LMGD's residual of the scales.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub f2: Option<f64>,
}

impl Plan {
    /// Decides ranking and scales. Sees no photo.
    pub fn new(model: Arc<FeatureModel>, method: Method) -> Result<Self> {
        method.validate()?;
        let (wanted, available) = (method.features, model.features());
        if !(1..=available).contains(&wanted) {
            return Err(Error::Features { wanted, available });
        }
        let (side, pixels) = (model.side(), model.pixels());
        let transform = method.basis.transform(side, side)?;
        let law = Geometric::new(method.geometric_p, pixels)?;
        let survivals = law.survivals();
        let sensitivities = sensitivities(&model, &method);
        let weights = Weights::new(model.eigenfaces(), pixels, wanted, &*transform);
        let all = Problem {
            weights: &weights,
            sensitivities: &sensitivities,
            epsilon: method.epsilon.get(),
        };
        let (order, proposal) = match method.ranking {
            Ranking::Amplitude => {
                let report = amplitude_report(&all, &model, &method);
                let spread = Spread::ByAmplitude { weights, survivals };
                return Ok(Self { method, model, transform, law, sensitivities, spread, report });
            }
            Ranking::Influence => {
                let order = rank::by_influence(&weights, survivals.len());
                let proposal = propose(method.solver, &all, &order, &survivals);
                (order, proposal)
            }
            Ranking::Energy => {
                let every: Vec<u32> = (0..pixels as u32).collect();
                let mut proposal = propose(method.solver, &all, &every, &[]);
                let support = proposal.x.iter().filter(|&&x| x > 0.0).count();
                let order = rank::largest(&proposal.x, support.min(survivals.len()));
                proposal.x = order.iter().map(|&k| proposal.x[k as usize]).collect();
                (order, proposal)
            }
        };
        let ranked = Ranked::new(&all, order, &proposal.x, &survivals)?;
        let report = ranked.report(&all, &model, &method, &proposal, &survivals);
        let spread = Spread::Public(ranked);
        Ok(Self { method, model, transform, law, sensitivities, spread, report })
    }

    /// Draws noise and adds it to a chip of the model's size (grey levels 0..=255). The result
    /// is not rounded or clamped.
    pub fn protect<R: CryptoRng + ?Sized>(&self, chip: &Plane, noise: &mut R) -> Result<Release> {
        chip.require_size(self.model.side(), self.model.side())?;
        let ranked = match &self.spread {
            Spread::Public(ranked) => Cow::Borrowed(ranked),
            Spread::ByAmplitude { weights, survivals } => {
                Cow::Owned(self.rank_photo(chip, weights, survivals)?)
            }
        };
        let geometric_number = self.law.sample(noise);
        let scales = &ranked.scales;
        let reached = ranked.order.iter().zip(scales.units()).take(geometric_number);
        let sparse: Vec<(usize, f64)> = reached
            .filter(|(_, units)| **units > 0)
            .map(|(&k, &units)| (k as usize, discrete_laplace(units, noise) as f64 * scales.grid()))
            .collect();

        let mut added = Plane::zeros(chip.width(), chip.height());
        self.transform.synthesise(&sparse, added.data_mut());
        let sum = chip.data().iter().zip(added.data()).map(|(p, n)| p + n).collect();
        let plane = Plane::new(chip.width(), chip.height(), sum)?;
        let used = scales.units().len().min(geometric_number);
        Ok(Release {
            plane,
            noise: added,
            geometric_number,
            theoretical_variance: (0..used).map(|k| 2.0 * scales.scale(k).powi(2)).sum(),
            expected_variance: 2.0 * scales.cost(),
            model: Arc::clone(&self.model),
            features: self.method.features,
        })
    }

    /// Ranks by amplitude and scales to the budget, inside the private part.
    fn rank_photo(&self, chip: &Plane, weights: &Weights, survivals: &[f64]) -> Result<Ranked> {
        chip.require_finite()?;
        let mut coefficients = chip.data().to_vec();
        self.transform.forward(&mut coefficients);
        let order = rank::by_amplitude(&coefficients, survivals.len());
        let epsilon = self.method.epsilon.get();
        let problem = Problem { weights, sensitivities: &self.sensitivities, epsilon };
        let proposal = propose(self.method.solver, &problem, &order, survivals);
        Ranked::new(&problem, order, &proposal.x, survivals)
    }

    /// The method.
    pub fn method(&self) -> &Method {
        &self.method
    }

    /// The model.
    pub fn model(&self) -> &Arc<FeatureModel> {
        &self.model
    }

    /// The law of the geometric number.
    pub fn law(&self) -> &Geometric {
        &self.law
    }

    /// What the plan will do.
    pub fn report(&self) -> &PlanReport {
        &self.report
    }

    /// What may be claimed of a release of this plan made with system entropy.
    pub fn claim(&self) -> Claim {
        match self.spread {
            Spread::Public(_) => Claim::PaperAccounting,
            Spread::ByAmplitude { .. } => Claim::None,
        }
    }

    /// Scales `b_k` by rank with their coefficients, if they are public.
    pub fn scales(&self) -> Option<(&[u32], &Scales)> {
        match &self.spread {
            Spread::Public(ranked) => Some((&ranked.order, &ranked.scales)),
            Spread::ByAmplitude { .. } => None,
        }
    }
}

/// A protected chip, and what Algorithm 1 of the paper returns with it.
#[derive(Debug, Clone)]
pub struct Release {
    /// `P'`: the chip with noise, not rounded.
    pub plane: Plane,
    /// The noise alone.
    pub noise: Plane,
    /// `K`. A function of the draw: private.
    pub geometric_number: usize,
    /// The paper's `sigma_t^2 = 2 sum_(k <= K) b_k^2`.
    pub theoretical_variance: f64,
    /// `2 f`: its expectation over K.
    pub expected_variance: f64,
    model: Arc<FeatureModel>,
    features: usize,
}

impl Release {
    /// `F'`: the noisy features. Computed when asked for, since it costs far more than the
    /// noise itself.
    pub fn features(&self) -> Result<Vec<f64>> {
        self.model.project(&self.plane, self.features)
    }

    /// The paper's real variance `sigma_r^2` before rounding: the energy of the noise.
    pub fn real_variance(&self) -> f64 {
        self.noise.energy()
    }
}

impl Ranked {
    /// Scales for coefficients in `order` that spend the budget of `all`.
    fn new(all: &Problem<'_>, order: Vec<u32>, x: &[f64], survivals: &[f64]) -> Result<Self> {
        let weights = all.weights.select(&order);
        let problem = Problem { weights: &weights, ..*all };
        Ok(Self { scales: Scales::spend(&problem, x, survivals)?, order })
    }

    fn report(
        &self,
        all: &Problem<'_>,
        model: &FeatureModel,
        method: &Method,
        proposal: &Proposal,
        survivals: &[f64],
    ) -> PlanReport {
        let energy = self.scales.energy();
        let cost = self.scales.cost();
        let mut x = vec![0.0; all.weights.coefficients()];
        self.order.iter().zip(energy).for_each(|(&k, &e)| x[k as usize] = e);
        let rare = energy.iter().zip(survivals).filter(|(_, g)| **g < 0.01);
        let rare = rare.fold(0.0, |sum, (e, _)| sum + e);
        let last = energy.iter().rposition(|&e| e > 0.0);
        let mse = 2.0 * cost / all.weights.coefficients() as f64;
        let measured = Problem { sensitivities: &model.sensitivities()[..method.features], ..*all };
        PlanReport {
            budget_spent: self.scales.spent(),
            budget_in_grey_levels: Some(measured.spent(&measured.variances(&x))),
            cost: Some(cost),
            psnr_of_expected_mse: decibels(mse),
            gap: Some(all.gap(&x)),
            iterations: Some(proposal.iterations),
            support: Some(energy.iter().filter(|&&e| e > 0.0).count()),
            prob_full_support: last.map(|index| survivals[index]),
            energy_below_g01: Some(rare / cost),
            f1: proposal.residuals.map(|(f1, _)| f1),
            f2: proposal.residuals.map(|(_, f2)| f2),
            bound_psnr: bound_psnr(all),
        }
    }
}

/// Runs a solver over coefficients in rank order.
fn propose(solver: Solver, all: &Problem<'_>, order: &[u32], survivals: &[f64]) -> Proposal {
    let everything = order.len() == all.weights.coefficients() && survivals.is_empty();
    let weights =
        if everything { Cow::Borrowed(all.weights) } else { Cow::Owned(all.weights.select(order)) };
    let problem = Problem { weights: &weights, ..*all };
    match solver {
        Solver::Uniform => uniform::solve(survivals),
        Solver::Na { significance } => {
            na::solve(&problem, survivals, &all.weights.peaks(), significance)
        }
        Solver::Lmgd { eta, max_iterations, delta } => {
            lmgd::solve(&problem, survivals, eta, max_iterations, delta)
        }
        Solver::Optimal { max_gap } => optimal::solve(&problem, max_gap),
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

/// What can be said before the photo is known: an amplitude ranking spends exactly the budget,
/// on coefficients nobody knows yet.
fn amplitude_report(all: &Problem<'_>, model: &FeatureModel, method: &Method) -> PlanReport {
    let measured: f64 = model.sensitivities()[..method.features].iter().sum();
    PlanReport {
        budget_spent: all.epsilon,
        budget_in_grey_levels: match method.sensitivity {
            Sensitivity::Normalised => Some(all.epsilon * measured),
            Sensitivity::Measured => Some(all.epsilon),
            Sensitivity::Clipped => None,
        },
        cost: None,
        psnr_of_expected_mse: None,
        bound_psnr: bound_psnr(all),
        gap: None,
        iterations: None,
        support: None,
        prob_full_support: None,
        energy_below_g01: None,
        f1: None,
        f2: None,
    }
}

fn bound_psnr(problem: &Problem<'_>) -> f64 {
    let mse = 2.0 * problem.subspace_bound() / problem.weights.coefficients() as f64;
    decibels(mse).unwrap_or(f64::MAX)
}

/// PSNR to a billionth of a decibel: what lies below is rounding of floats and of the grid.
fn decibels(mse: f64) -> Option<f64> {
    psnr(mse, 255.0).map(|value| (value * 1e9).round() / 1e9)
}
