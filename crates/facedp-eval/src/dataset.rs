//! Folders of people, split for good into those who train and those who test.

use std::path::{Path, PathBuf};

use facedp_engine::files;
use sha2::{Digest, Sha256};

use crate::error::{Error, Result};

/// A half of the people, or all of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Half {
    /// Those who may train shipped statistics.
    Even,
    /// Those who test.
    Odd,
    /// Everybody.
    All,
}

impl Half {
    /// Whether a person belongs to it: by the last bit of SHA-256 of the name, so that people are
    /// split alike everywhere. Data sets write spaces as underscores or not: both are one name.
    pub fn holds(self, name: &str) -> bool {
        let hash = Sha256::digest(name.replace(' ', "_").as_bytes());
        let odd = hash.last().is_some_and(|byte| byte & 1 == 1);
        match self {
            Half::All => true,
            Half::Odd => odd,
            Half::Even => !odd,
        }
    }
}

/// A person and the person's pictures.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Person {
    /// The folder's name.
    pub name: String,
    /// Pictures, in the order of their names.
    pub pictures: Vec<PathBuf>,
}

/// People of a folder DATA/NAME/*.jpg, in the order of their names; those without pictures left out.
pub fn people(data: &Path, half: Half) -> Result<Vec<Person>> {
    let mut people = Vec::new();
    for folder in files::entries(data)?.into_iter().filter(|path| path.is_dir()) {
        let name = folder.file_name().unwrap_or_default().to_string_lossy().into_owned();
        if half.holds(&name) {
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
