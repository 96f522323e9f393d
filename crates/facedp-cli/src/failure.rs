//! How a run ends: 0 done, 1 something failed or had no face, 2 usage, 3 a face still matches although
//! none may, 130 interrupted.

use std::fmt::Display;
use std::io::{ErrorKind, Write};
use std::process::ExitCode;

use anyhow::Context;

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

    /// Says what went wrong and turns it into the exit code.
    pub fn report(self) -> ExitCode {
        let (code, error) = match self {
            Failure::Usage(error) => (2, error),
            Failure::Work(error) => (1, error),
        };
        complain(format_args!("error: {error:#}"));
        ExitCode::from(code)
    }
}

/// A line on standard error; a closed one is nobody's fault.
pub fn complain(message: impl Display) {
    let _ = writeln!(std::io::stderr().lock(), "{message}");
}

/// A line on standard output. A reader that has seen enough (`| head`) is no failure; anything
/// else that keeps results from being read is.
pub fn say(message: impl Display) -> anyhow::Result<()> {
    match writeln!(std::io::stdout().lock(), "{message}") {
        Err(error) if error.kind() != ErrorKind::BrokenPipe => {
            Err(error).context("cannot write to standard output")
        }
        _ => Ok(()),
    }
}
