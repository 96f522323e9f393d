//! A photo against its original: how much changed, and who still recognises it.

use facedp::Quality;
use facedp_nets::Workspace;
use serde::Serialize;

use crate::error::Result;
use crate::eyes::{Eyes, MIN_SCORE, Spot, Trial, Verdict};
use crate::photo::Photo;

/// What is found of a pair of photos.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Checked {
    /// How much changed, in luma.
    #[serde(flatten)]
    pub quality: Quality,
    /// Faces of the original.
    pub faces: Vec<CheckedFace>,
}

/// A face of the original.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct CheckedFace {
    /// Where it is.
    #[serde(flatten)]
    pub face: Spot,
    /// What recognisers say of it in the other photo, also after JPEG and at half size.
    pub recognisers: Vec<Verdict>,
}

impl Eyes {
    /// Compares a photo with its original.
    pub fn check(
        &self,
        original: &Photo,
        released: &Photo,
        work: &mut Workspace,
    ) -> Result<Checked> {
        let [before, after] = [original, released].map(|photo| photo.luma(photo.whole()));
        let quality = Quality::compare(&before, &after)?;
        let found = self.find(original, MIN_SCORE, work)?;
        let mut look = |face: Spot| {
            let witness = self.witness(original, &face, work)?;
            let recognisers = self.judge(&witness, released, Trial::Degraded, work)?;
            Ok(CheckedFace { face, recognisers })
        };
        let faces = found.into_iter().map(&mut look).collect::<Result<_>>()?;
        Ok(Checked { quality, faces })
    }
}
