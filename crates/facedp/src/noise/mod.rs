//! Noise, and where its randomness comes from.
//!
//! Nothing here reaches for randomness by itself: every draw takes a cryptographic generator
//! from the caller.

mod laplace;
mod source;

pub use laplace::discrete_laplace;
pub use source::{Randomness, Source, experiment, keyed};
