//! Pixels with their colours next to each other, for work that treats all colours alike: one vector instruction then takes a
//! whole pixel.

use super::canvas::Colours;

/// Red, green, blue, and a value that is not used.
pub(super) type Pixel = [f32; 4];

pub(super) fn pixels([red, green, blue]: &Colours) -> Vec<Pixel> {
    red.iter().zip(green).zip(blue).map(|((r, g), b)| [*r, *g, *b, 0.0]).collect()
}

/// One value of each pixel.
pub(super) fn plane(pixels: &[Pixel], value: usize) -> Vec<f32> {
    pixels.iter().map(|pixel| pixel[value]).collect()
}

/// Red, green and blue of all pixels, colour by colour.
pub(super) fn by_colour(pixels: &[Pixel]) -> impl Iterator<Item = f32> {
    (0..3).flat_map(move |c| pixels.iter().map(move |pixel| pixel[c]))
}

/// `a p + b q`.
#[inline(always)]
pub(super) fn mix(a: f32, p: Pixel, b: f32, q: Pixel) -> Pixel {
    std::array::from_fn(|i| a * p[i] + b * q[i])
}

#[inline(always)]
pub(super) fn plus(p: Pixel, q: Pixel) -> Pixel {
    std::array::from_fn(|i| p[i] + q[i])
}

#[inline(always)]
pub(super) fn minus(p: Pixel, q: Pixel) -> Pixel {
    std::array::from_fn(|i| p[i] - q[i])
}
