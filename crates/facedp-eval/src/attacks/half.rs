//! Reduction to half the size, then enlargement to the original size.

use facedp_engine::Picture;

use super::{Attack, by_plane, nearest};
use crate::error::Result;

/// Means of 2x2 pixels, then bilinear interpolation.
pub struct HalfSize;

impl Attack for HalfSize {
    fn name(&self) -> &'static str {
        "half-size"
    }

    fn apply(&self, picture: &Picture) -> Result<Picture> {
        by_plane(picture, |plane, width, height| {
            let (half_width, half_height) = (width.div_ceil(2), height.div_ceil(2));
            let at = |x: usize, y: usize| nearest(plane, width, height, x as isize, y as isize);
            let mean = |i: usize| {
                let (x, y) = (2 * (i % half_width), 2 * (i / half_width));
                0.25 * (at(x, y) + at(x + 1, y) + at(x, y + 1) + at(x + 1, y + 1))
            };
            let half: Vec<f32> = (0..half_width * half_height).map(mean).collect();
            let enlarged = |i: usize| {
                // The centre of each reduced pixel lies between the centres of its four source pixels.
                let place = |n: usize| ((n as f32 - 0.5) / 2.0).floor() as isize;
                let share = |n: usize| (n as f32 - 0.5) / 2.0 - place(n) as f32;
                let (x, y) = (i % width, i / width);
                let value =
                    |dx, dy| nearest(&half, half_width, half_height, place(x) + dx, place(y) + dy);
                let (s, t) = (share(x), share(y));
                (1.0 - t) * ((1.0 - s) * value(0, 0) + s * value(1, 0))
                    + t * ((1.0 - s) * value(0, 1) + s * value(1, 1))
            };
            (0..width * height).map(enlarged).collect()
        })
    }
}
