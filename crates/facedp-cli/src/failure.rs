//! How a run ends: 0 done, 1 something failed or had no face, 2 usage, 3 a face still matches under
//! `--require-no-match`, 130 interrupted.

use std::fmt::Display;
use std::io::{ErrorKind, Write};
use std::process::ExitCode;

use anyhow::Context;

use crate::plain;
use crate::remedy::explained_chain;

/// Why a command stopped.
#[derive(Debug)]
pub enum Failure {
    /// The command line asks for something impossible.
    Usage(anyhow::Error),
    /// The work could not be done.
    Work(anyhow::Error),
}

impl From<anyhow::Error> for Failure {
    fn from(error: anyhow::Error) -> Self {
        Failure::Work(error)
    }
}

impl From<facedp_engine::Error> for Failure {
    fn from(error: facedp_engine::Error) -> Self {
        Failure::Work(error.into())
    }
}

impl From<facedp_eval::Error> for Failure {
    fn from(error: facedp_eval::Error) -> Self {
        Failure::Work(error.into())
    }
}

impl From<facedp_web::Error> for Failure {
    fn from(error: facedp_web::Error) -> Self {
        Failure::Work(error.into())
    }
}

impl Failure {
    /// A usage error in the words of `error`.
    pub fn usage(error: impl Into<anyhow::Error>) -> Self {
        Failure::Usage(error.into())
    }

    /// An engine that cannot be made: usage, if what was asked for is to blame.
    pub fn of_request(error: facedp_engine::Error) -> Self {
        use facedp_engine::Error;
        match error {
            Error::Request { .. }
            | Error::Setting { .. }
            | Error::NotWritten { .. }
            | Error::UnknownRecogniser { .. }
            | Error::NoPlan { .. }
            | Error::CertifiedMetadata
            | Error::MinQuality { .. }
            | Error::Margin { .. }
            | Error::Tuning { .. }
            | Error::Mechanism(_) => Failure::Usage(error.into()),
            error => error.into(),
        }
    }

    /// Says what went wrong and turns it into the exit code.
    pub fn report(self) -> ExitCode {
        let (code, error) = match self {
            Failure::Usage(error) => (2, error),
            Failure::Work(error) => (1, error),
        };
        complain(format_args!("error: {}", explained_chain(&error)));
        ExitCode::from(code)
    }
}

/// Writes a line to standard error; a closed one is no failure.
pub fn complain(message: impl Display) {
    let _ = writeln!(std::io::stderr().lock(), "{}", plain::line(&message.to_string()));
}

/// Writes lines to standard output. A reader that has seen enough (`| head`) is no failure; anything else
/// that keeps results from being read is.
pub fn say(message: impl Display) -> anyhow::Result<()> {
    match writeln!(std::io::stdout().lock(), "{}", plain::text(&message.to_string())) {
        Err(error) if error.kind() != ErrorKind::BrokenPipe => {
            Err(error).context("cannot write to standard output")
        }
        _ => Ok(()),
    }
}
