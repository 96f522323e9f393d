//! The user's secret key, from which the noise of a photo follows.
//!
//! The same key, photo, plan and face give the same noise, so that a photo that is protected twice
//! shows nothing new to somebody who would average. Who has the key can take the noise off again.

use std::fmt;
use std::fs;
use std::path::{Path, PathBuf};

use etcetera::BaseStrategy;
use getrandom::SysRng;
use rand_chacha::ChaCha20Rng;
use rand_core::{Rng, SeedableRng, TryRng};

use facedp::Randomness;
use facedp::noise::{Source, experiment, keyed};

use crate::error::{Error, Result};
use crate::files::{self, Readers};

/// 32 secret bytes.
#[derive(Clone, PartialEq, Eq)]
pub struct Key([u8; 32]);

/// How a key file begins; 64 hexadecimal digits follow.
const HEAD: &str = "facedp-key-1:";

impl fmt::Debug for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Key(..)")
    }
}

impl Key {
    /// A new key from the system's entropy.
    pub fn generate() -> Result<Self> {
        let mut bytes = [0; 32];
        SysRng.try_fill_bytes(&mut bytes).map_err(|e| Error::Entropy(e.to_string()))?;
        Ok(Self(bytes))
    }

    /// A key of given bytes, for who keeps keys elsewhere.
    pub fn from_bytes(bytes: [u8; 32]) -> Self {
        Self(bytes)
    }

    /// Where the user's key is kept.
    pub fn usual_path() -> Result<PathBuf> {
        let base = etcetera::choose_base_strategy().map_err(|_| Error::NoHome)?;
        Ok(base.config_dir().join("facedp").join("key"))
    }

    /// Reads a key file, which nobody but its owner may be able to read.
    pub fn read(path: &Path) -> Result<Self> {
        let text = fs::read_to_string(path).map_err(Error::io("cannot read key", path))?;
        let wrong = |problem: &str| Error::Key { path: path.into(), problem: problem.to_owned() };
        if files::others_can_read(path) {
            return Err(wrong("others can read it: chmod 600 it, and think of it as known"));
        }
        let parse = || {
            let digits = text.trim().strip_prefix(HEAD)?;
            let digits = Some(digits).filter(|d| d.len() == 64 && d.is_ascii())?;
            let mut key = [0; 32];
            for (byte, pair) in key.iter_mut().zip(0..) {
                *byte = u8::from_str_radix(&digits[2 * pair..2 * pair + 2], 16).ok()?;
            }
            Some(Self(key))
        };
        parse().ok_or_else(|| wrong("not a key that `facedp key new` made"))
    }

    /// Writes a key file that only its owner can read. An existing file is replaced only by
    /// [`files::Existing::Replace`].
    pub fn write(&self, path: &Path, existing: files::Existing) -> Result<()> {
        let digits: String = self.0.iter().map(|byte| format!("{byte:02x}")).collect();
        let text = format!("{HEAD}{digits}\n");
        files::write_whole(path, text.as_bytes(), Readers::Owner, existing)
    }

    /// The user's key, made on first use. The second value is its path if it was made now.
    pub fn usual() -> Result<(Self, Option<PathBuf>)> {
        let path = Self::usual_path()?;
        if path.exists() {
            return Ok((Self::read(&path)?, None));
        }
        let key = Self::generate()?;
        match key.write(&path, files::Existing::Keep) {
            Ok(()) => Ok((key, Some(path))),
            // Another run was first.
            Err(_) if path.exists() => Ok((Self::read(&path)?, None)),
            Err(error) => Err(error),
        }
    }

    /// A word that tells keys apart and says nothing of them.
    pub fn name(&self) -> String {
        format!("{:016x}", keyed(&self.0, b"name").next_u64())
    }
}

/// Where the noise of photos comes from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Secret {
    /// A secret key: repeatable by its owner.
    Key(Key),
    /// Fresh entropy for every face.
    Fresh,
    /// A seed that others can know, for experiments.
    Seed(u64),
}

impl Secret {
    /// The generator for one face of one photo under one plan.
    pub(crate) fn source(&self, context: &[u8]) -> Result<Source<ChaCha20Rng>> {
        match self {
            Secret::Key(key) => Ok(keyed(&key.0, context)),
            Secret::Fresh => ChaCha20Rng::try_from_rng(&mut SysRng)
                .map(Source::system)
                .map_err(|e| Error::Entropy(e.to_string())),
            Secret::Seed(seed) => {
                let label: String = context.iter().map(|byte| format!("{byte:02x}")).collect();
                Ok(experiment(*seed, &label))
            }
        }
    }

    /// What a receipt says of it.
    pub fn randomness(&self) -> Randomness {
        match self {
            Secret::Key(_) => Randomness::Keyed,
            Secret::Fresh => Randomness::System,
            Secret::Seed(_) => Randomness::Experiment,
        }
    }

    /// What tells noise apart that can come again; none if it never does.
    pub(crate) fn again(&self, noise: &str) -> Option<String> {
        match self {
            Secret::Fresh => None,
            Secret::Key(_) | Secret::Seed(_) => {
                let name = blake3::hash(format!("{noise} {}", self.name()).as_bytes());
                Some(name.to_hex()[..16].to_owned())
            }
        }
    }

    /// A word for records of a run, which gives nothing away.
    pub(crate) fn name(&self) -> String {
        match self {
            Secret::Key(key) => format!("key {}", key.name()),
            Secret::Fresh => "fresh".to_owned(),
            Secret::Seed(seed) => format!("seed {seed}"),
        }
    }
}
