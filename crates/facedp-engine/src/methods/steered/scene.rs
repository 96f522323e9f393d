//! A face and its surroundings, at the resolution at which steering works.

use facedp::Plane;
use facedp::resample::resized;
use facedp_nets::{Picture, Recogniser, Similarity};

use super::descent::FaceSite;
use super::taps::Taps;
use crate::error::Result;
use crate::lift;
use crate::patch::bounds;
use crate::photo::{Component, Region};

/// Side of the plane that carries the change of a large face, in values.
const MAX_SIDE: usize = 128;
/// Share of a recogniser's chip by which random views may extend beyond it.
const MARGIN: f32 = 0.15;

/// The part of a photo around a face, halved until the chip is at most 256 pixels wide.
pub(super) struct Scene {
    width: usize,
    height: usize,
    /// Red, green and blue, 0 to 255.
    colours: [Vec<f32>; 3],
    /// From the scene to each recogniser's chip.
    placements: Vec<Similarity>,
    /// Side of the plane that carries the change.
    side: usize,
    /// Side of the plane after averaging it down to the resolution of the scene.
    coarse_side: usize,
    /// From the coarse plane to the scene.
    lift: Taps,
    /// Number of pixels of the scene that the chip covers.
    footprint: usize,
    /// Luma of the chip.
    chip: Plane,
}

impl Scene {
    pub(super) fn new(site: &FaceSite<'_>, recognisers: &[&Recogniser]) -> Result<Self> {
        let FaceSite { photo, patch, landmarks } = site;
        let placements = recognisers.iter().map(|r| r.placement(landmarks));
        let mut placements = placements.collect::<Result<Vec<_>, _>>()?;
        let widened = |(placement, r): (&Similarity, &&Recogniser)| {
            let margin = MARGIN * r.side() as f32;
            let side = (r.side() as f32 + 2.0 * margin) as usize;
            bounds(&placement.shifted([margin, margin]), side, photo, 1)
        };
        let regions = placements.iter().zip(recognisers).map(widened);
        let region = regions.fold(patch.region(photo), Region::union);
        let corner = [region.x as f32, region.y as f32];
        placements.iter_mut().for_each(|placement| *placement = placement.for_crop(corner));
        let mut to_plane = patch.placement(MAX_SIDE).for_crop(corner);
        let mut picture = photo.picture(region)?;
        while to_plane.scale() < 0.5 && picture.width() >= 4 && picture.height() >= 4 {
            picture = picture.halved();
            to_plane = to_plane.for_half_size();
            placements.iter_mut().for_each(|placement| *placement = placement.for_half_size());
        }
        let (width, height) = (picture.width(), picture.height());
        let colours = [0, 1, 2]
            .map(|c| picture.rgb().iter().skip(c).step_by(3).map(|v| f32::from(*v)).collect());

        // The finest plane with at most 4/3 values per pixel.
        let mut side = MAX_SIDE;
        while side > 8 && to_plane.scale() > 4.0 / 3.0 {
            side /= 2;
            to_plane = to_plane.resized(0.5);
        }
        let coarse_side = lift::coarse_side(side, to_plane.scale());
        let to_coarse = to_plane.resized(coarse_side as f32 / side as f32);
        let faded = patch.inner_edges(photo);
        let mut taps = Taps::default();
        let mut footprint = 0;
        for at in 0..width * height {
            let [u, v] = to_coarse.apply([(at % width) as f32, (at / width) as f32]);
            let across = lift::Tap::new(u, coarse_side, [faded[0], faded[1]]);
            let down = lift::Tap::new(v, coarse_side, [faded[2], faded[3]]);
            let fade = across.fade * down.fade;
            footprint += usize::from(across.inside && down.inside);
            let index = |x: usize, y: usize| (y * coarse_side + x) as u32;
            taps.push([
                (
                    index(across.first, down.first),
                    fade * (1.0 - across.weight) * (1.0 - down.weight),
                ),
                (index(across.second, down.first), fade * across.weight * (1.0 - down.weight)),
                (index(across.first, down.second), fade * (1.0 - across.weight) * down.weight),
                (index(across.second, down.second), fade * across.weight * down.weight),
            ]);
        }
        let chip = patch.chip(photo, side);
        Ok(Self {
            width,
            height,
            colours,
            placements,
            side,
            coarse_side,
            lift: taps,
            footprint,
            chip,
        })
    }

    /// Side of the plane that carries the change.
    pub(super) fn side(&self) -> usize {
        self.side
    }

    pub(super) fn chip(&self) -> &Plane {
        &self.chip
    }

    /// Mean grey level of the central half of the chip.
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

    /// The change that a plane makes to each pixel of the scene.
    pub(super) fn lifted(&self, plane: &Plane) -> Vec<f32> {
        let coarse = resized(plane, self.coarse_side, self.coarse_side);
        self.lift.apply(&coarse.data().iter().map(|v| *v as f32).collect::<Vec<_>>())
    }

    /// The transpose of [`Self::lifted`], up to the resampling; exact enough for a direction.
    pub(super) fn lowered(&self, pixels: &[f32]) -> Plane {
        let mut coarse = vec![0.0; self.coarse_side * self.coarse_side];
        self.lift.apply_transpose(pixels, &mut coarse);
        let mut plane = Plane::zeros(self.coarse_side, self.coarse_side);
        plane.data_mut().iter_mut().zip(coarse).for_each(|(to, from)| *to = f64::from(from));
        resized(&plane, self.side, self.side)
    }

    /// Mean squared change of the pixels that the chip covers.
    pub(super) fn mse(&self, change: &[f32]) -> f64 {
        let sum: f64 = change.iter().map(|v| f64::from(v * v)).sum();
        sum / self.footprint.max(1) as f64
    }

    /// The scene with changes added, clamped to 0..=255.
    pub(super) fn changed(&self, changes: &[(Component, Vec<f32>)]) -> [Vec<f32>; 3] {
        self.add(changes, |change| change)
    }

    /// [`Self::changed`] with changes rounded, as in a file.
    pub(super) fn written(&self, changes: &[(Component, Vec<f32>)]) -> Result<Picture> {
        let colours = self.add(changes, f32::round);
        let [red, green, blue] = &colours;
        let pixels = red.iter().zip(green).zip(blue);
        let rgb = pixels.flat_map(|((r, g), b)| [*r as u8, *g as u8, *b as u8]).collect();
        Ok(Picture::new(self.width, self.height, rgb)?)
    }

    fn add(&self, changes: &[(Component, Vec<f32>)], round: impl Fn(f32) -> f32) -> [Vec<f32>; 3] {
        [0, 1, 2].map(|c| {
            let mut by = vec![0.0; self.width * self.height];
            for (component, change) in changes {
                let weight = component.rgb_weights()[c];
                by.iter_mut().zip(change).for_each(|(by, change)| *by += weight * change);
            }
            let value = |(v, by): (&f32, f32)| (v + round(by)).clamp(0.0, 255.0);
            self.colours[c].iter().zip(by).map(value).collect()
        })
    }
}
