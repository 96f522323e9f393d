//! The feature model: the user's, or the one inside the engine.

use std::path::Path;
use std::sync::Arc;

use anyhow::{Context, Result};
use facedp::FeatureModel;
use facedp_engine::{SharedModel, embedded_model, files};

/// Models have some megabytes.
const MAX_BYTES: u64 = 2_000_000_000;

/// The same for an engine, which may not need the embedded one.
pub fn shared(path: Option<&Path>) -> Result<SharedModel> {
    Ok(match path {
        Some(path) => load(Some(path))?.into(),
        None => SharedModel::default(),
    })
}

/// Reads the model file, or the embedded model.
pub fn load(path: Option<&Path>) -> Result<Arc<FeatureModel>> {
    let Some(path) = path else { return embedded_model().context("the embedded model") };
    let name = || format!("{}", path.display());
    let bytes = files::read(path, MAX_BYTES).with_context(name)?;
    Ok(Arc::new(FeatureModel::from_bytes(&bytes).with_context(name)?))
}
