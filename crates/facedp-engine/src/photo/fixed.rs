//! Samples of a region in fixed point, taken out of a photo and put back (proofs/public.md).

use facedp::Plane;

use super::{Photo, Region, Sample, Samples, luma, with_samples};

/// Bits after the point of samples in fixed point.
const FRACTION: u32 = 24;

impl Photo {
    /// Takes the colour samples of a region out, in fixed point, and leaves it blank.
    pub(crate) fn take(&mut self, region: Region) -> Vec<i64> {
        let (channels, colours) = (self.channels, self.colours());
        let mut taken = Vec::with_capacity(region.width * region.height * colours);
        for y in region.y..region.y + region.height {
            let span = self.span(y, region.columns());
            with_samples!(&mut self.samples, samples => {
                for pixel in samples[span].chunks_exact_mut(channels) {
                    for sample in &mut pixel[..colours] {
                        taken.push(i64::from(std::mem::take(sample)) << FRACTION);
                    }
                }
            });
        }
        taken
    }

    /// Grey levels of samples that were taken out of a region.
    pub(crate) fn luma_of_fixed(&self, samples: &[i64], region: Region) -> Plane {
        let one = self.fixed_level();
        let mut plane = Plane::zeros(region.width, region.height);
        let pixels = samples.chunks_exact(self.colours());
        for (out, pixel) in plane.data_mut().iter_mut().zip(pixels) {
            *out = match pixel {
                [red, green, blue] => luma([red, green, blue].map(|s| *s as f64 / one)),
                grey => grey[0] as f64 / one,
            };
        }
        plane
    }

    /// A grey level in fixed point.
    fn fixed_level(&self) -> f64 {
        let steps = match self.samples {
            Samples::Eight(_) => u8::STEPS,
            Samples::Sixteen(_) => u16::STEPS,
        };
        f64::from(steps) * f64::from(1u32 << FRACTION)
    }

    /// Adds a change in grey levels, `sign` times, to samples that were taken out: the same for all
    /// colours of a pixel.
    pub(crate) fn add_fixed(&self, samples: &mut [i64], change: &Plane, sign: i64) {
        let one = self.fixed_level();
        for (pixel, levels) in samples.chunks_exact_mut(self.colours()).zip(change.data()) {
            let by = sign * (levels * one).round() as i64;
            pixel.iter_mut().for_each(|sample| *sample = sample.saturating_add(by));
        }
    }

    /// Puts samples back, rounded and cut to the range.
    pub(crate) fn put(&mut self, region: Region, samples: &[i64]) {
        let (channels, colours) = (self.channels, self.colours());
        let mut given = samples.iter();
        for y in region.y..region.y + region.height {
            let span = self.span(y, region.columns());
            with_samples!(&mut self.samples, samples => {
                for pixel in samples[span].chunks_exact_mut(channels) {
                    for (sample, value) in pixel[..colours].iter_mut().zip(&mut given) {
                        *sample = Sample::nearest((value + (1 << (FRACTION - 1))) >> FRACTION);
                    }
                }
            });
        }
    }

    /// Channels that are not alpha.
    fn colours(&self) -> usize {
        if self.has_colour() { 3 } else { 1 }
    }
}
