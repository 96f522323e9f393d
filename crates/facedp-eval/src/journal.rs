//! Cells that are done are written down at once, so that a run can be stopped and resumed, and a
//! finished report made anew without the work.

use std::collections::HashMap;
use std::fs::{self, File};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::error::{Error, Result};

/// What becomes of the cells of an earlier run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Earlier {
    /// There may be none.
    Refuse,
    /// They are taken.
    Resume,
    /// They are thrown away.
    Discard,
}

/// A file of cells, one JSON line each; the first says what they belong to.
pub struct Journal {
    path: PathBuf,
    known: HashMap<String, Value>,
    file: Mutex<File>,
}

#[derive(Serialize, Deserialize)]
struct Line {
    key: String,
    value: Value,
}

const NAME: &str = "cells.jsonl";
const HEAD: &str = "settings";

impl Journal {
    /// Fails if there is a report that may neither be gone on with nor replaced.
    pub fn require_free(folder: &Path, earlier: Earlier) -> Result<()> {
        let there = ["results.json", NAME].iter().any(|name| folder.join(name).exists());
        if earlier == Earlier::Refuse && there {
            let problem = "holds a report already: choose another -o, or pass --resume or --force";
            return Err(Error::Folder { folder: folder.to_owned(), problem });
        }
        Ok(())
    }

    /// Opens the journal of a report folder. Cells of other settings are not taken.
    pub fn open(folder: &Path, settings: &Value, earlier: Earlier) -> Result<Self> {
        let path = folder.join(NAME);
        let failed = |reason: std::io::Error| Error::Io { path: path.clone(), reason };
        fs::create_dir_all(folder).map_err(failed)?;
        let refused = |problem| Err(Error::Folder { folder: folder.to_owned(), problem });
        let there = ["results.json", NAME].iter().any(|name| folder.join(name).exists());
        if earlier == Earlier::Refuse && there {
            return refused(
                "holds a report already: choose another -o, or pass --resume or --force",
            );
        }
        let mut known = HashMap::new();
        if earlier == Earlier::Resume && path.exists() {
            let text = fs::read_to_string(&path).map_err(failed)?;
            // The last line can be cut off.
            let whole = text.rfind('\n').map_or("", |end| &text[..end]);
            for line in whole.lines() {
                let Line { key, value } = serde_json::from_str(line)?;
                known.insert(key, value);
            }
            if known.get(HEAD).is_some_and(|head| head != settings) {
                return refused(
                    "the report there was begun with other options: resume it with the same ones, or \
                     start over with --force",
                );
            }
        }
        // Written anew, so that a line that was cut off is gone.
        let file = File::create(&path).map_err(failed)?;
        let journal = Self { path, known: HashMap::new(), file: Mutex::new(file) };
        journal.write(HEAD, settings)?;
        for (key, value) in known.iter().filter(|(key, _)| *key != HEAD) {
            journal.write(key, value)?;
        }
        Ok(Self { known, ..journal })
    }

    /// The value of a cell: as it was found before, or else computed and written down.
    pub fn cell<T: Serialize + DeserializeOwned>(
        &self,
        key: &str,
        compute: impl FnOnce() -> Result<T>,
    ) -> Result<T> {
        if let Some(value) = self.known.get(key) {
            return Ok(serde_json::from_value(value.clone())?);
        }
        let value = compute()?;
        self.write(key, &serde_json::to_value(&value)?)?;
        Ok(value)
    }

    fn write(&self, key: &str, value: &Value) -> Result<()> {
        let line = Line { key: key.to_owned(), value: value.clone() };
        let text = serde_json::to_string(&line)? + "\n";
        let mut file = self.file.lock().unwrap_or_else(PoisonError::into_inner);
        let written = file.write_all(text.as_bytes()).and_then(|()| file.sync_data());
        written.map_err(|reason| Error::Io { path: self.path.clone(), reason })
    }
}
