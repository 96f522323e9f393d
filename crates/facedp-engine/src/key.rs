//! The user's secret key, from which the noise of a photo is derived.
//!
//! The same key, photo, plan and face give the same noise, so that an attacker cannot average two releases
//! of a photo. Anyone who has the key can subtract the noise.

use std::fmt;
use std::fs::OpenOptions;
use std::io::Read;
use std::path::{Path, PathBuf};

use etcetera::BaseStrategy;
use getrandom::SysRng;
use rand_core::{Rng, SeedableRng, TryRng};

use facedp::noise::{ChaCha, Randomness, Source, experiment, keyed};

use crate::error::{Error, Result};
use crate::files::{self, Readers};
use crate::regular::{open_own, others_can_read};

/// 32 secret bytes.
#[derive(Clone, PartialEq, Eq)]
pub struct Key([u8; 32]);

/// Prefix of a key file; 64 hexadecimal digits follow.
const PREFIX: &str = "facedp-key-1:";

/// Key files have about 80 bytes.
const MAX_BYTES: u64 = 1000;

impl fmt::Debug for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Key(..)")
    }
}

impl Key {
    /// Generates a key from system entropy.
    pub fn generate() -> Result<Self> {
        let mut bytes = [0; 32];
        SysRng.try_fill_bytes(&mut bytes).map_err(|e| Error::Entropy(e.to_string()))?;
        Ok(Self(bytes))
    }

    /// A key from bytes that are stored elsewhere.
    pub fn from_bytes(bytes: [u8; 32]) -> Self {
        Self(bytes)
    }

    /// Default path of the user's key.
    pub fn default_path() -> Result<PathBuf> {
        let base = etcetera::choose_base_strategy().map_err(|_| Error::NoHome)?;
        Ok(base.config_dir().join("facedp").join("key"))
    }

    /// Reads a key file. Fails if users other than its owner can read it.
    pub fn read(path: &Path) -> Result<Self> {
        let what = "cannot read key";
        let file = open_own(path, OpenOptions::new().read(true), what)?;
        let wrong = |problem: &str| Error::Key { path: path.into(), problem: problem.to_owned() };
        if others_can_read(&file) {
            return Err(wrong("others can read it, so it may be known"));
        }
        let mut text = String::new();
        file.take(MAX_BYTES).read_to_string(&mut text).map_err(Error::io(what, path))?;
        let parse = || {
            let digits = text.trim().strip_prefix(PREFIX)?;
            let digits = Some(digits).filter(|d| d.len() == 64 && d.is_ascii())?;
            let mut key = [0; 32];
            for (byte, pair) in key.iter_mut().zip(0..) {
                *byte = u8::from_str_radix(&digits[2 * pair..2 * pair + 2], 16).ok()?;
            }
            Some(Self(key))
        };
        parse().ok_or_else(|| wrong("not a key file"))
    }

    /// Writes a key file that only its owner can read.
    pub fn write(&self, path: &Path, existing: files::Existing) -> Result<()> {
        let digits: String = self.0.iter().map(|byte| format!("{byte:02x}")).collect();
        let text = format!("{PREFIX}{digits}\n");
        files::write_whole(path, text.as_bytes(), Readers::Owner, existing)
    }

    /// The user's key, generated on first use. The second value is its path if it was generated now.
    pub fn load_default() -> Result<(Self, Option<PathBuf>)> {
        let path = Self::default_path()?;
        if path.exists() {
            return Ok((Self::read(&path)?, None));
        }
        let key = Self::generate()?;
        match key.write(&path, files::Existing::Keep) {
            Ok(()) => Ok((key, Some(path))),
            // Another process was first.
            Err(_) if path.exists() => Ok((Self::read(&path)?, None)),
            Err(error) => Err(error),
        }
    }

    /// Identifies the key without revealing it. Ledgers and run records depend on it: it must not change.
    fn fingerprint(&self) -> String {
        format!("{:016x}", keyed(&self.0, b"name").next_u64())
    }
}

/// The source of randomness for photos.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Secret {
    /// A secret key: its owner can repeat results.
    Key(Key),
    /// Fresh entropy for every face.
    Fresh,
    /// A seed, not a secret: for experiments only.
    Seed(u64),
}

impl Secret {
    /// The generator for a context: one face of one photo under one plan.
    pub(crate) fn source(&self, context: &[u8]) -> Result<Source<ChaCha>> {
        match self {
            Secret::Key(key) => Ok(keyed(&key.0, context)),
            Secret::Fresh => ChaCha::try_from_rng(&mut SysRng)
                .map(Source::system)
                .map_err(|e| Error::Entropy(e.to_string())),
            Secret::Seed(seed) => {
                let label: String = context.iter().map(|byte| format!("{byte:02x}")).collect();
                Ok(experiment(*seed, &label))
            }
        }
    }

    /// The kind of randomness, as receipts state it.
    pub fn randomness(&self) -> Randomness {
        match self {
            Secret::Key(_) => Randomness::Keyed,
            Secret::Fresh => Randomness::System,
            Secret::Seed(_) => Randomness::Experiment,
        }
    }

    /// Identifies repeatable noise; none for fresh noise, which never repeats. Ledgers hold it: the text that
    /// is hashed must not change.
    pub(crate) fn repeatable(&self, noise: &str) -> Option<String> {
        match self {
            Secret::Fresh => None,
            Secret::Key(_) | Secret::Seed(_) => {
                let text = format!("{noise} {}", self.fingerprint());
                Some(blake3::hash(text.as_bytes()).to_hex()[..16].to_owned())
            }
        }
    }

    /// Identifies the secret in run records without revealing it. It must not change.
    pub(crate) fn fingerprint(&self) -> String {
        match self {
            Secret::Key(key) => format!("key {}", key.fingerprint()),
            Secret::Fresh => "fresh".to_owned(),
            Secret::Seed(seed) => format!("seed {seed}"),
        }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    /// Ledgers and run records hold these.
    #[test]
    fn secrets_keep_their_fingerprints() {
        let key = Secret::Key(Key::from_bytes([7; 32]));
        assert_eq!(key.fingerprint(), "key 8857807cec09e423");
        assert_eq!(key.repeatable("noise").unwrap(), "6a5a49c50649104e");
        assert_eq!(Secret::Seed(5).fingerprint(), "seed 5");
        assert_eq!(Secret::Fresh.fingerprint(), "fresh");
        assert_eq!(Secret::Fresh.repeatable("noise"), None);
    }
}
