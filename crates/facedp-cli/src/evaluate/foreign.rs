//! Recognisers from files, named on the command line.

use std::path::PathBuf;

use anyhow::anyhow;
use facedp_engine::Recogniser;

use crate::failure::Failure;

/// Opens recognisers; all their names differ.
#[cfg(feature = "onnx")]
pub fn open(files: &[PathBuf]) -> Result<Vec<Recogniser>, Failure> {
    let mut opened: Vec<Recogniser> = Vec::new();
    for file in files {
        let recogniser = facedp_onnx::open(file).map_err(anyhow::Error::from)?;
        if opened.iter().any(|other| other.name() == recogniser.name()) {
            let (file, name) = (file.display(), recogniser.name());
            let problem = "another --recogniser has the name";
            return Err(Failure::usage(anyhow!("{file}: {problem} {name}: change it in the TOML")));
        }
        opened.push(recogniser);
    }
    Ok(opened)
}

/// Refuses them: this program cannot open any.
#[cfg(not(feature = "onnx"))]
pub fn open(files: &[PathBuf]) -> Result<Vec<Recogniser>, Failure> {
    match files.first() {
        None => Ok(Vec::new()),
        Some(file) => Err(Failure::usage(anyhow!(
            "--recogniser {}: this program was built without ONNX: build it with `cargo build \
             --release --features onnx`",
            file.display()
        ))),
    }
}
