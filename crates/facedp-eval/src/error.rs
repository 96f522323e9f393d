//! What can go wrong in an evaluation. Messages state facts; front ends add what to do.

use std::path::PathBuf;

use thiserror::Error;

use crate::audit::Options;
use crate::dataset::Half;

#[derive(Debug, Error)]
#[non_exhaustive]
pub enum Error {
    #[error(
        "{}: no pictures in folders of people (DATA/NAME/*.jpg, .png, .webp){}",
        data.display(),
        match half { Half::All => "", Half::Even => " of the even half", Half::Odd => " of the odd half" }
    )]
    NoPeople {
        data: PathBuf,
        /// The half that was asked for; the other half may have pictures.
        half: Half,
    },
    #[error("{}: no face found in any picture", data.display())]
    NoFaces { data: PathBuf },
    /// A file of pairs that cannot be read.
    #[error("{}: {problem}", file.display())]
    Pairs {
        file: PathBuf,
        /// What is wrong, with its line.
        problem: String,
    },
    #[error(
        "{given} runs per neighbour: the range is {} (fewer show nothing) to {} (more do not fit into \
         memory)",
        Options::MIN_RUNS,
        Options::MAX_RUNS
    )]
    Runs { given: usize },
    #[error("a confidence of {given}: the range is 0.5 to below 1")]
    Confidence { given: f64 },
    #[error("interrupted")]
    Stopped,
    #[error("{method} changes no faces")]
    Unchanging { method: String },
    #[error("{}: not a folder", path.display())]
    NotAFolder { path: PathBuf },
    /// The report folder holds a report, and the run may neither resume nor overwrite it.
    #[error("{}: holds a report already", folder.display())]
    ReportExists { folder: PathBuf },
    /// The report folder belongs to a run with other options, so its cells cannot be reused.
    #[error("{}: the report there was begun with other options", folder.display())]
    OtherOptions { folder: PathBuf },
    /// A journal written by another version of the program.
    #[error("{}: schema {found}; this version reads schema {known}", journal.display())]
    Schema {
        journal: PathBuf,
        /// As it stands in the file; `none` if the file has no schema.
        found: String,
        known: u64,
    },
    #[error("{}: {place} is damaged: {reason}", journal.display())]
    DamagedJournal {
        journal: PathBuf,
        /// The line or the cell.
        place: String,
        reason: serde_json::Error,
    },
    #[error("{}: {reason}", path.display())]
    Io { path: PathBuf, reason: std::io::Error },
    #[error("cannot write results as JSON: {0}")]
    Json(#[from] serde_json::Error),
    #[error(transparent)]
    Engine(#[from] facedp_engine::Error),
    #[error(transparent)]
    Mechanism(#[from] facedp::Error),
}

pub type Result<T, E = Error> = std::result::Result<T, E>;
