//! Nothing: what the others are compared with.

use facedp_engine::Picture;

use super::Attack;
use crate::error::Result;

/// The picture as it is.
pub struct Nothing;

impl Attack for Nothing {
    fn name(&self) -> &'static str {
        "none"
    }

    fn apply(&self, picture: &Picture) -> Result<Picture> {
        Ok(picture.clone())
    }
}
