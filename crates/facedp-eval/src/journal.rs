//! A journal of finished cells, so that a stopped run can be resumed and a finished report written again
//! without repeating the work.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::error::{Error, Result};

/// What to do with a report that the folder already holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Earlier {
    /// Fail if there is one.
    Refuse,
    /// Reuse its cells.
    Resume,
    /// Overwrite it.
    Discard,
}

/// A file of JSON lines: a [`Header`], then one [`Line`] per cell. Each line is synced to disk before the
/// run goes on.
pub(crate) struct Journal {
    path: PathBuf,
    cells: BTreeMap<String, Value>,
    file: Mutex<File>,
}

/// The first line.
#[derive(Serialize)]
struct Header<'a> {
    schema: u64,
    /// Cells are reused only by a run with equal settings.
    settings: &'a Value,
}

#[derive(Serialize, Deserialize)]
struct Line {
    key: String,
    value: Value,
}

const NAME: &str = "cells.jsonl";
/// The layout of the file. Raise it whenever the layout changes.
const SCHEMA: u64 = 2;

impl Journal {
    /// Fails if the folder holds a report and `earlier` is [`Earlier::Refuse`].
    pub(crate) fn require_free(folder: &Path, earlier: Earlier) -> Result<()> {
        let exists = ["results.json", NAME].iter().any(|name| folder.join(name).exists());
        if earlier == Earlier::Refuse && exists {
            return Err(Error::ReportExists { folder: folder.to_owned() });
        }
        Ok(())
    }

    /// Opens the journal of a report folder. Fails if its cells were computed with other settings.
    pub(crate) fn open(folder: &Path, settings: &Value, earlier: Earlier) -> Result<Self> {
        let path = folder.join(NAME);
        let failed = |reason: std::io::Error| Error::Io { path: path.clone(), reason };
        fs::create_dir_all(folder).map_err(failed)?;
        Self::require_free(folder, earlier)?;
        let mut cells = BTreeMap::new();
        if earlier == Earlier::Resume && path.exists() {
            let text = fs::read_to_string(&path).map_err(failed)?;
            let Some(read) = read(&path, &text, settings)? else {
                return Err(Error::OtherOptions { folder: folder.to_owned() });
            };
            cells = read;
        }
        // Rewriting the file drops a last line that was cut off.
        let file = File::create(&path).map_err(failed)?;
        let journal = Self { path, cells, file: Mutex::new(file) };
        journal.write(&Header { schema: SCHEMA, settings })?;
        for (key, value) in &journal.cells {
            journal.write(&Line { key: key.clone(), value: value.clone() })?;
        }
        Ok(journal)
    }

    /// The value of a cell: from the earlier run if it has one, otherwise computed and recorded.
    pub(crate) fn cell<T: Serialize + DeserializeOwned>(
        &self,
        key: &str,
        compute: impl FnOnce() -> Result<T>,
    ) -> Result<T> {
        if let Some(value) = self.cells.get(key) {
            return serde_json::from_value(value.clone())
                .map_err(|reason| damaged(&self.path, format!("cell `{key}`"), reason));
        }
        let value = compute()?;
        self.write(&Line { key: key.to_owned(), value: serde_json::to_value(&value)? })?;
        Ok(value)
    }

    fn write(&self, line: &impl Serialize) -> Result<()> {
        let text = serde_json::to_string(line)? + "\n";
        let mut file = self.file.lock().unwrap_or_else(PoisonError::into_inner);
        let written = file.write_all(text.as_bytes()).and_then(|()| file.sync_data());
        written.map_err(|reason| Error::Io { path: self.path.clone(), reason })
    }
}

/// The cells of a journal; none if they were computed with other settings.
fn read(path: &Path, text: &str, settings: &Value) -> Result<Option<BTreeMap<String, Value>>> {
    // A run that was killed can leave half a line at the end.
    let whole = text.rfind('\n').map_or("", |end| &text[..end]);
    let mut cells = BTreeMap::new();
    for (n, line) in whole.lines().enumerate() {
        let at = |reason| damaged(path, format!("line {}", n + 1), reason);
        if n > 0 {
            let Line { key, value } = serde_json::from_str(line).map_err(at)?;
            cells.insert(key, value);
            continue;
        }
        let header: Value = serde_json::from_str(line).map_err(at)?;
        let found = &header["schema"];
        if *found != SCHEMA {
            let found = if found.is_null() { "none".to_owned() } else { found.to_string() };
            return Err(Error::Schema { journal: path.to_owned(), found, known: SCHEMA });
        }
        if header["settings"] != *settings {
            return Ok(None);
        }
    }
    Ok(Some(cells))
}

fn damaged(journal: &Path, place: String, reason: serde_json::Error) -> Error {
    Error::DamagedJournal { journal: journal.to_owned(), place, reason }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use serde_json::json;

    use super::*;

    const WHOLE: &str = "{\"schema\":2,\"settings\":{\"seed\":7}}\n\
                         {\"key\":\"law rdp\",\"value\":{\"mean\":0.5}}\n";

    fn resume(text: &str) -> (tempfile::TempDir, Result<Journal>) {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join(NAME), text).unwrap();
        let journal = Journal::open(folder.path(), &json!({ "seed": 7 }), Earlier::Resume);
        (folder, journal)
    }

    #[test]
    fn the_file_is_fixed() {
        let folder = tempfile::tempdir().unwrap();
        let settings = json!({ "seed": 7 });
        let journal = Journal::open(folder.path(), &settings, Earlier::Refuse).unwrap();
        let cell = journal.cell("law rdp", || Ok(json!({ "mean": 0.5 }))).unwrap();
        assert_eq!(cell, json!({ "mean": 0.5 }));
        assert_eq!(fs::read_to_string(folder.path().join(NAME)).unwrap(), WHOLE);
    }

    #[test]
    fn cells_are_read_back_and_half_a_line_is_dropped() {
        let (folder, journal) = resume(&format!("{WHOLE}{{\"key\":\"qual"));
        let cell: Value = journal.unwrap().cell("law rdp", || Err(Error::Stopped)).unwrap();
        assert_eq!(cell, json!({ "mean": 0.5 }));
        assert_eq!(fs::read_to_string(folder.path().join(NAME)).unwrap(), WHOLE);
    }

    #[test]
    fn an_unknown_schema_is_an_error() {
        let old = "{\"key\":\"settings\",\"value\":{\"seed\":7}}\n";
        for (text, found) in [(WHOLE.replace(":2,", ":3,"), "3"), (old.to_owned(), "none")] {
            let (folder, journal) = resume(&text);
            let error = journal.err().unwrap();
            assert!(matches!(error, Error::Schema { known: 2, .. }), "{error:?}");
            let words = format!("cells.jsonl: schema {found}; this version reads schema 2");
            assert!(error.to_string().ends_with(&words), "{error}");
            // Nothing is overwritten.
            assert_eq!(fs::read_to_string(folder.path().join(NAME)).unwrap(), text);
        }
    }

    #[test]
    fn damage_is_located_and_other_settings_are_refused() {
        let (_folder, journal) = resume(&WHOLE.replace("{\"key\"", "{\"cell\""));
        let error = journal.err().unwrap().to_string();
        assert!(error.contains("cells.jsonl: line 2 is damaged: "), "{error}");
        let (_folder, journal) = resume(WHOLE);
        let error = journal.unwrap().cell::<u64>("law rdp", || Ok(1)).unwrap_err().to_string();
        assert!(error.contains("cells.jsonl: cell `law rdp` is damaged: "), "{error}");
        let (_folder, journal) = resume(&WHOLE.replace(":7}", ":8}"));
        assert!(matches!(journal.err().unwrap(), Error::OtherOptions { .. }));
    }
}
