//! A photo in, the photo with noise on its faces and its receipt out.
//!
//! [`Engine::protect`] is the one way that all front ends use; [`batch`] runs it over folders.
//!
//! ```
//! use std::sync::Arc;
//! use facedp::{Epsilon, FeatureModel, Plan, Preset};
//! use facedp_engine::{Engine, Options, Secret, Treatment, Workspace};
//!
//! # let root = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");
//! # let model = std::fs::read(format!("{root}/assets/eigenfaces.safetensors"))?;
//! # let photo = std::fs::read(format!("{root}/examples/portrait.png"))?;
//! let model = Arc::new(FeatureModel::from_bytes(&model)?);
//! let plan = Box::new(Plan::new(model, Preset::RdpOptimal.method(Epsilon::new(0.2)?, 64))?);
//! let engine = Engine::new(Treatment::Noise { plan, secret: Secret::Fresh }, Options::default())?;
//! let result = engine.protect(&photo, &mut Workspace::default())?;
//! assert_eq!(result.faces.len(), 1);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

pub mod annotate;
pub mod batch;
pub mod certify;
mod check;
mod engine;
mod error;
mod eyes;
pub mod files;
mod gate;
mod key;
pub mod ledger;
pub mod lift;
mod options;
mod outcome;
mod patch;
mod photo;
mod receipt;
pub mod steer;

pub use check::{Checked, CheckedFace};
pub use engine::{Engine, Hands};
pub use error::{Error, Result};
pub use eyes::{Distance, Eyes, Faces, MIN_SCORE, Spot, Trial, Verdict, Witness, after_jpeg};
pub use facedp_nets::{Embed, Picture, Recogniser, Rule, Workspace};
pub use gate::Gate;
pub use key::{Key, Secret};
pub use options::{Look, Options, Treatment};
pub use outcome::{Compared, FaceReport, Left, Protected, Seen};
pub use patch::Patch;
pub use photo::{Encoded, Encoding, Format, Limits, Metadata, Photo, Region};
pub use receipt::{
    Certificate, Course, FaceRecord, PrivatePart, PublicPart, Receipt, SteeredTerms, Terms,
};
pub use steer::{Goal, Steering, Strength, Tuning};
