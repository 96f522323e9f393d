//! The ledger: the total privacy budget spent on each photo.
//!
//! It is a file of JSON lines that only its owner can read. A photo is identified by a hash of its pixels:
//! a scaled, cropped or recompressed photo counts as a different one (`proofs/repeated.md`).

use std::collections::BTreeMap;
use std::fs::{self, File, OpenOptions};
use std::io::{Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::{SystemTime, UNIX_EPOCH};

use etcetera::BaseStrategy;
use facedp::Claim;
use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};
use crate::files;
use crate::regular::open_own;

/// Version of the entry format. Lines without a version are older and have format 1.
const SCHEMA: u32 = 1;

fn first_schema() -> u32 {
    1
}

/// A release of a photo.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Entry {
    #[serde(default = "first_schema")]
    schema: u32,
    /// BLAKE3 of the photo's pixels, in hexadecimal.
    pub photo: String,
    /// Budget of each face.
    pub epsilon: f64,
    pub claim: Claim,
    /// Number of treated faces.
    pub faces: usize,
    /// Identifies repeatable noise: the same noise again costs nothing. None for fresh noise.
    pub noise: Option<String>,
    /// Identifies how features were split off; none if they were not.
    #[serde(default)]
    pub split: Option<String>,
    /// Unix time in seconds.
    pub when: u64,
}

/// The total cost of a photo.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Total {
    /// Releases with different noise.
    pub releases: usize,
    /// Sum of their budgets, per face. None if features were split off in different ways: one release then
    /// shows what the other hides, and no joint budget holds (`proofs/repeated.md`).
    pub epsilon: Option<f64>,
}

/// An open ledger.
pub struct Ledger {
    path: PathBuf,
    state: Mutex<State>,
}

/// The file, and what has been read from it.
struct State {
    file: File,
    entries: Vec<Entry>,
    /// Number of bytes read so far.
    read: u64,
}

impl Ledger {
    /// Default path of the user's ledger.
    pub fn default_path() -> Result<PathBuf> {
        let base = etcetera::choose_base_strategy().map_err(|_| Error::NoHome)?;
        Ok(base.config_dir().join("facedp").join("ledger.jsonl"))
    }

    /// Reads a ledger without changing it.
    pub fn read(path: &Path) -> Result<Vec<Entry>> {
        let file = open_own(path, OpenOptions::new().read(true), "cannot read ledger")?;
        let mut state = State { file, entries: Vec::new(), read: 0 };
        state.catch_up(path)?;
        Ok(state.entries)
    }

    /// Opens a ledger for writing. Creates it if it does not exist.
    pub fn open(path: &Path) -> Result<Self> {
        let failed = |reason| Error::io("cannot write ledger", path)(reason);
        if let Some(folder) = path.parent().filter(|p| !p.as_os_str().is_empty()) {
            fs::create_dir_all(folder).map_err(failed)?;
        }
        if !path.exists() {
            let empty = files::write_whole(path, b"", files::Readers::Owner, files::Existing::Keep);
            // Another process can create it first.
            if !path.exists() {
                empty?;
            }
        }
        let mut options = OpenOptions::new();
        let file = open_own(path, options.read(true).append(true), "cannot write ledger")?;
        let mut state = State { file, entries: Vec::new(), read: 0 };
        state.locked(path, |state| state.catch_up(path))?;
        Ok(Self { path: path.to_owned(), state: Mutex::new(state) })
    }

    /// Records a release, unless its noise is recorded already. Returns the total of the photo, including
    /// entries that other processes wrote in the meantime.
    pub fn record(&self, entry: Entry) -> Result<Total> {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let (photo, claim) = (entry.photo.clone(), entry.claim);
        state.locked(&self.path, |state| {
            state.catch_up(&self.path)?;
            let same = |other: &&Entry| other.photo == entry.photo && other.claim == entry.claim;
            let mut known = state.entries.iter().filter(same);
            match entry.noise.is_some() && known.any(|other| other.noise == entry.noise) {
                true => Ok(()),
                false => state.append(&self.path, entry),
            }
        })?;
        let known = state.entries.iter().filter(|e| e.photo == photo && e.claim == claim);
        Ok(total(&known.collect::<Vec<_>>()))
    }
}

impl State {
    /// Runs a task while the file is locked against other processes.
    fn locked<T>(&mut self, path: &Path, task: impl FnOnce(&mut Self) -> Result<T>) -> Result<T> {
        self.file.lock().map_err(Error::io("cannot lock ledger", path))?;
        let result = task(self);
        self.file.unlock().map_err(Error::io("cannot unlock ledger", path))?;
        result
    }

    /// Reads entries that were written since the last read.
    fn catch_up(&mut self, path: &Path) -> Result<()> {
        let mut text = String::new();
        let read = self.file.seek(SeekFrom::Start(self.read));
        let read = read.and_then(|_| self.file.read_to_string(&mut text));
        self.read += read.map_err(Error::io("cannot read ledger", path))? as u64;
        for line in text.lines() {
            let number = self.entries.len() + 1;
            let wrong = |problem: String| Error::Ledger { path: path.to_owned(), problem };
            let entry: Entry = serde_json::from_str(line)
                .map_err(|_| wrong(format!("line {number} is not an entry")))?;
            if entry.schema != SCHEMA {
                let found = entry.schema;
                let problem = format!("line {number} has format {found}, and {SCHEMA} is known");
                return Err(wrong(problem));
            }
            self.entries.push(entry);
        }
        Ok(())
    }

    fn append(&mut self, path: &Path, entry: Entry) -> Result<()> {
        let mut line = serde_json::to_vec(&entry)
            .map_err(|e| Error::Ledger { path: path.to_owned(), problem: e.to_string() })?;
        line.push(b'\n');
        let written = self.file.write_all(&line).and_then(|()| self.file.sync_data());
        written.map_err(Error::io("cannot write ledger", path))?;
        self.read += line.len() as u64;
        self.entries.push(entry);
        Ok(())
    }
}

/// The identifier of a photo in ledgers: its digest in hexadecimal.
pub fn photo_name(photo: &[u8; 32]) -> String {
    blake3::Hash::from_bytes(*photo).to_string()
}

fn total(entries: &[&Entry]) -> Total {
    let same_split = entries.windows(2).all(|pair| pair[0].split == pair[1].split);
    let sum = entries.iter().map(|entry| entry.epsilon).sum();
    Total { releases: entries.len(), epsilon: same_split.then_some(sum) }
}

/// The totals of all photos, per claim: first those without a joint budget, then by descending cost.
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
        let photo = photo_name(photo);
        let when = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |time| time.as_secs());
        Self { schema: SCHEMA, photo, epsilon, claim, faces, noise, split, when }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn totals_add_up_and_repeated_noise_costs_nothing() {
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
        // Two open ledgers see each other's entries.
        let other = Ledger::open(&path).unwrap();
        assert_eq!(other.record(entry(3, None)).unwrap().releases, 1);
        assert_eq!(ledger.record(entry(3, None)).unwrap().releases, 2);
        assert_eq!(other.record(entry(3, None)).unwrap().releases, 3);
        let ledger = Ledger::open(&path).unwrap();
        assert_eq!(ledger.record(entry(2, Some("k"))).unwrap().epsilon, Some(0.5));
        assert_eq!(ledger.record(entry(2, Some("other"))).unwrap().epsilon, Some(1.0));
        assert_eq!(ledger.record(entry(1, None)).unwrap().epsilon, Some(1.5));
        let other = Entry { split: split("16 features"), ..entry(2, None) };
        assert_eq!(ledger.record(other).unwrap(), Total { releases: 3, epsilon: None });
        let totals = totals(&Ledger::read(&path).unwrap());
        assert_eq!(totals.len(), 3);
        assert_eq!(totals[0].2, Total { releases: 3, epsilon: None });
        assert_eq!(totals[1].2, Total { releases: 3, epsilon: Some(1.5) });
        assert!(!crate::regular::others_can_read(&File::open(&path).unwrap()));
        fs::write(&path, "not an entry\n").unwrap();
        assert!(Ledger::open(&path).is_err_and(|e| e.to_string().contains("line 1")));
    }

    #[test]
    fn entries_keep_their_format() {
        let (noise, split) = (Some("n".to_owned()), Some("s".to_owned()));
        let mut entry = Entry::new(&[1; 32], 0.5, Claim::EpsDpFeatures, 2, noise, split);
        entry.when = 7;
        let photo = "01".repeat(32);
        let rest = format!(
            r#""photo":"{photo}","epsilon":0.5,"claim":"eps-dp-features","faces":2,"noise":"n","split":"s","when":7}}"#
        );
        let line = format!(r#"{{"schema":1,{rest}"#);
        assert_eq!(serde_json::to_string(&entry).unwrap(), line);
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("ledger.jsonl");
        // Older lines have no version.
        fs::write(&path, format!("{line}\n{{{rest}\n")).unwrap();
        assert_eq!(Ledger::read(&path).unwrap(), [entry.clone(), entry]);
        fs::write(&path, line.replace("\"schema\":1", "\"schema\":2")).unwrap();
        let error = Ledger::read(&path).unwrap_err().to_string();
        assert!(error.contains("line 1 has format 2"), "{error}");
    }
}
