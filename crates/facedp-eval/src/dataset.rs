//! Folders of people, split permanently into people for training and people for testing.

use std::path::{Path, PathBuf};

use facedp_engine::files;
use serde::Serialize;
use sha2::{Digest, Sha256};

use crate::error::{Error, Result};

/// A half of the people, or all of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Half {
    /// People whose photos may train shipped statistics.
    Even,
    /// People for testing only.
    Odd,
    All,
}

impl Half {
    /// Whether a person belongs to this half. The last bit of the SHA-256 of the name decides, so every
    /// data set splits people alike. Spaces and underscores in names are equivalent.
    pub fn contains(self, name: &str) -> bool {
        let hash = Sha256::digest(name.replace(' ', "_").as_bytes());
        let odd = hash.last().is_some_and(|byte| byte & 1 == 1);
        match self {
            Half::All => true,
            Half::Odd => odd,
            Half::Even => !odd,
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Person {
    /// The name of the folder.
    pub name: String,
    /// Sorted by file name.
    pub pictures: Vec<PathBuf>,
}

/// The people of a folder DATA/NAME/*.jpg, sorted by name, without those who have no pictures.
pub fn people(data: &Path, half: Half) -> Result<Vec<Person>> {
    let mut people = Vec::new();
    for folder in files::entries(data)?.into_iter().filter(|path| path.is_dir()) {
        let name = folder.file_name().unwrap_or_default().to_string_lossy().into_owned();
        if half.contains(&name) {
            let inside = files::entries(&folder)?.into_iter().filter(|p| files::is_picture(p));
            people.push(Person { name, pictures: inside.collect() });
        }
    }
    people.retain(|person| !person.pictures.is_empty());
    if people.is_empty() {
        return Err(Error::NoPeople { data: data.to_owned(), half });
    }
    Ok(people)
}
