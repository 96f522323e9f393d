//! Drawing a steered face at full resolution, with as much change of luma as its quality allows.

use facedp::Plane;

use super::descent::SteeredFace;
use crate::error::Result;
use crate::lift::{self, Lift};
use crate::methods::Face;
use crate::photo::{Encoding, Photo, Region};
use crate::quality::{Original, seen};

/// Largest number of measurements.
const TRIALS: usize = 6;
/// Points above the floor from which a larger change is tried.
const TOLERANCE: f64 = 0.7;
/// Largest factor on the change that the descent found.
const MAX_AMOUNT: f64 = 1.5;
/// Points that a change may cost where the encoding alone falls below the floor.
const LEAST_COST: f64 = 4.0;

/// A face that was drawn.
pub(super) struct Finished {
    /// The displaced original, which the quality of the change of luma is measured against.
    pub(super) original: Original,
    /// Mean squared change of luma, in pixels of the chip.
    pub(super) mse: f64,
    pub(super) changed: bool,
}

/// Displaces the pixels of a face, then changes their luma until its quality as written is at the floor.
pub(super) fn finish(
    photo: &mut Photo,
    face: &Face,
    steered: &SteeredFace,
    min_quality: f64,
    encoding: &Encoding,
) -> Result<Finished> {
    let mut changed = match &steered.field {
        Some(field) => lift::displace(field, &face.patch, photo),
        None => false,
    };
    let lift = Lift::new(&steered.luma, &face.patch, photo);
    let trial = Trial::new(photo, face, &lift)?;
    let amount = amount(min_quality, |amount| trial.score(amount, encoding))?;
    let original = trial.original;
    let mut luma: Plane = steered.luma.clone();
    luma.data_mut().iter_mut().for_each(|v| *v *= amount);
    changed |= lift::apply(&[Lift::new(&luma, &face.patch, photo)], photo);
    let mse = luma.energy() / luma.data().len() as f64;
    Ok(Finished { original, mse, changed })
}

/// The surroundings of a face, for measurements.
struct Trial<'a> {
    photo: &'a Photo,
    /// The square in which quality is measured.
    square: Region,
    /// The square, extended to the block grid of JPEG.
    region: Region,
    original: Original,
    /// The change of luma in each pixel of the region.
    luma: Vec<f32>,
}

impl<'a> Trial<'a> {
    fn new(photo: &'a Photo, face: &Face, lift: &Lift) -> Result<Self> {
        let square = face.square(photo);
        let region = square.on_grid(16, photo.whole());
        let original = Original::new(&seen(&photo.picture(square)?)?)?;
        let luma = lift.over(region);
        Ok(Self { photo, square, region, original, luma })
    }

    /// The score as written, with a multiple of the change of luma.
    fn score(&self, amount: f64, encoding: &Encoding) -> Result<f64> {
        let mut part = self.photo.crop(self.region);
        let mut line = vec![0.0; self.region.width];
        for (y, luma) in self.luma.chunks_exact(self.region.width).enumerate() {
            line.iter_mut().zip(luma).for_each(|(to, v)| *to = amount as f32 * v);
            part.add_row(0, y, &line);
        }
        let written = part.into_written(encoding)?;
        let Region { x, y, width, height } = self.square;
        let inside = Region { x: x - self.region.x, y: y - self.region.y, width, height };
        self.original.score(&seen(&written.picture(inside)?)?)
    }
}

/// The largest multiple of a change whose score is at least the floor, approximately. Where the encoding
/// alone scores hardly more than the floor, the change may cost a few points below that.
fn amount(floor: f64, mut score: impl FnMut(f64) -> Result<f64>) -> Result<f64> {
    let (mut floor, mut amount, mut best) = (floor, 1.0, None);
    // The score without a change.
    let mut clean = 100.0;
    for trial in 0..TRIALS {
        let found = score(amount)?;
        if found >= floor {
            best = Some(amount);
            if found < floor + TOLERANCE || amount >= MAX_AMOUNT || trial > 2 {
                break;
            }
        } else if best.is_some() {
            break;
        } else if trial == 1 {
            clean = score(0.0)?;
            floor = floor.min(clean - LEAST_COST);
        }
        // The loss of score is about proportional to the change.
        let ratio = (clean - floor) / (clean - found).max(0.5);
        let reserve = if found < floor { 0.97 } else { 1.0 };
        amount = (amount * reserve * ratio.clamp(0.2, 1.6)).min(MAX_AMOUNT);
    }
    Ok(best.unwrap_or(0.0))
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    /// Scores fall in proportion to the change.
    #[test]
    fn the_largest_amount_above_the_floor_is_found() {
        for (loss, expected) in [(20.0, 1.25), (25.0, 1.0), (50.0, 0.5), (8.0, MAX_AMOUNT)] {
            let found = amount(75.0, |amount| Ok(100.0 - loss * amount)).unwrap();
            let score = 100.0 - loss * found;
            assert!(score >= 75.0 && found > 0.93 * expected, "{loss}: {found}");
        }
    }

    /// An encoding that costs 30 points leaves a few for the change.
    #[test]
    fn a_lossy_encoding_lowers_the_floor() {
        let found = amount(75.0, |amount| Ok(70.0 - 20.0 * amount)).unwrap();
        assert!(found > 0.1 && found <= LEAST_COST / 20.0, "{found}");
    }
}
