//! Finding pictures, and writing files so that none is ever half-written.

use std::collections::HashSet;
use std::ffi::OsStr;
use std::fs;
use std::io::{Read, Write};
use std::path::{Component, Path, PathBuf};

use tempfile::NamedTempFile;

use crate::error::{Error, Result};

/// A picture to read, and its place below the output folder.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Found {
    /// Where it is.
    pub path: PathBuf,
    /// Its path from the folder that was named.
    pub relative: PathBuf,
}

/// Endings of names that are read.
const READ: [&str; 6] = ["jpg", "jpeg", "jpe", "jfif", "png", "webp"];
/// Endings of pictures and videos that are not, and of which somebody could think that they were.
const NOT_READ: [&str; 25] = [
    "heic", "heif", "avif", "gif", "tif", "tiff", "bmp", "jxl", "jp2", "dng", "cr2", "cr3", "nef",
    "arw", "raf", "rw2", "orf", "pef", "mp4", "m4v", "mov", "avi", "mkv", "webm", "mpg",
];

/// Pictures named on the command line: files as they are, folders with all that is in them, patterns
/// such as `photos/**/*.jpg` with all that they match; each once, however often it is named. What
/// cannot be taken is an error of its own, which does not stop the rest.
///
/// An output folder `leave_out` that lies inside of a folder or pattern is not taken, nor are hidden
/// files. Files named by
/// hand are taken whatever their ending; if they are missing, reading them says so.
pub fn collect(paths: &[PathBuf], leave_out: &Path) -> (Vec<Found>, Vec<Error>) {
    let leave_out = fs::canonicalize(leave_out).ok();
    let mut search = Search { leave_out, found: Vec::new(), failures: Vec::new() };
    for path in paths {
        let matches = if path.exists() { None } else { pattern(path) };
        match matches {
            // Patterns lose a leading `./`, so their base must too.
            Some(base) => {
                let base = base.strip_prefix(".").unwrap_or(&base);
                search.matches(path.strip_prefix(".").unwrap_or(path), base);
            }
            None => search.named(path),
        }
    }
    let mut seen = HashSet::new();
    let mut found = search.found;
    found.retain(|f| fs::canonicalize(&f.path).map_or(true, |path| seen.insert(path)));
    (found, search.failures)
}

/// The folder that a pattern starts from, if the path is one.
fn pattern(path: &Path) -> Option<PathBuf> {
    let special = |c: &Component<'_>| c.as_os_str().to_string_lossy().contains(['*', '?', '[']);
    let mut base = path.components();
    path.components().any(|c| special(&c)).then(|| {
        while base.clone().any(|c| special(&c)) {
            base.next_back();
        }
        base.as_path().to_owned()
    })
}

struct Search {
    leave_out: Option<PathBuf>,
    found: Vec<Found>,
    failures: Vec<Error>,
}

impl Search {
    /// A file or folder that was named.
    fn named(&mut self, path: &Path) {
        if !path.is_dir() {
            let relative = path.file_name().map(PathBuf::from).unwrap_or_default();
            self.found.push(Found { path: path.to_owned(), relative });
            return;
        }
        let before = (self.found.len(), self.failures.len());
        self.walk(path, Path::new(""));
        if before == (self.found.len(), self.failures.len()) {
            self.fail(format!("{}: no pictures ({}) in this folder", path.display(), endings()));
        }
    }

    /// Everything that a pattern matches.
    fn matches(&mut self, path: &Path, base: &Path) {
        let name = path.display();
        let hidden = glob::MatchOptions { require_literal_leading_dot: true, ..Default::default() };
        let paths = match glob::glob_with(&path.to_string_lossy(), hidden) {
            Ok(paths) => paths,
            Err(error) => return self.fail(format!("{name}: not a pattern: {error}")),
        };
        let inside =
            fs::canonicalize(if base.as_os_str().is_empty() { Path::new(".") } else { base });
        let left_out = self.leave_out.clone().filter(|out| {
            inside.as_ref().is_ok_and(|inside| out != inside && out.starts_with(inside))
        });
        let is_left_out = |path: &Path| {
            let out = left_out.as_deref();
            out.is_some_and(|out| fs::canonicalize(path).is_ok_and(|path| path.starts_with(out)))
        };
        let before = (self.found.len(), self.failures.len());
        for path in paths {
            match path {
                Ok(path) if path.is_dir() || is_left_out(&path) => {}
                Ok(path) => {
                    let relative = path.strip_prefix(base).unwrap_or(&path).to_owned();
                    self.take(path, relative);
                }
                Err(error) => self.fail(error.to_string()),
            }
        }
        if before == (self.found.len(), self.failures.len()) {
            self.fail(format!("{name}: no picture ({}) matches this pattern", endings()));
        }
    }

    /// A file in a folder or of a pattern.
    fn take(&mut self, path: PathBuf, relative: PathBuf) {
        if is_picture(&path) {
            self.found.push(Found { path, relative });
        } else if ends_with(&path, &NOT_READ) {
            let name = path.display();
            self.fail(format!(
                "{name}: facedp reads JPEG, PNG and WebP only: convert it first, or leave it out"
            ));
        }
    }

    fn walk(&mut self, folder: &Path, relative: &Path) {
        let entries = match entries(folder) {
            Ok(entries) => entries,
            Err(error) => return self.failures.push(error),
        };
        for path in entries {
            let name = path.file_name().unwrap_or_default();
            let relative = relative.join(name);
            if name.as_encoded_bytes().starts_with(b".") {
                continue;
            }
            if path.is_dir() {
                // A link to a folder could lead round in a circle.
                let is_output = || fs::canonicalize(&path).ok() == self.leave_out;
                if !path.is_symlink() && (self.leave_out.is_none() || !is_output()) {
                    self.walk(&path, &relative);
                }
            } else {
                self.take(path, relative);
            }
        }
    }

    fn fail(&mut self, message: String) {
        self.failures.push(Error::Refused(message));
    }
}

fn endings() -> String {
    READ.map(|ending| format!(".{ending}")).join(", ")
}

fn ends_with(path: &Path, endings: &[&str]) -> bool {
    let ending = path.extension().and_then(OsStr::to_str).map(str::to_ascii_lowercase);
    ending.is_some_and(|ending| endings.contains(&ending.as_str()))
}

/// Whether the name ends like that of a picture.
pub fn is_picture(path: &Path) -> bool {
    ends_with(path, &READ)
}

/// The entries of a folder in the order of their names.
pub fn entries(folder: &Path) -> Result<Vec<PathBuf>> {
    let listed = || -> std::io::Result<Vec<PathBuf>> {
        fs::read_dir(folder)?.map(|entry| entry.map(|e| e.path())).collect()
    };
    let mut entries = listed().map_err(Error::io("cannot read", folder))?;
    entries.sort();
    Ok(entries)
}

/// Reads a file of at most that many bytes.
pub fn read(path: &Path, most: u64) -> Result<Vec<u8>> {
    let failed = || Error::io("cannot read", path);
    let about = fs::metadata(path).map_err(failed())?;
    if about.is_dir() {
        return Err(failed()(std::io::ErrorKind::IsADirectory.into()));
    }
    if !about.is_file() {
        return Err(Error::Refused("neither a file nor a folder".to_owned()));
    }
    if about.len() > most {
        return Err(Error::TooManyBytes { found: about.len(), most });
    }
    let mut bytes = Vec::with_capacity(about.len() as usize);
    let file = fs::File::open(path).map_err(failed())?;
    // It can grow while it is read.
    file.take(most).read_to_end(&mut bytes).map_err(failed())?;
    Ok(bytes)
}

/// A folder beside the given one: its name with `suffix`.
pub fn beside(folder: &Path, suffix: &str) -> Result<PathBuf> {
    // A folder that is not there yet has no full name of its own.
    let full = fs::canonicalize(folder).or_else(|_| std::path::absolute(folder));
    let full = full.map_err(Error::io("cannot find", folder))?;
    let Some(name) = full.file_name() else {
        return Err(Error::Refused(format!("{}: nothing lies beside this folder", full.display())));
    };
    let mut name = name.to_os_string();
    name.push(suffix);
    Ok(full.with_file_name(name))
}

/// Who may read a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Readers {
    /// As the user's umask says.
    Usual,
    /// The owner only.
    Owner,
}

/// What becomes of a file that is there already.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Existing {
    /// It stays, and writing fails.
    Keep,
    /// It is replaced.
    Replace,
}

/// How names of unfinished files begin and end.
const UNFINISHED: (&str, &str) = (".facedp-", ".part");

/// Writes a file that appears under its name only when it is complete: temporary name in the
/// same folder, flushed to disk, renamed. Folders are made as needed.
pub fn write_whole(path: &Path, bytes: &[u8], readers: Readers, existing: Existing) -> Result<()> {
    let write = || -> std::io::Result<()> {
        let mut file = temporary_beside(path, readers)?;
        file.as_file_mut().write_all(bytes)?;
        file.as_file().sync_all()?;
        match existing {
            Existing::Keep => file.persist_noclobber(path)?,
            Existing::Replace => file.persist(path)?,
        };
        Ok(())
    };
    write().map_err(Error::io("cannot write", path))
}

/// Fails if a file could not be written there; makes nothing.
pub fn require_writable(path: &Path) -> Result<()> {
    // The nearest folder that exists; what is missing below it can then be made.
    let nearest = path.ancestors().skip(1).find(|folder| folder.exists());
    let nearest = nearest.filter(|folder| !folder.as_os_str().is_empty());
    let tried = tempfile::tempfile_in(nearest.unwrap_or(Path::new("."))).map(drop);
    tried.map_err(Error::io("cannot write", path))
}

/// Removes what a killed run left unfinished in a folder, as far as that can be read.
pub(crate) fn remove_unfinished(folder: &Path) -> Result<()> {
    for path in entries(folder).unwrap_or_default() {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        if name.starts_with(UNFINISHED.0) && name.ends_with(UNFINISHED.1) {
            fs::remove_file(&path).map_err(Error::io("cannot remove", &path))?;
        }
    }
    Ok(())
}

/// Whether somebody but the owner may read a file.
pub(crate) fn others_can_read(path: &Path) -> bool {
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        fs::metadata(path).is_ok_and(|about| about.permissions().mode() & 0o077 != 0)
    }
    #[cfg(not(unix))]
    {
        let _ = path;
        false
    }
}

/// A file in the same folder that goes away unless it gets a name.
fn temporary_beside(path: &Path, readers: Readers) -> std::io::Result<NamedTempFile> {
    let folder = match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    };
    let mut folders = fs::DirBuilder::new();
    folders.recursive(true);
    let mut file = tempfile::Builder::new();
    file.prefix(UNFINISHED.0).suffix(UNFINISHED.1);
    #[cfg(unix)]
    {
        use std::os::unix::fs::{DirBuilderExt, PermissionsExt};
        match readers {
            Readers::Owner => folders.mode(0o700),
            Readers::Usual => folders.mode(0o777),
        };
        if readers == Readers::Usual {
            file.permissions(fs::Permissions::from_mode(0o666));
        }
    }
    #[cfg(not(unix))]
    let _ = readers;
    folders.create(folder)?;
    file.tempfile_in(folder)
}
