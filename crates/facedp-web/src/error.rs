//! Errors: of starting the server, and as answers to requests.

use axum::Json;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use facedp_engine::Error as EngineError;
use serde::Serialize;
use thiserror::Error as ThisError;

/// Why the server cannot start.
#[derive(Debug, ThisError)]
#[non_exhaustive]
pub enum Error {
    #[error("cannot listen on 127.0.0.1:{port}: {reason}")]
    Listen { port: u16, reason: std::io::Error },
    #[error("cannot start: {0}")]
    Start(std::io::Error),
    #[error(transparent)]
    Engine(#[from] EngineError),
}

pub(crate) type Result<T, E = Error> = std::result::Result<T, E>;

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

    pub fn no_token() -> Self {
        let message = "the token is missing or wrong: open the address that `facedp serve` printed, or send its \
                       token as `Authorization: Bearer TOKEN`";
        Self::new(StatusCode::UNAUTHORIZED, "token", message)
    }

    pub fn not_found(message: impl Into<String>) -> Self {
        Self::new(StatusCode::NOT_FOUND, "not-found", message)
    }

    pub fn method_not_allowed() -> Self {
        let message = "this address does not support that HTTP method";
        Self::new(StatusCode::METHOD_NOT_ALLOWED, "method-not-allowed", message)
    }

    pub fn slow() -> Self {
        let message = "the upload took too long: try again";
        Self::new(StatusCode::REQUEST_TIMEOUT, "slow", message)
    }

    pub fn not_done() -> Self {
        let message = "the photo is not done: wait until its state is `done`";
        Self::new(StatusCode::CONFLICT, "not-done", message)
    }

    pub fn stopped() -> Self {
        Self::new(StatusCode::CONFLICT, "not-done", "the work on the photo was stopped")
    }

    pub fn too_large(max: u64) -> Self {
        let message = format!("more than {} MB: use a smaller file", max / 1_000_000);
        Self::new(StatusCode::PAYLOAD_TOO_LARGE, "too-large", message)
    }

    pub fn not_multipart() -> Self {
        let message = "the body is not multipart/form-data with a boundary";
        Self::new(StatusCode::UNSUPPORTED_MEDIA_TYPE, "not-multipart", message)
    }

    fn photo(message: impl Into<String>) -> Self {
        Self::new(StatusCode::UNPROCESSABLE_ENTITY, "photo", message)
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

    /// Whether the photo is at fault.
    pub fn is_of_photo(&self) -> bool {
        self.code == "photo"
    }

    /// The same problem before any photo was looked at: the settings are at fault.
    pub fn of_settings(self) -> Self {
        if self.is_of_photo() { Self::bad_request(self.message) } else { self }
    }
}

/// What a user of the page can do about an error. The engine only states facts.
fn remedy(error: &EngineError) -> Option<&'static str> {
    Some(match error {
        EngineError::Animated => "save one frame as a picture of its own",
        EngineError::FloatingPoint => "save it with 8 or 16 bits",
        EngineError::TooManyPixels { .. } | EngineError::TooManyBytes { .. } => {
            "use a smaller version"
        }
        EngineError::NoFace => "draw a box round it",
        EngineError::TooSmall { .. } => "use the photo at a larger size, or another method",
        _ => return None,
    })
}

impl From<EngineError> for Problem {
    fn from(error: EngineError) -> Self {
        match &error {
            // It asks for a report itself.
            EngineError::Panicked(what) => Self::defect(what),
            EngineError::Io { .. }
            | EngineError::Entropy(_)
            | EngineError::Ledger { .. }
            | EngineError::Prior { .. } => Self::defect(error.to_string()),
            _ => Self::photo(match remedy(&error) {
                Some(remedy) => format!("{error}: {remedy}"),
                None => error.to_string(),
            }),
        }
    }
}

impl IntoResponse for Problem {
    fn into_response(self) -> Response {
        let status = self.status;
        let mut answer = (status, Json(serde_json::json!({ "error": self }))).into_response();
        if status == StatusCode::UNAUTHORIZED {
            let asked = HeaderValue::from_static("Bearer");
            answer.headers_mut().insert(header::WWW_AUTHENTICATE, asked);
        }
        if status == StatusCode::TOO_MANY_REQUESTS {
            answer.headers_mut().insert(header::RETRY_AFTER, HeaderValue::from_static("1"));
        }
        answer
    }
}
