//! Networks that see faces, in pure Rust: two recognisers and a detector, on a small engine that also
//! gives gradients with respect to the picture. Weights are embedded; nothing is downloaded.

#[cfg(feature = "yunet")]
mod detector;
pub mod engine;
mod error;
mod networks;
mod picture;
mod recogniser;
mod rule;
mod similarity;
mod weights;

#[cfg(feature = "yunet")]
pub use detector::{Detector, Face, Rect};
pub use engine::Workspace;
pub use error::{Error, Result};
pub use picture::{Chip, Picture};
pub use recogniser::{Embed, Landmarks, Recogniser};
pub use rule::{Channels, Metric, Rule};
pub use similarity::{Point, Similarity};
