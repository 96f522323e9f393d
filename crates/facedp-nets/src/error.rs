//! Errors of networks and of their inputs.

use thiserror::Error;

#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum Error {
    #[error("a colour picture of {width}x{height} needs {expected} samples, not {found}")]
    PictureData { width: usize, height: usize, expected: usize, found: usize },
    #[error("this network takes chips of {expected} values, not {found}")]
    ChipSize { expected: usize, found: usize },
    #[error("an embedding of {expected} numbers needs as many weights, not {found}")]
    GradientSize { expected: usize, found: usize },
    #[error("value {index} of the chip is not between 0 and 255")]
    ChipValue { index: usize },
    #[error("the landmarks of this face coincide or are not finite")]
    Landmarks,
    /// `problem` says what is allowed.
    #[error("{key} = {value}: {problem}")]
    Rule { key: &'static str, value: String, problem: &'static str },
    /// A foreign network failed.
    #[error("recogniser {name}: {problem}")]
    Foreign { name: String, problem: String },
    #[error("recogniser {name} has no gradient: only built-in recognisers have one")]
    NoGradient { name: String },
    #[error("the weights of {network} cannot be used: {problem}")]
    Weights { network: &'static str, problem: String },
}

pub type Result<T, E = Error> = std::result::Result<T, E>;
