//! Pixels of a photo at some resolution, with the map between them and the plane that carries the change.

use facedp::Plane;
use facedp_nets::{Picture, Similarity};

use super::pixel::{Pixel, minus, mix, pixels, plane};
use super::resize::Resize;
use super::taps::Taps;
use crate::error::Result;
use crate::lift;

/// Red, green and blue planes.
pub(super) type Colours = [Vec<f32>; 3];

pub(super) struct Canvas {
    width: usize,
    height: usize,
    /// Red, green and blue, 0 to 255.
    colours: Colours,
    pixels: Vec<Pixel>,
    /// To the plane that carries the change.
    to_plane: Similarity,
    /// Side of that plane.
    side: usize,
    /// To the coarse plane: averaged down to the resolution of the canvas. And back.
    coarsen: Resize,
    refine: Resize,
    /// From the coarse plane to the canvas.
    lift: Taps,
    /// Number of pixels that the chip covers.
    footprint: usize,
}

/// A canvas with its pixels displaced.
pub(super) struct Displaced {
    pub(super) pixels: Vec<Pixel>,
    /// Derivatives of each colour with respect to the displacement, horizontal and vertical.
    slopes: Vec<[Pixel; 2]>,
}

/// An interpolated pixel, and its derivatives with respect to the displacement.
struct Sample {
    value: Pixel,
    slope: [Pixel; 2],
}

impl Canvas {
    /// `faded` says at which edges of the chip (left, right, top, bottom) the change fades out.
    pub(super) fn new(
        colours: Colours,
        width: usize,
        to_plane: Similarity,
        side: usize,
        faded: [bool; 4],
    ) -> Self {
        let height = colours[0].len() / width;
        let coarse_side = lift::coarse_side(side, to_plane.scale());
        let to_coarse = to_plane.resized(coarse_side as f32 / side as f32);
        let (lift, footprint) = lifting(&to_coarse, [width, height], coarse_side, faded);
        let (coarsen, refine) = (Resize::new(side, coarse_side), Resize::new(coarse_side, side));
        let pixels = pixels(&colours);
        Self { width, height, colours, pixels, to_plane, side, coarsen, refine, lift, footprint }
    }

    pub(super) fn size(&self) -> (usize, usize) {
        (self.width, self.height)
    }

    /// Side of the plane that carries the change.
    pub(super) fn side(&self) -> usize {
        self.side
    }

    /// The change that a plane makes to each pixel of the canvas.
    pub(super) fn lifted(&self, plane: &Plane) -> Vec<f32> {
        let [lifted] = self.lifted_all([plane]);
        lifted
    }

    fn lifted_all<const N: usize>(&self, planes: [&Plane; N]) -> [Vec<f32>; N] {
        let coarse = planes.map(|plane| {
            let fine: Vec<f32> = plane.data().iter().map(|v| *v as f32).collect();
            self.coarsen.apply(&fine)
        });
        self.lift.apply(coarse.each_ref().map(Vec::as_slice))
    }

    /// The transpose of [`Self::lifted`], up to the resampling; exact enough for a direction.
    pub(super) fn lowered(&self, pixels: &[f32]) -> Plane {
        let mut coarse = vec![0.0; self.coarsen.to() * self.coarsen.to()];
        self.lift.apply_transpose(pixels, &mut coarse);
        self.refined(&coarse)
    }

    /// [`Self::lowered`] of the first three values of each pixel.
    pub(super) fn lowered_all(&self, pixels: &[Pixel]) -> [Plane; 3] {
        let mut coarse = vec![[0.0; 4]; self.coarsen.to() * self.coarsen.to()];
        self.lift.apply_transpose_to_pixels(pixels, &mut coarse);
        [0, 1, 2].map(|n| self.refined(&plane(&coarse, n)))
    }

    fn refined(&self, coarse: &[f32]) -> Plane {
        let fine = self.refine.apply(coarse);
        let mut plane = Plane::zeros(self.side, self.side);
        plane.data_mut().iter_mut().zip(fine).for_each(|(to, from)| *to = f64::from(from));
        plane
    }

    /// Mean squared change of the pixels that the chip covers.
    pub(super) fn mse(&self, change: &[f32]) -> f64 {
        let sum: f64 = change.iter().map(|v| f64::from(v * v)).sum();
        sum / self.footprint.max(1) as f64
    }

    /// The canvas with its pixels displaced by a field in pixels of the chip.
    pub(super) fn displaced(&self, field: &[Plane; 2]) -> Displaced {
        let mut pixels = self.pixels.clone();
        let mut slopes = vec![[[0.0; 4]; 2]; pixels.len()];
        self.sample(field, |at, Sample { value, slope }| {
            pixels[at] = value;
            slopes[at] = slope;
        });
        Displaced { pixels, slopes }
    }

    /// The colours of [`Self::displaced`] alone.
    pub(super) fn moved(&self, field: &[Plane; 2]) -> Colours {
        let mut colours = self.colours.clone();
        self.sample(field, |at, Sample { value, .. }| {
            colours.iter_mut().zip(value).for_each(|(colour, v)| colour[at] = v);
        });
        colours
    }

    /// Interpolates every pixel that the chip covers at its displaced position; the others stay. `each` gets
    /// the pixel's place and its sample.
    #[inline(always)]
    fn sample(&self, [x, y]: &[Plane; 2], mut each: impl FnMut(usize, Sample)) {
        let [x, y] = self.lifted_all([x, y]);
        let last = [self.width - 1, self.height - 1];
        let back = self.to_plane.inverse();
        let [a, b, ..] = back.parameters();
        // The row of the pixel, and where it starts: cheaper than a division for each pixel.
        let (mut row, mut start) = (0, 0);
        for at in self.lift.outputs() {
            while at >= start + self.width {
                (row, start) = (row + 1, start + self.width);
            }
            // Towards the plane's axes, then to those of the canvas.
            let shift = [a * x[at] - b * y[at], b * x[at] + a * y[at]];
            let place = [(at - start) as i32 as f32 + shift[0], row as f32 + shift[1]];
            let [(left, right, t), (top, bottom, u)] =
                [0, 1].map(|axis| neighbours(place[axis], last[axis]));
            let index = |x: usize, y: usize| y * self.width + x;
            let corners =
                [index(left, top), index(right, top), index(left, bottom), index(right, bottom)];
            let [p, q, r, s] = corners;
            let [p, q, r, s] = [self.pixels[p], self.pixels[q], self.pixels[r], self.pixels[s]];
            let (upper, lower) = (minus(q, p), minus(s, r));
            let across = mix(1.0 - u, upper, u, lower);
            let down = mix(1.0 - t, minus(r, p), t, minus(s, q));
            let value = mix(1.0 - u, mix(1.0, p, t, upper), u, mix(1.0, r, t, lower));
            let slope = [mix(a, across, b, down), mix(a, down, -b, across)];
            each(at, Sample { value, slope });
        }
    }

    /// Pixels as a picture, rounded as in a file.
    pub(super) fn picture(&self, pixels: &[Pixel]) -> Result<Picture> {
        let sample = |value: f32| value.round().clamp(0.0, 255.0) as u8;
        let rgb = pixels.iter().flat_map(|[r, g, b, _]| [*r, *g, *b].map(sample)).collect();
        Ok(Picture::new(self.width, self.height, rgb)?)
    }

    pub(super) fn pixels(&self) -> &[Pixel] {
        &self.pixels
    }

    pub(super) fn colours(&self) -> &Colours {
        &self.colours
    }
}

impl Displaced {
    /// From a gradient with respect to the pixels to those with respect to the field, horizontal and vertical, and to luma.
    /// One value of each pixel for each of them.
    pub(super) fn backward(&self, gradient: &[Pixel]) -> Vec<Pixel> {
        let by_field = |slope: &Pixel, [r, g, b, _]: &Pixel| {
            let [by_red, by_green, by_blue, _] = slope;
            0.0 + by_red * r + by_green * g + by_blue * b
        };
        let pixel = |([x, y], gradient): (&[Pixel; 2], &Pixel)| {
            [by_field(x, gradient), by_field(y, gradient), by_luma(gradient), 0.0]
        };
        self.slopes.iter().zip(gradient).map(pixel).collect()
    }
}

/// Pixels with a change of luma added, clamped to 0..=255.
pub(super) fn lit(pixels: &[Pixel], luma: &[f32]) -> Vec<Pixel> {
    let value = |(pixel, change): (&Pixel, &f32)| pixel.map(|v| (v + change).clamp(0.0, 255.0));
    pixels.iter().zip(luma).map(value).collect()
}

/// Colours with a change of luma added, clamped to 0..=255.
pub(super) fn lit_colours(colours: &Colours, luma: &[f32]) -> Colours {
    colours.each_ref().map(|colour| changed(colour, luma))
}

/// Colours with a change of each added, clamped to 0..=255.
pub(super) fn tinted_colours(colours: &Colours, change: &Colours) -> Colours {
    std::array::from_fn(|c| changed(&colours[c], &change[c]))
}

fn changed(colour: &[f32], change: &[f32]) -> Vec<f32> {
    let value = |(v, change): (&f32, &f32)| (v + change).clamp(0.0, 255.0);
    colour.iter().zip(change).map(value).collect()
}

/// The derivative with respect to luma, from those with respect to colours.
pub(super) fn by_luma([red, green, blue, _]: &Pixel) -> f32 {
    red + green + blue
}

/// The two pixels around a coordinate, clamped to the picture, and the weight of the second.
pub(super) fn neighbours(at: f32, last: usize) -> (usize, usize, f32) {
    let at = at.clamp(0.0, last as f32);
    // By way of i32: processors have no instruction for usize.
    let whole = at as i32;
    let first = whole as usize;
    (first, (first + 1).min(last), at - whole as f32)
}

/// The map from the coarse plane to the canvas, and the number of pixels that the chip covers.
fn lifting(
    to_coarse: &Similarity,
    [width, height]: [usize; 2],
    coarse_side: usize,
    faded: [bool; 4],
) -> (Taps, usize) {
    let mut taps = Taps::new(coarse_side, coarse_side, width * height);
    let mut footprint = 0;
    // Both neighbours of a tap are next to each other, also at the end of a line.
    let pair = |tap: lift::Tap| match tap.second > tap.first || coarse_side == 1 {
        true => (tap.first, [tap.fade * (1.0 - tap.weight), tap.fade * tap.weight]),
        false => (tap.first - 1, [0.0, tap.fade]),
    };
    for at in 0..width * height {
        let [u, v] = to_coarse.apply([(at % width) as f32, (at / width) as f32]);
        let across = lift::Tap::new(u, coarse_side, [faded[0], faded[1]]);
        let down = lift::Tap::new(v, coarse_side, [faded[2], faded[3]]);
        if across.inside && down.inside {
            footprint += 1;
            taps.push(at, pair(across), pair(down), coarse_side);
        }
    }
    (taps, footprint)
}
