//! Noise, and where its randomness comes from.
//!
//! Nothing here reaches for randomness by itself: every draw takes a cryptographic generator
//! from the caller.

mod knorm;
mod laplace;
mod source;

pub use knorm::knorm;
pub use laplace::discrete_laplace;
pub use source::{Randomness, Source, experiment, keyed};
