//! The input of a network: a picture of up to three colours, which lie side by side, in a border of zeros.

use super::Shape;

/// Channels of a picture.
pub(crate) const COLOURS: usize = 3;

/// Pixels after the last one, so that lines of windows can be filled up.
const SPARE: usize = 3;

/// A pixel of the input.
pub(crate) type Pixel = [f32; COLOURS];

/// The input of a network, or its gradient.
#[derive(Debug, Default)]
pub(super) struct Bordered {
    pixels: Vec<Pixel>,
    shape: Shape,
    border: usize,
}

/// The lines of an input, without its border.
pub(crate) struct Lines<'a> {
    picture: &'a mut Bordered,
}

impl Bordered {
    /// Makes room for a picture in a border, and fills the border with zeros.
    pub(super) fn prepare(&mut self, shape: Shape, border: usize) {
        let same = (self.shape.height, self.shape.width) == (shape.height, shape.width);
        if !same || self.border != border {
            self.pixels.clear();
            self.pixels.resize(shape.with_border(border).area() + SPARE, [0.0; COLOURS]);
        }
        (self.shape, self.border) = (shape, border);
    }

    /// All pixels, with the border.
    pub(super) fn pixels(&self) -> &[Pixel] {
        &self.pixels
    }

    pub(super) fn pixels_mut(&mut self) -> &mut [Pixel] {
        &mut self.pixels
    }

    /// The shape with the border.
    pub(super) fn wide(&self) -> Shape {
        self.shape.with_border(self.border)
    }

    /// The position of the first pixel that a window with that padding sees. The padding may not be larger than
    /// the border.
    pub(super) fn first(&self, padding: usize) -> usize {
        (self.border - padding) * (self.wide().width + 1)
    }

    pub(super) fn lines(&mut self) -> Lines<'_> {
        Lines { picture: self }
    }

    /// Copies a colour of the pixels without the border.
    pub(super) fn copy_colour(&self, colour: usize, plane: &mut [f32]) {
        let lines = self.pixels.chunks_exact(self.wide().width.max(1)).skip(self.border);
        for (line, values) in lines.zip(plane.chunks_exact_mut(self.shape.width.max(1))) {
            let pixels = values.iter_mut().zip(&line[self.border..]);
            pixels.for_each(|(value, pixel)| *value = pixel[colour]);
        }
    }
}

impl Lines<'_> {
    /// The lines, from the upper one to the lower one.
    pub(crate) fn iter(&mut self) -> impl Iterator<Item = &mut [Pixel]> {
        let Bordered { pixels, shape, border } = &mut *self.picture;
        let (width, border) = (shape.width, *border);
        let lines = pixels.chunks_exact_mut(width + 2 * border).skip(border).take(shape.height);
        lines.map(move |line| &mut line[border..border + width])
    }
}
