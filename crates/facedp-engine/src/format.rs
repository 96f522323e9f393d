//! File formats.

use std::fmt::{self, Display};

use serde::{Deserialize, Serialize};

/// File formats that are read and written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Format {
    Jpeg,
    Png,
    WebP,
}

impl Format {
    pub const ALL: [Self; 3] = [Self::Jpeg, Self::Png, Self::WebP];

    /// The media type (MIME).
    pub fn media_type(self) -> &'static str {
        match self {
            Format::Jpeg => "image/jpeg",
            Format::Png => "image/png",
            Format::WebP => "image/webp",
        }
    }
}

impl Display for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Format::Jpeg => "JPEG",
            Format::Png => "PNG",
            Format::WebP => "WebP",
        })
    }
}
