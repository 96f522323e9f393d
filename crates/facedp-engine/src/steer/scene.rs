//! A face and what surrounds it, at the size that steering works at.

use facedp::Plane;
use facedp::resample::resized;
use facedp_nets::{Picture, Recogniser, Similarity};

use super::descent::Place;
use super::taps::Taps;
use crate::error::Result;
use crate::lift::{self, Tint};
use crate::patch::bounds;
use crate::photo::Region;

/// Side of the plane that carries the change of a large face.
const SIDE: usize = 128;
/// Share of a chip's side that views may reach beyond it.
const MARGIN: f32 = 0.15;

/// The part of a photo round a face, halved until the chip covers at most 256 pixels.
pub(super) struct Scene {
    width: usize,
    height: usize,
    /// Red, green, blue, 0 to 255.
    colours: [Vec<f32>; 3],
    /// From the scene to each recogniser's chip.
    placements: Vec<Similarity>,
    /// Side of the plane that carries the change.
    side: usize,
    /// What is left of that plane where pixels are coarser than it.
    coarse: usize,
    /// From the coarse plane to the scene.
    lift: Taps,
    /// Pixels of the scene under the chip.
    footprint: usize,
    /// The chip's luma.
    chip: Plane,
}

impl Scene {
    pub(super) fn new(place: &Place<'_>, recognisers: &[&Recogniser]) -> Result<Self> {
        let Place { photo, patch, landmarks } = place;
        let placements = recognisers.iter().map(|r| r.placement(landmarks));
        let mut placements = placements.collect::<Result<Vec<_>, _>>()?;
        let wide = |(placement, r): (&Similarity, &&Recogniser)| {
            let beyond = MARGIN * r.side() as f32;
            let side = (r.side() as f32 + 2.0 * beyond) as usize;
            bounds(&placement.shifted([beyond, beyond]), side, photo, 1)
        };
        let regions = placements.iter().zip(recognisers).map(wide);
        let region = regions.fold(patch.region(photo), Region::union);
        let corner = [region.x as f32, region.y as f32];
        placements.iter_mut().for_each(|placement| *placement = placement.for_crop(corner));
        let mut to_plane = patch.placement(SIDE).for_crop(corner);
        let mut picture = photo.picture(region)?;
        while to_plane.scale() < 0.5 && picture.width() >= 4 && picture.height() >= 4 {
            picture = picture.halved();
            to_plane = to_plane.for_half_size();
            placements.iter_mut().for_each(|placement| *placement = placement.for_half_size());
        }
        let (width, height) = (picture.width(), picture.height());
        let colours = [0, 1, 2]
            .map(|c| picture.rgb().iter().skip(c).step_by(3).map(|v| f32::from(*v)).collect());

        // The finest plane whose values are at most a third finer than pixels.
        let mut side = SIDE;
        while side > 8 && to_plane.scale() > 4.0 / 3.0 {
            side /= 2;
            to_plane = to_plane.resized(0.5);
        }
        let coarse = lift::coarse_side(side, to_plane.scale());
        let to_coarse = to_plane.resized(coarse as f32 / side as f32);
        let faded = patch.inner_edges(photo);
        let mut taps = Taps::default();
        let mut footprint = 0;
        for at in 0..width * height {
            let [u, v] = to_coarse.apply([(at % width) as f32, (at / width) as f32]);
            let across = lift::Tap::new(u, coarse, [faded[0], faded[1]]);
            let down = lift::Tap::new(v, coarse, [faded[2], faded[3]]);
            let left = across.left * down.left;
            footprint += usize::from(across.inside && down.inside);
            let place = |x: usize, y: usize| (y * coarse + x) as u32;
            taps.push([
                (place(across.first, down.first), left * (1.0 - across.share) * (1.0 - down.share)),
                (place(across.second, down.first), left * across.share * (1.0 - down.share)),
                (place(across.first, down.second), left * (1.0 - across.share) * down.share),
                (place(across.second, down.second), left * across.share * down.share),
            ]);
        }
        let chip = patch.chip(photo, side);
        Ok(Self { width, height, colours, placements, side, coarse, lift: taps, footprint, chip })
    }

    /// Side of the plane that carries the change.
    pub(super) fn side(&self) -> usize {
        self.side
    }

    pub(super) fn chip(&self) -> &Plane {
        &self.chip
    }

    /// Mean grey level of the middle of the chip, where the face is.
    pub(super) fn light(&self) -> f64 {
        let (start, count) = (self.side / 4, self.side / 2);
        let rows = (start..start + count).flat_map(|y| &self.chip.row(y)[start..start + count]);
        rows.sum::<f64>() / (count * count) as f64
    }

    pub(super) fn size(&self) -> (usize, usize) {
        (self.width, self.height)
    }

    pub(super) fn placement(&self, recogniser: usize) -> &Similarity {
        &self.placements[recogniser]
    }

    /// The change that a plane makes to each pixel.
    pub(super) fn lifted(&self, plane: &Plane) -> Vec<f32> {
        let coarse = resized(plane, self.coarse, self.coarse);
        self.lift.read(&coarse.data().iter().map(|v| *v as f32).collect::<Vec<_>>())
    }

    /// The transpose of [`Self::lifted`], near enough for a direction.
    pub(super) fn lowered(&self, pixels: &[f32]) -> Plane {
        let mut coarse = vec![0.0; self.coarse * self.coarse];
        self.lift.spread(pixels, &mut coarse);
        let mut plane = Plane::zeros(self.coarse, self.coarse);
        plane.data_mut().iter_mut().zip(coarse).for_each(|(to, from)| *to = f64::from(from));
        resized(&plane, self.side, self.side)
    }

    /// Mean squared change under the chip.
    pub(super) fn mse(&self, change: &[f32]) -> f64 {
        let sum: f64 = change.iter().map(|v| f64::from(v * v)).sum();
        sum / self.footprint.max(1) as f64
    }

    /// The scene with changes, one per tint, cut to what pixels can hold.
    pub(super) fn changed(&self, changes: &[(Tint, Vec<f32>)]) -> [Vec<f32>; 3] {
        self.moved(changes, |change| change)
    }

    /// The same in whole numbers, as a file has it.
    pub(super) fn written(&self, changes: &[(Tint, Vec<f32>)]) -> Result<Picture> {
        let colours = self.moved(changes, f32::round);
        let [red, green, blue] = &colours;
        let pixels = red.iter().zip(green).zip(blue);
        let rgb = pixels.flat_map(|((r, g), b)| [*r as u8, *g as u8, *b as u8]).collect();
        Ok(Picture::new(self.width, self.height, rgb)?)
    }

    fn moved(&self, changes: &[(Tint, Vec<f32>)], step: impl Fn(f32) -> f32) -> [Vec<f32>; 3] {
        [0, 1, 2].map(|c| {
            let mut by = vec![0.0; self.width * self.height];
            for (tint, change) in changes {
                let share = tint.shares()[c];
                by.iter_mut().zip(change).for_each(|(by, change)| *by += share * change);
            }
            let value = |(v, by): (&f32, f32)| (v + step(by)).clamp(0.0, 255.0);
            self.colours[c].iter().zip(by).map(value).collect()
        })
    }
}
