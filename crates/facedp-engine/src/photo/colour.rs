//! Single pixels in colour: read, erased and set.

use super::{Photo, Sample, Samples, luma, with_samples};

impl Photo {
    /// Red, green and blue of a pixel, 0 to 255. A grey photo has three times the same.
    pub(crate) fn colour(&self, x: usize, y: usize) -> [f32; 3] {
        let first = (y * self.width + x) * self.channels;
        let step = usize::from(self.has_colour());
        with_samples!(&self.samples, samples => {
            [0, step, 2 * step].map(|c| samples[first + c].level() as f32)
        })
    }

    /// Leaves nothing of a pixel: black and opaque.
    pub(crate) fn erase(&mut self, x: usize, y: usize) {
        self.set_colour(x, y, [0.0; 3]);
    }

    /// Sets red, green and blue of a pixel, rounded and clamped to the range, and makes it opaque. A grey
    /// photo gets their luma.
    pub(crate) fn set_colour(&mut self, x: usize, y: usize, colour: [f32; 3]) {
        let first = (y * self.width + x) * self.channels;
        let grey = [luma(colour.map(f64::from)) as f32];
        let (channels, alpha) = (self.channels, self.has_alpha());
        let colours = if self.has_colour() { colour.as_slice() } else { &grey };
        with_samples!(&mut self.samples, samples => {
            let pixel = &mut samples[first..first + channels];
            set(pixel, colours);
            if alpha {
                set(&mut pixel[channels - 1..], &[255.0]);
            }
        });
    }
}

/// Sets samples to levels.
fn set<S: Sample>(samples: &mut [S], levels: &[f32]) {
    for (sample, level) in samples.iter_mut().zip(levels) {
        *sample = S::clamped((level * S::STEPS_PER_LEVEL).round() as i64);
    }
}
