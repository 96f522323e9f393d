//! Jobs: a photo and the path of its result.

use std::collections::{HashMap, HashSet};
use std::fs;
use std::path::{Path, PathBuf};

use crate::error::{Error, Result};
use crate::files::{Existing, SourceFile};
use crate::format::Format;

/// What to do with results that exist already.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mode {
    /// Report an error.
    New,
    /// Treat the jobs of those that the interrupted run has written as done; make others again.
    Resume,
    Replace,
}

/// A photo to treat, and the paths of its result and receipt.
#[derive(Debug, Clone)]
pub struct Job {
    source: PathBuf,
    target: PathBuf,
    receipt: Option<PathBuf>,
    mode: Mode,
    state: State,
}

/// The state of a job before the run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum State {
    Pending,
    /// The result is there, and the run's record says whether it can be taken over.
    Present,
    /// The result would overwrite an original.
    OverOriginal,
    /// The result would overwrite that of another photo.
    OverResult {
        other: PathBuf,
    },
    /// The result or receipt exists already.
    Exists {
        path: PathBuf,
    },
}

impl Job {
    /// One job per picture. The result has the relative path of the picture in the output folder; its
    /// extension differs if the format does.
    ///
    /// In every mode, a result must not replace an original of this run or another result of it.
    pub fn list(
        sources: Vec<SourceFile>,
        output: &Path,
        receipts: Option<&Path>,
        format: Option<Format>,
        mode: Mode,
    ) -> Vec<Self> {
        let originals: HashSet<PathBuf> =
            sources.iter().filter_map(|f| fs::canonicalize(&f.path).ok()).collect();
        let mut targets: HashMap<PathBuf, PathBuf> = HashMap::new();
        let job = |source: SourceFile| {
            let relative = result_name(&source.relative, format);
            let target = output.join(&relative);
            let receipt = receipts.map(|folder| folder.join(receipt_name(&relative)));
            let existing = [Some(&target), receipt.as_ref()].into_iter().flatten();
            let existing = existing.into_iter().find(|path| path.exists()).cloned();
            let state = if fs::canonicalize(&target).is_ok_and(|t| originals.contains(&t)) {
                State::OverOriginal
            } else if let Some(other) = targets.get(&target) {
                State::OverResult { other: other.clone() }
            } else {
                match mode {
                    Mode::Replace => State::Pending,
                    // A result without the requested receipt is made again: the same bytes, unless the noise
                    // is fresh.
                    Mode::Resume
                        if target.exists() && receipt.as_ref().is_none_or(|r| r.exists()) =>
                    {
                        State::Present
                    }
                    Mode::Resume => State::Pending,
                    Mode::New => existing.map_or(State::Pending, |path| State::Exists { path }),
                }
            };
            targets.entry(target.clone()).or_insert_with(|| source.path.clone());
            Self { source: source.path, target, receipt, mode, state }
        };
        sources.into_iter().map(job).collect()
    }

    pub fn source(&self) -> &Path {
        &self.source
    }

    /// Path of the result.
    pub fn target(&self) -> &Path {
        &self.target
    }

    /// Path of the receipt, if one is requested.
    pub fn receipt(&self) -> Option<&Path> {
        self.receipt.as_deref()
    }

    pub(super) fn state(&self) -> &State {
        &self.state
    }

    /// Fails if the result must not be written.
    pub(super) fn require_allowed(&self) -> Result<()> {
        let target = self.target.clone();
        match &self.state {
            State::Pending | State::Present => Ok(()),
            State::OverOriginal => Err(Error::OverOriginal { target }),
            State::OverResult { other } => Err(Error::OverResult { target, other: other.clone() }),
            State::Exists { path } => Err(Error::Exists { path: path.clone() }),
        }
    }

    pub(super) fn existing(&self) -> Existing {
        match self.mode {
            Mode::Replace | Mode::Resume => Existing::Replace,
            Mode::New => Existing::Keep,
        }
    }
}

/// Bytes of a name that file systems hold.
const MAX_NAME: usize = 255;

/// The name with an extension. Where that is too long, its end is replaced by a hash of the name.
fn fitting(name: &Path, extension: &str) -> PathBuf {
    let stem = name.file_name().unwrap_or_default();
    let mut whole = stem.to_os_string();
    whole.push(extension);
    if whole.len() <= MAX_NAME {
        return name.with_file_name(whole);
    }
    let hash = blake3::hash(stem.as_encoded_bytes()).to_hex();
    let text = stem.to_string_lossy();
    let end = (0..=200).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0);
    name.with_file_name(format!("{}-{}{extension}", &text[..end], &hash[..16]))
}

/// The name of a receipt: that of the result and `.json`.
fn receipt_name(result: &Path) -> PathBuf {
    fitting(result, ".json")
}

/// The name of a result: the name of the picture, with a new extension if the format changes. HEIC becomes JPEG.
fn result_name(name: &Path, format: Option<Format>) -> PathBuf {
    let is = |extension: &str| name.extension().is_some_and(|e| e.eq_ignore_ascii_case(extension));
    let extensions: &[&str] = match format.map(Format::of_result) {
        None if is("heic") || is("heif") => &["jpg"],
        None | Some(Format::Heic) => return name.to_owned(),
        Some(Format::Jpeg) => &["jpg", "jpeg"],
        Some(Format::Png) => &["png"],
        Some(Format::WebP) => &["webp"],
    };
    match extensions.iter().any(|extension| is(extension)) {
        true => name.to_owned(),
        false => fitting(&name.with_extension(""), &format!(".{}", extensions[0])),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn receipts_of_long_names_have_shorter_ones() {
        assert_eq!(receipt_name(Path::new("a/b.jpg")), Path::new("a/b.jpg.json"));
        for letter in ["a", "é", "写"] {
            let long = |end: &str| letter.repeat(251 / letter.len()) + end;
            let [one, two] = [long("1"), long("2")].map(|name| receipt_name(Path::new(&name)));
            assert!(one.as_os_str().len() <= 255 && one != two, "{one:?}");
        }
    }

    #[test]
    fn results_of_long_names_have_shorter_ones() {
        let webp = |name: &str| result_name(Path::new(name), Some(Format::WebP));
        assert_eq!(webp("a/b.c.png"), Path::new("a/b.c.webp"));
        assert_eq!(webp("a"), Path::new("a.webp"));
        let [one, two] = ["1", "2"].map(|end| webp(&format!("{}{end}.png", "n".repeat(250))));
        assert!(one.as_os_str().len() <= 255 && one != two, "{one:?}");
        assert!(one.extension().is_some_and(|extension| extension == "webp"));
    }
}
