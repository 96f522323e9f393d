//! The comparison of each face with its original.

use facedp::metrics::Quality;
use facedp_nets::{Picture, Workspace};

use super::Engine;
use crate::detect::DetectedFace;
use crate::error::Result;
use crate::methods::{Change, Face};
use crate::outcome::FaceReport;
use crate::photo::Photo;
use crate::quality::{self, Original};
use crate::receipt::{Details, FaceRecord};
use crate::recognise::{Reference, Trial, Verdict};
use crate::request::Check;
use crate::verdict::{KnownFace, found_again};

/// What later comparisons need of a face of the original.
pub(super) struct Before {
    /// The region of the face; none if quality is not measured.
    crop: Option<Photo>,
    /// The face as it is seen on a screen; none if quality is not measured.
    seen: Option<Picture>,
    /// None if recognisers are not asked, or see no face.
    known: Option<KnownFace>,
    /// Verdicts on the original after degradation.
    verdicts: Vec<Verdict>,
}

/// The result, decoded again.
pub(super) struct Written {
    pub(super) photo: Photo,
    /// Its faces, found afresh; none if recognisers are not asked.
    pub(super) faces: Vec<DetectedFace>,
}

impl Engine {
    fn trial(&self) -> Trial {
        match self.request.check {
            Check::Degraded => Trial::Degraded,
            Check::Default | Check::Off => self.treatment.trial(),
        }
    }

    /// A face as recognisers see it in the original, if anything depends on it.
    pub(super) fn reference(
        &self,
        photo: &Photo,
        face: &Face,
        work: &mut Workspace,
    ) -> Result<Option<Reference>> {
        let needed = self.checks() || self.treatment.needs().reference;
        let Some(seen) = face.seen.filter(|_| needed) else { return Ok(None) };
        self.resources.networks.recognisers()?.reference(photo, &seen, work).map(Some)
    }

    pub(super) fn before(
        &self,
        photo: &Photo,
        face: &Face,
        work: &mut Workspace,
    ) -> Result<Before> {
        let verdicts = match &face.reference {
            // Only receipts say what degradation alone does.
            Some(reference)
                if self.checks() && self.trial() == Trial::Degraded && self.request.receipt =>
            {
                let recognisers = self.resources.networks.recognisers()?;
                recognisers.judge(reference, photo, reference.alignment(), Trial::Degraded, work)?
            }
            _ => Vec::new(),
        };
        let crop = self.request.measure.then(|| photo.crop(face.region));
        let seen = || quality::seen(&photo.picture(face.square(photo))?);
        let seen = self.request.measure.then(seen).transpose()?;
        let known = face.seen.filter(|_| self.checks()).map(|seen| KnownFace::new(photo, &seen));
        Ok(Before { crop, seen, known, verdicts })
    }

    /// Compares a face as written with its original.
    pub(super) fn report(
        &self,
        face: &Face,
        before: Before,
        change: Change,
        written: Option<&Written>,
        work: &mut Workspace,
    ) -> Result<(FaceReport, Option<FaceRecord>)> {
        let found_again = match (&face.seen, written) {
            (Some(seen), Some(written)) if self.checks() => {
                Some(found_again(seen, &written.faces).is_some())
            }
            _ => None,
        };
        let (photo, found) = (written.map(|w| &w.photo), written.map(|w| w.faces.as_slice()));
        let quality = match (&before.crop, photo) {
            (Some(crop), Some(written)) => {
                Some(Quality::compare(&crop.luma(crop.whole()), &written.luma(face.region))?)
            }
            _ => None,
        };
        let ssimulacra2 = match (&before.seen, photo) {
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
        let recognisers = match (&before.known, &face.reference, photo) {
            (Some(known), Some(reference), Some(written)) => {
                let recognisers = self.resources.networks.recognisers()?;
                let found = found.unwrap_or_default();
                known.judge(&recognisers, reference, (written, found), self.trial(), work)?
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
            found_again,
            recognisers,
            before: before.verdicts,
        };
        Ok((report, record))
    }
}
