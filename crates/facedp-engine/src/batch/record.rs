//! The run record: a file in the output folder that exists until the run is complete.
//!
//! Its first line says how the run was begun; each further line names a result with the hashes of its source and
//! of itself, and is written before the result is. So resuming takes over no file but what the run has written
//! from the sources as they are now. The record also prevents two runs from writing to the same folder, and an
//! interrupted run from being resumed with other options. Resuming removes the temporary files of a killed run.

use std::collections::{HashMap, HashSet};
use std::fs::{self, File, TryLockError};
use std::io::{Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use serde::{Deserialize, Serialize};

use super::{Job, Mode};
use crate::engine::Engine;
use crate::error::{Error, Result};
use crate::files::{remove_unfinished, require_writable};
use crate::regular::open_own;

const FILE_NAME: &str = ".facedp-run";
/// Version of the record format. Records of version 1 have no results.
const SCHEMA: u32 = 2;
const WRITE: &str = "cannot write";

#[derive(Debug, PartialEq, Serialize, Deserialize)]
struct Head {
    schema: u32,
    /// Fingerprint of the engine.
    engine: String,
}

/// A result of the run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct Entry {
    /// Path of the result in the output folder.
    file: String,
    /// BLAKE3 of the source's file, in hexadecimal.
    source: String,
    /// BLAKE3 of the result's file.
    result: String,
}

/// What a record says.
#[derive(Debug, PartialEq)]
struct Content {
    engine: String,
    entries: Vec<Entry>,
    /// Bytes up to the end of the last whole line.
    length: usize,
}

impl Content {
    /// Reads the record of an interrupted run. A last line that was cut off is not counted.
    fn read(text: &str, folder: &Path) -> Result<Self> {
        let unreadable = || Error::RunRecord { folder: folder.to_owned() };
        let mut lines = text.split_inclusive('\n');
        let first = lines.next().unwrap_or_default();
        let head: Head = serde_json::from_str(first).map_err(|_| unreadable())?;
        if !(1..=SCHEMA).contains(&head.schema) {
            let found = head.schema;
            return Err(Error::Schema { what: "run record", found, known: SCHEMA });
        }
        let mut content = Self { engine: head.engine, entries: Vec::new(), length: first.len() };
        for line in lines.take_while(|line| line.ends_with('\n')) {
            content.entries.push(serde_json::from_str(line).map_err(|_| unreadable())?);
            content.length += line.len();
        }
        // The head of version 1 has no end of line.
        content.length = if first.ends_with('\n') { content.length } else { 0 };
        Ok(content)
    }
}

/// The record of a run in progress, or of a run that is only tried.
pub struct Record {
    folder: PathBuf,
    /// Locked while it is open; none if nothing is written.
    file: Option<Mutex<File>>,
    /// Results of the interrupted run, by path.
    entries: HashMap<String, Entry>,
    /// Whether this run created the folder.
    created_folder: bool,
}

impl Record {
    /// Begins or resumes a run in an output folder. Resuming requires an engine with the same fingerprint.
    pub fn begin(folder: &Path, jobs: &[Job], engine: &Engine, mode: Mode) -> Result<Self> {
        let created_folder = !folder.exists();
        fs::create_dir_all(folder).map_err(Error::io(WRITE, folder))?;
        let path = folder.join(FILE_NAME);
        let mut options = File::options();
        options.read(true).write(true).create(true).truncate(false);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        let mut file = open_own(&path, &mut options, WRITE)?;
        let (head, content) = settled(&mut file, folder, engine, mode)?;
        let files = jobs.iter().flat_map(|job| [Some(job.target()), job.receipt()]);
        let folders: HashSet<&Path> = files.flatten().filter_map(Path::parent).collect();
        folders.into_iter().try_for_each(remove_unfinished)?;
        let mut write = || -> std::io::Result<()> {
            file.set_len(content.length as u64)?;
            file.seek(SeekFrom::End(0))?;
            if content.length == 0 {
                file.write_all(head.as_bytes())?;
            }
            file.sync_all()
        };
        let written = write();
        let (folder, file) = (folder.to_owned(), Some(Mutex::new(file)));
        let entries = by_path(content.entries);
        let record = Self { folder, file, entries, created_folder };
        match written {
            Ok(()) => Ok(record),
            Err(error) => {
                record.finish();
                Err(Error::io(WRITE, path)(error))
            }
        }
    }

    /// What [`Self::begin`] would find, without writing anything. Fails where that would fail.
    pub fn look(folder: &Path, engine: &Engine, mode: Mode) -> Result<Self> {
        let path = folder.join(FILE_NAME);
        require_writable(&path)?;
        let mut record = Self {
            folder: folder.to_owned(),
            file: None,
            entries: HashMap::new(),
            created_folder: false,
        };
        if fs::symlink_metadata(&path).is_ok() {
            let mut file = open_own(&path, File::options().read(true).write(true), WRITE)?;
            record.entries = by_path(settled(&mut file, folder, engine, mode)?.1.entries);
        }
        Ok(record)
    }

    /// Whether the run has made this result from this source.
    pub(super) fn knows(&self, job: &Job, source: &[u8], result: &[u8]) -> bool {
        let entry = self.entry(job, source, result);
        self.entries.get(&entry.file) == Some(&entry)
    }

    /// Notes a result that is about to be written.
    pub(super) fn add(&self, job: &Job, source: &[u8], result: &[u8]) -> Result<()> {
        let Some(file) = &self.file else { return Ok(()) };
        let failed = || Error::io(WRITE, self.folder.join(FILE_NAME));
        let entry = self.entry(job, source, result);
        let mut line = serde_json::to_string(&entry).map_err(|e| failed()(e.into()))?;
        line.push('\n');
        let mut file = file.lock().unwrap_or_else(PoisonError::into_inner);
        file.write_all(line.as_bytes()).map_err(failed())
    }

    fn entry(&self, job: &Job, source: &[u8], result: &[u8]) -> Entry {
        let file = job.target().strip_prefix(&self.folder).unwrap_or(job.target());
        let [source, result] = [source, result].map(|file| blake3::hash(file).to_string());
        Entry { file: file.to_string_lossy().into_owned(), source, result }
    }

    /// Ends a complete run: removes the record, and the folder if the run created it and it is empty.
    /// Without this call the run can be resumed.
    pub fn finish(self) {
        let Self { folder, file: Some(file), created_folder, .. } = self else { return };
        // Remove before unlocking: otherwise another run could lock a file that is about to disappear.
        fs::remove_file(folder.join(FILE_NAME)).ok();
        drop(file);
        if created_folder {
            fs::remove_dir(folder).ok(); // fails if it is not empty
        }
    }
}

/// Locks the file and reads it; the head of this run, and what is taken over from an interrupted one.
fn settled(
    file: &mut File,
    folder: &Path,
    engine: &Engine,
    mode: Mode,
) -> Result<(String, Content)> {
    let here = || folder.to_owned();
    let failed = || Error::io(WRITE, folder.join(FILE_NAME));
    if let Err(TryLockError::WouldBlock) = file.try_lock() {
        return Err(Error::Busy { folder: here() });
    }
    let own = Head { schema: SCHEMA, engine: engine.fingerprint() };
    let head = serde_json::to_string(&own).map_err(|e| failed()(e.into()))? + "\n";
    let mut before = String::new();
    file.read_to_string(&mut before).map_err(failed())?;
    let nothing = Content { engine: own.engine.clone(), entries: Vec::new(), length: 0 };
    match mode {
        _ if before.is_empty() => Ok((head, nothing)),
        Mode::New => Err(Error::Interrupted { folder: here() }),
        Mode::Replace => Ok((head, nothing)),
        Mode::Resume => match Content::read(&before, folder)? {
            content if content.engine == own.engine => Ok((head, content)),
            _ => Err(Error::OtherRun { folder: here() }),
        },
    }
}

fn by_path(entries: Vec<Entry>) -> HashMap<String, Entry> {
    entries.into_iter().map(|entry| (entry.file.clone(), entry)).collect()
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn records_keep_their_format() {
        let text = "{\"schema\":2,\"engine\":\"ab\"}\n\
                    {\"file\":\"a.jpg\",\"source\":\"01\",\"result\":\"02\"}\n";
        let head = Head { schema: 2, engine: "ab".to_owned() };
        let [file, source, result] = ["a.jpg", "01", "02"].map(str::to_owned);
        let entry = Entry { file, source, result };
        let lines = [serde_json::to_string(&head).unwrap(), serde_json::to_string(&entry).unwrap()];
        assert_eq!(lines.join("\n") + "\n", text);
        let folder = Path::new("out");
        let content = Content { engine: "ab".to_owned(), entries: vec![entry], length: text.len() };
        assert_eq!(Content::read(text, folder).unwrap(), content);
        // A line that was cut off does not count.
        let cut = format!("{text}{{\"file\":\"b.j");
        assert_eq!(Content::read(&cut, folder).unwrap(), content);
        // The first version had a head only.
        let first = Content::read(r#"{"schema":1,"engine":"ab"}"#, folder).unwrap();
        assert_eq!(first, Content { engine: "ab".to_owned(), entries: vec![], length: 0 });
        let newer = Content::read(r#"{"schema":3,"engine":"ab"}"#, folder).unwrap_err().to_string();
        assert!(newer.contains("run record") && newer.contains('3'), "{newer}");
        for wrong in ["ab", "", "{\"schema\":2,\"engine\":\"ab\"}\nab\n"] {
            assert!(
                matches!(Content::read(wrong, folder), Err(Error::RunRecord { .. })),
                "{wrong}"
            );
        }
    }
}
