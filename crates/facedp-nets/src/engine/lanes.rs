//! How tensors lie in memory: groups of 16 channels, one group after the other. A group has its pixels row by row,
//! and a pixel has its 16 values side by side, so that vector instructions work on channels and never have to
//! shift or mask. Channels are filled up to a multiple of 16; what those hold does not matter.

use half::f16;

use super::Shape;

pub(super) const LANES: usize = 16;

/// One pixel of a group of channels.
pub(super) type Lanes = [f32; LANES];

/// As many numbers in half precision.
pub(super) type Halves = [f16; LANES];

impl Shape {
    /// The number of groups of channels.
    pub(super) const fn groups(self) -> usize {
        self.channels.div_ceil(LANES)
    }

    /// The number of pixels in all groups.
    pub(super) const fn lanes(self) -> usize {
        self.groups() * self.area()
    }
}

/// Memory for pixels, each within one line of the cache. It never gets shorter: to make it longer again would
/// fill it with zeros, and networks take turns.
#[derive(Debug, Default)]
pub(super) struct Memory {
    values: Vec<f32>,
    start: usize,
}

impl Memory {
    /// Makes room for that many pixels.
    pub(super) fn reserve(&mut self, count: usize) {
        let needed = (count + 1) * LANES;
        if self.values.len() < needed {
            self.values.resize(needed, 0.0);
            let past = self.values.as_ptr().addr() / size_of::<f32>() % LANES;
            self.start = (LANES - past) % LANES;
        }
    }

    /// The first `count` pixels, for which there must be room.
    pub(super) fn get(&self, count: usize) -> &[Lanes] {
        &self.values[self.start..].as_chunks().0[..count]
    }

    pub(super) fn get_mut(&mut self, count: usize) -> &mut [Lanes] {
        &mut self.values[self.start..].as_chunks_mut().0[..count]
    }
}

/// Numbers by channel, as groups filled up with `rest`.
pub(super) fn grouped(values: &[f32], rest: f32) -> Vec<Lanes> {
    (0..values.len().div_ceil(LANES)).map(|group| group_of(values, group, rest)).collect()
}

/// The numbers of one group of channels, filled up with `rest`.
#[inline(always)]
pub(super) fn group_of(values: &[f32], group: usize, rest: f32) -> Lanes {
    let mut lanes = [rest; LANES];
    let values = values.get(group * LANES..).unwrap_or_default();
    lanes.iter_mut().zip(values).for_each(|(l, v)| *l = *v);
    lanes
}

/// The values of a tensor channel by channel, row by row.
pub(super) fn to_planes(pixels: &[Lanes], shape: Shape) -> Vec<f32> {
    let channel = |c: usize| {
        let group = &pixels[c / LANES * shape.area()..][..shape.area()];
        group.iter().map(move |pixel| pixel[c % LANES])
    };
    (0..shape.channels).flat_map(channel).collect()
}

/// The reverse of [`to_planes`].
pub(super) fn from_planes(values: &[f32], shape: Shape, pixels: &mut [Lanes]) {
    for (c, channel) in values.chunks_exact(shape.area()).enumerate() {
        let group = &mut pixels[c / LANES * shape.area()..][..shape.area()];
        group.iter_mut().zip(channel).for_each(|(pixel, v)| pixel[c % LANES] = *v);
    }
}
