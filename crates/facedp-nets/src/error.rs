//! What can go wrong before or in a network.

use thiserror::Error;

/// An error of this crate.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum Error {
    /// The samples of a picture do not fit its size.
    #[error("a colour picture of {width}x{height} needs {expected} samples, not {found}")]
    PictureData {
        /// Width given.
        width: usize,
        /// Height given.
        height: usize,
        /// Samples needed.
        expected: usize,
        /// Samples given.
        found: usize,
    },
    /// A chip of the wrong size.
    #[error("this network takes chips of {expected} values, not {found}")]
    ChipSize {
        /// Values needed.
        expected: usize,
        /// Values given.
        found: usize,
    },
    /// Weights of a gradient that do not fit the embedding.
    #[error("an embedding of {expected} numbers needs as many weights, not {found}")]
    GradientSize {
        /// Weights needed.
        expected: usize,
        /// Weights given.
        found: usize,
    },
    /// Pixels that are not numbers between 0 and 255.
    #[error("value {index} of the chip is not between 0 and 255")]
    ChipValue {
        /// Position of the first such value.
        index: usize,
    },
    /// Landmarks from which no alignment follows.
    #[error("the landmarks of this face coincide or are not finite")]
    Landmarks,
    /// A value in a recogniser's rule that cannot be.
    #[error("{key} = {value}: {problem}")]
    Rule {
        /// The key.
        key: &'static str,
        /// Its value.
        value: String,
        /// What is possible.
        problem: &'static str,
    },
    /// A network from elsewhere failed.
    #[error("recogniser {name}: {problem}")]
    Foreign {
        /// The recogniser.
        name: String,
        /// What went wrong.
        problem: String,
    },
    /// A gradient that there is none of.
    #[error("recogniser {name} has no gradient: only those inside the program have one")]
    NoGradient {
        /// The recogniser.
        name: String,
    },
    /// A weights file that cannot be used.
    #[error("the weights of {network} cannot be used: {problem}")]
    Weights {
        /// Which network.
        network: &'static str,
        /// What is wrong.
        problem: String,
    },
}

/// Shorthand for results of this crate.
pub type Result<T, E = Error> = std::result::Result<T, E>;
