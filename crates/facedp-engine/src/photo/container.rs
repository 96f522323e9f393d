//! The parts of a file other than pixels: metadata, colour profile, compression parameters.

use bytes::Bytes;
use img_parts::jpeg::{Jpeg, markers};
use img_parts::png::{Png, PngChunk};
use img_parts::webp::{self, WebP};
use img_parts::{ImageEXIF, ImageICC};

use super::exif::{self, Exif};
use super::jpeg::JpegParameters;
use super::packed;
use super::profile::{AFTER, FOREIGN};
use super::webp::estimated_quality;
use crate::error::{Error, Result};
use crate::format::Format;

#[derive(Clone)]
pub(super) struct Container {
    pub format: Format,
    pub compression: Compression,
    pub profile: Option<Vec<u8>>,
    /// A TIFF structure, without the `Exif\0\0` prefix.
    pub exif: Option<Vec<u8>>,
    pub xmp: Option<Vec<u8>>,
    /// PNG chunks that only affect how samples are displayed.
    pub display: Vec<PngChunk>,
    /// Kinds of metadata in the file, for display.
    pub metadata_kinds: Vec<String>,
    /// Changes that decoding made.
    pub notes: Vec<String>,
}

#[derive(Debug, Clone, PartialEq)]
pub(super) enum Compression {
    Jpeg(Box<JpegParameters>),
    /// Lossy WebP with its estimated quality, 0 to 100.
    WebP(f32),
    /// Lossy, with parameters that no result can take over.
    OtherLossy,
    Lossless,
}

/// PNG chunks that are kept, with their lengths in bytes: gamma, primaries, rendering intent, coding
/// points, pixel size. A chunk of any other length could carry hidden data.
const DISPLAY_CHUNKS: [(&[u8; 4], usize); 5] =
    [(b"gAMA", 4), (b"cHRM", 32), (b"sRGB", 1), (b"cICP", 4), (b"pHYs", 9)];
/// PNG chunks that describe the coding of pixels, with the most bytes that they can need. The encoder writes them anew.
const CODING_CHUNKS: [(&[u8; 4], usize); 6] =
    [(b"IHDR", 13), (b"PLTE", 768), (b"IEND", 0), (b"tRNS", 256), (b"bKGD", 6), (b"sBIT", 4)];
/// Bytes of the segment in which Adobe says how colours are coded.
const ADOBE_BYTES: usize = 12;
/// JPEG segments that describe the coding of pixels.
const CODING_MARKERS: [u8; 9] = [
    markers::SOF0,
    markers::SOF1,
    markers::SOF2,
    markers::DHT,
    markers::DQT,
    markers::DRI,
    markers::SOS,
    markers::SOI,
    markers::EOI,
];
/// Kinds of metadata.
const OTHER: &str = "other data";
const TRAILER: &str = "data after the picture";
const THUMBNAIL: &str = "thumbnail";
const FURTHER_EXIF: &str = "further EXIF";
const FURTHER_XMP: &str = "further XMP";
const FURTHER_PROFILE: &str = "further colour profile";
const FURTHER_PICTURES: &str = "further pictures";
const TEXT: &str = "text";
pub(super) const XMP: &str = "XMP";
pub(super) const XMP_PREFIX: &[u8] = b"http://ns.adobe.com/xap/1.0/\0";
pub(super) const XMP_KEYWORD: &[u8] = b"XML:com.adobe.xmp\0\0\0\0\0";

impl Compression {
    /// The compression of the same picture after a quarter turn.
    pub fn transposed(self) -> Self {
        match self {
            Compression::Jpeg(parameters) => Compression::Jpeg(Box::new(parameters.transposed())),
            other => other,
        }
    }
}

impl Container {
    pub fn new(format: Format) -> Self {
        Self {
            format,
            compression: Compression::Lossless,
            profile: None,
            exif: None,
            xmp: None,
            display: Vec::new(),
            metadata_kinds: Vec::new(),
            notes: Vec::new(),
        }
    }

    /// A container of the same format without anything in it.
    pub fn emptied(&self) -> Self {
        Self { compression: self.compression.clone(), ..Self::new(self.format) }
    }

    /// Drops EXIF and XMP. `metadata_kinds` stays, so that reports still list them.
    pub fn drop_metadata(&mut self) {
        (self.exif, self.xmp) = (None, None);
    }

    pub fn read(file: &[u8], format: Format) -> Result<Self> {
        let file = Bytes::copy_from_slice(file);
        let damaged = |e: img_parts::Error| Error::Damaged(e.to_string());
        let mut container = Self::new(format);
        match format {
            Format::Jpeg => {
                let jpeg = Jpeg::from_bytes(file.clone()).map_err(damaged)?;
                container.read_jpeg(&jpeg, &file)?;
            }
            Format::Png => {
                let png = Png::from_bytes(file.clone()).map_err(damaged)?;
                container.read_png(&png);
                if packed::has_more_than_pixels(&png) {
                    container.add_kind(TRAILER);
                }
                container.note_trailer(&file, png_length(&file));
            }
            Format::WebP => {
                container.read_webp(&WebP::from_bytes(file.clone()).map_err(damaged)?);
                container.note_trailer(&file, riff_length(&file));
            }
            Format::Heic => {}
        }
        container.add_common_kinds();
        Ok(container)
    }

    /// Lists EXIF, what is in it, and XMP.
    pub fn add_common_kinds(&mut self) {
        let container = self;
        if let Some(block) = &container.exif.clone() {
            let parts: Vec<&str> = Exif::read(block).iter().flat_map(Exif::parts).collect();
            container.add_kind(exif::EXIF);
            parts.into_iter().for_each(|part| container.add_kind(part));
        }
        if container.xmp.is_some() {
            container.add_kind(XMP);
        }
    }

    fn read_jpeg(&mut self, jpeg: &Jpeg, file: &[u8]) -> Result<()> {
        let parameters = JpegParameters::read(jpeg, file)?;
        if parameters.components == 4 {
            self.notes.push("CMYK colours were converted to RGB".to_owned());
        }
        self.profile = jpeg.icc_profile().map(Vec::from);
        self.exif = jpeg.exif().map(Vec::from);
        let packet = |s: &img_parts::jpeg::JpegSegment| {
            s.contents().strip_prefix(XMP_PREFIX).map(<[u8]>::to_vec)
        };
        self.xmp = jpeg.segments_by_marker(markers::APP1).find_map(packet);
        // Known segments, with the kind of metadata they hold; none for segments without metadata.
        let known: [(u8, &[u8], Option<&str>); 11] = [
            (markers::APP0, b"JFIF\0", None),
            (markers::APP0, b"JFXX\0", Some(THUMBNAIL)),
            (markers::APP1, b"Exif\0\0", None),
            (markers::APP1, XMP_PREFIX, None),
            (markers::APP1, b"http://ns.adobe.com/xmp/extension/", Some("extended XMP")),
            (markers::APP2, b"ICC_PROFILE\0", None),
            (markers::APP2, b"MPF\0", Some(FURTHER_PICTURES)),
            (markers::APP13, b"Photoshop 3.0\0", Some("IPTC")),
            (markers::APP14, b"Adobe", None),
            (markers::APP15, b"", Some(OTHER)),
            (markers::COM, b"", Some("comment")),
        ];
        for segment in jpeg.segments() {
            let (marker, contents) = (segment.marker(), segment.contents());
            let kind = known.iter().find(|(m, head, _)| marker == *m && contents.starts_with(head));
            match kind {
                Some((.., Some(name))) => self.add_kind(name),
                None if !CODING_MARKERS.contains(&marker) => self.add_kind(OTHER),
                _ => {}
            }
            // The header of JFIF has 14 bytes; pixels can follow.
            if contents.starts_with(b"JFIF\0") && contents.len() > 14 {
                self.add_kind(THUMBNAIL);
            }
        }
        let count = |head: &[u8]| {
            let with = |s: &&img_parts::jpeg::JpegSegment| s.contents().starts_with(head);
            jpeg.segments_by_marker(markers::APP1).filter(with).count()
        };
        let (exif, xmp) = (count(b"Exif\0\0"), count(XMP_PREFIX));
        self.note_further(exif, xmp, 0);
        // Parts that do not belong together are no profile.
        let is_part = |s: &img_parts::jpeg::JpegSegment| s.contents().starts_with(b"ICC_PROFILE\0");
        if self.profile.is_none() && jpeg.segments_by_marker(markers::APP2).any(is_part) {
            self.add_kind(FOREIGN);
        }
        let adobe = jpeg.segments_by_marker(markers::APP14);
        let adobe: Vec<usize> = adobe.map(|segment| segment.contents().len()).collect();
        if adobe.len() > 1 || adobe.iter().any(|bytes| *bytes > ADOBE_BYTES) {
            self.add_kind(OTHER);
        }
        if parameters.has_segments_in_scans {
            self.add_kind(OTHER);
        }
        if parameters.has_trailer {
            self.add_kind(TRAILER);
        }
        self.compression = Compression::Jpeg(Box::new(parameters));
        Ok(())
    }

    /// Lists blocks after the first one of their kind.
    fn note_further(&mut self, exif: usize, xmp: usize, profiles: usize) {
        let counts = [(exif, FURTHER_EXIF), (xmp, FURTHER_XMP), (profiles, FURTHER_PROFILE)];
        for (count, kind) in counts {
            if count > 1 {
                self.add_kind(kind);
            }
        }
    }

    /// Lists what follows the picture, which has that length.
    fn note_trailer(&mut self, file: &[u8], length: Option<usize>) {
        let trailer = length.and_then(|length| file.get(length..)).unwrap_or_default();
        if trailer.iter().any(|byte| *byte != 0) {
            self.add_kind(TRAILER);
        }
    }

    /// Lists a kind of metadata, once.
    pub fn add_kind(&mut self, kind: &str) {
        if !self.metadata_kinds.iter().any(|known| known == kind) {
            self.metadata_kinds.push(kind.to_owned());
        }
    }

    fn read_png(&mut self, png: &Png) {
        self.profile = png.icc_profile().map(Vec::from);
        self.exif = png.exif().map(Vec::from);
        for (at, chunk) in png.chunks().iter().enumerate() {
            let (kind, contents) = (chunk.kind(), chunk.contents());
            let first = png.chunks()[..at].iter().all(|before| before.kind() != kind);
            let repeated = self.display.iter().any(|kept| kept.kind() == kind);
            match &kind {
                b"IHDR" if contents.get(9) == Some(&3) => {
                    self.notes.push("palette colours were converted to RGB".to_owned());
                }
                b"iTXt" if contents.starts_with(XMP_KEYWORD) && self.xmp.is_none() => {
                    self.xmp = Some(contents[XMP_KEYWORD.len()..].to_vec());
                }
                b"iTXt" if contents.starts_with(XMP_KEYWORD) => self.add_kind(FURTHER_XMP),
                b"tEXt" | b"zTXt" | b"iTXt" | b"tIME" => self.add_kind(TEXT),
                b"eXIf" | b"IDAT" => {}
                b"iCCP" if first => {
                    let (has_text, has_more) = packed::profile_has(contents);
                    has_text.then(|| self.add_kind(TEXT));
                    has_more.then(|| self.add_kind(AFTER));
                }
                b"iCCP" => {}
                kind if DISPLAY_CHUNKS.contains(&(kind, contents.len())) && !repeated => {
                    self.display.push(chunk.clone());
                }
                kind if CODING_CHUNKS
                    .iter()
                    .any(|(known, most)| kind == *known && contents.len() <= *most && first) => {}
                _ => self.add_kind(OTHER),
            }
        }
        let count = |kind| png.chunks().iter().filter(|c| c.kind() == kind).count();
        self.note_further(count(*b"eXIf"), 0, count(*b"iCCP"));
        if self.profile.is_none() && count(*b"iCCP") > 0 {
            self.add_kind(FOREIGN);
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
            self.add_kind(OTHER);
        }
        let count = |id| file.chunks().iter().filter(|chunk| chunk.id() == id).count();
        let profiles = count(webp::CHUNK_ICCP);
        self.note_further(count(webp::CHUNK_EXIF), count(webp::CHUNK_XMP), profiles);
        if count(webp::CHUNK_VP8) + count(webp::CHUNK_VP8L) > 1 || count(webp::CHUNK_ALPH) > 1 {
            self.add_kind(FURTHER_PICTURES);
        }
    }
}

/// Where a PNG ends: after its chunk `IEND`.
fn png_length(file: &[u8]) -> Option<usize> {
    let mut at = 8;
    loop {
        let head: [u8; 8] = file.get(at..at + 8)?.try_into().ok()?;
        let [a, b, c, d, kind @ ..] = head;
        at = at.checked_add(u32::from_be_bytes([a, b, c, d]) as usize)?.checked_add(12)?;
        if kind == *b"IEND" {
            return Some(at);
        }
    }
}

/// Where a RIFF file ends, by its head.
fn riff_length(file: &[u8]) -> Option<usize> {
    let size = u32::from_le_bytes(file.get(4..8)?.try_into().ok()?) as usize;
    Some(size.checked_add(8)?.next_multiple_of(2))
}
