//! What the randomness of a face follows from.

use facedp::noise::Source;
use rand_chacha::ChaCha20Rng;

use crate::error::Result;
use crate::key::Secret;
use crate::photo::{Photo, Region};

/// What decides the noise of a photo's faces.
pub(super) struct Context<'a> {
    secret: &'a Secret,
    bytes: Vec<u8>,
}

impl<'a> Context<'a> {
    pub(super) fn new(plan: &str, photo: &Photo, secret: &'a Secret) -> Self {
        let plan = blake3::hash(plan.as_bytes());
        Self { secret, bytes: [*plan.as_bytes(), photo.digest()].concat() }
    }

    /// The generator of the face whose chip covers that region. Rounded coarsely: the last bits of a
    /// detector's numbers differ between processors, and should not make new noise.
    pub(super) fn source(&self, region: Region) -> Result<Source<ChaCha20Rng>> {
        let Region { x, y, width, height } = region;
        let unit = (width.max(height) / 8).max(1).next_power_of_two();
        let centre = [x + width / 2, y + height / 2, width + height].map(|n| (n + unit / 2) / unit);
        let numbers = [unit, centre[0], centre[1], centre[2]].map(|n| (n as u64).to_le_bytes());
        self.secret.source(&[self.bytes.as_slice(), numbers.as_flattened()].concat())
    }
}
