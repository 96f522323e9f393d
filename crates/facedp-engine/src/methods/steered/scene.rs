//! A face and its surroundings, at the resolution at which steering works.

use facedp::Plane;
use facedp::resample::resized;
use facedp_nets::{Landmarks, Picture, Recogniser, Similarity};

use super::descent::FaceSite;
use super::taps::Taps;
use crate::error::Result;
use crate::lift;
use crate::patch::bounds;
use crate::photo::Region;

/// Side of the plane that carries the change of a large face, in values.
const MAX_SIDE: usize = 128;
/// Largest width of the chip in the scene, in pixels: recognisers see no more.
const MAX_WIDTH: f32 = 160.0;
/// Share of a recogniser's chip by which random views may extend beyond it.
const MARGIN: f32 = 0.15;

/// The part of a photo around a face, reduced until the chip is at most [`MAX_WIDTH`] pixels wide.
pub(super) struct Scene {
    width: usize,
    height: usize,
    /// Red, green and blue, 0 to 255.
    colours: Colours,
    /// From the scene to each recogniser's chip.
    placements: Vec<Similarity>,
    /// From the scene to the plane that carries the change.
    to_plane: Similarity,
    /// Side of that plane.
    side: usize,
    /// Side of the plane after averaging it down to the resolution of the scene.
    coarse_side: usize,
    /// From the coarse plane to the scene.
    lift: Taps,
    /// Number of pixels of the scene that the chip covers.
    footprint: usize,
    /// Luma of the chip.
    chip: Plane,
    /// Landmarks in the plane.
    landmarks: Landmarks,
}

/// Red, green and blue planes.
pub(super) type Colours = [Vec<f32>; 3];

/// The scene with its pixels displaced.
pub(super) struct Displaced {
    pub(super) colours: Colours,
    /// Derivatives of each colour with respect to the displacement, horizontal and vertical.
    slopes: [Colours; 2],
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
        let coarse_side = lift::coarse_side(side, to_plane.scale());
        let to_coarse = to_plane.resized(coarse_side as f32 / side as f32);
        let (lift, footprint) =
            lifting(&to_coarse, [width, height], coarse_side, patch.inner_edges(photo));
        let to_chip = patch.placement(side);
        Ok(Self {
            width,
            height,
            colours,
            placements,
            to_plane,
            side,
            coarse_side,
            lift,
            footprint,
            chip: patch.chip(photo, side),
            landmarks: landmarks.map(|landmark| to_chip.apply(landmark)),
        })
    }

    /// Side of the plane that carries the change.
    pub(super) fn side(&self) -> usize {
        self.side
    }

    pub(super) fn chip(&self) -> &Plane {
        &self.chip
    }

    pub(super) fn landmarks(&self) -> &Landmarks {
        &self.landmarks
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

    /// The scene with its pixels displaced by a field in pixels of the chip.
    pub(super) fn displaced(&self, field: &[Plane; 2]) -> Displaced {
        let [x, y] = field.each_ref().map(|plane| self.lifted(plane));
        let (count, last) = (self.width * self.height, [self.width - 1, self.height - 1]);
        let mut colours = self.colours.clone();
        let mut slopes: [Colours; 2] =
            std::array::from_fn(|_| std::array::from_fn(|_| vec![0.0; count]));
        let back = self.to_plane.inverse();
        let [a, b, ..] = back.parameters();
        for at in 0..count {
            // Towards the plane's axes, then to those of the scene.
            let shift = [a * x[at] - b * y[at], b * x[at] + a * y[at]];
            let place = [(at % self.width) as f32 + shift[0], (at / self.width) as f32 + shift[1]];
            let [(left, right, t), (top, bottom, u)] =
                [0, 1].map(|axis| neighbours(place[axis], last[axis]));
            let index = |x: usize, y: usize| y * self.width + x;
            let corners =
                [index(left, top), index(right, top), index(left, bottom), index(right, bottom)];
            for (c, colour) in self.colours.iter().enumerate() {
                let [p, q, r, s] = corners.map(|corner| colour[corner]);
                colours[c][at] = (1.0 - u) * (p + t * (q - p)) + u * (r + t * (s - r));
                let across = (1.0 - u) * (q - p) + u * (s - r);
                let down = (1.0 - t) * (r - p) + t * (s - q);
                slopes[0][c][at] = a * across + b * down;
                slopes[1][c][at] = a * down - b * across;
            }
        }
        Displaced { colours, slopes }
    }

    /// Colours with a change of luma added, clamped to 0..=255.
    pub(super) fn lit(&self, colours: &Colours, luma: &[f32]) -> Colours {
        colours.each_ref().map(|colour| {
            let value = |(v, change): (&f32, &f32)| (v + change).clamp(0.0, 255.0);
            colour.iter().zip(luma).map(value).collect()
        })
    }

    /// Colours as a picture, rounded as in a file.
    pub(super) fn picture(&self, colours: &Colours) -> Result<Picture> {
        let [red, green, blue] = colours;
        let pixels = red.iter().zip(green).zip(blue);
        let sample = |value: f32| value.round().clamp(0.0, 255.0) as u8;
        let rgb = pixels.flat_map(|((r, g), b)| [*r, *g, *b].map(sample)).collect();
        Ok(Picture::new(self.width, self.height, rgb)?)
    }

    pub(super) fn colours(&self) -> &Colours {
        &self.colours
    }
}

impl Displaced {
    /// The gradient with respect to the field, from a gradient with respect to the colours. One plane of the
    /// scene for each axis.
    pub(super) fn backward(&self, gradient: &Colours) -> [Vec<f32>; 2] {
        self.slopes.each_ref().map(|slopes| {
            let mut sum = vec![0.0; slopes[0].len()];
            for (slope, gradient) in slopes.iter().zip(gradient) {
                let parts = sum.iter_mut().zip(slope).zip(gradient);
                parts.for_each(|((sum, slope), g)| *sum += slope * g);
            }
            sum
        })
    }
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

/// The two pixels around a coordinate, clamped to the picture, and the weight of the second.
fn neighbours(at: f32, last: usize) -> (usize, usize, f32) {
    let at = at.clamp(0.0, last as f32);
    let first = at as usize;
    (first, (first + 1).min(last), at - first as f32)
}

/// The map from the coarse plane to the scene, and the number of pixels that the chip covers.
fn lifting(
    to_coarse: &Similarity,
    [width, height]: [usize; 2],
    coarse_side: usize,
    faded: [bool; 4],
) -> (Taps, usize) {
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
            (index(across.first, down.first), fade * (1.0 - across.weight) * (1.0 - down.weight)),
            (index(across.second, down.first), fade * across.weight * (1.0 - down.weight)),
            (index(across.first, down.second), fade * (1.0 - across.weight) * down.weight),
            (index(across.second, down.second), fade * across.weight * down.weight),
        ]);
    }
    (taps, footprint)
}
