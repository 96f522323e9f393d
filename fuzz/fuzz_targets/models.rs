//! Files with models: eigenfaces, faces in colour, and the statistics of embeddings. Checksums are set right, and
//! missing tensors are filled with zeros, so that what comes after these checks is reached too.
#![no_main]

mod fixed;

use facedp::faces::FaceModel;
use facedp::{Error, FeatureModel};
use facedp_engine::Prior;
use libfuzzer_sys::fuzz_target;
use safetensors::SafeTensors;

/// Bytes up to which files are filled: the prior needs 1.2 MB.
const MAX_FILLED: usize = 1_500_000;

fuzz_target!(|file: &[u8]| {
    fixed::executes(file);
    read(file);
    if let Some(filled) = filled(file) {
        read(&filled);
    }
});

fn read(file: &[u8]) {
    let model = match FeatureModel::from_bytes(file) {
        Err(Error::DamagedModel { expected, found }) => {
            repaired(file, &expected, &found).map(|file| FeatureModel::from_bytes(&file))
        }
        model => Some(model),
    };
    if let Some(Ok(model)) = model {
        assert!(model.features() > 0 && model.pixels() > 0);
        assert!(model.eigenfaces().iter().all(|value| value.is_finite()));
    }
    if let Ok(model) = FaceModel::from_bytes(file) {
        assert!(model.features() > 0);
    }
    let _ = Prior::from_bytes(file);
}

/// The file with another checksum in the place of its own.
fn repaired(file: &[u8], own: &str, other: &str) -> Option<Vec<u8>> {
    let at = file.windows(own.len().max(1)).position(|window| window == own.as_bytes())?;
    let rest = &file[at + own.len()..];
    (own.len() == other.len()).then(|| [&file[..at], other.as_bytes(), rest].concat())
}

/// The file with as many bytes as its head declares.
fn filled(file: &[u8]) -> Option<Vec<u8>> {
    let (head, metadata) = SafeTensors::read_metadata(file).ok()?;
    let length = metadata.data_len().checked_add(head)?.checked_add(8)?;
    let missing = (file.len() + 1..=MAX_FILLED).contains(&length);
    missing.then(|| [file, &vec![0; length - file.len()]].concat())
}
