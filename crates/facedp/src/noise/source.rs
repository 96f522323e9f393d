//! Generators: what a receipt says of them, and the repeatable one of experiments.

use rand_chacha::ChaCha20Rng;
use rand_core::SeedableRng;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

/// Where the randomness of a release came from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Randomness {
    /// The operating system's entropy.
    System,
    /// A seed that somebody else can know: repeatable, and worth nothing as protection.
    Experiment,
}

/// The repeatable generator of one item of an experiment.
///
/// Items with different labels get independent streams, whatever order they are made in.
pub fn experiment(seed: u64, label: &str) -> ChaCha20Rng {
    let mut hash = Sha256::new();
    hash.update(b"facedp experiment");
    hash.update(seed.to_le_bytes());
    hash.update(label.as_bytes());
    ChaCha20Rng::from_seed(hash.finalize().into())
}
