//! Drawing a steered face at full resolution, with as much change of luma as its quality allows.

use facedp_nets::Picture;

use super::descent::SteeredFace;
use crate::error::Result;
use crate::lift::{self, Lift};
use crate::methods::Face;
use crate::patch::Patch;
use crate::photo::{Encoding, Photo, Region};
use crate::quality::{Original, seen};

/// Largest number of measurements.
const TRIALS: usize = 6;
/// Points above the floor from which a larger change is tried.
const TOLERANCE: f64 = 0.7;
/// Points above the floor that a trial needs where the file is lossy: a part of a photo is not compressed
/// exactly as it is within the whole.
const LOSSY_RESERVE: f64 = 0.2;
/// Largest factor on the change that the descent found.
const MAX_AMOUNT: f64 = 2.5;

/// A face that was drawn.
pub(super) struct Finished {
    /// What the quality of the change of luma is measured against: the displaced original as written.
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
    let trial = Trial::new(photo, face, steered, encoding)?;
    let reserve = if photo.is_lossless(encoding) { 0.0 } else { LOSSY_RESERVE };
    let amount = amount(min_quality + reserve, |amount| trial.score(amount))?;
    let original = trial.original;
    let luma = steered.luma(amount);
    let planes = steered.planes(amount);
    let lifts: Vec<Lift> =
        planes.iter().map(|plane| Lift::new(plane, &face.patch, photo)).collect();
    changed |= match &lifts[..] {
        [_] => lift::apply(&lifts, photo),
        _ => {
            let region = face.patch.region(photo);
            let changes: Vec<_> = lifts.iter().map(|lift| lift.over(region)).collect();
            add(&changes, region, photo)
        }
    };
    let mse = luma.energy() / luma.data().len() as f64;
    Ok(Finished { original, mse, changed })
}

/// A face of a photo as written, as people see it.
pub(super) fn original(photo: &Photo, face: &Face, encoding: &Encoding) -> Result<Original> {
    let square = face.square(photo);
    let region = square.on_grid(16, photo.whole());
    Original::new(&as_written(photo.crop(region), region, square, encoding)?)
}

/// A square of a region of a photo as written, as people see it.
fn as_written(
    part: Photo,
    region: Region,
    Region { x, y, width, height }: Region,
    encoding: &Encoding,
) -> Result<Picture> {
    let inside = Region { x: x - region.x, y: y - region.y, width, height };
    seen(&part.into_written(encoding)?.picture(inside)?)
}

/// The surroundings of a face, for measurements.
struct Trial<'a> {
    photo: &'a Photo,
    patch: &'a Patch,
    steered: &'a SteeredFace,
    encoding: &'a Encoding,
    /// The square in which quality is measured.
    square: Region,
    /// The square, extended to the block grid of JPEG.
    region: Region,
    original: Original,
}

impl<'a> Trial<'a> {
    fn new(
        photo: &'a Photo,
        face: &'a Face,
        steered: &'a SteeredFace,
        encoding: &'a Encoding,
    ) -> Result<Self> {
        let square = face.square(photo);
        let region = square.on_grid(16, photo.whole());
        let original = original(photo, face, encoding)?;
        Ok(Self { photo, patch: &face.patch, steered, encoding, square, region, original })
    }

    /// The score as written, with a multiple of the change.
    fn score(&self, amount: f64) -> Result<f64> {
        let mut part = self.photo.crop(self.region);
        let lifted = |plane| Lift::new(plane, self.patch, self.photo).over(self.region);
        let changes: Vec<_> = self.steered.planes(amount).iter().map(lifted).collect();
        add(&changes, part.whole(), &mut part);
        let changed = as_written(part, self.region, self.square, self.encoding)?;
        self.original.score(&changed)
    }
}

/// Adds a change of luma, or changes of red, green and blue, to a region of a photo.
fn add(changes: &[Vec<f32>], region: Region, photo: &mut Photo) -> bool {
    let mut changed = false;
    for y in 0..region.height {
        let rows = changes.iter().map(|change| &change[y * region.width..][..region.width]);
        let (x, y) = (region.x, region.y + y);
        changed |= match &rows.collect::<Vec<_>>()[..] {
            [red, green, blue] => photo.add_colours(x, y, [red, green, blue]),
            rows => rows.iter().fold(false, |any, row| photo.add_row(x, y, row) | any),
        };
    }
    changed
}

/// The largest multiple of a change whose score is at least the floor, approximately.
fn amount(floor: f64, mut score: impl FnMut(f64) -> Result<f64>) -> Result<f64> {
    let loss = |score: f64| (100.0 - score).max(0.5);
    let (mut amount, mut best, mut power): (f64, f64, f64) = (1.0, 0.0, 1.0);
    let mut last: Option<(f64, f64)> = None;
    for _ in 0..TRIALS {
        let found = score(amount)?;
        if found >= floor {
            best = best.max(amount);
            if found < floor + TOLERANCE || amount >= MAX_AMOUNT {
                break;
            }
        }
        // The loss grows with a power of the change, which two measurements tell.
        if let Some((other, lost)) = last
            && other != amount
        {
            power = ((loss(found) / lost).ln() / (amount / other).ln()).clamp(0.6, 2.0);
        }
        last = Some((amount, loss(found)));
        let target = loss(floor + TOLERANCE / 2.0);
        let ratio = (target / loss(found)).clamp(0.2, 1.6).powf(1.0 / power);
        amount = (amount * ratio).min(MAX_AMOUNT);
    }
    Ok(best)
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
}
