//! JPEG compression at quality 75, as platforms apply it to uploads.

use facedp_engine::{Picture, after_jpeg};

use super::Attack;
use crate::error::Result;

/// Quality 75, chroma subsampling 4:2:0.
pub struct Jpeg75;

impl Attack for Jpeg75 {
    fn name(&self) -> &'static str {
        "jpeg-75"
    }

    fn apply(&self, picture: &Picture) -> Result<Picture> {
        Ok(after_jpeg(picture, 75)?)
    }
}
