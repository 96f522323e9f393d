//! Errors of recognisers from ONNX files.

use std::path::PathBuf;

use thiserror::Error;

/// A description with every key.
const EXAMPLE: &str = include_str!("example.toml");

#[derive(Debug, Error)]
#[non_exhaustive]
pub enum Error {
    #[error("{}: {reason}", file.display())]
    Io { file: PathBuf, reason: std::io::Error },
    /// The TOML file beside a model is missing.
    #[error(
        "{}: no such file: it must describe {} with these keys:\n\n{EXAMPLE}",
        file.display(),
        model.display()
    )]
    NoRule { file: PathBuf, model: PathBuf },
    #[error("{}: {problem}", file.display())]
    Rule { file: PathBuf, problem: String },
    #[error("{}: {problem}", file.display())]
    Model { file: PathBuf, problem: String },
}

pub type Result<T, E = Error> = std::result::Result<T, E>;
