//! A 3x3 median, which removes single odd pixels.

use facedp_engine::Picture;

use super::{Attack, by_plane, window};
use crate::error::Result;

/// The middle one of nine.
pub struct Median;

impl Attack for Median {
    fn name(&self) -> &'static str {
        "median-3x3"
    }

    fn apply(&self, picture: &Picture) -> Result<Picture> {
        by_plane(picture, |plane, width, height| {
            let middle = |at: usize| {
                let mut values = window(plane, width, height, at);
                values.sort_unstable_by(f32::total_cmp);
                values[4]
            };
            (0..plane.len()).map(middle).collect()
        })
    }
}
