//! The comparison of each face with its original.

use facedp::metrics::Quality;
use facedp_nets::{Picture, Workspace};

use super::Engine;
use crate::error::Result;
use crate::methods::{Change, Face};
use crate::outcome::FaceReport;
use crate::photo::Photo;
use crate::quality::{self, Original};
use crate::receipt::{Details, FaceRecord};
use crate::recognise::{Reference, Trial, Verdict};
use crate::request::Check;

/// What later comparisons need of a face of the original.
pub(super) struct Before {
    /// The region of the face; none if quality is not measured.
    crop: Option<Photo>,
    /// The face as it is seen on a screen; none if quality is not measured.
    seen: Option<Picture>,
    /// None if recognisers are not asked, or see no face.
    reference: Option<Reference>,
    /// Verdicts on the original after degradation.
    verdicts: Vec<Verdict>,
}

impl Engine {
    fn trial(&self) -> Trial {
        match self.request.check {
            Check::Degraded => Trial::Degraded,
            Check::Default | Check::Off => self.treatment.trial(),
        }
    }

    pub(super) fn before(
        &self,
        photo: &Photo,
        face: &Face,
        work: &mut Workspace,
    ) -> Result<Before> {
        let (mut reference, mut verdicts) = (None, Vec::new());
        if self.checks()
            && let Some(seen) = &face.seen
        {
            let recognisers = self.resources.networks.recognisers()?;
            let original = recognisers.reference(photo, seen, work)?;
            // Only receipts say what degradation alone does.
            if self.trial() == Trial::Degraded && self.request.receipt {
                verdicts = recognisers.judge(&original, photo, Trial::Degraded, work)?;
            }
            reference = Some(original);
        }
        let crop = self.request.measure.then(|| photo.crop(face.region));
        let seen = || quality::seen(&photo.picture(face.square(photo))?);
        let seen = self.request.measure.then(seen).transpose()?;
        Ok(Before { crop, seen, reference, verdicts })
    }

    /// Compares a face as written with its original.
    pub(super) fn report(
        &self,
        face: &Face,
        before: Before,
        change: Change,
        written: Option<&Photo>,
        work: &mut Workspace,
    ) -> Result<(FaceReport, Option<FaceRecord>)> {
        let quality = match (&before.crop, written) {
            (Some(crop), Some(written)) => {
                Some(Quality::compare(&crop.luma(crop.whole()), &written.luma(face.region))?)
            }
            _ => None,
        };
        let ssimulacra2 = match (&before.seen, written) {
            (Some(seen), Some(written)) => {
                let original = match change.original {
                    Some(original) => original,
                    None => Original::new(seen)?,
                };
                let written = quality::seen(&written.picture(face.square(written))?)?;
                Some(original.score(&written)?)
            }
            _ => None,
        };
        let recognisers = match (&before.reference, written) {
            (Some(reference), Some(written)) => {
                let recognisers = self.resources.networks.recognisers()?;
                recognisers.judge(reference, written, self.trial(), work)?
            }
            _ => Vec::new(),
        };
        let Change { mse, expected_mse, details, .. } = change;
        let steered = match &details {
            Some(Details::Steered(outcome)) => Some(*outcome),
            _ => None,
        };
        let record = self.request.receipt.then(|| FaceRecord {
            face: face.selected,
            details,
            quality,
            ssimulacra2,
            recognisers: recognisers.clone(),
            before: before.verdicts.clone(),
        });
        let report = FaceReport {
            face: face.selected,
            mse,
            expected_mse,
            steered,
            quality,
            ssimulacra2,
            recognisers,
            before: before.verdicts,
        };
        Ok((report, record))
    }
}
