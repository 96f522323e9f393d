//! The record of a run in its output folder, there only while the run is not finished.
//!
//! It keeps two runs out of one folder, and a run from going on with other options than it began
//! with. What a killed run left unfinished is removed when it is resumed.

use std::collections::HashSet;
use std::fs::{self, File, TryLockError};
use std::io::{Read, Seek, Write};
use std::path::{Path, PathBuf};

use super::{Job, Mode};
use crate::engine::Engine;
use crate::error::{Error, Result};
use crate::files::remove_unfinished;

const NAME: &str = ".facedp-run";

/// A run that has begun.
pub struct Record {
    folder: PathBuf,
    /// Locked as long as it is open.
    file: File,
    /// Whether the folder was made for this run.
    made_folder: bool,
}

impl Record {
    /// Begins a run, or goes on with one, in an output folder. An engine of another name cannot go on
    /// with a run.
    pub fn begin(folder: &Path, jobs: &[Job], engine: &Engine, mode: Mode) -> Result<Self> {
        let description = engine.name();
        let refused = |problem: &str| Error::Refused(format!("{}: {problem}", folder.display()));
        let made_folder = !folder.exists();
        fs::create_dir_all(folder).map_err(Error::io("cannot write", folder))?;
        let path = folder.join(NAME);
        let failed = || Error::io("cannot write", &path);
        let mut options = File::options();
        options.read(true).write(true).create(true).truncate(false);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        let mut file = options.open(&path).map_err(failed())?;
        if let Err(TryLockError::WouldBlock) = file.try_lock() {
            return Err(refused("another run is writing to this folder: wait for it to end"));
        }
        let mut before = String::new();
        file.read_to_string(&mut before).map_err(failed())?;
        match mode {
            _ if before.is_empty() => {}
            Mode::New => {
                return Err(refused(
                    "a run into this folder was interrupted: go on with --resume, or start over \
                     with --force",
                ));
            }
            Mode::Resume if before != description => {
                return Err(refused(
                    "the interrupted run had other options, another key or another version: resume \
                     it with the same ones, or start over with --force",
                ));
            }
            Mode::Resume | Mode::Replace => {}
        }
        let files = jobs.iter().flat_map(|job| [Some(job.target()), job.receipt()]);
        let folders: HashSet<&Path> = files.flatten().filter_map(Path::parent).collect();
        folders.into_iter().try_for_each(remove_unfinished)?;
        let mut write = || -> std::io::Result<()> {
            file.set_len(0)?;
            file.rewind()?;
            file.write_all(description.as_bytes())?;
            file.sync_all()
        };
        let written = write();
        let record = Self { folder: folder.to_owned(), file, made_folder };
        match written {
            Ok(()) => Ok(record),
            Err(error) => {
                record.finish();
                Err(failed()(error))
            }
        }
    }

    /// Ends a run that is complete: the record goes away, and so does a folder that was made for
    /// nothing. Without this call the run can be resumed.
    pub fn finish(self) {
        let Self { folder, file, made_folder } = self;
        // Locked until it is gone, or another run could lock what is about to be removed.
        fs::remove_file(folder.join(NAME)).ok();
        drop(file);
        if made_folder {
            fs::remove_dir(folder).ok(); // fails if there is anything in it
        }
    }
}
