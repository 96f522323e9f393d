//! Finding pictures, naming results, and writing files so that none is ever half-written.

use std::ffi::OsStr;
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};

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
    let name = || format!("cannot write {}", path.display());
    let folder = match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    };
    make_folder(folder, readers).with_context(name)?;
    let mut builder = tempfile::Builder::new();
    builder.prefix(".facedp-").suffix(".part");
    #[cfg(unix)]
    if readers == Readers::Usual {
        use std::os::unix::fs::PermissionsExt;
        builder.permissions(fs::Permissions::from_mode(0o666));
    }
    let mut file = builder.tempfile_in(folder).with_context(name)?;
    file.write_all(bytes).with_context(name)?;
    file.as_file().sync_all().with_context(name)?;
    file.persist(path).map_err(|e| e.error).with_context(name)?;
    Ok(())
}

fn make_folder(folder: &Path, readers: Readers) -> std::io::Result<()> {
    let mut builder = fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    if readers == Readers::Owner {
        use std::os::unix::fs::DirBuilderExt;
        builder.mode(0o700);
    }
    #[cfg(not(unix))]
    let _ = readers;
    builder.create(folder)
}
