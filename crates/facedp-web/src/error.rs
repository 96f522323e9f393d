//! What can go wrong, as the one who asks is told.

use axum::Json;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde::Serialize;
use thiserror::Error as ThisError;

use facedp_engine::Error as EngineError;

/// Why the server cannot start.
#[derive(Debug, ThisError)]
#[non_exhaustive]
pub enum Error {
    /// The port that was asked for cannot be had.
    #[error("cannot listen on 127.0.0.1:{port}: {reason}; leave --port out for a free one")]
    Listen {
        /// The port.
        port: u16,
        /// What the system says.
        reason: std::io::Error,
    },
    /// The system gives no threads.
    #[error("cannot start: {0}")]
    Start(std::io::Error),
    /// The engine refused.
    #[error(transparent)]
    Engine(#[from] EngineError),
}

/// Shorthand for results of this crate.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// An answer that says why there is no other.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct Problem {
    #[serde(skip)]
    status: StatusCode,
    /// A word for programs.
    code: &'static str,
    /// A sentence for people: what is wrong, and what to do.
    message: String,
}

impl Problem {
    fn new(status: StatusCode, code: &'static str, message: impl Into<String>) -> Self {
        Self { status, code, message: message.into() }
    }

    pub fn bad_request(message: impl Into<String>) -> Self {
        Self::new(StatusCode::BAD_REQUEST, "bad-request", message)
    }

    pub fn foreign(message: impl Into<String>) -> Self {
        Self::new(StatusCode::FORBIDDEN, "foreign", message)
    }

    pub fn unknown(message: impl Into<String>) -> Self {
        Self::new(StatusCode::NOT_FOUND, "not-found", message)
    }

    pub fn method() -> Self {
        let message = "this address does not answer to that method";
        Self::new(StatusCode::METHOD_NOT_ALLOWED, "method-not-allowed", message)
    }

    pub fn slow() -> Self {
        let message = "the upload took too long: try again";
        Self::new(StatusCode::REQUEST_TIMEOUT, "slow", message)
    }

    pub fn not_done() -> Self {
        let message = "the photo is not done: wait for its state to be `done`";
        Self::new(StatusCode::CONFLICT, "not-done", message)
    }

    pub fn too_large(most: u64) -> Self {
        let message = format!("more than {} MB: use a smaller file", most / 1_000_000);
        Self::new(StatusCode::PAYLOAD_TOO_LARGE, "too-large", message)
    }

    pub fn not_multipart() -> Self {
        let message = "send multipart/form-data with a boundary";
        Self::new(StatusCode::UNSUPPORTED_MEDIA_TYPE, "not-multipart", message)
    }

    pub fn photo(message: impl Into<String>) -> Self {
        Self::new(StatusCode::UNPROCESSABLE_ENTITY, "photo", message)
    }

    /// Whether the photo is to blame.
    pub fn is_of_a_photo(&self) -> bool {
        self.code == "photo"
    }

    /// The same, where there is no photo yet that could be to blame.
    pub fn of_settings(self) -> Self {
        if self.is_of_a_photo() { Self::bad_request(self.message) } else { self }
    }

    pub fn busy(message: impl Into<String>) -> Self {
        Self::new(StatusCode::TOO_MANY_REQUESTS, "busy", message)
    }

    pub fn timed_out(seconds: u64) -> Self {
        let message = format!("not done after {seconds} s: choose fewer faces, or a smaller photo");
        Self::new(StatusCode::UNPROCESSABLE_ENTITY, "timed-out", message)
    }

    pub fn defect(message: impl Into<String>) -> Self {
        let message = format!("internal error, please report it: {}", message.into());
        Self::new(StatusCode::INTERNAL_SERVER_ERROR, "defect", message)
    }
}

/// A photo that cannot be treated, in the words of a page: it has no options to name.
impl From<EngineError> for Problem {
    fn from(error: EngineError) -> Self {
        let message = match &error {
            EngineError::NoFace => "no face found: draw a box round it".to_owned(),
            EngineError::TooSmall { found, least } => format!(
                "{found} found, but none is {least} pixels wide, which misleading recognisers needs: use \
                 the photo at a larger size, or another method"
            ),
            EngineError::FaceNumber { number, found } => {
                format!("face {number} was chosen, but {found} were found")
            }
            EngineError::Overlap { first, second } => format!(
                "faces {first} and {second} overlap, and certified cannot tell their features apart: leave \
                 one of them out"
            ),
            EngineError::NoRoom { face, features } => format!(
                "face {face} is too small, or too far beyond the photo's edge, to hold {features} features: \
                 leave it out, or use a larger photo"
            ),
            EngineError::CertifiedMetadata => {
                "certified cannot keep metadata: it is not part of what its guarantee covers, and can \
                 name the person"
                    .to_owned()
            }
            EngineError::Panicked(what) => return Self::defect(what),
            EngineError::Io { .. } | EngineError::Entropy(_) | EngineError::Ledger { .. } => {
                return Self::defect(error.to_string());
            }
            other => other.to_string(),
        };
        Self::photo(message)
    }
}

impl IntoResponse for Problem {
    fn into_response(self) -> Response {
        let status = self.status;
        let mut answer = (status, Json(serde_json::json!({ "error": self }))).into_response();
        if status == StatusCode::TOO_MANY_REQUESTS {
            answer.headers_mut().insert(header::RETRY_AFTER, HeaderValue::from_static("1"));
        }
        answer
    }
}
