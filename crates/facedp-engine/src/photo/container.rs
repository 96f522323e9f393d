//! What a file holds besides pixels: metadata, colour profile, how it was compressed.

use bytes::Bytes;
use img_parts::jpeg::{Jpeg, markers};
use img_parts::png::{Png, PngChunk};
use img_parts::webp::{self, WebP};
use img_parts::{ImageEXIF, ImageICC};

use super::Format;
use super::exif::{self, Exif};
use super::jpeg::Tables;
use super::webp::estimated_quality;
use crate::error::{Error, Result};

/// The wrapping of a photo's pixels.
#[derive(Clone)]
pub(super) struct Wrapping {
    pub format: Format,
    pub compression: Compression,
    pub profile: Option<Vec<u8>>,
    /// A TIFF structure, without a prefix.
    pub exif: Option<Vec<u8>>,
    pub xmp: Option<Vec<u8>>,
    /// Chunks of a PNG file that say how its samples are to be shown, and nothing of who made it.
    pub display: Vec<PngChunk>,
    /// Kinds of metadata.
    pub found: Vec<String>,
    /// What decoding changed.
    pub notes: Vec<String>,
}

/// How pixels were compressed.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Compression {
    Jpeg(Box<Tables>),
    /// Lossy WebP of about that quality.
    WebP(f32),
    Lossless,
}

/// PNG chunks that are kept: gamma, primaries, rendering, colour coding, size of pixels.
const DISPLAY: [&[u8; 4]; 5] = [b"gAMA", b"cHRM", b"sRGB", b"cICP", b"pHYs"];
const XMP_PREFIX: &[u8] = b"http://ns.adobe.com/xap/1.0/\0";
pub(super) const XMP_KEYWORD: &[u8] = b"XML:com.adobe.xmp\0\0\0\0\0";

impl Wrapping {
    pub fn read(file: &[u8], format: Format) -> Result<Self> {
        let file = Bytes::copy_from_slice(file);
        let damaged = |e: img_parts::Error| Error::Damaged(e.to_string());
        let mut wrapping = Self {
            format,
            compression: Compression::Lossless,
            profile: None,
            exif: None,
            xmp: None,
            display: Vec::new(),
            found: Vec::new(),
            notes: Vec::new(),
        };
        match format {
            Format::Jpeg => {
                let jpeg = Jpeg::from_bytes(file.clone()).map_err(damaged)?;
                wrapping.read_jpeg(&jpeg, &file)?;
            }
            Format::Png => wrapping.read_png(&Png::from_bytes(file).map_err(damaged)?),
            Format::WebP => wrapping.read_webp(&WebP::from_bytes(file).map_err(damaged)?),
        }
        if let Some(block) = &wrapping.exif {
            wrapping.found.push(exif::NAME.to_owned());
            if let Some(exif) = Exif::read(block) {
                wrapping.found.extend(exif.parts().map(str::to_owned));
            }
        }
        if wrapping.xmp.is_some() {
            wrapping.found.push("XMP".to_owned());
        }
        Ok(wrapping)
    }

    fn read_jpeg(&mut self, jpeg: &Jpeg, file: &[u8]) -> Result<()> {
        let tables = Tables::read(jpeg, file)?;
        if tables.components == 4 {
            self.notes.push("CMYK colours became RGB".to_owned());
        }
        self.compression = Compression::Jpeg(Box::new(tables));
        self.profile = jpeg.icc_profile().map(Vec::from);
        self.exif = jpeg.exif().map(Vec::from);
        let packet = |s: &img_parts::jpeg::JpegSegment| {
            s.contents().strip_prefix(XMP_PREFIX).map(<[u8]>::to_vec)
        };
        self.xmp = jpeg.segments_by_marker(markers::APP1).find_map(packet);
        let has = |marker: u8, prefix: &[u8]| {
            jpeg.segments_by_marker(marker).any(|s| s.contents().starts_with(prefix))
        };
        for (present, name) in [
            (has(markers::APP1, b"http://ns.adobe.com/xmp/extension/"), "extended XMP"),
            (has(markers::APP2, b"MPF\0"), "further pictures"),
            (has(markers::APP13, b"Photoshop 3.0\0"), "IPTC"),
            (has(markers::COM, b""), "comment"),
        ] {
            if present {
                self.found.push(name.to_owned());
            }
        }
        Ok(())
    }

    fn read_png(&mut self, png: &Png) {
        self.profile = png.icc_profile().map(Vec::from);
        self.exif = png.exif().map(Vec::from);
        let mut text = false;
        for chunk in png.chunks() {
            let contents = chunk.contents();
            match &chunk.kind() {
                b"IHDR" if contents.get(9) == Some(&3) => {
                    self.notes.push("palette colours became RGB".to_owned());
                }
                b"iTXt" if contents.starts_with(XMP_KEYWORD) => {
                    self.xmp = Some(contents[XMP_KEYWORD.len()..].to_vec());
                }
                b"tEXt" | b"zTXt" | b"iTXt" | b"tIME" => text = true,
                kind if DISPLAY.contains(&kind) => self.display.push(chunk.clone()),
                _ => {}
            }
        }
        if text {
            self.found.push("text".to_owned());
        }
    }

    fn read_webp(&mut self, file: &WebP) {
        self.profile = file.icc_profile().map(Vec::from);
        self.exif = file.exif().map(Vec::from);
        let data = |id| file.chunk_by_id(id).and_then(|chunk| chunk.content().data());
        self.xmp = data(webp::CHUNK_XMP).map(|xmp| xmp.to_vec());
        if let Some(frame) = data(webp::CHUNK_VP8) {
            self.compression = Compression::WebP(estimated_quality(frame).unwrap_or(90.0));
        }
    }
}
