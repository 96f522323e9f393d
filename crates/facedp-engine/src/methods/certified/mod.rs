//! `certified`: replaces the features of faces by noisy ones, with a differential-privacy guarantee for
//! the features.

mod split;

use facedp::certified::{Cells, CertifiedMethod, CertifiedPlan};
use facedp::noise::{Randomness, Source};
use facedp_nets::Workspace;
use rand_chacha::ChaCha20Rng;

use super::{Change, Face, MethodInfo, Needs, Spent, Treated, Treatment};
use crate::control::Control;
use crate::error::{Error, Result};
use crate::format::Format;
use crate::key::Secret;
use crate::patch::Patch;
use crate::photo::Photo;
use crate::receipt::{Certificate, Details, Terms};
use crate::request::Request;
use crate::resources::Resources;
use split::{compose, residual, split, split_fingerprint};

pub(super) const INFO: MethodInfo = MethodInfo {
    settings: &["epsilon", "features", "mechanism"],
    randomness: Some(Randomness::System),
    published_unseen: true,
    activity: "replacing features",
};

/// Note on a lossless result of a JPEG source: the rounding of JPEG reveals the features
/// (proofs/public.md).
const JPEG_LATTICE_NOTE: &str = "the source was a JPEG file, and its result is written without loss: from \
                       how JPEG rounds, the features can be computed";

pub(super) struct Certified {
    plan: CertifiedPlan,
    secret: Secret,
}

/// The method with the settings of a request, for a model with that many features.
pub(super) fn method(request: &Request, available: usize) -> Result<CertifiedMethod> {
    let features = request.features.unwrap_or(available);
    let defaults = CertifiedMethod::new(request.epsilon()?, features);
    let mechanism = request.mechanism.unwrap_or(defaults.mechanism);
    Ok(CertifiedMethod { mechanism, ..defaults })
}

impl Certified {
    pub(super) fn new(request: &Request, resources: &Resources) -> Result<Self> {
        if request.keep_metadata {
            return Err(Error::CertifiedMetadata);
        }
        let model = &resources.model;
        let plan = CertifiedPlan::new(model.clone(), method(request, model.features())?)?;
        Ok(Self { plan, secret: resources.certified_secret.clone() })
    }
}

impl Treatment for Certified {
    fn fingerprint(&self) -> String {
        format!("{} {}", self.plan.fingerprint(), self.secret.fingerprint())
    }

    fn terms(&self) -> Option<Terms> {
        Some(Terms::Certified(Box::new(self.plan.terms(self.secret.randomness()))))
    }

    fn needs(&self) -> Needs {
        Needs { faces: true, landmarks: false, reference: false, min_width: 0.0 }
    }

    fn note(&self, source: Format, result: Format) -> Option<&'static str> {
        (source == Format::Jpeg && result == Format::Png).then_some(JPEG_LATTICE_NOTE)
    }

    fn treat(
        &self,
        photo: Photo,
        faces: &[Face],
        control: Control<'_>,
        _work: &mut Workspace,
    ) -> Result<Treated> {
        let plan = &self.plan;
        let before = photo.digest();
        let patches: Vec<Patch> = faces.iter().map(|face| face.patch).collect();
        control.proceed()?;
        let (public, cells) = split(photo, &patches, plan)?;
        let mut noisy = Vec::new();
        let mut identity = blake3::Hasher::new();
        for (cells, patch) in cells.iter().zip(&patches) {
            identity.update(&context(plan, &before, patch, cells));
            let mut source = keyed_randomness(plan, &before, patch, cells, &self.secret)?;
            noisy.push(plan.mechanism(cells, &mut source)?);
        }
        let estimates: Vec<_> = noisy.iter().map(|noisy| plan.estimate(noisy)).collect();
        let photo = compose(public, &estimates, plan);
        let grid = plan.grid();
        let mut changes = Vec::new();
        for (n, (noisy, estimate)) in noisy.iter().zip(estimates).enumerate() {
            let pairs = grid.values(&cells[n]).into_iter().zip(estimate.features());
            let squared: f64 = pairs.map(|(own, new)| (own - new).powi(2)).sum();
            let values = noisy.cells().iter().enumerate();
            changes.push(Change {
                mse: squared / plan.model().pixels() as f64,
                expected_mse: Some(plan.expected_mse()),
                original: None,
                details: Some(Details::Certified(Certificate {
                    noisy_features: values.map(|(i, c)| c.map(|c| grid.value(i, c))).collect(),
                    residual: residual(&photo, &patches[n], &estimate, plan)?,
                    estimate,
                })),
            });
        }
        let identity = identity.finalize().to_hex()[..16].to_owned();
        let spent = Spent {
            epsilon: plan.method().epsilon.get(),
            noise: self.secret.repeatable(&identity),
            split: Some(split_fingerprint(plan, &patches)),
        };
        let changed = photo.digest() != before;
        Ok(Treated { photo, faces: changes, changed, spent: Some(spent) })
    }
}

/// The randomness of a face. Under a key it depends on everything that determines the noisy features: the
/// same noise on two different sets of features would reveal their difference (proofs/repeated.md).
pub fn keyed_randomness(
    plan: &CertifiedPlan,
    photo: &[u8; 32],
    patch: &Patch,
    cells: &Cells,
    secret: &Secret,
) -> Result<Source<ChaCha20Rng>> {
    secret.source(&context(plan, photo, patch, cells))
}

/// The context of keyed randomness for a face. Its length is the same for all faces of a plan.
fn context(plan: &CertifiedPlan, photo: &[u8; 32], patch: &Patch, cells: &Cells) -> Vec<u8> {
    let plan = blake3::hash(plan.fingerprint().as_bytes());
    let geometry = blake3::hash(patch.fingerprint().as_bytes());
    let cells: Vec<[u8; 8]> = cells.numbers().iter().map(|cell| cell.to_le_bytes()).collect();
    let parts = [plan.as_bytes(), photo.as_slice(), geometry.as_bytes(), cells.as_flattened()];
    parts.concat()
}
