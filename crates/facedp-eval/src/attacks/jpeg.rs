//! JPEG of quality 75, what platforms make of photos.

use facedp_engine::{Picture, after_jpeg};

use super::Attack;
use crate::error::Result;

/// JPEG 75, 4:2:0.
pub struct Jpeg75;

impl Attack for Jpeg75 {
    fn name(&self) -> &'static str {
        "jpeg-75"
    }

    fn apply(&self, picture: &Picture) -> Result<Picture> {
        Ok(after_jpeg(picture, 75)?)
    }
}
