//! Face detection and recognition in pure Rust: a detector and five recognisers on a small network
//! engine, which also computes gradients with respect to the picture. Weights are embedded; nothing is
//! downloaded.

mod built_in;
#[cfg(feature = "yunet")]
mod detector;
// Some operations occur in one network only.
#[cfg_attr(
    not(all(feature = "dlib", feature = "intel", feature = "mobilefacenet", feature = "yunet")),
    allow(dead_code, unused_imports)
)]
mod engine;
mod error;
mod networks;
mod picture;
mod recogniser;
mod rule;
mod similarity;
mod weights;

#[cfg(feature = "yunet")]
pub use detector::{Detections, Detector, Face, Rect};
pub use engine::Workspace;
pub use error::{Error, Result};
pub use picture::{Chip, Picture};
pub use recogniser::{Embed, Landmarks, Recogniser};
pub use rule::{Channels, Metric, Rule};
pub use similarity::{Point, Similarity};
