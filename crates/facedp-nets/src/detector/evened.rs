//! A copy of the picture in which light is even, for faces in the dark.

use super::face::Face;
use super::pyramid::Pyramid;
use crate::picture::Picture;

/// The longer side of the copy is at most this.
const MAX_SIDE: usize = 1024;
/// The picture is divided into this many blocks a side.
const BLOCKS: usize = 8;
/// The darkest and the brightest levels that count, as shares of the pixels.
const DARKEST: f32 = 0.02;
const BRIGHTEST: f32 = 0.98;
/// A block whose brightest level is lower is dark.
const DARK: u8 = 48;
/// A block with fewer levels is empty: black borders, for example.
const EMPTY: u8 = 4;
/// The light is uneven from this number of dark blocks on: where no face was found, and where one was. Dark
/// clothes and backgrounds are common around faces.
const MIN_DARK_BLOCKS: [usize; 2] = [6, 24];
/// A picture with fewer levels is flat.
const FLAT: u8 = 72;
/// Fewer levels are not stretched further: nothing but noise would show.
const MIN_LEVELS: f32 = 8.0;

/// A copy with even light.
pub(super) struct Evened {
    pub(super) picture: Picture,
    /// The size of the picture, as a multiple of the copy's.
    pub(super) factor: f32,
}

/// The range of levels of a part of the picture.
#[derive(Clone, Copy, Default)]
struct Levels {
    low: u8,
    high: u8,
}

/// A copy whose blocks all use the whole range of levels. None if there is little to gain: the picture is
/// neither flat nor dark where no face was found.
pub(super) fn evened(pyramid: &Pyramid<'_>, faces: &[Face]) -> Option<Evened> {
    let mut factor = 1.0;
    let mut sizes = pyramid.sizes();
    let mut picture = sizes.next()?;
    while picture.width().max(picture.height()) > MAX_SIDE {
        picture = sizes.next()?;
        factor *= 2.0;
    }
    if picture.width() < BLOCKS || picture.height() < BLOCKS {
        return None;
    }
    let luma = luma(picture);
    let size = [picture.width(), picture.height()];
    let whole = Levels::of(&luma, size, [0, 0], size);
    let blocks: Vec<Levels> = (0..BLOCKS * BLOCKS)
        .map(|n| {
            let start = [0, 1].map(|axis| block(n, axis) * size[axis] / BLOCKS);
            let end = [0, 1].map(|axis| (block(n, axis) + 1) * size[axis] / BLOCKS);
            Levels::of(&luma, size, start, end)
        })
        .collect();
    let known = |n: usize| {
        let centre = [0, 1]
            .map(|axis| factor * (block(n, axis) as f32 + 0.5) * size[axis] as f32 / BLOCKS as f32);
        faces.iter().any(|face| face.rect.contains(centre))
    };
    let dark = |n: &usize| blocks[*n].high < DARK && blocks[*n].count() >= EMPTY && !known(*n);
    let flat = whole.count() >= EMPTY && whole.count() < FLAT;
    let min = MIN_DARK_BLOCKS[usize::from(!faces.is_empty())];
    if !flat && (0..BLOCKS * BLOCKS).filter(dark).count() < min {
        return None;
    }
    Some(Evened { picture: stretched(picture, &blocks), factor })
}

/// The position of block `n` along an axis.
fn block(n: usize, axis: usize) -> usize {
    if axis == 0 { n % BLOCKS } else { n / BLOCKS }
}

impl Levels {
    /// The levels of a rectangle, every other pixel.
    fn of(luma: &[u8], [width, _]: [usize; 2], start: [usize; 2], end: [usize; 2]) -> Self {
        let mut histogram = [0_usize; 256];
        for y in (start[1]..end[1]).step_by(2) {
            for x in (start[0]..end[0]).step_by(2) {
                histogram[usize::from(luma[y * width + x])] += 1;
            }
        }
        let total = histogram.iter().sum::<usize>() as f32;
        let at = |share: f32| {
            let mut below = 0;
            let reached = histogram.iter().position(|count| {
                below += count;
                below as f32 >= share * total
            });
            reached.unwrap_or(255) as u8
        };
        Self { low: at(DARKEST), high: at(BRIGHTEST) }
    }

    fn count(self) -> u8 {
        self.high - self.low
    }
}

fn luma(picture: &Picture) -> Vec<u8> {
    let of = |[red, green, blue]: &[u8; 3]| {
        ((2 * u16::from(*red) + 5 * u16::from(*green) + u16::from(*blue)) / 8) as u8
    };
    picture.rgb().as_chunks().0.iter().map(of).collect()
}

/// Stretches the levels of each pixel by those of the blocks around it, interpolated between their centres.
fn stretched(picture: &Picture, blocks: &[Levels]) -> Picture {
    let (width, height) = (picture.width(), picture.height());
    // Positions of a pixel between two block centres: the first block, and the share of the second.
    let between = |at: usize, size: usize| {
        let place = (at as f32 + 0.5) * BLOCKS as f32 / size as f32 - 0.5;
        let first = place.clamp(0.0, (BLOCKS - 1) as f32) as usize;
        (first, (first + 1).min(BLOCKS - 1), (place - first as f32).clamp(0.0, 1.0))
    };
    let columns: Vec<_> = (0..width).map(|x| between(x, width)).collect();
    let mut rgb = Vec::with_capacity(picture.rgb().len());
    for (y, line) in picture.rgb().chunks_exact(3 * width).enumerate() {
        let (top, bottom, down) = between(y, height);
        let row: Vec<[f32; 2]> = (0..BLOCKS)
            .map(|x| {
                let [upper, lower] = [top, bottom].map(|y| blocks[y * BLOCKS + x]);
                let mix = |a: u8, b: u8| f32::from(a) + down * (f32::from(b) - f32::from(a));
                [mix(upper.low, lower.low), mix(upper.high, lower.high)]
            })
            .collect();
        for (pixel, (left, right, along)) in line.as_chunks::<3>().0.iter().zip(&columns) {
            let [low, high] =
                [0, 1].map(|n| row[*left][n] + along * (row[*right][n] - row[*left][n]));
            let gain = 255.0 / (high - low).max(MIN_LEVELS);
            rgb.extend(pixel.map(|v| ((f32::from(v) - low) * gain).clamp(0.0, 255.0) as u8));
        }
    }
    picture.with_samples(rgb)
}
