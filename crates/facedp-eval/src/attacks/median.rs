//! A 3x3 median filter, which removes isolated outliers.

use facedp_engine::Picture;

use super::{Attack, by_plane, window};
use crate::error::Result;

pub struct Median;

impl Attack for Median {
    fn name(&self) -> &'static str {
        "median-3x3"
    }

    fn apply(&self, picture: &Picture) -> Result<Picture> {
        by_plane(picture, |plane, width, height| {
            let median = |at: usize| {
                let mut values = window(plane, width, height, at);
                values.sort_unstable_by(f32::total_cmp);
                values[4]
            };
            (0..plane.len()).map(median).collect()
        })
    }
}
