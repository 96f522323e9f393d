//! Compares a photo with its original: quality, and verdicts of recognisers.

use facedp::metrics::Quality;
use facedp_nets::Workspace;
use serde::Serialize;

use crate::detect::{DetectedFace, MIN_SCORE};
use crate::error::Result;
use crate::photo::Photo;
use crate::quality::{self, Original};
use crate::recognise::{Trial, Verdict};
use crate::resources::Networks;

/// A photo compared with its original.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Checked {
    /// Of luma.
    #[serde(flatten)]
    pub quality: Quality,
    /// Faces of the original.
    pub faces: Vec<CheckedFace>,
}

/// A face of the original.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct CheckedFace {
    #[serde(flatten)]
    pub face: DetectedFace,
    /// SSIMULACRA2 score of the face. Pixels that moved lower it, even if nothing looks different.
    pub ssimulacra2: f64,
    /// Verdicts on the face in the other photo, also after JPEG and at half size.
    pub recognisers: Vec<Verdict>,
}

pub(crate) fn check(
    original: &Photo,
    released: &Photo,
    networks: &Networks,
    work: &mut Workspace,
) -> Result<Checked> {
    let [before, after] = [original, released].map(|photo| photo.luma(photo.whole()));
    let quality = Quality::compare(&before, &after)?;
    let recognisers = networks.recognisers()?;
    let mut faces = Vec::new();
    for face in networks.detector()?.find(original, MIN_SCORE, work)? {
        let reference = recognisers.reference(original, &face, work)?;
        let verdicts = recognisers.judge(&reference, released, Trial::Degraded, work)?;
        let [before, after] = [original, released]
            .map(|photo| quality::seen(&photo.picture(quality::square(&face, original))?));
        let score = Original::new(&before?)?.score(&after?)?;
        faces.push(CheckedFace { face, ssimulacra2: score, recognisers: verdicts });
    }
    Ok(Checked { quality, faces })
}
