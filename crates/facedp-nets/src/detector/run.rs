//! Runs of the network on pictures at their own size.

use std::ops::Range;

use super::Detector;
use super::face::{Face, Rect, blended, keep_best};
use crate::engine::{Shape, Workspace};
use crate::networks::yunet::STRIDES;
use crate::picture::Picture;

/// The side of a tile, and the overlap of neighbours, which exceeds the largest face.
const TILE: usize = 640;
const TILE_OVERLAP: usize = 224;

impl Detector {
    /// Faces at the picture's own size, tile by tile.
    pub(super) fn detect_in_size(
        &self,
        picture: &Picture,
        min: f32,
        work: &mut Workspace,
    ) -> Vec<Face> {
        let mut found = Vec::new();
        for (top, bottom) in tiles(picture.height()) {
            for (left, right) in tiles(picture.width()) {
                // A face that an inner edge cuts off is complete in the neighbouring tile.
                let cut = |face: &Face| {
                    let Rect { x, y, width, height } = face.rect;
                    (left > 0 && x < 2.0)
                        || (top > 0 && y < 2.0)
                        || (right < picture.width() && x + width > (right - left) as f32 - 2.0)
                        || (bottom < picture.height() && y + height > (bottom - top) as f32 - 2.0)
                };
                let region = (left..right, top..bottom);
                for mut face in blended(&self.cells(picture, region, min, work)) {
                    if !cut(&face) {
                        face.shift(left as f32, top as f32);
                        found.push(face);
                    }
                }
            }
        }
        keep_best(found)
    }

    /// Faces of one region, in its own coordinates, from one run of the network.
    pub(super) fn detect_region(
        &self,
        picture: &Picture,
        region: (Range<usize>, Range<usize>),
        min_score: f32,
        work: &mut Workspace,
    ) -> Vec<Face> {
        keep_best(self.cells(picture, region, min_score, work))
    }

    /// What each cell of the network says after a run on one region, in coordinates of the region.
    pub(super) fn cells(
        &self,
        picture: &Picture,
        (columns, rows): (Range<usize>, Range<usize>),
        min_score: f32,
        work: &mut Workspace,
    ) -> Vec<Face> {
        let padded = |n: usize| n.next_multiple_of(32);
        let shape = Shape::new(3, padded(rows.len()), padded(columns.len()));
        self.network.forward_lines(work, shape, |mut lines| {
            let mut rows = rows;
            for line in lines.iter() {
                let row = rows.next().map(|y| 3 * (y * picture.width() + columns.start));
                let pixels = row.map_or(&[][..], |at| picture.rgb()[at..].as_chunks::<3>().0);
                let pixels = &pixels[..columns.len().min(pixels.len())];
                let (inside, outside) = line.split_at_mut(pixels.len());
                // Blue, green, red.
                for (to, [red, green, blue]) in inside.iter_mut().zip(pixels) {
                    *to = [*blue, *green, *red].map(f32::from);
                }
                outside.fill([0.0; 3]);
            }
        });
        self.decode(work, shape, min_score)
    }

    /// Decodes every cell of the heads after a run on an input of the given shape.
    pub(super) fn decode(&self, work: &Workspace, shape: Shape, min_score: f32) -> Vec<Face> {
        let mut found = Vec::new();
        for (output, stride) in STRIDES.into_iter().enumerate() {
            let grid = Shape::new(16, shape.height / stride, shape.width / stride);
            let values = &self.network.output_pixels(work, output)[..grid.area()];
            found.extend(values.iter().enumerate().filter_map(|(cell, value)| {
                let value = |channel: usize| value[channel];
                Face::decode(value, cell % grid.width, cell / grid.width, stride, min_score)
            }));
        }
        found
    }
}

/// Start and end of the tiles along a side.
fn tiles(n: usize) -> Vec<(usize, usize)> {
    if n <= TILE {
        return vec![(0, n)];
    }
    // As few as possible, evenly spaced.
    let count = (n - TILE_OVERLAP).div_ceil(TILE - TILE_OVERLAP);
    let start = |i: usize| i * (n - TILE) / (count - 1);
    (0..count).map(|i| (start(i), start(i) + TILE)).collect()
}
