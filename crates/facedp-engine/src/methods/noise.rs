//! The paper's methods: noise on the ranked coefficients of a face.

use std::borrow::Cow;

use facedp::noise::Randomness;
use facedp::{Claim, Drawn, Method, Plan, Plane, Preset, Release, Sensitivity, Solver};
use facedp_nets::Workspace;
use rand_core::CryptoRng;

use super::context::NoiseContext;
use super::{Change, Face, MethodInfo, Needs, Spent, Treated, Treatment};
use crate::control::Control;
use crate::error::{Error, Result};
use crate::key::Secret;
use crate::lift::{self, Lift};
use crate::photo::Untreated;
use crate::receipt::{Details, Terms};
use crate::request::Request;
use crate::resources::Resources;

pub(super) const INFO: MethodInfo = MethodInfo {
    settings: &[
        "epsilon",
        "features",
        "geometric_p",
        "basis",
        "levels",
        "ranking",
        "sensitivity",
        "significance",
        "eta",
        "experiment",
    ],
    randomness: Some(Randomness::Keyed),
    published_unseen: false,
    activity: "adding noise",
};

/// Number of all-zero draws to skip when a draw is scaled.
const MAX_EMPTY_DRAWS: usize = 1000;

pub(super) struct Noise {
    plan: Plan,
    secret: Secret,
    /// Identifies repeatable noise in the ledger.
    identity: Option<String>,
    /// Whether noisy features are recorded.
    record: bool,
    /// Experiments: PSNR to which each draw is scaled, in dB.
    psnr: Option<f64>,
    /// The chip of methods that do not read it.
    blank: Plane,
}

/// The noise of a face.
struct Drawing {
    noise: Plane,
    /// Expected value of the sum of its squares.
    expected_variance: f64,
    details: Option<Details>,
}

/// A preset with the settings of a request, for a model with that many features.
pub(super) fn method(preset: Preset, request: &Request, available: usize) -> Result<Method> {
    let misplaced = |setting, of: &str| Error::Setting { setting, of: of.to_owned() };
    let mut method = preset.method(request.epsilon()?, request.features.unwrap_or(available));
    method.geometric_p = request.geometric_p.unwrap_or(method.geometric_p);
    method.sensitivity = request.sensitivity.unwrap_or(Sensitivity::Normalised);
    method.ranking = request.ranking.unwrap_or(method.ranking);
    if request.basis.is_some() || request.levels.is_some() {
        let kind = request.basis.unwrap_or(method.basis.kind());
        let no_levels = || misplaced("levels", &format!("the {kind} basis"));
        method.basis = kind.basis(request.levels).ok_or_else(no_levels)?;
    }
    match (&mut method.solver, request.significance) {
        (_, None) => {}
        (Solver::Na { significance }, Some(given)) => *significance = given,
        _ => return Err(misplaced("significance", &preset.to_string())),
    }
    match (&mut method.solver, request.eta) {
        (_, None) => {}
        (Solver::Lmgd { eta, .. } | Solver::LmgdLiteral { eta, .. }, Some(given)) => *eta = given,
        _ => return Err(misplaced("eta", &preset.to_string())),
    }
    Ok(method)
}

impl Noise {
    pub(super) fn new(preset: Preset, request: &Request, resources: &Resources) -> Result<Self> {
        let model = resources.model.get()?;
        let method = method(preset, request, model.features())?;
        let plan = Plan::new(model, method)?;
        let secret = resources.secret.clone();
        let noise = format!("{} {}", plan.fingerprint(), request.selection().fingerprint());
        let identity = secret.repeatable(&noise);
        let psnr = request.experiment().noise_psnr;
        let blank = Plane::zeros(plan.model().side(), plan.model().side());
        Ok(Self { plan, secret, identity, record: request.receipt, psnr, blank })
    }

    fn draw<R: CryptoRng>(
        &self,
        chip: &Plane,
        source: &mut facedp::noise::Source<R>,
    ) -> Result<Drawing> {
        if !self.record && self.psnr.is_none() {
            let (noise, expected_variance) = self.plan.noise(chip, source)?;
            return Ok(Drawing { noise, expected_variance, details: None });
        }
        let (release, noise) = self.release(chip, source)?;
        let details = self.record.then(|| Drawn::of(&release)).transpose()?.map(Details::Noise);
        Ok(Drawing { noise, expected_variance: release.expected_variance, details })
    }

    /// Releases a chip, with its noise. Experiments can scale the noise; an all-zero draw cannot be scaled and is drawn
    /// again.
    fn release<R: CryptoRng>(
        &self,
        chip: &Plane,
        source: &mut facedp::noise::Source<R>,
    ) -> Result<(Release, Plane)> {
        let mut release = self.plan.protect(chip, source)?;
        let mut noise = release.noise();
        let Some(psnr) = self.psnr else { return Ok((release, noise)) };
        for _ in 0..MAX_EMPTY_DRAWS {
            if noise.energy() > 0.0 {
                break;
            }
            release = self.plan.protect(chip, source)?;
            noise = release.noise();
        }
        let energy = 255f64.powi(2) / 10f64.powf(psnr / 10.0) * chip.data().len() as f64;
        let factor = (energy / noise.energy().max(f64::MIN_POSITIVE)).sqrt();
        noise.data_mut().iter_mut().for_each(|value| *value *= factor);
        Ok((release, noise))
    }
}

impl Treatment for Noise {
    fn fingerprint(&self) -> String {
        let scaled = self.psnr.map_or(String::new(), |psnr| format!(" scaled to {psnr:?} dB"));
        format!("{} {}{scaled}", self.plan.fingerprint(), self.secret.fingerprint())
    }

    fn terms(&self) -> Option<Terms> {
        let mut terms = self.plan.terms().with_randomness(self.secret.randomness());
        if self.psnr.is_some() {
            terms.claim = Claim::None;
        }
        Some(Terms::Noise(terms))
    }

    fn needs(&self) -> Needs {
        Needs { faces: true, landmarks: false, reference: false, min_width: 0.0 }
    }

    fn treat(
        &self,
        original: Untreated,
        faces: &[Face],
        control: Control<'_>,
        _work: &mut Workspace,
    ) -> Result<Treated> {
        let context = NoiseContext::new(&self.plan.fingerprint(), &original, &self.secret);
        let mut photo = original.into_photo();
        let (mut changes, mut lifts) = (Vec::new(), Vec::new());
        for face in faces {
            control.proceed()?;
            // Some methods do not read the chip, but noisy features depend on it.
            let chip = match self.plan.reads_chip() || self.record {
                true => Cow::Owned(face.patch.chip(&photo, self.blank.width())),
                false => Cow::Borrowed(&self.blank),
            };
            let drawing = self.draw(&chip, &mut context.source(face.region)?)?;
            lifts.push(Lift::new(&drawing.noise, &face.patch, &photo));
            let pixels = drawing.noise.data().len() as f64;
            changes.push(Change {
                mse: drawing.noise.energy() / pixels,
                expected_mse: Some(drawing.expected_variance / pixels),
                original: None,
                details: drawing.details,
            });
        }
        let changed = lift::apply(&lifts, &mut photo);
        let epsilon = self.plan.method().epsilon.get();
        let spent = Spent { epsilon, noise: self.identity.clone(), split: None };
        Ok(Treated { photo, faces: changes, changed, spent: Some(spent) })
    }
}
