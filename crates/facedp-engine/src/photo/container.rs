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

/// PNG chunks that are kept, with their length: gamma, primaries, rendering, colour coding, size of
/// pixels. Any other length could hold anything.
const DISPLAY: [(&[u8; 4], usize); 5] =
    [(b"gAMA", 4), (b"cHRM", 32), (b"sRGB", 1), (b"cICP", 4), (b"pHYs", 9)];
/// PNG chunks that say how pixels are coded, and are written anew.
const CODING: [&[u8; 4]; 8] =
    [b"IHDR", b"PLTE", b"IDAT", b"IEND", b"tRNS", b"iCCP", b"bKGD", b"sBIT"];
/// What cannot be named.
const OTHER: &str = "other data";
pub(super) const XMP_PREFIX: &[u8] = b"http://ns.adobe.com/xap/1.0/\0";
pub(super) const XMP_KEYWORD: &[u8] = b"XML:com.adobe.xmp\0\0\0\0\0";

impl Compression {
    /// The same for the picture turned by a quarter.
    pub fn turned(self) -> Self {
        match self {
            Compression::Jpeg(tables) => Compression::Jpeg(Box::new(tables.turned())),
            other => other,
        }
    }
}

impl Wrapping {
    fn new(format: Format) -> Self {
        Self {
            format,
            compression: Compression::Lossless,
            profile: None,
            exif: None,
            xmp: None,
            display: Vec::new(),
            found: Vec::new(),
            notes: Vec::new(),
        }
    }

    /// Nothing but the format.
    pub fn bare(&self) -> Self {
        Self::new(self.format)
    }

    /// Forgets metadata; that there was some is still known.
    pub fn forget_metadata(&mut self) {
        (self.exif, self.xmp) = (None, None);
    }

    pub fn read(file: &[u8], format: Format) -> Result<Self> {
        let file = Bytes::copy_from_slice(file);
        let damaged = |e: img_parts::Error| Error::Damaged(e.to_string());
        let mut wrapping = Self::new(format);
        match format {
            Format::Jpeg => {
                let jpeg = Jpeg::from_bytes(file.clone()).map_err(damaged)?;
                wrapping.read_jpeg(&jpeg, &file)?;
            }
            Format::Png => wrapping.read_png(&Png::from_bytes(file).map_err(damaged)?),
            Format::WebP => wrapping.read_webp(&WebP::from_bytes(file).map_err(damaged)?),
        }
        if let Some(block) = &wrapping.exif.clone() {
            let parts: Vec<&str> = Exif::read(block).iter().flat_map(Exif::parts).collect();
            wrapping.name(exif::NAME);
            parts.into_iter().for_each(|part| wrapping.name(part));
        }
        if wrapping.xmp.is_some() {
            wrapping.name("XMP");
        }
        Ok(wrapping)
    }

    fn read_jpeg(&mut self, jpeg: &Jpeg, file: &[u8]) -> Result<()> {
        let tables = Tables::read(jpeg, file)?;
        if tables.components == 4 {
            self.notes.push("CMYK colours became RGB".to_owned());
        }
        self.profile = jpeg.icc_profile().map(Vec::from);
        self.exif = jpeg.exif().map(Vec::from);
        let packet = |s: &img_parts::jpeg::JpegSegment| {
            s.contents().strip_prefix(XMP_PREFIX).map(<[u8]>::to_vec)
        };
        self.xmp = jpeg.segments_by_marker(markers::APP1).find_map(packet);
        // Segments that are no metadata, and names for those that are known.
        let known: [(u8, &[u8], Option<&str>); 11] = [
            (markers::APP0, b"JFIF\0", None),
            (markers::APP0, b"JFXX\0", Some("thumbnail")),
            (markers::APP1, b"Exif\0\0", None),
            (markers::APP1, XMP_PREFIX, None),
            (markers::APP1, b"http://ns.adobe.com/xmp/extension/", Some("extended XMP")),
            (markers::APP2, b"ICC_PROFILE\0", None),
            (markers::APP2, b"MPF\0", Some("further pictures")),
            (markers::APP13, b"Photoshop 3.0\0", Some("IPTC")),
            (markers::APP14, b"Adobe", None),
            (markers::APP15, b"", Some(OTHER)),
            (markers::COM, b"", Some("comment")),
        ];
        for segment in jpeg.segments() {
            let (marker, contents) = (segment.marker(), segment.contents());
            let kind = known.iter().find(|(m, head, _)| marker == *m && contents.starts_with(head));
            match kind {
                Some((.., Some(name))) => self.name(name),
                None if (markers::APP0..=markers::APP15).contains(&marker) => self.name(OTHER),
                _ => {}
            }
        }
        if tables.has_trailer {
            self.name("data after the picture");
        }
        self.compression = Compression::Jpeg(Box::new(tables));
        Ok(())
    }

    /// Adds a kind of metadata to those found.
    fn name(&mut self, kind: &str) {
        if !self.found.iter().any(|found| found == kind) {
            self.found.push(kind.to_owned());
        }
    }

    fn read_png(&mut self, png: &Png) {
        self.profile = png.icc_profile().map(Vec::from);
        self.exif = png.exif().map(Vec::from);
        for chunk in png.chunks() {
            let (kind, contents) = (chunk.kind(), chunk.contents());
            let repeated = self.display.iter().any(|kept| kept.kind() == kind);
            match &kind {
                b"IHDR" if contents.get(9) == Some(&3) => {
                    self.notes.push("palette colours became RGB".to_owned());
                }
                b"iTXt" if contents.starts_with(XMP_KEYWORD) => {
                    self.xmp = Some(contents[XMP_KEYWORD.len()..].to_vec());
                }
                b"tEXt" | b"zTXt" | b"iTXt" | b"tIME" => self.name("text"),
                b"eXIf" => {}
                kind if DISPLAY.contains(&(kind, contents.len())) && !repeated => {
                    self.display.push(chunk.clone());
                }
                kind if CODING.contains(&kind) => {}
                _ => self.name(OTHER),
            }
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
        let known = [
            webp::CHUNK_ALPH,
            webp::CHUNK_EXIF,
            webp::CHUNK_ICCP,
            webp::CHUNK_VP8,
            webp::CHUNK_VP8L,
            webp::CHUNK_VP8X,
            webp::CHUNK_XMP,
        ];
        if file.chunks().iter().any(|chunk| !known.contains(&chunk.id())) {
            self.name(OTHER);
        }
    }
}
