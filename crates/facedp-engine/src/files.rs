//! Finding pictures, and writing files atomically.

use std::collections::HashSet;
use std::ffi::{OsStr, OsString};
use std::fs;
use std::io::Write;
use std::path::{Component, Path, PathBuf};

use tempfile::NamedTempFile;

use crate::error::{Error, Result};
pub use crate::regular::{read, read_text};

/// A picture to read.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct SourceFile {
    pub path: PathBuf,
    /// Path relative to the folder or pattern that the user named; the result has the same path in the
    /// output folder.
    pub relative: PathBuf,
}

/// File name extensions of pictures that are read.
const SUPPORTED: [&str; 8] = ["jpg", "jpeg", "jpe", "jfif", "png", "webp", "heic", "heif"];
/// Extensions of pictures and videos that are not read, although users may expect it.
const UNSUPPORTED: [&str; 23] = [
    "avif", "gif", "tif", "tiff", "bmp", "jxl", "jp2", "dng", "cr2", "cr3", "nef", "arw", "raf",
    "rw2", "orf", "pef", "mp4", "m4v", "mov", "avi", "mkv", "webm", "mpg",
];

/// Finds the pictures that the user named: files, everything in folders, and everything that patterns such
/// as `photos/**/*.jpg` match. Each picture is listed once. A path that cannot be used adds an error and does
/// not stop the search.
///
/// Hidden files in folders are skipped, and so is the `output` folder if it lies inside one. Files that are
/// named directly are listed whatever their extension; if one is missing, reading it fails later.
pub fn collect(paths: &[PathBuf], output: &Path) -> (Vec<SourceFile>, Vec<Error>) {
    let output = fs::canonicalize(output).ok();
    let mut search = Search { output, found: Vec::new(), failures: Vec::new() };
    for path in paths {
        let matches = if path.exists() { None } else { pattern(path) };
        match matches {
            // Glob results have no leading `./`, so the base must have none either.
            Some(base) => {
                let base = base.strip_prefix(".").unwrap_or(&base);
                search.add_matches(path.strip_prefix(".").unwrap_or(path), base);
            }
            None => search.add_named(path),
        }
    }
    let mut seen = HashSet::new();
    let mut found = search.found;
    found.retain(|f| fs::canonicalize(&f.path).map_or(true, |path| seen.insert(path)));
    (found, search.failures)
}

/// The folder in which a pattern starts; none if the path is not a pattern.
fn pattern(path: &Path) -> Option<PathBuf> {
    let mut base = path.components();
    path.components().any(|c| is_special(&c)).then(|| {
        while base.clone().any(|c| is_special(&c)) {
            base.next_back();
        }
        base.as_path().to_owned()
    })
}

struct Search {
    output: Option<PathBuf>,
    found: Vec<SourceFile>,
    failures: Vec<Error>,
}

impl Search {
    /// Adds a file or folder that was named.
    fn add_named(&mut self, path: &Path) {
        if !path.is_dir() {
            let relative = path.file_name().map(PathBuf::from).unwrap_or_default();
            self.found.push(SourceFile { path: path.to_owned(), relative });
            return;
        }
        let before = (self.found.len(), self.failures.len());
        self.walk(path, Path::new(""));
        if before == (self.found.len(), self.failures.len()) {
            self.fail(Error::EmptyFolder { path: path.to_owned(), extensions: extensions() });
        }
    }

    /// Adds everything that a pattern matches.
    fn add_matches(&mut self, path: &Path, base: &Path) {
        let rest = path.strip_prefix(base).unwrap_or(path);
        let parts = rest.components().map(|c| Part::new(&c)).collect::<Result<Vec<_>, _>>();
        let parts = match parts {
            Ok(parts) => parts,
            Err(error) => {
                let problem = error.to_string();
                return self.fail(Error::Pattern { path: path.to_owned(), problem });
            }
        };
        let root = if base.as_os_str().is_empty() { Path::new(".") } else { base };
        let inside = fs::canonicalize(root);
        let excluded = self.output.clone().filter(|out| {
            inside.as_ref().is_ok_and(|inside| out != inside && out.starts_with(inside))
        });
        let before = (self.found.len(), self.failures.len());
        self.walk_matching((base, Path::new("")), &parts, excluded.as_deref());
        if before == (self.found.len(), self.failures.len()) {
            self.fail(Error::NoMatch { path: path.to_owned(), extensions: extensions() });
        }
    }

    /// Adds what the parts of a pattern match in a folder. (The walk of the crate `glob` leaves out names that are not
    /// Unicode, or panics.)
    fn walk_matching(
        &mut self,
        (base, relative): (&Path, &Path),
        parts: &[Part],
        out: Option<&Path>,
    ) {
        let Some((first, rest)) = parts.split_first() else { return };
        if let Part::Name(name) = first {
            return self.match_path((base, relative.join(name)), rest, out);
        }
        if *first == Part::Folders && !rest.is_empty() {
            self.walk_matching((base, relative), rest, out);
        }
        let folder = base.join(relative);
        let folder = if folder.as_os_str().is_empty() { Path::new(".") } else { &folder };
        let entries = match entries(folder) {
            Ok(entries) => entries,
            Err(error) => return self.failures.push(error),
        };
        for name in entries.iter().filter_map(|path| path.file_name()) {
            let relative = relative.join(name);
            match first {
                Part::Folders if name.as_encoded_bytes().starts_with(b".") => {}
                Part::Folders if folder.join(name).is_dir() => match folder.join(name).is_symlink()
                {
                    // Symbolic links to folders can form a cycle.
                    true => {}
                    false => self.match_path((base, relative), parts, out),
                },
                Part::Folders if rest.is_empty() => self.match_path((base, relative), rest, out),
                Part::Pattern(pattern) if pattern.matches_with(&name.to_string_lossy(), HIDDEN) => {
                    self.match_path((base, relative), rest, out);
                }
                _ => {}
            }
        }
    }

    /// Goes on with a path that a pattern matches so far.
    fn match_path(
        &mut self,
        (base, relative): (&Path, PathBuf),
        rest: &[Part],
        out: Option<&Path>,
    ) {
        let path = base.join(&relative);
        let is_dir = path.is_dir();
        if out.is_some_and(|out| fs::canonicalize(&path).is_ok_and(|path| path.starts_with(out))) {
            return;
        }
        match rest {
            [] if !is_dir && fs::symlink_metadata(&path).is_ok() => self.add_found(path, relative),
            [_, ..] if is_dir => self.walk_matching((base, &relative), rest, out),
            _ => {}
        }
    }

    /// Adds a file that was found in a folder or by a pattern.
    fn add_found(&mut self, path: PathBuf, relative: PathBuf) {
        if is_picture(&path) {
            self.found.push(SourceFile { path, relative });
        } else if has_extension(&path, &UNSUPPORTED) {
            self.fail(Error::NotRead { path });
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
                // Symbolic links to folders can form a cycle.
                let is_output = || fs::canonicalize(&path).ok() == self.output;
                if !path.is_symlink() && (self.output.is_none() || !is_output()) {
                    self.walk(&path, &relative);
                }
            } else {
                self.add_found(path, relative);
            }
        }
    }

    fn fail(&mut self, error: Error) {
        self.failures.push(error);
    }
}

/// A part of a pattern, between slashes.
#[derive(PartialEq)]
enum Part {
    Name(OsString),
    Pattern(glob::Pattern),
    /// `**`: folders within folders; at the end, all files in them.
    Folders,
}

/// Hidden files match only patterns that begin with a dot.
const HIDDEN: glob::MatchOptions = glob::MatchOptions {
    case_sensitive: true,
    require_literal_separator: true,
    require_literal_leading_dot: true,
};

impl Part {
    fn new(part: &Component<'_>) -> Result<Self, glob::PatternError> {
        let text = part.as_os_str();
        Ok(if text == "**" {
            Part::Folders
        } else if is_special(part) {
            Part::Pattern(glob::Pattern::new(&text.to_string_lossy())?)
        } else {
            Part::Name(text.to_owned())
        })
    }
}

fn is_special(part: &Component<'_>) -> bool {
    part.as_os_str().to_string_lossy().contains(['*', '?', '['])
}

fn extensions() -> String {
    SUPPORTED.map(|extension| format!(".{extension}")).join(", ")
}

fn has_extension(path: &Path, extensions: &[&str]) -> bool {
    let extension = path.extension().and_then(OsStr::to_str).map(str::to_ascii_lowercase);
    extension.is_some_and(|extension| extensions.contains(&extension.as_str()))
}

/// Whether the file name has the extension of a supported picture.
pub fn is_picture(path: &Path) -> bool {
    has_extension(path, &SUPPORTED)
}

/// The entries of a folder, sorted by name.
pub fn entries(folder: &Path) -> Result<Vec<PathBuf>> {
    let listed = || -> std::io::Result<Vec<PathBuf>> {
        fs::read_dir(folder)?.map(|entry| entry.map(|e| e.path())).collect()
    };
    let mut entries = listed().map_err(Error::io("cannot read", folder))?;
    entries.sort();
    Ok(entries)
}

/// The path of a sibling of a folder: the name of the folder plus `suffix`.
pub fn beside(folder: &Path, suffix: &str) -> Result<PathBuf> {
    // A folder that does not exist yet cannot be canonicalised.
    let full = fs::canonicalize(folder).or_else(|_| std::path::absolute(folder));
    let full = full.map_err(Error::io("cannot find", folder))?;
    let Some(name) = full.file_name() else {
        return Err(Error::NoSibling { path: full });
    };
    let mut name = name.to_os_string();
    name.push(suffix);
    Ok(full.with_file_name(name))
}

/// Who may read a new file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Readers {
    /// Depends on the user's umask.
    Default,
    /// The owner only.
    Owner,
}

/// What to do if the file exists already.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Existing {
    /// Keep it; writing fails.
    Keep,
    Replace,
}

/// Prefix and suffix of temporary file names.
const UNFINISHED: (&str, &str) = (".facedp-", ".part");

/// Writes a file atomically: under a temporary name in the same folder, flushed to disk, then renamed.
/// Creates missing folders.
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

/// Fails if a file could not be written at this path. Creates nothing.
pub fn require_writable(path: &Path) -> Result<()> {
    // The nearest folder that exists; missing folders can be created in it.
    let existing = path.ancestors().skip(1).find(|folder| folder.exists());
    let existing = existing.filter(|folder| !folder.as_os_str().is_empty());
    let tried = tempfile::tempfile_in(existing.unwrap_or(Path::new("."))).map(drop);
    tried.map_err(Error::io("cannot write", path))
}

/// Fails if a file could not be put at this path because a folder is there, or a file in place of a folder.
pub(crate) fn require_place(path: &Path) -> Result<()> {
    let kind = |path: &Path| fs::metadata(path).ok().map(|metadata| metadata.is_dir());
    // A link to a folder would be replaced.
    let taken = !path.is_symlink() && kind(path) == Some(true);
    let above = path.ancestors().skip(1).find_map(kind);
    let problem = match above {
        _ if taken => std::io::ErrorKind::IsADirectory,
        Some(false) => std::io::ErrorKind::NotADirectory,
        _ => return Ok(()),
    };
    Err(Error::io("cannot write", path)(problem.into()))
}

/// Removes the temporary files that a killed run left in a folder.
pub(crate) fn remove_unfinished(folder: &Path) -> Result<()> {
    for path in entries(folder).unwrap_or_default() {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        if name.starts_with(UNFINISHED.0) && name.ends_with(UNFINISHED.1) {
            fs::remove_file(&path).map_err(Error::io("cannot remove", &path))?;
        }
    }
    Ok(())
}

/// A temporary file in the same folder. It is deleted on drop unless it is renamed.
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
            Readers::Default => folders.mode(0o777),
        };
        if readers == Readers::Default {
            file.permissions(fs::Permissions::from_mode(0o666));
        }
    }
    #[cfg(not(unix))]
    let _ = readers;
    folders.create(folder)?;
    file.tempfile_in(folder)
}
