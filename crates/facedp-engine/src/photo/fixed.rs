//! Samples of a region in fixed point, taken out of a photo and put back (proofs/public.md).

use facedp::Plane;

use super::{Photo, Region, Sample, Samples, luma, with_samples};

/// Fractional bits of a sample in fixed point.
const FRACTION_BITS: u32 = 24;

impl Photo {
    /// Takes out the colour samples of a region, in fixed point, and leaves zeros.
    pub(crate) fn take(&mut self, region: Region) -> Vec<i64> {
        let (channels, colours) = (self.channels, self.colour_channels());
        let mut taken = Vec::with_capacity(region.width * region.height * colours);
        for y in region.y..region.y + region.height {
            let span = self.span(y, region.columns());
            with_samples!(&mut self.samples, samples => {
                for pixel in samples[span].chunks_exact_mut(channels) {
                    for sample in &mut pixel[..colours] {
                        taken.push(i64::from(std::mem::take(sample)) << FRACTION_BITS);
                    }
                }
            });
        }
        taken
    }

    /// Luma of samples that were taken out of a region.
    pub(crate) fn luma_of_fixed(&self, samples: &[i64], region: Region) -> Plane {
        let one = self.fixed_level();
        let mut plane = Plane::zeros(region.width, region.height);
        let pixels = samples.chunks_exact(self.colour_channels());
        for (out, pixel) in plane.data_mut().iter_mut().zip(pixels) {
            *out = match pixel {
                [red, green, blue] => luma([red, green, blue].map(|s| *s as f64 / one)),
                grey => grey[0] as f64 / one,
            };
        }
        plane
    }

    /// One grey level in fixed point.
    fn fixed_level(&self) -> f64 {
        let steps = match self.samples {
            Samples::U8(_) => u8::STEPS_PER_LEVEL,
            Samples::U16(_) => u16::STEPS_PER_LEVEL,
        };
        f64::from(steps) * f64::from(1u32 << FRACTION_BITS)
    }

    /// Adds `sign` times a change in grey levels to samples that were taken out. All colours of a pixel
    /// change alike.
    pub(crate) fn add_fixed(&self, samples: &mut [i64], change: &Plane, sign: i64) {
        let one = self.fixed_level();
        for (pixel, levels) in samples.chunks_exact_mut(self.colour_channels()).zip(change.data()) {
            let steps = sign * (levels * one).round() as i64;
            pixel.iter_mut().for_each(|sample| *sample = sample.saturating_add(steps));
        }
    }

    /// Puts samples back, rounded and clamped to the range of the photo.
    pub(crate) fn put(&mut self, region: Region, samples: &[i64]) {
        let (channels, colours) = (self.channels, self.colour_channels());
        let mut given = samples.iter();
        for y in region.y..region.y + region.height {
            let span = self.span(y, region.columns());
            with_samples!(&mut self.samples, samples => {
                for pixel in samples[span].chunks_exact_mut(channels) {
                    for (sample, value) in pixel[..colours].iter_mut().zip(&mut given) {
                        *sample = Sample::clamped((value + (1 << (FRACTION_BITS - 1))) >> FRACTION_BITS);
                    }
                }
            });
        }
    }

    /// Number of channels other than alpha.
    fn colour_channels(&self) -> usize {
        if self.has_colour() { 3 } else { 1 }
    }
}
