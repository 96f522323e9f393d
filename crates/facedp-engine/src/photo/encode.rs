//! Encoding: by default in the format of the source, with its compression parameters.

use std::borrow::Cow;

use bytes::Bytes;
use image::codecs::png::PngEncoder;
use image::codecs::webp::WebPEncoder;
use image::{ExtendedColorType, ImageEncoder};
use img_parts::png::{Png, PngChunk};
use img_parts::webp::WebP;
use img_parts::{ImageEXIF, ImageICC};
use jpeg_encoder::{
    ChromaSubsamplingMethod, ColorType, Encoder, QuantizationTableType, SamplingFactor,
};

use super::container::{Compression, Container, XMP, XMP_KEYWORD, XMP_PREFIX};
use super::exif::{self, Exif};
use super::plain::{MAX_EXIF, MAX_TOGETHER, Room};
use super::xmp;
use super::{Photo, Sample, Samples};
use crate::error::{Error, Result};
use crate::format::Format;

/// Options for writing a photo.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Encoding {
    /// None for the format of the source.
    pub(crate) format: Option<Format>,
    /// Quality of JPEG results, 1 to 100; none for the quantisation tables of the source.
    pub(crate) jpeg_quality: Option<u8>,
    pub(crate) metadata: Metadata,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum Metadata {
    /// Write none but the colour profile.
    #[default]
    Strip,
    /// Keep EXIF and XMP, without the pictures that they can contain.
    Keep,
}

/// An encoded photo, and its differences from the source file.
pub(crate) struct Encoded {
    pub(crate) file: Vec<u8>,
    pub(crate) format: Format,
    /// Kinds of metadata that were left out.
    pub(crate) stripped: Vec<String>,
    /// Other differences from the source, apart from the treatment of faces.
    pub(crate) notes: Vec<String>,
}

/// Quality of a JPEG or lossy WebP file if the source gives none.
const DEFAULT_QUALITY: u8 = 92;
/// Largest width or height of a file, in pixels.
const MAX_JPEG_SIDE: usize = 65_535;
const MAX_WEBP_SIDE: usize = 16_383;
/// Metadata that is written to the result.
#[derive(Default)]
struct KeptMetadata {
    exif: Option<Vec<u8>>,
    xmp: Option<Vec<u8>>,
}

impl Encoding {
    /// The format of the result of a source.
    fn format_of(&self, source: Format) -> Format {
        self.format.unwrap_or(source).of_result()
    }

    /// The encoding as text. Run records hold a hash of it: it must not change.
    pub(crate) fn fingerprint(&self) -> String {
        let format = self.format.map_or("the source's".to_owned(), |format| format.to_string());
        let quality = self.jpeg_quality.map_or("the source's".to_owned(), |q| q.to_string());
        let metadata = match self.metadata {
            Metadata::Strip => "stripped",
            Metadata::Keep => "kept",
        };
        format!("format {format}, JPEG quality {quality}, metadata {metadata}")
    }
}

impl Photo {
    pub(crate) fn encode(&self, encoding: &Encoding) -> Result<Encoded> {
        let format = encoding.format_of(self.container.format);
        let mut notes = self.container.notes.clone();
        let (kept, stripped) = self.select_metadata(format, encoding.metadata);
        if self.container.format == Format::Heic {
            notes.push(format!("HEIC was written as {format}"));
        }
        if matches!(self.samples, Samples::U16(_)) && format != Format::Png {
            let bits = if self.container.format == Format::Heic { "more than 8" } else { "16" };
            notes.push(format!("{bits} bits were reduced to 8, the most that {format} holds"));
        }
        if self.has_alpha() && format == Format::Jpeg {
            notes.push("transparent parts became white, since JPEG has no transparency".to_owned());
        }
        if let (Format::Jpeg, Compression::Jpeg(parameters)) = (format, &self.container.compression)
            && !parameters.keeps_sampling()
        {
            notes.push("chroma is subsampled less than in the source".to_owned());
        }
        if format == Format::WebP && !self.has_colour() && self.container.profile.is_some() {
            notes
                .push("the grey colour profile was left out, since WebP cannot hold it".to_owned());
        }
        let file = match format {
            Format::Jpeg | Format::Heic => self.to_jpeg(encoding.jpeg_quality, &kept)?,
            Format::Png => self.to_png(kept)?,
            Format::WebP => self.to_webp(kept)?,
        };
        Ok(Encoded { file, format, stripped, notes })
    }

    /// Fails if [`Self::encode`] would refuse the size.
    pub(crate) fn require_encodable(&self, encoding: &Encoding) -> Result<()> {
        match encoding.format_of(self.container.format) {
            Format::Jpeg | Format::Heic => jpeg_size(self.width, self.height).map(drop),
            Format::Png => Ok(()),
            Format::WebP => self.require_webp_size(),
        }
    }

    /// Whether a file holds every sample exactly.
    pub(crate) fn is_lossless(&self, encoding: &Encoding) -> bool {
        match encoding.format_of(self.container.format) {
            Format::Png => true,
            Format::Jpeg | Format::Heic => false,
            Format::WebP => self.container.compression == Compression::Lossless,
        }
    }

    /// Kinds of metadata that encoding will leave out.
    pub(crate) fn stripped(&self, encoding: &Encoding) -> Vec<String> {
        let format = encoding.format_of(self.container.format);
        self.select_metadata(format, encoding.metadata).1
    }

    /// The metadata to write, and the kinds that are left out.
    fn select_metadata(&self, format: Format, metadata: Metadata) -> (KeptMetadata, Vec<String>) {
        let Container { metadata_kinds, exif, xmp, .. } = &self.container;
        if metadata == Metadata::Strip {
            return (KeptMetadata::default(), metadata_kinds.clone());
        }
        let mut room = Room(MAX_EXIF);
        let exif = exif.as_deref().and_then(Exif::read).map(|exif| exif.safe_copy(&mut room));
        let room = Room(MAX_TOGETHER - (MAX_EXIF - room.0));
        let (exif, mut kept_kinds, fields) = exif
            .map_or((None, Vec::new(), false), |(exif, kinds, fields)| (Some(exif), kinds, fields));
        // The WebP writer cannot place XMP.
        let safe = xmp
            .as_deref()
            .filter(|_| format != Format::WebP)
            .and_then(|xmp| xmp::safe_copy(xmp, room));
        let (xmp, left_out) = safe.map_or((None, Vec::new()), |safe| (safe.packet, safe.left_out));
        kept_kinds.extend(xmp.as_ref().map(|_| XMP));
        let stripped = metadata_kinds.iter().filter(|kind| !kept_kinds.contains(&kind.as_str()));
        let mut stripped: Vec<String> = stripped.cloned().collect();
        stripped.extend(fields.then(|| exif::OTHER_FIELDS.to_owned()));
        if xmp.is_some() {
            stripped.extend(left_out.into_iter().map(|prefix| format!("XMP ({prefix})")));
        }
        (KeptMetadata { exif, xmp }, stripped)
    }

    fn to_jpeg(&self, quality: Option<u8>, kept: &KeptMetadata) -> Result<Vec<u8>> {
        let (width, height) = jpeg_size(self.width, self.height)?;
        let failed = jpeg_failed;
        let mut file = Vec::new();
        let mut encoder = jpeg_encoder(&mut file, quality.unwrap_or(DEFAULT_QUALITY));
        if let Compression::Jpeg(parameters) = &self.container.compression {
            encoder.set_sampling_factor(parameters.sampling_factor());
            encoder.set_progressive(parameters.progressive);
            // Only for progressive files: in others, the encoder would write one scan per component,
            // which is allowed but which some decoders cannot read.
            encoder.set_optimized_huffman_tables(parameters.progressive);
            if quality.is_none() {
                let [luma, chroma] = [parameters.luma, parameters.chroma]
                    .map(|table| QuantizationTableType::Custom(Box::new(table)));
                encoder.set_quantization_tables(luma, chroma);
            }
        }
        if let Some(profile) = &self.container.profile {
            encoder.add_icc_profile(profile).map_err(failed)?;
        }
        if let Some(exif) = &kept.exif {
            encoder.add_exif_metadata(exif).map_err(failed)?;
        }
        if let Some(xmp) = &kept.xmp {
            let segment = [XMP_PREFIX, xmp].concat();
            encoder.add_app_segment(1, segment).map_err(failed)?;
        }
        let samples = self.flattened();
        let colour = if self.has_colour() { ColorType::Rgb } else { ColorType::Luma };
        encoder.encode(&samples, width, height, colour).map_err(failed)?;
        Ok(file)
    }

    fn to_png(&self, kept: KeptMetadata) -> Result<Vec<u8>> {
        let failed = |problem: String| Error::Encoding { format: Format::Png, problem };
        let (depth, bytes): (u8, Cow<'_, [u8]>) = match &self.samples {
            Samples::U8(samples) => (8, samples.into()),
            Samples::U16(samples) => (16, samples.iter().flat_map(|s| s.to_ne_bytes()).collect()),
        };
        let colour = match (self.channels, depth) {
            (1, 8) => ExtendedColorType::L8,
            (2, 8) => ExtendedColorType::La8,
            (3, 8) => ExtendedColorType::Rgb8,
            (_, 8) => ExtendedColorType::Rgba8,
            (1, _) => ExtendedColorType::L16,
            (2, _) => ExtendedColorType::La16,
            (3, _) => ExtendedColorType::Rgb16,
            (_, _) => ExtendedColorType::Rgba16,
        };
        let (width, height) = self.size_u32();
        let mut file = Vec::new();
        let mut encoder = PngEncoder::new(&mut file);
        if let Some(profile) = &self.container.profile {
            encoder.set_icc_profile(profile.clone()).map_err(|e| failed(e.to_string()))?;
        }
        let written = encoder.write_image(&bytes, width, height, colour);
        written.map_err(|e| failed(e.to_string()))?;

        let mut extra = self.container.display.clone();
        if let Some(xmp) = kept.xmp {
            extra.push(PngChunk::new(*b"iTXt", [XMP_KEYWORD, &xmp].concat().into()));
        }
        if let Some(exif) = kept.exif {
            extra.push(PngChunk::new(*b"eXIf", exif.into()));
        }
        if extra.is_empty() {
            return Ok(file);
        }
        let mut png = Png::from_bytes(file.into()).map_err(|e| failed(e.to_string()))?;
        // A profile takes precedence over these chunks, which could contradict it.
        let has_profile = png.chunks().iter().any(|c| c.kind() == *b"iCCP");
        extra.retain(|c| !(has_profile && [*b"sRGB", *b"gAMA", *b"cHRM"].contains(&c.kind())));
        png.chunks_mut().splice(1..1, extra);
        Ok(png.encoder().bytes().to_vec())
    }

    fn to_webp(&self, kept: KeptMetadata) -> Result<Vec<u8>> {
        self.require_webp_size()?;
        let failed = |problem: String| Error::Encoding { format: Format::WebP, problem };
        let rgb = self.to_rgb();
        let (width, height) = self.size_u32();
        let quality = match self.container.compression {
            Compression::WebP(quality) => Some(quality),
            Compression::Jpeg(_) | Compression::OtherLossy => Some(f32::from(DEFAULT_QUALITY)),
            Compression::Lossless => None,
        };
        let file = if let Some(quality) = quality {
            let mut settings = webp::WebPConfig::new()
                .map_err(|()| failed("libwebp does not start".to_owned()))?;
            settings.quality = quality;
            let encoder = match self.has_alpha() {
                true => webp::Encoder::from_rgba(&rgb, width, height),
                false => webp::Encoder::from_rgb(&rgb, width, height),
            };
            let coded = encoder.encode_advanced(&settings).map_err(|e| failed(format!("{e:?}")))?;
            coded.to_vec()
        } else {
            let colour = match self.has_alpha() {
                true => ExtendedColorType::Rgba8,
                false => ExtendedColorType::Rgb8,
            };
            let mut file = Vec::new();
            let coded = WebPEncoder::new_lossless(&mut file).encode(&rgb, width, height, colour);
            coded.map_err(|e| failed(e.to_string()))?;
            file
        };
        let profile = self.container.profile.clone().filter(|_| self.has_colour());
        if profile.is_none() && kept.exif.is_none() {
            return Ok(file);
        }
        let mut webp = WebP::from_bytes(file.into()).map_err(|e| failed(e.to_string()))?;
        webp.set_icc_profile(profile.map(Bytes::from));
        webp.set_exif(kept.exif.map(Bytes::from));
        Ok(webp.encoder().bytes().to_vec())
    }

    fn require_webp_size(&self) -> Result<()> {
        let (width, height, max) = (self.width, self.height, MAX_WEBP_SIDE);
        match width.max(height) > max {
            true => Err(Error::TooLargeFor { format: Format::WebP, max, width, height }),
            false => Ok(()),
        }
    }

    /// Decoders give sizes as `u32`, so both fit.
    fn size_u32(&self) -> (u32, u32) {
        (self.width as u32, self.height as u32)
    }

    fn to_8_bits(&self) -> Cow<'_, [u8]> {
        match &self.samples {
            Samples::U8(samples) => samples.into(),
            Samples::U16(samples) => samples.iter().map(|s| s.to_u8()).collect(),
        }
    }

    /// 8-bit samples, composed over white if the photo has alpha.
    fn flattened(&self) -> Cow<'_, [u8]> {
        let samples = self.to_8_bits();
        if !self.has_alpha() {
            return samples;
        }
        let over_white = |pixel: &[u8]| {
            let (colours, alpha) = pixel.split_at(pixel.len() - 1);
            let alpha = u32::from(alpha[0]);
            let blend =
                move |c: &u8| ((u32::from(*c) * alpha + 255 * (255 - alpha) + 127) / 255) as u8;
            colours.iter().map(blend).collect::<Vec<_>>()
        };
        samples.chunks_exact(self.channels).flat_map(over_white).collect()
    }

    /// 8-bit RGB samples, or RGBA if the photo has alpha.
    fn to_rgb(&self) -> Cow<'_, [u8]> {
        let samples = self.to_8_bits();
        match self.channels {
            1 => samples.iter().flat_map(|s| [*s; 3]).collect(),
            2 => samples.chunks_exact(2).flat_map(|p| [p[0], p[0], p[0], p[1]]).collect(),
            _ => samples,
        }
    }
}

/// Encodes RGB samples as JPEG with 4:2:0 subsampling, as platforms recompress photos.
pub(crate) fn encode_jpeg(rgb: &[u8], width: usize, height: usize, quality: u8) -> Result<Vec<u8>> {
    let (width, height) = jpeg_size(width, height)?;
    let mut file = Vec::new();
    let encoder = jpeg_encoder(&mut file, quality);
    encoder.encode(rgb, width, height, ColorType::Rgb).map_err(jpeg_failed)?;
    Ok(file)
}

/// A JPEG encoder with 4:2:0 subsampling by averaging.
fn jpeg_encoder(file: &mut Vec<u8>, quality: u8) -> Encoder<&mut Vec<u8>> {
    let mut encoder = Encoder::new(file, quality);
    encoder.set_sampling_factor(SamplingFactor::F_2_2);
    encoder.set_chroma_subsampling_method(ChromaSubsamplingMethod::Average);
    encoder
}

fn jpeg_size(width: usize, height: usize) -> Result<(u16, u16)> {
    let sides = u16::try_from(width).ok().zip(u16::try_from(height).ok());
    sides.ok_or(Error::TooLargeFor { format: Format::Jpeg, max: MAX_JPEG_SIDE, width, height })
}

fn jpeg_failed(error: jpeg_encoder::EncodingError) -> Error {
    Error::Encoding { format: Format::Jpeg, problem: error.to_string() }
}
