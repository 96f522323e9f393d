//! The context from which the randomness of a face is derived.

use facedp::noise::{ChaCha, Source};

use crate::error::Result;
use crate::key::Secret;
use crate::photo::{Region, Untreated};

/// Method, samples and secret, which determine the noise of the faces of a photo.
pub(super) struct NoiseContext<'a> {
    secret: &'a Secret,
    bytes: Vec<u8>,
}

impl<'a> NoiseContext<'a> {
    pub(super) fn new(method: &str, original: &Untreated, secret: &'a Secret) -> Self {
        let method = blake3::hash(method.as_bytes());
        Self { secret, bytes: [*method.as_bytes(), original.digest()].concat() }
    }

    /// The generator for the face whose chip covers a region. The region is rounded coarsely: the last bits
    /// of a detector's output differ between processors and must not change the noise.
    pub(super) fn source(&self, region: Region) -> Result<Source<ChaCha>> {
        let Region { x, y, width, height } = region;
        let unit = (width.max(height) / 8).max(1).next_power_of_two();
        let centre = [x + width / 2, y + height / 2, width + height].map(|n| (n + unit / 2) / unit);
        let numbers = [unit, centre[0], centre[1], centre[2]].map(|n| (n as u64).to_le_bytes());
        self.secret.source(&[self.bytes.as_slice(), numbers.as_flattened()].concat())
    }
}
