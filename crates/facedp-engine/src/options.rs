//! What an engine does, and how.

use std::path::PathBuf;

use facedp::{CertifiedPlan, Plan};

use crate::eyes::{Faces, MIN_SCORE};
use crate::key::Secret;
use crate::photo::{Encoding, Limits};
use crate::steer::Steering;

/// What is done to faces.
pub enum Treatment {
    /// Nothing: photos are decoded and encoded.
    None,
    /// Noise by a plan.
    Noise {
        /// The plan.
        plan: Box<Plan>,
        /// Where its randomness comes from.
        secret: Secret,
    },
    /// Features replaced by noisy ones, with a guarantee.
    Certify {
        /// The plan.
        plan: Box<CertifiedPlan>,
        /// Where its randomness comes from.
        secret: Secret,
    },
    /// Changes that lead recognisers astray.
    Steer {
        /// How.
        steering: Box<Steering>,
        /// Where its randomness comes from.
        secret: Secret,
    },
}

/// Where faces are looked for.
#[derive(Debug, Clone, PartialEq)]
pub enum Look {
    /// By the detector, and in boxes that the user drew.
    Faces {
        /// Which of those found.
        which: Faces,
        /// Boxes as x, y, width, height.
        boxes: Vec<[f32; 4]>,
        /// The least score of a face.
        min_score: f32,
    },
    /// The picture is a face crop: its centre square, so many pixels wide or as large as fits.
    Aligned {
        /// Side of the square.
        crop: Option<u32>,
    },
}

impl Default for Look {
    fn default() -> Self {
        Look::Faces { which: Faces::All, boxes: Vec::new(), min_score: MIN_SCORE }
    }
}

/// How photos are treated.
#[derive(Debug, Clone, PartialEq)]
pub struct Options {
    /// Where faces are looked for.
    pub look: Look,
    /// How results are written.
    pub encoding: Encoding,
    /// Copy photos without a face, instead of refusing them.
    pub copy_faceless: bool,
    /// Ask the recognisers whether faces still match.
    pub check: bool,
    /// Ask them also after what platforms do to photos, whatever the method; of steering they are asked
    /// always.
    pub degrade: bool,
    /// Measure the quality of the faces as written.
    pub measure: bool,
    /// Make receipts.
    pub receipt: bool,
    /// Where releases that claim something are written down.
    pub ledger: Option<PathBuf>,
    /// How much is read.
    pub limits: Limits,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            look: Look::default(),
            encoding: Encoding::default(),
            copy_faceless: false,
            check: true,
            degrade: false,
            measure: true,
            receipt: false,
            ledger: None,
            limits: Limits::default(),
        }
    }
}
