//! Finding pictures, naming results, and writing files so that none is ever half-written.

use std::collections::HashSet;
use std::ffi::OsStr;
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, anyhow};
use tempfile::NamedTempFile;

/// A picture to read, and its place below the output folder.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Found {
    pub path: PathBuf,
    pub relative: PathBuf,
}

/// Pictures named on the command line: files as they are, folders with all that is in them; each
/// once, however often it is named. A folder that has none or cannot be read is a failure of its
/// own, which does not stop the rest.
///
/// What lies below `leave_out` (the output folder) is not taken. Files named by hand are taken
/// whatever their ending; if they are missing, reading them says so.
pub fn collect(paths: &[PathBuf], leave_out: &Path) -> (Vec<Found>, Vec<anyhow::Error>) {
    let leave_out = fs::canonicalize(leave_out).ok();
    let (mut found, mut failures) = (Vec::new(), Vec::new());
    for path in paths {
        if path.is_dir() {
            let mut inside = Vec::new();
            let name = path.display();
            match walk(path, Path::new(""), leave_out.as_deref(), &mut inside) {
                Err(error) => failures.push(error),
                Ok(()) if inside.is_empty() => failures
                    .push(anyhow!("{name}: no pictures (.jpg, .jpeg, .png, .webp) in this folder")),
                Ok(()) => {}
            }
            found.append(&mut inside);
        } else {
            let relative = path.file_name().map(PathBuf::from).unwrap_or_default();
            found.push(Found { path: path.clone(), relative });
        }
    }
    let mut seen = HashSet::new();
    found.retain(|f| fs::canonicalize(&f.path).map_or(true, |path| seen.insert(path)));
    (found, failures)
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

/// A folder beside the given one, which is made if missing: its name with `suffix`.
pub fn beside(folder: &Path, suffix: &str) -> Result<PathBuf> {
    let full = || -> std::io::Result<PathBuf> {
        fs::create_dir_all(folder)?;
        fs::canonicalize(folder) // so that `.` has a name
    };
    let full = full().with_context(|| format!("cannot write {}", folder.display()))?;
    let mut name = full
        .file_name()
        .with_context(|| format!("{}: nothing lies beside this folder", full.display()))?
        .to_os_string();
    name.push(suffix);
    Ok(full.with_file_name(name))
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

/// Fails if a file could not be written there; makes nothing.
pub fn require_writable(path: &Path) -> Result<()> {
    // The nearest folder that exists; what is missing below it can then be made.
    let nearest = path.ancestors().skip(1).find(|folder| folder.exists());
    let nearest = nearest.filter(|folder| !folder.as_os_str().is_empty());
    let tried = tempfile::tempfile_in(nearest.unwrap_or(Path::new("."))).map(drop);
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
