//! What can go wrong with a recogniser of one's own.

use std::path::PathBuf;

use thiserror::Error;

/// A description with every key.
const EXAMPLE: &str = include_str!("example.toml");

/// An error of this crate.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum Error {
    /// A file that cannot be read.
    #[error("{}: {reason}", file.display())]
    Io {
        /// Which file.
        file: PathBuf,
        /// What the system says.
        reason: std::io::Error,
    },
    /// There is no description.
    #[error(
        "{}: no such file: describe {} there, with these keys:\n\n{EXAMPLE}",
        file.display(),
        model.display()
    )]
    NoRule {
        /// Where it should be.
        file: PathBuf,
        /// What it should describe.
        model: PathBuf,
    },
    /// A description that cannot be used.
    #[error("{}: {problem}", file.display())]
    Rule {
        /// Which file.
        file: PathBuf,
        /// What is wrong, and what is possible.
        problem: String,
    },
    /// A model that cannot be used.
    #[error("{}: {problem}", file.display())]
    Model {
        /// Which file.
        file: PathBuf,
        /// What is wrong, and what to do.
        problem: String,
    },
}

/// Shorthand for results of this crate.
pub type Result<T, E = Error> = std::result::Result<T, E>;
