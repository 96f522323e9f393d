//! A 3x3 blur.

use facedp_engine::Picture;

use super::{Attack, by_plane, window};
use crate::error::Result;

/// The separable kernel 1 2 1.
pub struct Blur;

impl Attack for Blur {
    fn name(&self) -> &'static str {
        "blur-3x3"
    }

    fn apply(&self, picture: &Picture) -> Result<Picture> {
        const WEIGHTS: [f32; 9] = [1.0, 2.0, 1.0, 2.0, 4.0, 2.0, 1.0, 2.0, 1.0];
        by_plane(picture, |plane, width, height| {
            let mean = |at: usize| {
                let values = window(plane, width, height, at);
                values.iter().zip(WEIGHTS).map(|(v, w)| v * w).sum::<f32>() / 16.0
            };
            (0..plane.len()).map(mean).collect()
        })
    }
}
