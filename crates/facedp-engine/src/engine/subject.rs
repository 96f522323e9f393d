//! A face on its way: what is kept of the original, and how the result compares with it.

use facedp::{Drawn, Quality, Release};
use facedp_nets::Workspace;

use super::Engine;
use crate::error::Result;
use crate::eyes::{Spot, Trial, Verdict, Witness};
use crate::outcome::FaceReport;
use crate::photo::{Photo, Region};
use crate::receipt::{Certificate, Course, FaceRecord};

/// A face on its way, with what is needed of the original once that is gone.
pub(super) struct Subject {
    pub(super) spot: Option<Spot>,
    pub(super) region: Region,
    /// The region before anything was changed.
    pub(super) before: Option<Photo>,
    pub(super) witness: Option<Witness>,
    /// What recognisers say of the original's degraded twins.
    pub(super) baseline: Vec<Verdict>,
    pub(super) done: Done,
}

/// What was done to a face.
pub(super) enum Done {
    Nothing,
    Noise(Box<Release>),
    Certified { certificate: Box<Certificate>, mse: f64, expected: f64 },
    Steered { course: Course, mse: f64 },
}

impl Engine {
    /// How much a face is tried: steering has to hold after what platforms do to photos.
    fn trial(&self, done: &Done) -> Trial {
        match done {
            Done::Steered { .. } => Trial::Degraded,
            _ if self.options.degrade => Trial::Degraded,
            _ => Trial::Plain,
        }
    }

    /// Keeps what later comparisons need of a face.
    pub(super) fn subject(
        &self,
        photo: &Photo,
        spot: Option<Spot>,
        region: Region,
        done: Done,
        work: &mut Workspace,
    ) -> Result<Subject> {
        let (mut witness, mut baseline) = (None, Vec::new());
        if let Some(eyes) = self.eyes.as_ref().filter(|_| self.options.check)
            && let Some(face) = eyes.face_to_check(spot, photo, work)?
        {
            let seen = eyes.witness(photo, &face, work)?;
            if self.trial(&done) == Trial::Degraded {
                baseline = eyes.judge(&seen, photo, Trial::Degraded, work)?;
            }
            witness = Some(seen);
        }
        let before = self.options.measure.then(|| photo.crop(region));
        Ok(Subject { spot, region, before, witness, baseline, done })
    }

    /// Compares a face as written with its original.
    pub(super) fn report(
        &self,
        subject: Subject,
        written: Option<&Photo>,
        work: &mut Workspace,
    ) -> Result<(FaceReport, Option<FaceRecord>)> {
        let Subject { spot, region, before, witness, baseline, done } = subject;
        let quality = match (&before, written) {
            (Some(before), Some(written)) => {
                let before = before.luma(before.whole());
                Some(Quality::compare(&before, &written.luma(region))?)
            }
            _ => None,
        };
        let trial = self.trial(&done);
        let recognisers = match (&self.eyes, &witness, written) {
            (Some(eyes), Some(witness), Some(written)) => {
                eyes.judge(witness, written, trial, work)?
            }
            _ => Vec::new(),
        };
        let (mse, expected_mse, steered) = match &done {
            Done::Noise(release) => {
                let pixels = release.noise.data().len() as f64;
                let expected = release.expected_variance / pixels;
                (release.real_variance() / pixels, Some(expected), None)
            }
            Done::Certified { mse, expected, .. } => (*mse, Some(*expected), None),
            Done::Steered { course, mse } => (*mse, None, Some(*course)),
            Done::Nothing => (0.0, None, None),
        };
        let report = FaceReport {
            spot,
            mse,
            expected_mse,
            steered,
            quality,
            recognisers: recognisers.clone(),
            before: baseline.clone(),
        };
        let record = || -> Result<FaceRecord> {
            let (drawn, certified) = match done {
                Done::Noise(release) => (Some(Drawn::of(&release)?), None),
                Done::Certified { certificate, .. } => (None, Some(*certificate)),
                Done::Steered { .. } | Done::Nothing => (None, None),
            };
            Ok(FaceRecord {
                spot,
                drawn,
                certified,
                steered,
                quality,
                recognisers,
                before: baseline,
            })
        };
        let record = self.options.receipt.then(record).transpose()?;
        Ok((report, record))
    }
}
