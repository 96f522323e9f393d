//! Features replaced by noisy ones.

use facedp::CertifiedPlan;
use facedp_nets::Workspace;

use super::{Done, Engine, Hands, Subject};
use crate::certify::{compose, context, randomness, residual, split, way};
use crate::error::Result;
use crate::key::Secret;
use crate::patch::Patch;
use crate::photo::Photo;
use crate::receipt::Certificate;

impl Engine {
    /// Replaces the features of all faces.
    pub(super) fn certify(
        &self,
        photo: Photo,
        plan: &CertifiedPlan,
        secret: &Secret,
        hands: Hands<'_>,
        work: &mut Workspace,
    ) -> Result<Certified> {
        let found = self.subjects(&photo, work)?;
        let before = photo.digest();
        let mut subjects = Vec::new();
        for (spot, patch) in &found {
            hands.go_on()?;
            let region = patch.reach(&photo, plan.model().side());
            subjects.push(self.subject(&photo, *spot, region, Done::Nothing, work)?);
        }
        let patches: Vec<Patch> = found.iter().map(|(_, patch)| *patch).collect();
        let (public, cells) = split(photo, &patches, plan)?;
        let mut noisy = Vec::new();
        let mut identity = blake3::Hasher::new();
        for (cells, patch) in cells.iter().zip(&patches) {
            identity.update(&context(plan, &before, patch, cells));
            let mut source = randomness(plan, &before, patch, cells, secret)?;
            noisy.push(plan.mechanism(cells, &mut source)?);
        }
        let estimates: Vec<_> = noisy.iter().map(|noisy| plan.estimate(noisy)).collect();
        let photo = compose(public, &estimates, plan);
        let grid = plan.grid();
        for (n, (noisy, estimate)) in noisy.iter().zip(estimates).enumerate() {
            let apart = grid.values(&cells[n]).into_iter().zip(estimate.features());
            let squared: f64 = apart.map(|(own, new)| (own - new).powi(2)).sum();
            let values = noisy.cells().iter().enumerate();
            subjects[n].done = Done::Certified {
                mse: squared / plan.model().pixels() as f64,
                expected: plan.expected_mse(),
                certificate: Box::new(Certificate {
                    noisy_features: values.map(|(i, c)| c.map(|c| grid.value(i, c))).collect(),
                    residual: residual(&photo, &patches[n], &estimate, plan)?,
                    estimate,
                }),
            };
        }
        let changed = photo.digest() != before;
        let identity = identity.finalize().to_hex()[..16].to_owned();
        Ok(Certified { photo, subjects, changed, identity, way: way(plan, &patches) })
    }
}

/// What became of a photo.
pub(super) struct Certified {
    pub(super) photo: Photo,
    pub(super) subjects: Vec<Subject>,
    pub(super) changed: bool,
    /// What its noise followed from, were it keyed.
    pub(super) identity: String,
    /// How features were taken out of it.
    pub(super) way: String,
}
