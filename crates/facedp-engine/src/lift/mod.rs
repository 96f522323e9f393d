//! Lifting: adding the noise of a chip to its photo, at full resolution.
//!
//! The noise is interpolated through the alignment. It fades out over the last eighth of the chip at
//! every edge that lies inside the photo, so that no square is visible. Where the face is smaller than
//! the chip, the noise is first averaged down to the resolution of the photo.

#[cfg(target_arch = "x86_64")]
mod permuted;
mod rows;
#[cfg(test)]
mod tests;

use facedp::Plane;
use facedp::resample::resized;
use facedp_nets::Similarity;
use pulp::Arch;

use crate::patch::Patch;
use crate::photo::{Photo, Region};
use rows::{Columns, Noise, Turned};

/// Share of the chip's side over which noise fades out.
const FADE_SHARE: f32 = 1.0 / 8.0;

/// The noise of one chip, ready to be added to its photo.
pub(crate) struct Lift {
    side: usize,
    noise: Noise,
    /// From photo to noise.
    placement: Similarity,
    faded: [bool; 4],
    region: Region,
    /// For upright chips.
    columns: Option<Columns>,
}

/// Linear interpolation between two neighbours on a line of noise.
#[derive(Clone, Copy)]
pub(crate) struct Tap {
    pub(crate) first: usize,
    pub(crate) second: usize,
    /// Weight of the second neighbour; the first has 1 minus this.
    pub(crate) weight: f32,
    /// Factor by which the noise is faded out, 0 to 1.
    pub(crate) fade: f32,
    /// Whether the coordinate lies on the line.
    pub(crate) inside: bool,
}

/// Side to which a plane of noise is averaged down if it is finer than the photo. `scale` is the number of
/// its values per pixel.
pub(crate) fn coarse_side(full: usize, scale: f32) -> usize {
    let side = if scale > 1.0 { (full as f32 / scale).ceil() as usize } else { full };
    side.clamp(1, full)
}

impl Lift {
    pub(crate) fn new(noise: &Plane, patch: &Patch, photo: &Photo) -> Self {
        let full = noise.width();
        let side = coarse_side(full, patch.placement(full).scale());
        let placement = patch.placement(side);
        let region = patch.region(photo);
        let faded = patch.inner_edges(photo);
        let columns = placement.is_upright().then(|| {
            let position = |x: usize| placement.apply([x as f32, 0.0])[0];
            let tap = |x| Tap::new(position(x), side, [faded[0], faded[1]]);
            let taps: Vec<Tap> = (region.x..region.x + region.width).map(tap).collect();
            Columns::new(&taps, side)
        });
        let noise = match side == full {
            true => Noise::new(noise),
            false => Noise::new(&resized(noise, side, side)),
        };
        Self { side, noise, placement, faded, region, columns }
    }

    /// The lifted noise in each pixel of a region.
    pub(crate) fn over(&self, region: Region) -> Vec<f32> {
        let mut all = vec![0.0; region.width * region.height];
        // A line that covers both regions.
        let both = self.region.union(region);
        let mut line = vec![0.0; both.width];
        for (y, out) in (region.y..).zip(all.chunks_exact_mut(region.width)) {
            line.fill(0.0);
            self.add_row(both.x, y, &mut line);
            out.copy_from_slice(&line[region.x - both.x..][..region.width]);
        }
        all
    }

    /// Adds row `y` of the lifted noise to `out`, whose first value is column `x`.
    pub(crate) fn add_row(&self, x: usize, y: usize, out: &mut [f32]) {
        if !(self.region.y..self.region.y + self.region.height).contains(&y) {
            return;
        }
        let out = &mut out[self.region.x - x..][..self.region.width];
        let [left, right, top, bottom] = self.faded;
        match &self.columns {
            Some(columns) => {
                let at = self.placement.apply([0.0, y as f32])[1];
                columns.add(&self.noise, &Tap::new(at, self.side, [top, bottom]), out);
            }
            None => Arch::new().dispatch(Turned {
                noise: &self.noise,
                placement: &self.placement,
                fades: [[left, right], [top, bottom]],
                first: [self.region.x, y],
                out,
            }),
        }
    }
}

impl Tap {
    /// Interpolation at a coordinate on a line of `side` values. `fades` says which ends fade out.
    #[inline(always)]
    pub(crate) fn new(at: f32, side: usize, fades: [bool; 2]) -> Self {
        let length = side as f32;
        let inside = (-0.5..length - 0.5).contains(&at);
        if !inside {
            return Self { first: 0, second: 0, weight: 0.0, fade: 0.0, inside };
        }
        let fade = faded(at, length, fades);
        let first = at.max(0.0) as usize;
        let second = (first + 1).min(side - 1);
        Self { first, second, weight: at.max(0.0) - first as f32, fade, inside }
    }
}

/// How much is left of the noise at a coordinate inside a line.
#[inline(always)]
fn faded(at: f32, length: f32, fades: [bool; 2]) -> f32 {
    let edge = |distance: f32, fades: bool| {
        let t = distance / (length * FADE_SHARE);
        if fades && t < 1.0 { t * t * (3.0 - 2.0 * t) } else { 1.0 }
    };
    edge(at + 0.5, fades[0]) * edge(length - 0.5 - at, fades[1])
}

/// Adds the noise of all chips to the photo. Where faces overlap, their noise adds up. Returns whether any
/// sample changed.
pub(crate) fn apply(lifts: &[Lift], photo: &mut Photo) -> bool {
    let regions = lifts.iter().map(|lift| lift.region);
    let top = regions.clone().map(|r| r.y).min().unwrap_or(0);
    let bottom = regions.map(|r| r.y + r.height).max().unwrap_or(0);
    let mut changed = false;
    let mut line = Vec::new();
    for y in top..bottom {
        let here = lifts.iter().filter(|l| (l.region.y..l.region.y + l.region.height).contains(&y));
        let Some(left) = here.clone().map(|l| l.region.x).min() else { continue };
        let right = here.clone().map(|l| l.region.x + l.region.width).max().unwrap_or(left);
        line.clear();
        line.resize(right - left, 0.0);
        here.for_each(|lift| lift.add_row(left, y, &mut line));
        changed |= photo.add_row(left, y, &line);
    }
    changed
}

/// Moves the pixels of a photo by a field over a chip: `field` holds horizontal and vertical displacements,
/// in pixels of the chip. Returns whether any sample changed.
pub(crate) fn displace(field: &[Plane; 2], patch: &Patch, photo: &mut Photo) -> bool {
    let lifts = field.each_ref().map(|plane| Lift::new(plane, patch, photo));
    let Region { x, y, width, height } = lifts[0].region;
    let back = patch.placement(field[0].width()).inverse();
    let [a, b, ..] = back.parameters();
    let largest = field.iter().flat_map(Plane::data).fold(0.0f64, |m, v| m.max(v.abs()));
    let reach = (1.5 * largest as f32 * back.scale()).ceil() as usize + 3;
    let (left, top) = (x.saturating_sub(reach), y.saturating_sub(reach));
    let around = Region {
        x: left,
        y: top,
        width: (x + width + reach).min(photo.width()) - left,
        height: (y + height + reach).min(photo.height()) - top,
    };
    let source = photo.crop(around);
    let mut changed = false;
    for row in y..y + height {
        let [mut across, mut down] = [vec![0.0; width], vec![0.0; width]];
        lifts[0].add_row(x, row, &mut across);
        lifts[1].add_row(x, row, &mut down);
        for (dx, dy) in across.iter_mut().zip(&mut down) {
            (*dx, *dy) = (a * *dx - b * *dy, b * *dx + a * *dy);
        }
        changed |= photo.displace_row(&source, [left, top], [x, row], [&across, &down]);
    }
    changed
}
