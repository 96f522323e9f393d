//! From a photo to a file's bytes: in the format it had, compressed as it was.

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

use super::container::{Compression, Wrapping, XMP_KEYWORD, XMP_PREFIX};
use super::exif::Exif;
use super::{Format, Photo, Sample, Samples};
use crate::error::{Error, Result};

/// How a photo is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Encoding {
    /// The format; that of its file if none is given.
    pub format: Option<Format>,
    /// Quality of JPEG results, 1..=100; that of the source if none is given.
    pub jpeg_quality: Option<u8>,
    /// What becomes of metadata.
    pub metadata: Metadata,
}

/// What becomes of metadata.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Metadata {
    /// All of it is left out but the colour profile.
    #[default]
    Strip,
    /// EXIF and XMP are kept, without the pictures that they can hold.
    Keep,
}

/// A file's bytes, and what became of what the source held.
pub struct Encoded {
    /// The file.
    pub file: Vec<u8>,
    /// Its format.
    pub format: Format,
    /// Metadata that was left out.
    pub stripped: Vec<String>,
    /// What else differs from the source but for the noise.
    pub notes: Vec<String>,
}

/// Quality of a JPEG or lossy WebP file whose source says none.
const DEFAULT_QUALITY: u8 = 92;
/// The longest sides that formats hold.
const MOST_JPEG: usize = 65_535;
const MOST_WEBP: usize = 16_383;
/// The longest XMP packet that is kept: what a segment of a JPEG file holds.
const MOST_XMP: usize = 65_000;
/// Words of XMP packets that hold pictures, or that would turn an upright picture again.
const XMP_LEFT_OUT: [&[u8]; 5] =
    [b"xmpGImg:", b"GImage:", b"GDepth:", b"Thumbnails", b"tiff:Orientation"];

/// Metadata to be written.
#[derive(Default)]
struct Kept {
    exif: Option<Vec<u8>>,
    xmp: Option<Vec<u8>>,
}

impl Photo {
    /// Encodes it.
    pub fn encode(&self, how: &Encoding) -> Result<Encoded> {
        let format = how.format.unwrap_or(self.wrapping.format);
        let mut notes = self.wrapping.notes.clone();
        let (kept, stripped) = self.kept(format, how.metadata);
        let deep = matches!(self.samples, Samples::Sixteen(_));
        if deep && format != Format::Png {
            notes.push(format!("16 bits became 8, since {format} has no more"));
        }
        if self.has_alpha() && format == Format::Jpeg {
            notes.push("transparent parts became white, since JPEG has none".to_owned());
        }
        if let (Format::Jpeg, Compression::Jpeg(tables)) = (format, &self.wrapping.compression)
            && !tables.keeps_sampling()
        {
            notes.push("colours are sampled less coarsely than they were".to_owned());
        }
        if format == Format::WebP && !self.has_colour() && self.wrapping.profile.is_some() {
            notes.push("the profile of grey levels was left out, since WebP has none".to_owned());
        }
        let file = match format {
            Format::Jpeg => self.to_jpeg(how.jpeg_quality, &kept)?,
            Format::Png => self.to_png(kept)?,
            Format::WebP => self.to_webp(kept)?,
        };
        Ok(Encoded { file, format, stripped, notes })
    }

    /// The metadata that encoding will leave out.
    pub fn stripped(&self, how: &Encoding) -> Vec<String> {
        self.kept(how.format.unwrap_or(self.wrapping.format), how.metadata).1
    }

    /// What of the metadata is written, and the names of what is not.
    fn kept(&self, format: Format, metadata: Metadata) -> (Kept, Vec<String>) {
        let Wrapping { found, exif, xmp, .. } = &self.wrapping;
        if metadata == Metadata::Strip {
            return (Kept::default(), found.clone());
        }
        let exif = exif.as_deref().and_then(Exif::read).map(|exif| exif.safe_copy());
        let (exif, mut names) =
            exif.map_or((None, Vec::new()), |(exif, names)| (Some(exif), names));
        let fit_to_keep = |xmp: &&Vec<u8>| {
            let named = |word: &&[u8]| xmp.windows(word.len()).any(|part| part == *word);
            // In another encoding the words could not be seen.
            let plain = std::str::from_utf8(xmp).is_ok_and(|text| !text.contains('\0'));
            xmp.len() <= MOST_XMP && plain && !XMP_LEFT_OUT.iter().any(named)
        };
        // WebP's encoders place no XMP.
        let xmp = xmp.as_ref().filter(|_| format != Format::WebP).filter(fit_to_keep).cloned();
        names.extend(xmp.as_ref().map(|_| "XMP"));
        let stripped = found.iter().filter(|name| !names.contains(&name.as_str()));
        (Kept { exif, xmp }, stripped.cloned().collect())
    }

    fn to_jpeg(&self, quality: Option<u8>, kept: &Kept) -> Result<Vec<u8>> {
        let (width, height) = jpeg_size(self.width, self.height)?;
        let failed = jpeg_failed;
        let mut file = Vec::new();
        let mut encoder = jpeg_encoder(&mut file, quality.unwrap_or(DEFAULT_QUALITY));
        if let Compression::Jpeg(tables) = &self.wrapping.compression {
            encoder.set_sampling_factor(tables.sampling_factor());
            encoder.set_progressive(tables.progressive);
            // Not for others: the encoder would write each colour in a scan of its own, which is
            // allowed, but which some decoders do not read.
            encoder.set_optimized_huffman_tables(tables.progressive);
            if quality.is_none() {
                let [luma, chroma] = [tables.luma, tables.chroma]
                    .map(|table| QuantizationTableType::Custom(Box::new(table)));
                encoder.set_quantization_tables(luma, chroma);
            }
        }
        if let Some(profile) = &self.wrapping.profile {
            encoder.add_icc_profile(profile).map_err(failed)?;
        }
        if let Some(exif) = &kept.exif {
            encoder.add_exif_metadata(exif).map_err(failed)?;
        }
        if let Some(xmp) = &kept.xmp {
            let segment = [XMP_PREFIX, xmp].concat();
            encoder.add_app_segment(1, segment).map_err(failed)?;
        }
        let opaque = self.opaque();
        let colour = if self.has_colour() { ColorType::Rgb } else { ColorType::Luma };
        encoder.encode(&opaque, width, height, colour).map_err(failed)?;
        Ok(file)
    }

    fn to_png(&self, kept: Kept) -> Result<Vec<u8>> {
        let failed = |problem: String| Error::Encoding { format: Format::Png, problem };
        let (depth, bytes): (u8, Cow<'_, [u8]>) = match &self.samples {
            Samples::Eight(samples) => (8, samples.into()),
            Samples::Sixteen(samples) => {
                (16, samples.iter().flat_map(|s| s.to_ne_bytes()).collect())
            }
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
        if let Some(profile) = &self.wrapping.profile {
            encoder.set_icc_profile(profile.clone()).map_err(|e| failed(e.to_string()))?;
        }
        let written = encoder.write_image(&bytes, width, height, colour);
        written.map_err(|e| failed(e.to_string()))?;

        let mut extra = self.wrapping.display.clone();
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
        // A profile says it all; after it these chunks would only contradict.
        let has_profile = png.chunks().iter().any(|c| c.kind() == *b"iCCP");
        extra.retain(|c| !(has_profile && [*b"sRGB", *b"gAMA", *b"cHRM"].contains(&c.kind())));
        png.chunks_mut().splice(1..1, extra);
        Ok(png.encoder().bytes().to_vec())
    }

    fn to_webp(&self, kept: Kept) -> Result<Vec<u8>> {
        if self.width.max(self.height) > MOST_WEBP {
            let (width, height) = (self.width, self.height);
            return Err(Error::TooLargeFor {
                format: Format::WebP,
                most: MOST_WEBP,
                width,
                height,
            });
        }
        let failed = |problem: String| Error::Encoding { format: Format::WebP, problem };
        let rgb = self.spread();
        let (width, height) = self.size_u32();
        let quality = match self.wrapping.compression {
            Compression::WebP(quality) => Some(quality),
            Compression::Jpeg(_) => Some(f32::from(DEFAULT_QUALITY)),
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
        let profile = self.wrapping.profile.clone().filter(|_| self.has_colour());
        if profile.is_none() && kept.exif.is_none() {
            return Ok(file);
        }
        let mut webp = WebP::from_bytes(file.into()).map_err(|e| failed(e.to_string()))?;
        webp.set_icc_profile(profile.map(Bytes::from));
        webp.set_exif(kept.exif.map(Bytes::from));
        Ok(webp.encoder().bytes().to_vec())
    }

    /// Decoders give sizes in 32 bits.
    fn size_u32(&self) -> (u32, u32) {
        (self.width as u32, self.height as u32)
    }

    /// Samples of 8 bits.
    fn eight(&self) -> Cow<'_, [u8]> {
        match &self.samples {
            Samples::Eight(samples) => samples.into(),
            Samples::Sixteen(samples) => samples.iter().map(|s| s.byte()).collect(),
        }
    }

    /// Samples of 8 bits without alpha, over white.
    fn opaque(&self) -> Cow<'_, [u8]> {
        let samples = self.eight();
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

    /// Samples of 8 bits in colour, grey ones three times, with alpha if there is one.
    fn spread(&self) -> Cow<'_, [u8]> {
        let samples = self.eight();
        match self.channels {
            1 => samples.iter().flat_map(|s| [*s; 3]).collect(),
            2 => samples.chunks_exact(2).flat_map(|p| [p[0], p[0], p[0], p[1]]).collect(),
            _ => samples,
        }
    }
}

/// Colour samples as JPEG at that quality, 4:2:0: what platforms make of photos.
pub(crate) fn jpeg(rgb: &[u8], width: usize, height: usize, quality: u8) -> Result<Vec<u8>> {
    let (width, height) = jpeg_size(width, height)?;
    let mut file = Vec::new();
    let encoder = jpeg_encoder(&mut file, quality);
    encoder.encode(rgb, width, height, ColorType::Rgb).map_err(jpeg_failed)?;
    Ok(file)
}

/// An encoder of 4:2:0, chroma averaged.
fn jpeg_encoder(file: &mut Vec<u8>, quality: u8) -> Encoder<&mut Vec<u8>> {
    let mut encoder = Encoder::new(file, quality);
    encoder.set_sampling_factor(SamplingFactor::F_2_2);
    encoder.set_chroma_subsampling_method(ChromaSubsamplingMethod::Average);
    encoder
}

fn jpeg_size(width: usize, height: usize) -> Result<(u16, u16)> {
    let sides = u16::try_from(width).ok().zip(u16::try_from(height).ok());
    sides.ok_or(Error::TooLargeFor { format: Format::Jpeg, most: MOST_JPEG, width, height })
}

fn jpeg_failed(error: jpeg_encoder::EncodingError) -> Error {
    Error::Encoding { format: Format::Jpeg, problem: error.to_string() }
}
