//! Generators, with what a receipt has to say of them.

use std::convert::Infallible;

use rand_chacha::ChaCha20Rng;
use rand_core::{CryptoRng, SeedableRng, TryCryptoRng, TryRng};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

/// Where the randomness of a release came from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Randomness {
    /// A generator seeded from the operating system's entropy, which nobody can repeat.
    System,
    /// A secret key and the photo: whoever has the key can repeat it, nobody else.
    Keyed,
    /// A seed that somebody else can know: repeatable, and worth nothing as protection.
    Experiment,
}

/// A cryptographic generator that knows where its randomness comes from, so that a release made
/// with it cannot claim more than is true.
#[derive(Debug)]
pub struct Source<R> {
    generator: R,
    randomness: Randomness,
}

impl<R: CryptoRng> Source<R> {
    /// Wraps a generator that the caller has seeded from the operating system's entropy.
    pub fn system(generator: R) -> Self {
        Self { generator, randomness: Randomness::System }
    }

    /// Where the randomness comes from.
    pub fn randomness(&self) -> Randomness {
        self.randomness
    }
}

/// The repeatable generator of one item of an experiment.
///
/// Items with different labels get independent streams, whatever order they are made in.
pub fn experiment(seed: u64, label: &str) -> Source<ChaCha20Rng> {
    let mut hash = Sha256::new();
    hash.update(b"facedp experiment");
    hash.update(seed.to_le_bytes());
    hash.update(label.as_bytes());
    let generator = ChaCha20Rng::from_seed(hash.finalize().into());
    Source { generator, randomness: Randomness::Experiment }
}

/// The generator of one item under a secret key: keyed BLAKE3 of everything that tells the item
/// apart, as the seed of ChaCha20.
///
/// The same key and context give the same noise, so that protecting a photo again shows nothing new
/// to somebody who would average; without the key the noise cannot be told from fresh one. The
/// caller makes contexts of different items differ (proofs/repeated.md).
pub fn keyed(key: &[u8; 32], context: &[u8]) -> Source<ChaCha20Rng> {
    let seed = blake3::Hasher::new_keyed(key).update(b"facedp noise 1").update(context).finalize();
    let generator = ChaCha20Rng::from_seed(*seed.as_bytes());
    Source { generator, randomness: Randomness::Keyed }
}

impl<R: CryptoRng> TryRng for Source<R> {
    type Error = Infallible;

    fn try_next_u32(&mut self) -> Result<u32, Infallible> {
        Ok(self.generator.next_u32())
    }

    fn try_next_u64(&mut self) -> Result<u64, Infallible> {
        Ok(self.generator.next_u64())
    }

    fn try_fill_bytes(&mut self, bytes: &mut [u8]) -> Result<(), Infallible> {
        self.generator.fill_bytes(bytes);
        Ok(())
    }
}

impl<R: CryptoRng> TryCryptoRng for Source<R> {}
