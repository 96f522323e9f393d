//! Reading one photo that was named.

use std::path::Path;

use anyhow::{Context, Result};
use facedp_engine::{Limits, Photo, files};

/// Reads and decodes a picture. Errors name the file.
pub fn read(path: &Path) -> Result<Photo> {
    let limits = Limits::default();
    let read = || Photo::decode(&files::read(path, limits.file_bytes)?, &limits);
    read().with_context(|| format!("{}", path.display()))
}
