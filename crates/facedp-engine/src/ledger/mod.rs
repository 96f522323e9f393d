//! The ledger: every release of every photo, by every method.
//!
//! It is a file of JSON lines that only its owner can read. A photo is identified by a hash of its pixels:
//! a scaled, cropped or recompressed photo counts as a different one (`proofs/repeated.md`).

mod entry;
mod total;

use std::collections::HashMap;
use std::fs::{self, File, OpenOptions};
use std::io::{Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use etcetera::BaseStrategy;

use crate::error::{Error, Result};
use crate::files;
use crate::regular::open_own;

pub use entry::{Entry, photo_name};
pub use total::{NoBound, Total, totals};

/// An open ledger.
pub struct Ledger {
    path: PathBuf,
    state: Mutex<State>,
}

/// The file, and what has been read from it.
struct State {
    file: File,
    entries: Vec<Entry>,
    /// Positions of a photo's entries: a run over thousands of photos asks for those of each.
    by_photo: HashMap<String, Vec<usize>>,
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
        let mut state = State::new(file);
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
        let mut state = State::new(file);
        state.locked(path, |state| state.catch_up(path))?;
        Ok(Self { path: path.to_owned(), state: Mutex::new(state) })
    }

    /// Records a release, unless its noise is recorded already. Returns the total of the photo, including
    /// entries that other processes wrote in the meantime.
    pub fn record(&self, entry: Entry) -> Result<Total> {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let photo = entry.photo.clone();
        state.locked(&self.path, |state| {
            state.catch_up(&self.path)?;
            let repeated = state.of(&photo).any(|other| other.repeats(&entry));
            match repeated {
                true => Ok(()),
                false => state.append(&self.path, entry),
            }
        })?;
        Ok(Total::of(&state.of(&photo).collect::<Vec<_>>()))
    }
}

impl State {
    fn new(file: File) -> Self {
        Self { file, entries: Vec::new(), by_photo: HashMap::new(), read: 0 }
    }

    /// The entries of a photo, in the order in which they were written.
    fn of(&self, photo: &str) -> impl Iterator<Item = &Entry> {
        let known = self.by_photo.get(photo).map_or(&[][..], Vec::as_slice);
        known.iter().map(|at| &self.entries[*at])
    }

    fn push(&mut self, entry: Entry) {
        self.by_photo.entry(entry.photo.clone()).or_default().push(self.entries.len());
        self.entries.push(entry);
    }

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
            let entry = Entry::from_json(line).map_err(|e| wrong(format!("line {number} {e}")))?;
            self.push(entry);
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
        self.push(entry);
        Ok(())
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use facedp::Claim;

    use super::*;

    fn certified(photo: u8, noise: Option<&str>) -> Entry {
        Entry {
            epsilon: Some(0.5),
            claim: Claim::EpsDpFeatures,
            noise: noise.map(str::to_owned),
            split: Some("64 features".to_owned()),
            ..Entry::new(&[photo; 32], "certified", 1)
        }
    }

    #[test]
    fn totals_add_up_and_repeated_noise_costs_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("deep/ledger.jsonl");
        let ledger = Ledger::open(&path).unwrap();
        assert_eq!(ledger.record(certified(1, None)).unwrap().releases, 1);
        let total = ledger.record(certified(1, None)).unwrap();
        assert_eq!((total.releases, total.epsilon), (2, Some(1.0)));
        assert_eq!(ledger.record(certified(2, Some("k"))).unwrap().epsilon, Some(0.5));
        // Two open ledgers see each other's entries.
        let other = Ledger::open(&path).unwrap();
        assert_eq!(other.record(certified(3, None)).unwrap().releases, 1);
        assert_eq!(ledger.record(certified(3, None)).unwrap().releases, 2);
        assert_eq!(other.record(certified(3, None)).unwrap().releases, 3);
        let ledger = Ledger::open(&path).unwrap();
        assert_eq!(ledger.record(certified(2, Some("k"))).unwrap().epsilon, Some(0.5));
        assert_eq!(ledger.record(certified(2, Some("other"))).unwrap().epsilon, Some(1.0));
        assert_eq!(ledger.record(certified(1, None)).unwrap().epsilon, Some(1.5));
        let fewer = Entry { split: Some("16 features".to_owned()), ..certified(2, None) };
        let total = ledger.record(fewer).unwrap();
        assert_eq!((total.releases, total.epsilon), (3, None));
        let totals = totals(&Ledger::read(&path).unwrap());
        assert_eq!(totals.len(), 3);
        assert_eq!(totals[0].1, total);
        assert_eq!((totals[1].1.releases, totals[1].1.epsilon), (3, Some(1.5)));
        assert!(!crate::regular::others_can_read(&File::open(&path).unwrap()));
        fs::write(&path, "not an entry\n").unwrap();
        assert!(Ledger::open(&path).is_err_and(|e| e.to_string().contains("line 1")));
    }
}
