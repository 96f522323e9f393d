//! Recognisers from files, named on the command line.

use std::path::PathBuf;

use anyhow::anyhow;
use facedp_engine::Recognisers;

use crate::failure::Failure;

/// Adds recognisers from files. Their names differ.
#[cfg(feature = "onnx")]
pub fn add(recognisers: Recognisers, files: &[PathBuf]) -> Result<Recognisers, Failure> {
    let mut names: Vec<String> = Vec::new();
    let mut all = recognisers;
    for file in files {
        let recogniser = facedp_onnx::open(file).map_err(anyhow::Error::from)?;
        let name = recogniser.name().to_owned();
        if names.contains(&name) {
            let problem = "another --recogniser has the name";
            let file = file.display();
            return Err(Failure::usage(anyhow!("{file}: {problem} {name}: change it in the TOML")));
        }
        names.push(name);
        all = all.with(recogniser);
    }
    Ok(all)
}

/// Refuses files: this program cannot open any.
#[cfg(not(feature = "onnx"))]
pub fn add(recognisers: Recognisers, files: &[PathBuf]) -> Result<Recognisers, Failure> {
    match files.first() {
        None => Ok(recognisers),
        Some(file) => Err(Failure::usage(anyhow!(
            "--recogniser {}: this program was built without ONNX: build it with `cargo build \
             --release --features onnx`",
            file.display()
        ))),
    }
}
