//! Noise by a plan.

use facedp::{Plan, Plane};
use facedp_nets::Workspace;

use super::context::Context;
use super::{Done, Engine, Hands, Subject};
use crate::error::Result;
use crate::key::Secret;
use crate::lift::{self, Lift};
use crate::photo::Photo;

impl Engine {
    /// Adds a plan's noise to all faces.
    pub(super) fn add_noise(
        &self,
        photo: &mut Photo,
        plan: &Plan,
        secret: &Secret,
        hands: Hands<'_>,
        work: &mut Workspace,
    ) -> Result<(Vec<Subject>, bool)> {
        let found = self.subjects(photo, work)?;
        let context = Context::new(&plan.name(), photo, secret);
        let side = plan.model().side();
        let (mut subjects, mut lifts) = (Vec::new(), Vec::new());
        for (spot, patch) in found {
            hands.go_on()?;
            let region = patch.region(photo);
            // Noise that does not depend on the chip needs no chip, but noisy features do.
            let chip = match plan.reads_chip() || self.options.receipt {
                true => patch.chip(photo, side),
                false => Plane::zeros(side, side),
            };
            let release = plan.protect(&chip, &mut context.source(region)?)?;
            lifts.push(Lift::new(&release.noise, &patch, photo));
            let done = Done::Noise(Box::new(release));
            subjects.push(self.subject(photo, spot, region, done, work)?);
        }
        let changed = lift::apply(&lifts, photo);
        Ok((subjects, changed))
    }
}
