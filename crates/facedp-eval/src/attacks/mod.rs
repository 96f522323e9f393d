//! What an attacker does to a noisy picture before passing it to a recogniser.
//!
//! A new attack is one file and one line in [`all`].

mod blur;
mod half;
mod jpeg;
mod median;
mod none;
mod shrinkage;

use facedp_engine::Picture;

use crate::error::Result;

pub trait Attack: Sync {
    /// The name in options, results and reports.
    fn name(&self) -> &'static str;
    /// Treats a picture. The result has the same size.
    fn apply(&self, picture: &Picture) -> Result<Picture>;
}

/// All attacks, in the order of the report.
pub fn all() -> Vec<Box<dyn Attack>> {
    vec![
        Box::new(none::Nothing),
        Box::new(jpeg::Jpeg75),
        Box::new(half::HalfSize),
        Box::new(blur::Blur),
        Box::new(median::Median),
        Box::new(shrinkage::Shrinkage),
    ]
}

/// Treats the three colour planes of a picture separately.
fn by_plane(
    picture: &Picture,
    treat: impl Fn(&[f32], usize, usize) -> Vec<f32>,
) -> Result<Picture> {
    let (width, height) = (picture.width(), picture.height());
    let mut rgb = picture.rgb().to_vec();
    for colour in 0..3 {
        let plane: Vec<f32> =
            picture.rgb().iter().skip(colour).step_by(3).map(|v| f32::from(*v)).collect();
        let treated = treat(&plane, width, height);
        rgb.iter_mut()
            .skip(colour)
            .step_by(3)
            .zip(treated)
            .for_each(|(out, v)| *out = v.round() as u8);
    }
    Ok(Picture::new(width, height, rgb).map_err(facedp_engine::Error::from)?)
}

/// The value at a position. Positions outside take the nearest pixel.
fn nearest(plane: &[f32], width: usize, height: usize, x: isize, y: isize) -> f32 {
    let x = x.clamp(0, width as isize - 1) as usize;
    let y = y.clamp(0, height as isize - 1) as usize;
    plane[y * width + x]
}

/// The 3x3 values around a pixel, row by row.
fn window(plane: &[f32], width: usize, height: usize, at: usize) -> [f32; 9] {
    let (x, y) = ((at % width) as isize, (at / width) as isize);
    std::array::from_fn(|i| {
        nearest(plane, width, height, x + (i % 3) as isize - 1, y + (i / 3) as isize - 1)
    })
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    /// A flat picture stays flat; fine noise is reduced.
    #[test]
    fn attacks_smooth() {
        let flat = Picture::new(32, 40, vec![90; 3 * 32 * 40]).unwrap();
        let noise = |i: usize| (90 + (i * 7919 + i * i * 104_729) % 25 - 12) as u8;
        let noisy = Picture::new(32, 40, (0..3 * 32 * 40).map(noise).collect()).unwrap();
        let spread = |picture: &Picture| -> f64 {
            picture.rgb().iter().map(|v| (f64::from(*v) - 90.0).powi(2)).sum()
        };
        let attacks = all();
        assert_eq!(attacks.len(), 6);
        for attack in attacks {
            let treated = attack.apply(&flat).unwrap();
            assert_eq!((treated.width(), treated.height()), (32, 40));
            assert!(treated.rgb().iter().all(|v| v.abs_diff(90) <= 1), "{}", attack.name());
            let left = spread(&attack.apply(&noisy).unwrap()) / spread(&noisy);
            let max = if attack.name() == "none" { 1.0 } else { 0.9 };
            assert!(left <= max, "{} left {left}", attack.name());
        }
    }
}
