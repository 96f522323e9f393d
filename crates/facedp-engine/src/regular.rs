//! Opening files that anybody may have put there: only regular ones, and for our own no links.
//!
//! A pipe or a device can be read for ever, and a symbolic or hard link can lead to somebody else's file.

use std::fs::{File, Metadata, OpenOptions};
use std::io::{self, Read};
use std::path::Path;

use crate::error::{Error, Result};

/// Reads a regular file of at most `max` bytes. Never waits for a writer.
pub fn read(path: &Path, max: u64) -> Result<Vec<u8>> {
    let failed = || Error::io("cannot read", path);
    let mut options = OpenOptions::new();
    options.read(true);
    let metadata = std::fs::metadata(path).map_err(failed())?;
    require_file(path, &metadata)?;
    let file = without_waiting(&mut options, Links::Follow).open(path).map_err(failed())?;
    // Another file may have taken its place.
    let metadata = file.metadata().map_err(failed())?;
    require_file(path, &metadata)?;
    if metadata.len() > max {
        return Err(Error::TooManyBytes { found: metadata.len(), max });
    }
    let mut bytes = Vec::with_capacity(metadata.len() as usize);
    // The file can grow while it is read.
    file.take(max).read_to_end(&mut bytes).map_err(failed())?;
    Ok(bytes)
}

/// [`read`] as UTF-8.
pub fn read_text(path: &Path, max: u64) -> Result<String> {
    let failed = |_| Error::io("cannot read", path)(io::ErrorKind::InvalidData.into());
    String::from_utf8(read(path, max)?).map_err(failed)
}

/// Opens one of our own files: a regular file of one name, not a symbolic link, that belongs to the user or to the
/// system.
pub(crate) fn open_own(path: &Path, options: &mut OpenOptions, what: &'static str) -> Result<File> {
    let refused = |problem| Error::NotOwn { path: path.to_owned(), problem };
    if std::fs::symlink_metadata(path).is_ok_and(|metadata| metadata.is_symlink()) {
        return Err(refused("a symbolic link, which is not followed"));
    }
    let file = without_waiting(options, Links::Refuse).open(path).map_err(Error::io(what, path))?;
    let metadata = file.metadata().map_err(Error::io(what, path))?;
    if !metadata.is_file() {
        return Err(refused("not a regular file"));
    }
    if !is_own(&metadata) {
        return Err(refused("belongs to another user"));
    }
    if names(&metadata) > 1 {
        return Err(refused("a hard link: the same file has another name, too"));
    }
    Ok(file)
}

fn require_file(path: &Path, metadata: &Metadata) -> Result<()> {
    match metadata {
        _ if metadata.is_dir() => {
            Err(Error::io("cannot read", path)(io::ErrorKind::IsADirectory.into()))
        }
        _ if !metadata.is_file() => Err(Error::NotAFile),
        _ => Ok(()),
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Links {
    Follow,
    Refuse,
}

/// Options under which opening a pipe does not wait for its other end, and reading never blocks.
#[cfg(unix)]
fn without_waiting(options: &mut OpenOptions, links: Links) -> &mut OpenOptions {
    use rustix::fs::OFlags;
    use std::os::unix::fs::OpenOptionsExt;
    let nofollow = if links == Links::Refuse { OFlags::NOFOLLOW } else { OFlags::empty() };
    options.custom_flags((OFlags::NONBLOCK | OFlags::NOCTTY | nofollow).bits().cast_signed())
}

#[cfg(not(unix))]
fn without_waiting(options: &mut OpenOptions, _links: Links) -> &mut OpenOptions {
    options
}

#[cfg(unix)]
fn is_own(metadata: &Metadata) -> bool {
    use std::os::unix::fs::MetadataExt;
    metadata.uid() == 0 || metadata.uid() == rustix::process::geteuid().as_raw()
}

#[cfg(not(unix))]
fn is_own(_metadata: &Metadata) -> bool {
    true
}

/// The number of names that a file has.
#[cfg(unix)]
fn names(metadata: &Metadata) -> u64 {
    std::os::unix::fs::MetadataExt::nlink(metadata)
}

#[cfg(not(unix))]
fn names(_metadata: &Metadata) -> u64 {
    1
}

/// Whether users other than the owner may access a file. Always false on systems without Unix permissions.
pub(crate) fn others_can_read(file: &File) -> bool {
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        file.metadata().is_ok_and(|metadata| metadata.permissions().mode() & 0o077 != 0)
    }
    #[cfg(not(unix))]
    {
        let _ = file;
        false
    }
}
