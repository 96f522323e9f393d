//! Moving the pixels of a photo.

use super::{Photo, Sample, Samples};

impl Photo {
    /// Replaces pixels of row `y`, starting at column `x`, by those of `source` at other places: displaced
    /// by `across` and `down`, in pixels. `source` is a crop of the photo whose first pixel lies at `corner`.
    /// Values between pixels are interpolated by cubic splines (Catmull-Rom). Returns whether any sample
    /// changed.
    pub(crate) fn displace_row(
        &mut self,
        source: &Photo,
        corner: [usize; 2],
        [x, y]: [usize; 2],
        [across, down]: [&[f32]; 2],
    ) -> bool {
        let span = self.span(y, x..x + across.len());
        let first = [(x - corner[0]) as f32, (y - corner[1]) as f32];
        match (&mut self.samples, &source.samples) {
            (Samples::U8(samples), Samples::U8(from)) => {
                Interlaced { from, source }.displace(&mut samples[span], first, across, down)
            }
            (Samples::U16(samples), Samples::U16(from)) => {
                Interlaced { from, source }.displace(&mut samples[span], first, across, down)
            }
            _ => false,
        }
    }
}

struct Interlaced<'a, S> {
    from: &'a [S],
    source: &'a Photo,
}

impl<S: Sample> Interlaced<'_, S> {
    /// Writes the pixels from `first` on, each displaced.
    fn displace(&self, pixels: &mut [S], first: [f32; 2], across: &[f32], down: &[f32]) -> bool {
        let mut changed = false;
        let shifts = across.iter().zip(down).enumerate();
        for ((n, (dx, dy)), pixel) in shifts.zip(pixels.chunks_exact_mut(self.source.channels)) {
            if *dx != 0.0 || *dy != 0.0 {
                changed |= self.sample([first[0] + n as f32 + dx, first[1] + dy], pixel);
            }
        }
        changed
    }

    /// Writes the pixel at a point. Pixel centres have integer coordinates.
    fn sample(&self, [x, y]: [f32; 2], pixel: &mut [S]) -> bool {
        let (columns, across) = taps(x, self.source.width);
        let (rows, down) = taps(y, self.source.height);
        let channels = self.source.channels;
        let mut changed = false;
        for (c, sample) in pixel.iter_mut().enumerate() {
            let mut sum = 0.0;
            for (row, v) in rows.iter().zip(down) {
                let line = columns.iter().zip(across).map(|(column, u)| {
                    u * self.from[(row * self.source.width + column) * channels + c].level() as f32
                });
                sum += v * line.sum::<f32>();
            }
            let value = S::clamped((sum * S::STEPS_PER_LEVEL).round() as i64);
            changed |= value != *sample;
            *sample = value;
        }
        changed
    }
}

/// The four pixels around a coordinate, clamped to the line, and their weights.
fn taps(at: f32, length: usize) -> ([usize; 4], [f32; 4]) {
    let last = (length - 1) as f32;
    let at = at.clamp(0.0, last);
    let (first, t) = (at.floor(), at - at.floor());
    let indices = [-1.0, 0.0, 1.0, 2.0].map(|offset| (first + offset).clamp(0.0, last) as usize);
    let (square, cube) = (t * t, t * t * t);
    let weights = [
        -0.5 * t + square - 0.5 * cube,
        1.0 - 2.5 * square + 1.5 * cube,
        0.5 * t + 2.0 * square - 1.5 * cube,
        0.5 * (cube - square),
    ];
    (indices, weights)
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use crate::photo::Limits;

    fn portrait() -> Photo {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/portrait.png");
        Photo::decode(&std::fs::read(path).unwrap(), &Limits::default()).unwrap()
    }

    fn displaced(photo: &Photo, shift: [f32; 2]) -> Photo {
        let mut result = photo.clone();
        let [across, down] = shift.map(|v| vec![v; photo.width()]);
        for y in 0..photo.height() {
            result.displace_row(photo, [0, 0], [0, y], [&across, &down]);
        }
        result
    }

    fn pixel(photo: &Photo, x: usize, y: usize) -> Vec<f32> {
        let picture = photo.picture(photo.whole()).unwrap();
        let at = 3 * (y * photo.width() + x);
        picture.rgb()[at..at + 3].iter().map(|v| f32::from(*v)).collect()
    }

    /// Whole pixels are copied; half a pixel has the weights -1, 9, 9, -1 of Catmull and Rom.
    #[test]
    fn pixels_move() {
        let photo = portrait();
        let whole = displaced(&photo, [2.0, -3.0]);
        assert_eq!(pixel(&whole, 100, 90), pixel(&photo, 102, 87));
        let half = displaced(&photo, [0.5, 0.0]);
        let near = [99, 100, 101, 102].map(|x| pixel(&photo, x, 90));
        for (c, found) in pixel(&half, 100, 90).into_iter().enumerate() {
            let expected = (9.0 * (near[1][c] + near[2][c]) - near[0][c] - near[3][c]) / 16.0;
            assert!((found - expected.clamp(0.0, 255.0)).abs() <= 0.5, "{found} {expected}");
        }
    }

    /// Pixels beyond the edge repeat it, and nothing panics.
    #[test]
    fn the_edge_is_repeated() {
        let photo = portrait();
        let far = displaced(&photo, [1e6, -1e6]);
        assert_eq!(pixel(&far, 50, 60), pixel(&photo, photo.width() - 1, 0));
        assert!(!photo.clone().displace_row(&photo, [0, 0], [0, 0], [&[0.0], &[0.0]]));
    }
}
