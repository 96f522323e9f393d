//! The feature model: the user's, or the one inside the program.

use std::path::Path;
use std::sync::Arc;

use anyhow::{Context, Result};
use facedp::FeatureModel;

/// Made by `tools/figures`; `assets/README.md` says from what.
static DEFAULT: &[u8] = include_bytes!("../../../assets/eigenfaces.safetensors");

/// Reads the model file, or the embedded model.
pub fn load(path: Option<&Path>) -> Result<Arc<FeatureModel>> {
    let model = match path {
        None => FeatureModel::from_bytes(DEFAULT).context("the embedded model")?,
        Some(path) => {
            let name = || format!("{}", path.display());
            let bytes = std::fs::read(path).with_context(name)?;
            FeatureModel::from_bytes(&bytes).with_context(name)?
        }
    };
    Ok(Arc::new(model))
}
