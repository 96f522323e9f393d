//! Bringing the noise of a chip back to its photo, at full resolution.
//!
//! The noise is interpolated through the alignment. It fades out over the last eighth of the chip
//! at every edge that lies inside the photo, so that no square shows. A face smaller than the chip
//! cannot hold all of its noise: there, noise is averaged over each pixel first.

use facedp::Plane;
use facedp::resample::resized;
use facedp_nets::Similarity;

use crate::patch::Patch;
use crate::photo::{Photo, Region};

/// Share of the chip's side over which noise fades.
const FADE: f32 = 1.0 / 8.0;

/// Which way a change moves colours.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Tint {
    /// All alike: lighter or darker.
    Luma,
    /// Towards blue, at the same luma (the Cb of ITU-R BT.601).
    Blue,
    /// Towards red, at the same luma (the Cr of ITU-R BT.601).
    Red,
}

impl Tint {
    /// What one step does to red, green and blue.
    pub(crate) fn shares(self) -> [f32; 3] {
        match self {
            Tint::Luma => [1.0; 3],
            Tint::Blue => [0.0, -0.344_136, 1.772],
            Tint::Red => [1.402, -0.714_136, 0.0],
        }
    }
}

/// The noise of one chip on its way to the photo.
pub struct Lift {
    tint: Tint,
    side: usize,
    noise: Vec<f32>,
    /// From photo to the noise.
    placement: Similarity,
    faded: [bool; 4],
    region: Region,
    /// For upright chips: where each column of the region lies in the noise.
    columns: Option<Vec<Tap>>,
}

/// A place between two neighbours of a line of noise.
#[derive(Clone, Copy)]
pub(crate) struct Tap {
    /// The first.
    pub(crate) first: usize,
    /// The second.
    pub(crate) second: usize,
    /// The share of the second.
    pub(crate) share: f32,
    /// How much is left there by fading.
    pub(crate) left: f32,
    /// Whether it lies on the line at all.
    pub(crate) inside: bool,
}

/// Side of what is left of a plane of noise where pixels are coarser than it: `scale` of its values
/// a pixel.
pub(crate) fn coarse_side(full: usize, scale: f32) -> usize {
    let side = if scale > 1.0 { (full as f32 / scale).ceil() as usize } else { full };
    side.clamp(1, full)
}

impl Lift {
    /// Prepares the noise of a patch: the same for all colours.
    pub fn new(noise: &Plane, patch: &Patch, photo: &Photo) -> Self {
        Self::tinted(noise, Tint::Luma, patch, photo)
    }

    /// The same with a tint.
    pub fn tinted(noise: &Plane, tint: Tint, patch: &Patch, photo: &Photo) -> Self {
        let full = noise.width();
        let side = coarse_side(full, patch.placement(full).scale());
        let placement = patch.placement(side);
        let region = patch.region(photo);
        let mut lift = Self {
            tint,
            side,
            noise: resized(noise, side, side).data().iter().map(|n| *n as f32).collect(),
            placement,
            faded: patch.inner_edges(photo),
            region,
            columns: None,
        };
        if placement.is_upright() {
            let place = |x: usize| placement.apply([x as f32, 0.0])[0];
            let tap = |x| lift.tap(place(x), [lift.faded[0], lift.faded[1]]);
            lift.columns = Some((region.x..region.x + region.width).map(tap).collect());
        }
        lift
    }

    /// The pixels it can change.
    pub fn region(&self) -> Region {
        self.region
    }

    /// Adds its part of row `y` to `out`, whose first value is column `x`.
    pub fn add_row(&self, x: usize, y: usize, out: &mut [f32]) {
        if !(self.region.y..self.region.y + self.region.height).contains(&y) {
            return;
        }
        let out = &mut out[self.region.x - x..][..self.region.width];
        let edges = [[self.faded[0], self.faded[1]], [self.faded[2], self.faded[3]]];
        if let Some(columns) = &self.columns {
            let down = self.tap(self.placement.apply([0.0, y as f32])[1], edges[1]);
            if down.left == 0.0 {
                return;
            }
            let (upper, lower) = (self.row(down.first), self.row(down.second));
            let mix = |(a, b): (&f32, &f32)| down.left * (a + down.share * (b - a));
            let line: Vec<f32> = upper.iter().zip(lower).map(mix).collect();
            for (out, tap) in out.iter_mut().zip(columns) {
                let (a, b) = (line[tap.first], line[tap.second]);
                *out += tap.left * (a + tap.share * (b - a));
            }
            return;
        }
        for (x, out) in (self.region.x..).zip(out) {
            let [u, v] = self.placement.apply([x as f32, y as f32]);
            let (across, down) = (self.tap(u, edges[0]), self.tap(v, edges[1]));
            let left = across.left * down.left;
            if left > 0.0 {
                let (upper, lower) = (self.row(down.first), self.row(down.second));
                let along = |row: &[f32]| {
                    row[across.first] + across.share * (row[across.second] - row[across.first])
                };
                let (a, b) = (along(upper), along(lower));
                *out += left * (a + down.share * (b - a));
            }
        }
    }

    fn row(&self, y: usize) -> &[f32] {
        &self.noise[y * self.side..(y + 1) * self.side]
    }

    fn tap(&self, at: f32, faded: [bool; 2]) -> Tap {
        Tap::new(at, self.side, faded)
    }
}

impl Tap {
    /// Where a coordinate lies on a line of `side` values, fading at the ends that ask for it.
    pub(crate) fn new(at: f32, side: usize, [near, far]: [bool; 2]) -> Self {
        let length = side as f32;
        let inside = (-0.5..length - 0.5).contains(&at);
        if !inside {
            return Self { first: 0, second: 0, share: 0.0, left: 0.0, inside };
        }
        let edge = |distance: f32, fades: bool| {
            let t = distance / (length * FADE);
            if fades && t < 1.0 { t * t * (3.0 - 2.0 * t) } else { 1.0 }
        };
        let left = edge(at + 0.5, near) * edge(length - 0.5 - at, far);
        let first = at.max(0.0) as usize;
        let second = (first + 1).min(side - 1);
        Self { first, second, share: at.max(0.0) - first as f32, left, inside }
    }
}

/// Adds all noise to the photo; where faces overlap, their noise adds up. Returns whether any sample
/// changed.
pub fn apply(lifts: &[Lift], photo: &mut Photo) -> bool {
    let regions = lifts.iter().map(|lift| lift.region);
    let top = regions.clone().map(|r| r.y).min().unwrap_or(0);
    let bottom = regions.map(|r| r.y + r.height).max().unwrap_or(0);
    let mut changed = false;
    let mut lines: [Vec<f32>; 3] = Default::default();
    for y in top..bottom {
        let here = lifts.iter().filter(|l| (l.region.y..l.region.y + l.region.height).contains(&y));
        let Some(left) = here.clone().map(|l| l.region.x).min() else { continue };
        let right = here.clone().map(|l| l.region.x + l.region.width).max().unwrap_or(left);
        // A line of each tint; empty where none has it.
        for (line, tint) in lines.iter_mut().zip([Tint::Luma, Tint::Blue, Tint::Red]) {
            line.clear();
            for lift in here.clone().filter(|lift| lift.tint == tint) {
                line.resize(right - left, 0.0);
                lift.add_row(left, y, line);
            }
        }
        changed |= match &lines {
            [luma, blue, red] if blue.is_empty() && red.is_empty() => photo.add_row(left, y, luma),
            lines => photo.add_row_tinted(left, y, lines.each_ref().map(Vec::as_slice)),
        };
    }
    changed
}
