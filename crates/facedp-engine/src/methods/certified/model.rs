//! The built-in face model, and what it is fitted to.

use std::sync::{Arc, OnceLock};

use facedp::faces::FaceModel;
use facedp_nets::Landmarks;

use super::erase::{cells, sample};
use super::frame::Frame;
use crate::error::{Error, Result};
use crate::photo::Photo;

/// The built-in face model; `assets/README.md` describes its training data.
pub fn embedded_faces() -> Result<Arc<FaceModel>> {
    static MODEL: OnceLock<Arc<FaceModel>> = OnceLock::new();
    if let Some(model) = MODEL.get() {
        return Ok(Arc::clone(model));
    }
    let model = FaceModel::from_bytes(facedp_models::FACES)?;
    let expected = 3 * cells().count();
    if model.values() != expected {
        let problem = format!("faces have {} values instead of {expected}", model.values());
        return Err(Error::FaceModel { problem });
    }
    Ok(Arc::clone(MODEL.get_or_init(|| Arc::new(model))))
}

/// The face with these landmarks and its surroundings, as a model is fitted to them.
pub fn face_sample(photo: Photo, landmarks: &Landmarks) -> Result<(Vec<f32>, Vec<f32>)> {
    Ok(sample(photo, Frame::new(landmarks)?))
}
