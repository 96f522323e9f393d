//! The run record: a file in the output folder that exists until the run is complete.
//!
//! It prevents two runs from writing to the same folder, and an interrupted run from being resumed with
//! other options. Resuming removes the temporary files of a killed run.

use std::collections::HashSet;
use std::fs::{self, File, TryLockError};
use std::io::{Read, Seek, Write};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::{Job, Mode};
use crate::engine::Engine;
use crate::error::{Error, Result};
use crate::files::remove_unfinished;

const FILE_NAME: &str = ".facedp-run";
/// Version of the record format.
const SCHEMA: u32 = 1;

#[derive(Debug, PartialEq, Serialize, Deserialize)]
struct Content {
    schema: u32,
    /// Fingerprint of the engine.
    engine: String,
}

impl Content {
    /// Reads the record of an interrupted run.
    fn read(text: &str, folder: &Path) -> Result<Self> {
        let unreadable = || Error::RunRecord { folder: folder.to_owned() };
        let content: Self = serde_json::from_str(text).map_err(|_| unreadable())?;
        match content.schema {
            SCHEMA => Ok(content),
            found => Err(Error::Schema { what: "run record", found, known: SCHEMA }),
        }
    }
}

/// The record of a run in progress.
pub struct Record {
    folder: PathBuf,
    /// Locked while it is open.
    file: File,
    /// Whether this run created the folder.
    created_folder: bool,
}

impl Record {
    /// Begins or resumes a run in an output folder. Resuming requires an engine with the same fingerprint.
    pub fn begin(folder: &Path, jobs: &[Job], engine: &Engine, mode: Mode) -> Result<Self> {
        let own = Content { schema: SCHEMA, engine: engine.fingerprint() };
        let here = || folder.to_owned();
        let created_folder = !folder.exists();
        fs::create_dir_all(folder).map_err(Error::io("cannot write", folder))?;
        let path = folder.join(FILE_NAME);
        let failed = || Error::io("cannot write", &path);
        let mut options = File::options();
        options.read(true).write(true).create(true).truncate(false);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        let mut file = options.open(&path).map_err(failed())?;
        if let Err(TryLockError::WouldBlock) = file.try_lock() {
            return Err(Error::Busy { folder: here() });
        }
        let mut before = String::new();
        file.read_to_string(&mut before).map_err(failed())?;
        match mode {
            _ if before.is_empty() => {}
            Mode::New => return Err(Error::Interrupted { folder: here() }),
            Mode::Resume if Content::read(&before, folder)? != own => {
                return Err(Error::OtherRun { folder: here() });
            }
            Mode::Resume | Mode::Replace => {}
        }
        let text = serde_json::to_vec(&own).map_err(|e| failed()(e.into()))?;
        let files = jobs.iter().flat_map(|job| [Some(job.target()), job.receipt()]);
        let folders: HashSet<&Path> = files.flatten().filter_map(Path::parent).collect();
        folders.into_iter().try_for_each(remove_unfinished)?;
        let mut write = || -> std::io::Result<()> {
            file.set_len(0)?;
            file.rewind()?;
            file.write_all(&text)?;
            file.sync_all()
        };
        let written = write();
        let record = Self { folder: folder.to_owned(), file, created_folder };
        match written {
            Ok(()) => Ok(record),
            Err(error) => {
                record.finish();
                Err(failed()(error))
            }
        }
    }

    /// Ends a complete run: removes the record, and the folder if the run created it and it is empty.
    /// Without this call the run can be resumed.
    pub fn finish(self) {
        let Self { folder, file, created_folder } = self;
        // Remove before unlocking: otherwise another run could lock a file that is about to disappear.
        fs::remove_file(folder.join(FILE_NAME)).ok();
        drop(file);
        if created_folder {
            fs::remove_dir(folder).ok(); // fails if it is not empty
        }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn records_keep_their_format() {
        let content = Content { schema: 1, engine: "ab".to_owned() };
        let text = r#"{"schema":1,"engine":"ab"}"#;
        assert_eq!(serde_json::to_string(&content).unwrap(), text);
        let folder = Path::new("out");
        assert_eq!(Content::read(text, folder).unwrap(), content);
        let newer = Content::read(r#"{"schema":2,"engine":"ab"}"#, folder).unwrap_err().to_string();
        assert!(newer.contains("run record") && newer.contains('2'), "{newer}");
        assert!(matches!(Content::read("ab", folder), Err(Error::RunRecord { .. })));
    }
}
