//! What can go wrong in an evaluation.

use std::path::PathBuf;

use thiserror::Error;

use crate::audit::Options;
use crate::dataset::Half;

/// An error of this crate.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum Error {
    /// A data set without people.
    #[error(
        "{}: no pictures in folders of people (DATA/NAME/*.jpg, .png, .webp){}",
        data.display(),
        if *half == Half::All { "" } else { " of this half; pass --identities all to take everybody" }
    )]
    NoPeople {
        /// The folder.
        data: PathBuf,
        /// Whom was asked for.
        half: Half,
    },
    /// A data set in which no face was found.
    #[error("{}: no face found in any picture", data.display())]
    NoFaces {
        /// The folder.
        data: PathBuf,
    },
    /// A file of pairs that cannot be read.
    #[error("{}: {problem}", file.display())]
    Pairs {
        /// The file.
        file: PathBuf,
        /// What is wrong, and where.
        problem: String,
    },
    /// A number of runs out of range.
    #[error(
        "{given} runs a side: from {} (fewer show nothing) to {} (more do not fit into memory) can be \
         asked for",
        Options::LEAST_RUNS,
        Options::MOST_RUNS
    )]
    Runs {
        /// What was asked for.
        given: usize,
    },
    /// A confidence out of range.
    #[error("a confidence of {given}: from 0.5 to below 1 can be asked for")]
    Confidence {
        /// What was asked for.
        given: f64,
    },
    /// The run was stopped.
    #[error("interrupted")]
    Stopped,
    /// A report folder that belongs to another run.
    #[error("{}: {problem}", folder.display())]
    Folder {
        /// The folder.
        folder: PathBuf,
        /// What is wrong, and what to do.
        problem: &'static str,
    },
    /// Reading or writing failed.
    #[error("{}: {reason}", path.display())]
    Io {
        /// With which file.
        path: PathBuf,
        /// What the system says.
        reason: std::io::Error,
    },
    /// A record that cannot be read.
    #[error("the record of the run is damaged: {0}: start over with --force")]
    Record(#[from] serde_json::Error),
    /// The engine failed.
    #[error(transparent)]
    Engine(#[from] facedp_engine::Error),
    /// The mechanism failed.
    #[error(transparent)]
    Mechanism(#[from] facedp::Error),
}

/// Shorthand for results of this crate.
pub type Result<T, E = Error> = std::result::Result<T, E>;
