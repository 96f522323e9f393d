//! File formats.

use std::fmt::{self, Display};

use serde::{Deserialize, Serialize};

/// File formats that are read; all but HEIC are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Format {
    Jpeg,
    Png,
    WebP,
    Heic,
}

impl Format {
    /// The formats that are written.
    pub const WRITTEN: [Self; 3] = [Self::Jpeg, Self::Png, Self::WebP];

    /// The format of a result, unless another one is asked for.
    pub fn of_result(self) -> Self {
        if self == Format::Heic { Format::Jpeg } else { self }
    }

    /// The media type (MIME).
    pub fn media_type(self) -> &'static str {
        match self {
            Format::Jpeg => "image/jpeg",
            Format::Png => "image/png",
            Format::WebP => "image/webp",
            Format::Heic => "image/heic",
        }
    }
}

impl Display for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Format::Jpeg => "JPEG",
            Format::Png => "PNG",
            Format::WebP => "WebP",
            Format::Heic => "HEIC",
        })
    }
}
