//! Treats the faces of photos: a photo in, the treated photo and its receipt out.
//!
//! All front ends use [`Engine::protect`]; [`batch`] runs it over folders. A [`Request`] says what to do;
//! [`Resources`] hold what a request cannot name: keys, models, memory limits.
//!
//! The default method, `steered`, changes faces until recognisers no longer match them:
//!
//! ```
//! use facedp_engine::{Engine, Key, Request, Resources, Secret, Workspace};
//!
//! # let folder = std::env::temp_dir().join(format!("facedp-{}", std::process::id()));
//! # std::fs::create_dir_all(&folder)?;
//! # let photos = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/photos");
//! # std::fs::copy(format!("{photos}/collins.jpg"), folder.join("me.jpg"))?;
//! # std::env::set_current_dir(&folder)?;
//! # let key = Key::from_bytes([7; 32]);
//! # /*
//! let key = Key::generate()?; // keep it: the same key and photo give the same result
//! # */
//! let engine = Engine::new(Request::default(), Resources::new(Secret::Key(key))?)?;
//! let result = engine.protect(&std::fs::read("me.jpg")?, &mut Workspace::default())?;
//! std::fs::write("me-changed.jpg", &result.file)?;
//!
//! assert_eq!(result.faces.len(), 1);
//! let verdicts = &result.faces[0].recognisers;
//! assert!(verdicts.iter().all(|verdict| !verdict.plain.matches));
//! # std::fs::remove_dir_all(&folder)?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Other methods are named in the request, as in `{"method": "rdp-lmgd", "epsilon": 0.2}`
//! ([`Request::from_json`]).

/// The README's snippets, which must compile as pasted.
#[cfg(doctest)]
#[doc = include_str!("../../../README.md")]
struct Readme;

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
pub use resources::{Resources, SharedModel, embedded_model};
pub use steering::{Goal, Steering, Strength, Tuning};
