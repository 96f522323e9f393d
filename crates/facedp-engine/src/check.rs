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
use crate::verdict::{KnownFace, found_again};

/// A photo compared with its original.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Checked {
    /// Of luma.
    #[serde(flatten)]
    pub quality: Quality,
    /// Faces of the original.
    pub faces: Vec<CheckedFace>,
    /// Faces of the other photo where the original has none.
    pub other_faces: Vec<DetectedFace>,
}

/// A face of the original.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct CheckedFace {
    #[serde(flatten)]
    pub face: DetectedFace,
    /// Whether the detector finds the face in the other photo.
    pub found_again: bool,
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
    let detector = networks.detector()?;
    let mut other_faces = detector.find(released, MIN_SCORE, work)?;
    for face in detector.find(original, MIN_SCORE, work)? {
        let reference = recognisers.reference(original, &face, work)?;
        let result = (released, other_faces.as_slice());
        let known = KnownFace::new(original, &face);
        let verdicts = known.judge(&recognisers, &reference, result, Trial::Degraded, work)?;
        let [before, after] = [original, released]
            .map(|photo| quality::seen(&photo.picture(quality::square(&face, original))?));
        let score = Original::new(&before?)?.score(&after?)?;
        let found_again = found_again(&face, &other_faces).is_some();
        faces.push(CheckedFace { face, found_again, ssimulacra2: score, recognisers: verdicts });
    }
    other_faces
        .retain(|other| !faces.iter().any(|known| known.face.rect().overlaps(&other.rect())));
    Ok(Checked { quality, faces, other_faces })
}
