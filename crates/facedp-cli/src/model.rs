//! The feature model: the user's, or the one inside the engine.

use std::path::Path;
use std::sync::Arc;

use anyhow::{Context, Result};
use facedp::FeatureModel;
use facedp_engine::embedded_model;

/// Reads the model file, or the embedded model.
pub fn load(path: Option<&Path>) -> Result<Arc<FeatureModel>> {
    let Some(path) = path else { return embedded_model().context("the embedded model") };
    let name = || format!("{}", path.display());
    let bytes = std::fs::read(path).with_context(name)?;
    Ok(Arc::new(FeatureModel::from_bytes(&bytes).with_context(name)?))
}
