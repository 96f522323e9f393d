//! `certified`: erases faces and puts others there, made from what is public and from differentially
//! private numbers (proofs/face.md).

mod compose;
mod edge;
mod erase;
mod frame;
mod model;
mod neighbour;

use std::sync::Arc;

use facedp::certified::{Cells, CertifiedMethod, CertifiedPlan};
use facedp::noise::{ChaCha, Randomness, Source};
use facedp_nets::Workspace;

use super::{Change, Face, MethodInfo, Needs, Spent, Treated, Treatment};
use crate::control::Control;
use crate::error::{Error, Result};
use crate::key::Secret;
use crate::patch::Patch;
use crate::photo::Untreated;
use crate::receipt::{Certificate, Details, Terms};
use crate::request::Request;
use crate::resources::Resources;
use compose::compose;
use erase::erase;
use frame::Frame;

pub use model::{embedded_faces, face_sample};
pub use neighbour::neighbour;

pub(super) const INFO: MethodInfo = MethodInfo {
    settings: &["epsilon", "features", "mechanism"],
    randomness: Some(Randomness::System),
    published_unseen: true,
    activity: "replacing faces",
};

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
        let model = embedded_faces()?;
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

    fn with_secret(&self, secret: &Secret) -> Option<Arc<dyn Treatment>> {
        Some(Arc::new(Self { plan: self.plan.clone(), secret: secret.clone() }))
    }

    fn treat(
        &self,
        original: Untreated,
        faces: &[Face],
        control: Control<'_>,
        _work: &mut Workspace,
    ) -> Result<Treated> {
        let plan = &self.plan;
        let before = original.digest();
        let photo = original.into_photo();
        let frames: Vec<Frame> = faces.iter().map(frame).collect::<Result<_>>()?;
        if !frames.iter().all(|frame| frame.covers(&photo)) {
            return Err(Error::NoFace);
        }
        control.proceed()?;
        let outlines: Vec<String> = frames.iter().map(Frame::fingerprint).collect();
        let (public, cells) = erase(photo, frames, plan);
        let mut noisy = Vec::new();
        let mut identity = blake3::Hasher::new();
        for (cells, outline) in cells.iter().zip(&outlines) {
            control.proceed()?;
            identity.update(&context(plan, &before, outline, cells));
            let mut source = keyed_randomness(plan, &before, outline, cells, &self.secret)?;
            noisy.push(plan.mechanism(cells, &mut source)?);
        }
        let estimates: Vec<_> = noisy.iter().map(|noisy| plan.estimate(noisy)).collect();
        let photo = compose(public, &estimates, plan);
        let grid = plan.grid();
        let mut changes = Vec::new();
        for ((own, noisy), estimate) in cells.iter().zip(&noisy).zip(estimates) {
            let pairs = grid.values(own).into_iter().zip(estimate.features());
            let squared: f64 = pairs.map(|(own, new)| (own - new).powi(2)).sum();
            let values = noisy.cells().iter().enumerate();
            changes.push(Change {
                mse: squared / plan.model().values() as f64,
                expected_mse: Some(plan.expected_mse()),
                original: None,
                details: Some(Details::Certified(Certificate {
                    noisy_features: values.map(|(i, c)| c.map(|c| grid.value(i, c))).collect(),
                    estimate,
                })),
            });
        }
        let identity = identity.finalize().to_hex()[..16].to_owned();
        let spent = Spent {
            epsilon: plan.method().epsilon.get(),
            noise: self.secret.repeatable(&identity),
            split: Some(outlines_fingerprint(&outlines)),
        };
        let changed = photo.digest() != before;
        Ok(Treated { photo, faces: changes, changed, spent: Some(spent) })
    }
}

/// The frame of a face. That of a face crop follows from its size alone.
fn frame(face: &Face) -> Result<Frame> {
    match (face.patch, face.seen) {
        (Patch::Square(region), _) => Frame::of_square(region),
        (Patch::Face(_), Some(seen)) => Frame::new(&seen.landmarks),
        (Patch::Face(_), None) => Err(Error::NoFace),
    }
}

/// Identifies what was erased. The budgets of two releases add up if it is the same for both
/// (proofs/repeated.md). Ledgers hold it: the text that is hashed must not change.
fn outlines_fingerprint(outlines: &[String]) -> String {
    blake3::hash(outlines.join("; ").as_bytes()).to_hex()[..16].to_owned()
}

/// The randomness of a face. Under a key it depends on everything that determines the noisy features: the
/// same noise on two different sets of features would reveal their difference (proofs/repeated.md).
pub fn keyed_randomness(
    plan: &CertifiedPlan,
    photo: &[u8; 32],
    outline: &str,
    cells: &Cells,
    secret: &Secret,
) -> Result<Source<ChaCha>> {
    secret.source(&context(plan, photo, outline, cells))
}

/// The context of keyed randomness for a face. Its length is the same for all faces of a plan.
fn context(plan: &CertifiedPlan, photo: &[u8; 32], outline: &str, cells: &Cells) -> Vec<u8> {
    let plan = blake3::hash(plan.fingerprint().as_bytes());
    let geometry = blake3::hash(outline.as_bytes());
    let cells: Vec<[u8; 8]> = cells.numbers().iter().map(|cell| cell.to_le_bytes()).collect();
    let parts = [plan.as_bytes(), photo.as_slice(), geometry.as_bytes(), cells.as_flattened()];
    parts.concat()
}
