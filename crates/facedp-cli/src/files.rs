//! Finding pictures, naming results, and writing files so that none is ever half-written.

use std::ffi::OsStr;
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use tempfile::NamedTempFile;

/// A picture to read, and its place below the output folder.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Found {
    pub path: PathBuf,
    pub relative: PathBuf,
}

/// Pictures named on the command line: files as they are, folders with all that is in them.
///
/// What lies below `leave_out` (the output folder) is not taken. Files named by hand are taken
/// whatever their ending; if they are missing, reading them says so.
pub fn collect(paths: &[PathBuf], leave_out: &Path) -> Result<Vec<Found>> {
    let leave_out = fs::canonicalize(leave_out).ok();
    let mut found = Vec::new();
    for path in paths {
        if path.is_dir() {
            let before = found.len();
            walk(path, Path::new(""), leave_out.as_deref(), &mut found)?;
            if found.len() == before {
                bail!("{}: no pictures (.jpg, .jpeg, .png, .webp) in this folder", path.display());
            }
        } else {
            let relative = path.file_name().map(PathBuf::from).unwrap_or_default();
            found.push(Found { path: path.clone(), relative });
        }
    }
    Ok(found)
}

fn walk(
    folder: &Path,
    relative: &Path,
    leave_out: Option<&Path>,
    found: &mut Vec<Found>,
) -> Result<()> {
    for path in entries(folder)? {
        let name = path.file_name().unwrap_or_default();
        let relative = relative.join(name);
        if path.is_dir() {
            // A link to a folder could lead round in a circle.
            let skip = path.is_symlink() || fs::canonicalize(&path).ok().as_deref() == leave_out;
            if !skip {
                walk(&path, &relative, leave_out, found)?;
            }
        } else if is_picture(&path) {
            found.push(Found { path, relative });
        }
    }
    Ok(())
}

/// The entries of a folder in the order of their names.
pub fn entries(folder: &Path) -> Result<Vec<PathBuf>> {
    let name = || format!("{}", folder.display());
    let mut entries = fs::read_dir(folder)
        .with_context(name)?
        .map(|entry| entry.map(|e| e.path()))
        .collect::<Result<Vec<_>, _>>()
        .with_context(name)?;
    entries.sort();
    Ok(entries)
}

/// Whether the name ends like that of a picture.
pub fn is_picture(path: &Path) -> bool {
    let ending = path.extension().and_then(OsStr::to_str).map(str::to_ascii_lowercase);
    matches!(ending.as_deref(), Some("jpg" | "jpeg" | "png" | "webp"))
}

/// Whether both paths name the same existing file.
pub fn same_file(a: &Path, b: &Path) -> bool {
    matches!((fs::canonicalize(a), fs::canonicalize(b)), (Ok(a), Ok(b)) if a == b)
}

/// Who may read a file.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Readers {
    /// As the user's umask says.
    Usual,
    /// The owner only.
    Owner,
}

/// Writes a file that appears under its name only when it is complete: temporary name in the
/// same folder, flushed to disk, renamed. Folders are made as needed.
pub fn write_whole(path: &Path, bytes: &[u8], readers: Readers) -> Result<()> {
    let write = || -> std::io::Result<()> {
        let mut file = temporary_beside(path, readers)?;
        file.write_all(bytes)?;
        file.as_file().sync_all()?;
        file.persist(path)?;
        Ok(())
    };
    write().with_context(|| format!("cannot write {}", path.display()))
}

/// Fails if a file could not be written there.
pub fn require_writable(path: &Path) -> Result<()> {
    let tried = temporary_beside(path, Readers::Owner).map(drop);
    tried.with_context(|| format!("cannot write {}", path.display()))
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
    file.prefix(".facedp-").suffix(".part");
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
