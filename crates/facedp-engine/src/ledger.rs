//! What was spent on each photo, over all its releases.
//!
//! A file of JSON lines that only its owner can read. Photos are known by a hash of what they show: one
//! that was scaled, cropped or compressed anew counts as another (`proofs/repeated.md`).

use std::collections::BTreeMap;
use std::fs::{self, File, OpenOptions};
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::{SystemTime, UNIX_EPOCH};

use etcetera::BaseStrategy;
use facedp::Claim;
use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};
use crate::files;

/// A release of a photo.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Entry {
    /// BLAKE3 of what the photo shows, in hexadecimal.
    pub photo: String,
    /// The budget of each face.
    pub epsilon: f64,
    /// What is claimed of it.
    pub claim: Claim,
    /// Faces that were treated.
    pub faces: usize,
    /// What tells repeatable noise apart: the same again costs nothing. None for fresh noise.
    pub noise: Option<String>,
    /// What tells apart how features were taken out of the photo; none where they are not.
    #[serde(default)]
    pub split: Option<String>,
    /// Seconds since 1970.
    pub when: u64,
}

/// What a photo has cost.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Total {
    /// Releases with different noise.
    pub releases: usize,
    /// The sum of their budgets, for each face. None if features were taken out in different ways: what one
    /// release hides, the other shows, and no budget holds for them together (`proofs/repeated.md`).
    pub epsilon: Option<f64>,
}

/// An open ledger.
pub struct Ledger {
    path: PathBuf,
    state: Mutex<(File, Vec<Entry>)>,
}

impl Ledger {
    /// Where the user's ledger is kept.
    pub fn usual_path() -> Result<PathBuf> {
        let base = etcetera::choose_base_strategy().map_err(|_| Error::NoHome)?;
        Ok(base.config_dir().join("facedp").join("ledger.jsonl"))
    }

    /// Reads a ledger without changing it.
    pub fn read(path: &Path) -> Result<Vec<Entry>> {
        let file = File::open(path).map_err(Error::io("cannot read ledger", path))?;
        let mut entries = Vec::new();
        for (number, line) in (1..).zip(BufReader::new(file).lines()) {
            let line = line.map_err(Error::io("cannot read ledger", path))?;
            let entry = serde_json::from_str(&line).map_err(|_| Error::Ledger {
                path: path.to_owned(),
                problem: format!("line {number} is not an entry: mend it, or move the file away"),
            })?;
            entries.push(entry);
        }
        Ok(entries)
    }

    /// Opens a ledger to write to; it is made if there is none.
    pub fn open(path: &Path) -> Result<Self> {
        let failed = |reason| Error::io("cannot write ledger", path)(reason);
        if let Some(folder) = path.parent().filter(|p| !p.as_os_str().is_empty()) {
            fs::create_dir_all(folder).map_err(failed)?;
        }
        if !path.exists() {
            let empty = files::write_whole(path, b"", files::Readers::Owner, files::Existing::Keep);
            // Another run can be first.
            if !path.exists() {
                empty?;
            }
        }
        let entries = Self::read(path)?;
        let file = OpenOptions::new().append(true).open(path).map_err(failed)?;
        Ok(Self { path: path.to_owned(), state: Mutex::new((file, entries)) })
    }

    /// Writes a release down, unless it is the same again, and says what the photo has cost by now.
    pub fn record(&self, entry: Entry) -> Result<Total> {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let (file, entries) = &mut *state;
        let same = |other: &&Entry| other.photo == entry.photo && other.claim == entry.claim;
        let again =
            entry.noise.is_some() && entries.iter().filter(same).any(|e| e.noise == entry.noise);
        let (photo, claim) = (entry.photo.clone(), entry.claim);
        if !again {
            let mut line = serde_json::to_vec(&entry)
                .map_err(|e| Error::Ledger { path: self.path.clone(), problem: e.to_string() })?;
            line.push(b'\n');
            let written = file.write_all(&line).and_then(|()| file.sync_data());
            written.map_err(Error::io("cannot write ledger", &self.path))?;
            entries.push(entry);
        }
        let known = entries.iter().filter(|e| e.photo == photo && e.claim == claim);
        Ok(total(&known.collect::<Vec<_>>()))
    }
}

/// What releases cost together.
fn total(entries: &[&Entry]) -> Total {
    let alike = entries.windows(2).all(|pair| pair[0].split == pair[1].split);
    let sum = entries.iter().map(|entry| entry.epsilon).sum();
    Total { releases: entries.len(), epsilon: alike.then_some(sum) }
}

/// The totals of all photos, by claim; those of which nothing holds any more, and then those that cost
/// most, come first.
pub fn totals(entries: &[Entry]) -> Vec<(String, Claim, Total)> {
    let mut by_photo: BTreeMap<(&str, &str), Vec<&Entry>> = BTreeMap::new();
    for entry in entries {
        by_photo.entry((&entry.photo, entry.claim.in_words())).or_default().push(entry);
    }
    let mut totals: Vec<(String, Claim, Total)> = by_photo
        .into_values()
        .map(|entries| (entries[0].photo.clone(), entries[0].claim, total(&entries)))
        .collect();
    let cost = |total: &Total| total.epsilon.unwrap_or(f64::INFINITY);
    totals.sort_by(|a, b| cost(&b.2).total_cmp(&cost(&a.2)));
    totals
}

impl Entry {
    pub(crate) fn new(
        photo: &[u8; 32],
        epsilon: f64,
        claim: Claim,
        faces: usize,
        noise: Option<String>,
        split: Option<String>,
    ) -> Self {
        let photo = photo.iter().map(|byte| format!("{byte:02x}")).collect();
        let when = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |time| time.as_secs());
        Self { photo, epsilon, claim, faces, noise, split, when }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn totals_add_up_and_the_same_again_costs_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("deep/ledger.jsonl");
        let split = |name: &str| Some(name.to_owned());
        let entry = |photo: u8, noise: Option<&str>| {
            let noise = noise.map(str::to_owned);
            Entry::new(&[photo; 32], 0.5, Claim::EpsDpFeatures, 1, noise, split("64 features"))
        };
        let ledger = Ledger::open(&path).unwrap();
        assert_eq!(ledger.record(entry(1, None)).unwrap().releases, 1);
        assert_eq!(
            ledger.record(entry(1, None)).unwrap(),
            Total { releases: 2, epsilon: Some(1.0) }
        );
        assert_eq!(ledger.record(entry(2, Some("k"))).unwrap().epsilon, Some(0.5));
        // Another run goes on where this one stopped.
        let ledger = Ledger::open(&path).unwrap();
        assert_eq!(ledger.record(entry(2, Some("k"))).unwrap().epsilon, Some(0.5));
        assert_eq!(ledger.record(entry(2, Some("other"))).unwrap().epsilon, Some(1.0));
        assert_eq!(ledger.record(entry(1, None)).unwrap().epsilon, Some(1.5));
        let other = Entry { split: split("16 features"), ..entry(2, None) };
        assert_eq!(ledger.record(other).unwrap(), Total { releases: 3, epsilon: None });
        let totals = totals(&Ledger::read(&path).unwrap());
        assert_eq!(totals.len(), 2);
        assert_eq!(totals[0].2, Total { releases: 3, epsilon: None });
        assert_eq!(totals[1].2, Total { releases: 3, epsilon: Some(1.5) });
        assert!(!files::others_can_read(&path));
        fs::write(&path, "not an entry\n").unwrap();
        assert!(Ledger::open(&path).is_err_and(|e| e.to_string().contains("line 1")));
    }
}
