//! A photo and where its result goes.

use std::collections::{HashMap, HashSet};
use std::fs;
use std::path::{Path, PathBuf};

use crate::files::{Existing, Found};
use crate::photo::Format;

/// What becomes of results that are there already.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mode {
    /// They are an error.
    New,
    /// They are taken as done.
    Resume,
    /// They are replaced.
    Replace,
}

/// A photo to be treated.
#[derive(Debug, Clone)]
pub struct Job {
    source: PathBuf,
    target: PathBuf,
    receipt: Option<PathBuf>,
    mode: Mode,
    state: State,
}

/// What is known of a job before it is begun.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum State {
    Open,
    Done,
    Refused(String),
}

impl Job {
    /// A job for each picture, with its place in the output folder: its own name, but for the ending
    /// if it gets another format.
    ///
    /// No result may replace an original of this run or another result of it, whatever the mode.
    pub fn list(
        found: Vec<Found>,
        output: &Path,
        receipts: Option<&Path>,
        format: Option<Format>,
        mode: Mode,
    ) -> Vec<Self> {
        let originals: HashSet<PathBuf> =
            found.iter().filter_map(|f| fs::canonicalize(&f.path).ok()).collect();
        let mut taken: HashMap<PathBuf, PathBuf> = HashMap::new();
        let job = |found: Found| {
            let relative = named_for(&found.relative, format);
            let target = output.join(&relative);
            let receipt = receipts.map(|folder| {
                let mut name = relative.clone().into_os_string();
                name.push(".json");
                folder.join(name)
            });
            let shown = target.display();
            let existing = [Some(&target), receipt.as_ref()].into_iter().flatten();
            let existing = existing.filter(|path| path.exists()).map(|path| path.display()).next();
            let state = if fs::canonicalize(&target).is_ok_and(|t| originals.contains(&t)) {
                State::Refused(format!(
                    "the result would overwrite the original {shown}: choose another -o"
                ))
            } else if let Some(rival) = taken.get(&target) {
                let rival = rival.display();
                State::Refused(format!(
                    "the result {shown} would overwrite that of {rival}: rename one"
                ))
            } else {
                match mode {
                    Mode::Replace => State::Open,
                    // A result without the receipt that is asked for is made again: the same bytes, but for fresh noise.
                    Mode::Resume
                        if target.exists() && receipt.as_ref().is_none_or(|r| r.exists()) =>
                    {
                        State::Done
                    }
                    Mode::Resume => State::Open,
                    Mode::New => existing.map_or(State::Open, |path| {
                        State::Refused(format!(
                            "{path} exists already: choose another -o, or pass --resume to leave \
                             it or --force to replace it"
                        ))
                    }),
                }
            };
            taken.entry(target.clone()).or_insert_with(|| found.path.clone());
            Self { source: found.path, target, receipt, mode, state }
        };
        found.into_iter().map(job).collect()
    }

    /// The photo.
    pub fn source(&self) -> &Path {
        &self.source
    }

    /// Where its result goes.
    pub fn target(&self) -> &Path {
        &self.target
    }

    /// Where its receipt goes, if one is asked for.
    pub fn receipt(&self) -> Option<&Path> {
        self.receipt.as_deref()
    }

    pub(super) fn state(&self) -> &State {
        &self.state
    }

    pub(super) fn existing(&self) -> Existing {
        match self.mode {
            Mode::Replace | Mode::Resume => Existing::Replace,
            Mode::New => Existing::Keep,
        }
    }
}

/// The name of a result: that of the picture, with another ending if the format changes.
fn named_for(name: &Path, format: Option<Format>) -> PathBuf {
    let endings: &[&str] = match format {
        None => return name.to_owned(),
        Some(Format::Jpeg) => &["jpg", "jpeg"],
        Some(Format::Png) => &["png"],
        Some(Format::WebP) => &["webp"],
    };
    let has = |ending: &&str| name.extension().is_some_and(|e| e.eq_ignore_ascii_case(ending));
    if endings.iter().any(has) { name.to_owned() } else { name.with_extension(endings[0]) }
}
