//! What can go wrong between a photo's bytes and its result.

use std::path::PathBuf;

use thiserror::Error;

use crate::photo::Format;

/// An error of this crate.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum Error {
    /// The bytes are no picture of a known format.
    #[error(
        "{found}: facedp reads JPEG, PNG and WebP; convert HEIC, AVIF, GIF or video frames to one \
         of these first"
    )]
    Format {
        /// What it seems to be.
        found: &'static str,
    },
    /// A picture with several frames.
    #[error("animated pictures are not supported: save one frame as a picture of its own")]
    Animated,
    /// Floating-point samples.
    #[error("pictures with floating-point samples are not supported: save it with 8 or 16 bits")]
    FloatingPoint,
    /// The picture cannot be decoded.
    #[error("damaged or unsupported picture: {0}")]
    Damaged(String),
    /// More pixels than are read.
    #[error("{width}x{height} pixels are more than the {most} that facedp reads: reduce it first")]
    TooManyPixels {
        /// Width of the picture.
        width: u32,
        /// Height of the picture.
        height: u32,
        /// The limit.
        most: u64,
    },
    /// More bytes than are read, of a file or of what it unpacks to.
    #[error("{found} bytes are more than the {most} that facedp reads")]
    TooManyBytes {
        /// Size found.
        found: u64,
        /// The limit.
        most: u64,
    },
    /// A crop that does not fit.
    #[error("a crop of {side} pixels does not fit into {width}x{height}")]
    Crop {
        /// Side of the crop.
        side: usize,
        /// Width of the picture.
        width: usize,
        /// Height of the picture.
        height: usize,
    },
    /// No face was found, and no box given.
    #[error("no face found: mark it with --box x,y,w,h, or lower --min-score")]
    NoFace,
    /// Faces were found, but all of them are too small.
    #[error(
        "{found} found, but none is {least} pixels wide, which steering needs: use the photo at a \
         larger size, or a method of noise such as --method rdp-optimal"
    )]
    TooSmall {
        /// Faces found, in words.
        found: String,
        /// The least width.
        least: f32,
    },
    /// A face that was asked for by number is not there.
    #[error("face {number} was asked for, but {found} were found: `facedp inspect` numbers them")]
    FaceNumber {
        /// Number asked for.
        number: usize,
        /// Faces found.
        found: usize,
    },
    /// A box that is not in the picture.
    #[error("box {given} does not lie in the picture, which is {width}x{height}")]
    Box {
        /// The box as given.
        given: String,
        /// Width of the picture.
        width: usize,
        /// Height of the picture.
        height: usize,
    },
    /// Metadata beside a guarantee.
    #[error(
        "certified cannot keep metadata: it is not part of what its guarantee covers, and can name the \
         person; leave --keep-metadata out"
    )]
    CertifiedMetadata,
    /// Faces whose features cannot be told apart.
    #[error(
        "faces {first} and {second} overlap, and certified cannot tell their features apart: choose one \
         with --faces, and blur the other by other means"
    )]
    Overlap {
        /// One of them, counted from 1.
        first: usize,
        /// The other.
        second: usize,
    },
    /// A face that cannot hold so many features.
    #[error(
        "face {face} is too small, or too far beyond the photo's edge, to hold {features} features: ask \
         for fewer with --features, use a larger photo, or choose other faces with --faces"
    )]
    NoRoom {
        /// Which face, counted from 1.
        face: usize,
        /// How many were asked for.
        features: usize,
    },
    /// A floor of quality out of range.
    #[error("a least PSNR of {given} dB: 25 (strong) to 50 (hardly any change) can be asked for")]
    MinPsnr {
        /// What was asked for.
        given: f64,
    },
    /// A number of steering out of range.
    #[error("{name}={given}: {} to {} can be asked for", range[0], range[1])]
    Tuning {
        /// The number.
        name: &'static str,
        /// What was asked for.
        given: f64,
        /// What can be.
        range: [f64; 2],
    },
    /// Statistics of embeddings that cannot be used.
    #[error("the statistics of embeddings cannot be used: {problem}")]
    Prior {
        /// What is wrong.
        problem: String,
    },
    /// A picture too large for the format.
    #[error("{format} holds at most {most} pixels a side, this picture is {width}x{height}")]
    TooLargeFor {
        /// The format.
        format: Format,
        /// Its limit.
        most: usize,
        /// Width of the picture.
        width: usize,
        /// Height of the picture.
        height: usize,
    },
    /// The encoder failed.
    #[error("cannot be written as {format}: {problem}")]
    Encoding {
        /// The format.
        format: Format,
        /// What the encoder says.
        problem: String,
    },
    /// A key file that cannot be used.
    #[error("key {}: {problem}", path.display())]
    Key {
        /// Where it is.
        path: PathBuf,
        /// What is wrong, and what to do.
        problem: String,
    },
    /// A ledger that cannot be used.
    #[error("ledger {}: {problem}", path.display())]
    Ledger {
        /// Where it is.
        path: PathBuf,
        /// What is wrong, and what to do.
        problem: String,
    },
    /// There is no place for the user's key.
    #[error("no folder for the user's configuration is known: name a file with --key, or --ledger")]
    NoHome,
    /// A result that may not be written.
    #[error("{0}")]
    Refused(String),
    /// Reading or writing failed.
    #[error("{what} {}: {reason}", path.display())]
    Io {
        /// What was tried.
        what: &'static str,
        /// With which file or folder.
        path: PathBuf,
        /// What the system says.
        reason: std::io::Error,
    },
    /// The system gives no entropy.
    #[error("the system gives no entropy: {0}")]
    Entropy(String),
    /// Somebody asked for it.
    #[error("stopped before it was done")]
    Stopped,
    /// A defect of the program or of a library it uses.
    #[error("internal error, please report it with the picture if you can: {0}")]
    Panicked(String),
    /// The mechanism refused.
    #[error(transparent)]
    Mechanism(#[from] facedp::Error),
    /// A network refused.
    #[error(transparent)]
    Networks(#[from] facedp_nets::Error),
}

impl Error {
    /// Wraps a failure of the system.
    pub(crate) fn io(
        what: &'static str,
        path: impl Into<PathBuf>,
    ) -> impl FnOnce(std::io::Error) -> Self {
        let path = path.into();
        // Libraries wrap the system's error with a temporary name, which would only confuse.
        move |reason| match reason.raw_os_error() {
            Some(_) => Error::Io { what, path, reason },
            None => Error::Io { what, path, reason: reason.kind().into() },
        }
    }

    /// Whether nothing more can be written, to any file.
    pub fn is_disk_full(&self) -> bool {
        use std::io::ErrorKind::{QuotaExceeded, StorageFull};
        matches!(self, Error::Io { reason, .. } if matches!(reason.kind(), StorageFull | QuotaExceeded))
    }
}

/// Shorthand for results of this crate.
pub type Result<T, E = Error> = std::result::Result<T, E>;
