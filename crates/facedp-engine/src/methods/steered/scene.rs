//! A face and its surroundings, at the resolution at which steering works.

use facedp::Plane;
use facedp_nets::{Landmarks, Picture, Recogniser, Similarity};

use super::canvas::{Canvas, Colours, neighbours};
use super::descent::FaceSite;
use crate::error::Result;
use crate::patch::bounds;
use crate::photo::Region;
use crate::quality::{join, seen};

/// Side of the plane that carries the change of a large face, in values.
const MAX_SIDE: usize = 128;
/// Largest width of the chip in the scene, in pixels: recognisers see no more.
const MAX_WIDTH: f32 = 160.0;
/// Share of a recogniser's chip by which random views may extend beyond it.
const MARGIN: f32 = 0.15;

/// The part of a photo around a face.
pub(super) struct Scene {
    /// What recognisers see: reduced until the chip is at most [`MAX_WIDTH`] pixels wide.
    pub(super) canvas: Canvas,
    /// What people see: the square in which quality is measured, at its size on a screen.
    pub(super) screen: Canvas,
    /// From the canvas to each recogniser's chip.
    placements: Vec<Similarity>,
    /// Luma of the chip.
    chip: Plane,
    /// Landmarks in the plane that carries the change.
    landmarks: Landmarks,
}

impl Scene {
    /// `pair` allows a second thread.
    pub(super) fn new(
        site: &FaceSite<'_>,
        recognisers: &[&Recogniser],
        pair: bool,
    ) -> Result<Self> {
        let FaceSite { photo, patch, landmarks, square, .. } = site;
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
        let mut factor = (to_plane.scale() * MAX_WIDTH / MAX_SIDE as f32).min(1.0);
        while factor < 0.5 && picture.width() >= 4 && picture.height() >= 4 {
            picture = picture.halved();
            factor *= 2.0;
            to_plane = to_plane.for_half_size();
            placements.iter_mut().for_each(|placement| *placement = placement.for_half_size());
        }
        let size = |length: usize| ((length as f32 * factor) as usize).max(1);
        let (width, height) = (size(picture.width()), size(picture.height()));
        let colours = reduced(&picture, width, height, factor);
        to_plane = to_plane.for_size(factor);
        placements.iter_mut().for_each(|placement| *placement = placement.for_size(factor));

        // The finest plane with at most 4/3 values per pixel.
        let mut side = MAX_SIDE;
        while side > 8 && to_plane.scale() > 4.0 / 3.0 {
            side /= 2;
            to_plane = to_plane.resized(0.5);
        }
        let faded = patch.inner_edges(photo);
        let on_screen = || -> Result<Canvas> {
            let picture = seen(&photo.picture(*square)?)?;
            let to_plane = patch.placement(side).for_crop([square.x as f32, square.y as f32]);
            let to_plane = to_plane.for_size(picture.width() as f32 / square.width as f32);
            Ok(Canvas::new(planes(&picture), picture.width(), to_plane, side, faded))
        };
        let (canvas, screen) =
            join(pair, || Canvas::new(colours, width, to_plane, side, faded), on_screen);
        let to_chip = patch.placement(side);
        Ok(Self {
            canvas,
            screen: screen?,
            placements,
            chip: patch.chip(photo, side),
            landmarks: landmarks.map(|landmark| to_chip.apply(landmark)),
        })
    }

    pub(super) fn chip(&self) -> &Plane {
        &self.chip
    }

    pub(super) fn landmarks(&self) -> &Landmarks {
        &self.landmarks
    }

    pub(super) fn placement(&self, recogniser: usize) -> &Similarity {
        &self.placements[recogniser]
    }
}

fn planes(picture: &Picture) -> Colours {
    let plane = |c: usize| picture.rgb().iter().skip(c).step_by(3).map(|v| f32::from(*v)).collect();
    [0, 1, 2].map(plane)
}

/// A picture reduced by a factor between 0.5 and 1.
fn reduced(picture: &Picture, width: usize, height: usize, factor: f32) -> Colours {
    let (full, last) = (picture.width(), [picture.width() - 1, picture.height() - 1]);
    let rgb = picture.rgb();
    let mut colours: Colours = std::array::from_fn(|_| Vec::with_capacity(width * height));
    for y in 0..height {
        for x in 0..width {
            let [(left, right, t), (top, bottom, u)] = [(x, 0), (y, 1)]
                .map(|(at, axis)| neighbours((at as f32 + 0.5) / factor - 0.5, last[axis]));
            for (c, colour) in colours.iter_mut().enumerate() {
                let value = |x: usize, y: usize| f32::from(rgb[3 * (y * full + x) + c]);
                let upper = (1.0 - t) * value(left, top) + t * value(right, top);
                let lower = (1.0 - t) * value(left, bottom) + t * value(right, bottom);
                colour.push((1.0 - u) * upper + u * lower);
            }
        }
    }
    colours
}
