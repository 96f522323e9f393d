//! Recognisers from ONNX files. Beside `model.onnx`, a file `model.toml` says how faces are shown to
//! the network and when two faces match.
//!
//! Every key of `model.toml` is required:
//!
//! ```toml
#![doc = include_str!("example.toml")]
//! ```
//!
//! Networks run on RTen, which is pure Rust. ONNX Runtime knows more operations, but its crate `ort`
//! downloads a shared library during the build. tract takes ten minutes to build on two cores, and runs
//! at half the speed.

mod error;
mod file;
mod gaps;
mod network;
mod nodes;
mod wire;

use std::fs;
use std::io::ErrorKind;
use std::path::Path;

use facedp_nets::{Recogniser, Rule};

pub use error::{Error, Result};
use network::Network;

/// Opens a recogniser: the ONNX file `model` and the TOML file beside it.
pub fn open(model: &Path) -> Result<Recogniser> {
    let unreadable = |reason| Error::Io { file: model.to_owned(), reason };
    let bytes = fs::read(model).map_err(unreadable)?;
    let rule = rule(model)?;
    let unusable = |problem| Error::Model { file: model.to_owned(), problem };
    let network = Network::new(&bytes, rule.side).map_err(unusable)?;
    Recogniser::foreign(rule, Box::new(network)).map_err(|reason| match reason {
        facedp_nets::Error::Foreign { problem, .. } => unusable(problem),
        reason => unusable(reason.to_string()),
    })
}

/// Reads the TOML file beside a model.
fn rule(model: &Path) -> Result<Rule> {
    let file = model.with_extension("toml");
    let text = match fs::read_to_string(&file) {
        Ok(text) => text,
        Err(reason) if reason.kind() == ErrorKind::NotFound => {
            return Err(Error::NoRule { file, model: model.to_owned() });
        }
        Err(reason) => return Err(Error::Io { file, reason }),
    };
    let read = toml::from_str(&text).map_err(|problem| problem.to_string());
    let checked = read.and_then(|rule: Rule| match rule.validate() {
        Ok(()) => Ok(rule),
        Err(problem) => Err(problem.to_string()),
    });
    checked.map_err(|problem| Error::Rule { file, problem: problem.trim_end().to_owned() })
}
