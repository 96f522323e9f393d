//! Noise samplers and the generators they draw from.
//!
//! Nothing here has access to randomness of its own: the caller passes a cryptographic generator to
//! every draw.

mod chacha;
mod knorm;
mod laplace;
mod source;
mod staircase;

pub use chacha::ChaCha;
pub use knorm::knorm;
pub use laplace::discrete_laplace;
pub use source::{Randomness, Source, experiment, keyed};
pub use staircase::{best_staircase, staircase, staircase_variance};
