//! Treats the faces of photos: a photo in, the treated photo and its receipt out.
//!
//! All front ends use [`Engine::protect`]; [`batch`] runs it over folders. A [`Request`] says what to do;
//! [`Resources`] hold what a request cannot name: keys, models, memory limits.
//!
//! ```
//! use facedp_engine::{Engine, Request, Resources, Secret, Workspace};
//!
//! # let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/portrait.png");
//! # let photo = std::fs::read(path)?;
//! let request = Request::from_json(r#"{"method": "rdp-optimal", "epsilon": 0.2}"#)?;
//! let engine = Engine::new(request, Resources::new(Secret::Fresh)?)?;
//! let result = engine.protect(&photo, &mut Workspace::default())?;
//! assert_eq!(result.faces.len(), 1);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

pub mod annotate;
pub mod batch;
mod check;
mod control;
mod detect;
mod engine;
mod error;
pub mod files;
mod format;
mod gate;
mod key;
pub mod ledger;
mod lift;
mod methods;
mod outcome;
mod patch;
mod photo;
mod prior;
mod quality;
mod random;
mod receipt;
mod recognise;
mod regular;
mod request;
mod resources;
mod steering;
mod verdict;

pub use check::Checked;
pub use control::Control;
pub use detect::{DetectedFace, Doubt, FaceDetector, Faces, Found, MIN_SCORE};
pub use engine::Engine;
pub use error::Error;
pub use facedp_nets::{Embed, Picture, Recogniser, Workspace};
pub use format::Format;
pub use gate::Gate;
pub use key::{Key, Secret};
pub use methods::{AnyPlan, embedded_faces, face_sample, keyed_randomness, neighbour};
pub use outcome::{FaceReport, Inspection, Protected, SkippedFace};
pub use patch::Patch;
pub use photo::{Limits, Photo, Pixels, Region};
pub use prior::Prior;
pub use receipt::{
    Certificate, Details, Displacement, FaceRecord, Receipt, SteeringOutcome, Terms,
};
pub use recognise::{Distance, Recognisers, Reference, Verdict, after_jpeg};
pub use request::{Check, DEFAULT_EPSILON, Experiment, MethodName, Request};
pub use resources::{Resources, embedded_model};
pub use steering::{Goal, Steering, Strength, Tuning};
