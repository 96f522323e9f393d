//! Errors of this crate.
//!
//! They state facts. Front ends add what to do about them, in their own terms.

use std::fmt::Display;
use std::path::PathBuf;

use serde::{Serialize, Serializer};
use thiserror::Error;

use crate::format::Format;

/// In JSON, an error has its name and its facts: `{"too-small": {"found": 1, "min": 32.0}}`.
#[derive(Debug, Error, Serialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Error {
    // The file.
    #[error("{found}: facedp reads JPEG, PNG, WebP and HEIC")]
    Format { found: &'static str },
    #[error("animated pictures are not supported")]
    Animated,
    #[error("pictures with floating-point samples are not supported")]
    FloatingPoint,
    #[error("damaged or unsupported picture: {0}")]
    Damaged(String),
    #[error("{width}x{height} pixels are more than the {max} that facedp reads")]
    TooManyPixels { width: u32, height: u32, max: u64 },
    /// The file, or its decoded samples.
    #[error("{found} bytes are more than the {max} that facedp reads")]
    TooManyBytes { found: u64, max: u64 },

    #[error(
        "{samples} samples are not a picture of {width}x{height} with {channels} channels: 1 to 4 \
         channels and at least one pixel are needed"
    )]
    Pixels { samples: usize, width: usize, height: usize, channels: usize },

    // Faces.
    #[error("a crop of {side} pixels does not fit into {width}x{height}")]
    Crop { side: usize, width: usize, height: usize },
    #[error("no face found")]
    NoFace,
    #[error(
        "{} found, but none is {min} pixels wide, which steering needs",
        if *found == 1 { "1 face".to_owned() } else { format!("{found} faces") }
    )]
    TooSmall { found: usize, min: f32 },
    #[error("face {number} was asked for, but {found} were found")]
    FaceNumber { number: usize, found: usize },
    #[error("box {given} does not lie in the picture, which is {width}x{height}")]
    Box { given: String, width: usize, height: usize },

    // The request.
    #[error("{problem}")]
    Request { problem: String },
    #[error("unknown method `{name}`: there are {}", known.join(", "))]
    UnknownMethod { name: String, known: Vec<String> },
    #[error("unknown recogniser `{name}`: there are {}", known.join(", "))]
    UnknownRecogniser { name: String, known: Vec<String> },
    /// `of` is a method or a part of one.
    #[error("`{setting}` is not a setting of {of}")]
    Setting { setting: &'static str, of: String },
    #[error("{method} has no plan: it depends on the photo")]
    NoPlan { method: String },
    #[error(
        "certified cannot keep metadata: its guarantee does not cover metadata, which can name the \
         person"
    )]
    CertifiedMetadata,
    #[error(
        "a smallest quality of {given}: the range is {low} (strong) to {high} (hardly any change)"
    )]
    MinQuality { given: f64, low: f64, high: f64 },
    #[error("the quality could not be measured: {problem}")]
    Score { problem: String },
    #[error("a margin of {given}: 0 or more thresholds are possible")]
    Margin { given: f32 },
    #[error("{name}={given}: the range is {} to {}", range[0], range[1])]
    Tuning { name: &'static str, given: f64, range: [f64; 2] },

    // Results.
    #[error("{format} holds at most {max} pixels a side, this picture is {width}x{height}")]
    TooLargeFor { format: Format, max: usize, width: usize, height: usize },
    #[error("{format} is read, but not written")]
    NotWritten { format: Format },
    #[error("cannot be written as {format}: {problem}")]
    Encoding { format: Format, problem: String },
    #[error("the result would overwrite the original {}", target.display())]
    OverOriginal { target: PathBuf },
    #[error("the result {} would overwrite that of {}", target.display(), other.display())]
    OverResult { target: PathBuf, other: PathBuf },
    #[error("{} exists already", path.display())]
    Exists { path: PathBuf },
    #[error("its result is {}x{} pixels, and the photo {}x{}", found[0], found[1], expected[0], expected[1])]
    ResultSize { found: [usize; 2], expected: [usize; 2] },

    // Runs over many photos.
    #[error("{}: another run is writing to this folder", folder.display())]
    Busy { folder: PathBuf },
    #[error("{}: a run into this folder was interrupted", folder.display())]
    Interrupted { folder: PathBuf },
    #[error(
        "{}: the interrupted run had other options, another key or another version",
        folder.display()
    )]
    OtherRun { folder: PathBuf },
    #[error("{}: the record of an interrupted run cannot be read", folder.display())]
    RunRecord { folder: PathBuf },
    #[error("{}: no pictures ({}) in this folder", path.display(), extensions)]
    EmptyFolder { path: PathBuf, extensions: String },
    #[error("{}: no picture ({}) matches this pattern", path.display(), extensions)]
    NoMatch { path: PathBuf, extensions: String },
    #[error("{}: not a pattern: {problem}", path.display())]
    Pattern { path: PathBuf, problem: String },
    /// A file that looks like a picture or video, in a folder or matched by a pattern.
    #[error("{}: facedp reads JPEG, PNG, WebP and HEIC only", path.display())]
    NotRead { path: PathBuf },
    #[error("neither a file nor a folder")]
    NotAFile,
    #[error("{}: this folder has no parent", path.display())]
    NoSibling { path: PathBuf },
    #[error("worker threads: {0}")]
    Threads(String),
    #[error("{asked} threads are more than the {max} that this machine can use")]
    TooManyThreads { asked: usize, max: usize },

    // What is stored.
    #[error("the statistics of embeddings cannot be used: {problem}")]
    Prior { problem: String },
    #[error("the face model cannot be used: {problem}")]
    FaceModel { problem: String },
    #[error("key {}: {problem}", path.display())]
    Key { path: PathBuf, problem: String },
    #[error("ledger {}: {problem}", path.display())]
    Ledger { path: PathBuf, problem: String },
    #[error("not a receipt: {problem}")]
    Receipt { problem: String },
    #[error("the {what} has format {found}, and this version knows format {known}")]
    Schema { what: &'static str, found: u32, known: u32 },
    /// A file of the program's own that somebody else may have put there.
    #[error("{}: {problem}", path.display())]
    NotOwn { path: PathBuf, problem: &'static str },
    #[error("no folder for the user's configuration is known")]
    NoHome,

    // The system.
    #[error("{what} {}: {reason}", path.display())]
    Io {
        what: &'static str,
        path: PathBuf,
        #[serde(serialize_with = "in_words")]
        reason: std::io::Error,
    },
    #[error("the system gives no entropy: {0}")]
    Entropy(String),
    #[error("stopped before it was done")]
    Stopped,
    /// A defect of the program or of a library it uses.
    #[error("internal error, please report it with the picture if you can: {0}")]
    Panicked(String),
    #[error(transparent)]
    Mechanism(
        #[from]
        #[serde(serialize_with = "in_words")]
        facedp::Error,
    ),
    #[error(transparent)]
    Networks(
        #[from]
        #[serde(serialize_with = "in_words")]
        facedp_nets::Error,
    ),
}

fn in_words<S: Serializer>(error: &impl Display, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_str(error)
}

impl Error {
    /// Wraps an I/O error.
    pub(crate) fn io(
        what: &'static str,
        path: impl Into<PathBuf>,
    ) -> impl FnOnce(std::io::Error) -> Self {
        let path = path.into();
        // Libraries add the name of a temporary file to the error, which would only confuse users.
        move |reason| match reason.raw_os_error() {
            Some(_) => Error::Io { what, path, reason },
            None => Error::Io { what, path, reason: reason.kind().into() },
        }
    }

    /// Whether the disk or the quota is full.
    pub fn is_disk_full(&self) -> bool {
        use std::io::ErrorKind::{QuotaExceeded, StorageFull};
        matches!(self, Error::Io { reason, .. } if matches!(reason.kind(), StorageFull | QuotaExceeded))
    }
}

pub type Result<T, E = Error> = std::result::Result<T, E>;

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn errors_have_names_and_facts() {
        let reason = std::io::Error::from_raw_os_error(2);
        for (error, text) in [
            (Error::NoFace, r#""no-face""#),
            (Error::TooSmall { found: 1, min: 32.0 }, r#"{"too-small":{"found":1,"min":32.0}}"#),
            (Error::Damaged("end".to_owned()), r#"{"damaged":"end"}"#),
            (
                Error::Io { what: "cannot read", path: "a.jpg".into(), reason },
                r#"{"io":{"what":"cannot read","path":"a.jpg","reason":"No such file or directory (os error 2)"}}"#,
            ),
        ] {
            assert_eq!(serde_json::to_string(&error).unwrap(), text);
        }
    }
}
