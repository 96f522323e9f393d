//! No attack: the baseline for the others.

use facedp_engine::Picture;

use super::Attack;
use crate::error::Result;

pub struct Nothing;

impl Attack for Nothing {
    fn name(&self) -> &'static str {
        "none"
    }

    fn apply(&self, picture: &Picture) -> Result<Picture> {
        Ok(picture.clone())
    }
}
