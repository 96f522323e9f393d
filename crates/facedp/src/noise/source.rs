//! Generators that know where their randomness comes from.

use std::convert::Infallible;

use rand_core::{CryptoRng, SeedableRng, TryCryptoRng, TryRng};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use super::chacha::ChaCha;

/// Where the randomness of a release came from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Randomness {
    /// A generator seeded from the operating system's entropy. Nobody can repeat it.
    System,
    /// A secret key and the photo. Only those who have the key can repeat it.
    Keyed,
    /// A seed that others may know. Anybody can repeat it, so it protects nothing.
    Experiment,
}

/// A cryptographic generator with the origin of its randomness, so that a release cannot claim more
/// than is true.
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

    pub fn randomness(&self) -> Randomness {
        self.randomness
    }
}

/// A repeatable generator for one item of an experiment.
///
/// Each label has an independent stream, so the order of items does not matter.
pub fn experiment(seed: u64, label: &str) -> Source<ChaCha> {
    let mut hash = Sha256::new();
    hash.update(b"facedp experiment");
    hash.update(seed.to_le_bytes());
    hash.update(label.as_bytes());
    let generator = ChaCha::from_seed(hash.finalize().into());
    Source { generator, randomness: Randomness::Experiment }
}

/// The generator of one item under a secret key: ChaCha20, seeded with the keyed BLAKE3 hash of the
/// item's context.
///
/// The same key and context give the same noise, so averaging several releases of one photo gains
/// nothing. Without the key, the noise is indistinguishable from fresh noise. The caller must give
/// different items different contexts (proofs/repeated.md).
pub fn keyed(key: &[u8; 32], context: &[u8]) -> Source<ChaCha> {
    let seed = blake3::Hasher::new_keyed(key).update(b"facedp noise 1").update(context).finalize();
    let generator = ChaCha::from_seed(*seed.as_bytes());
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
