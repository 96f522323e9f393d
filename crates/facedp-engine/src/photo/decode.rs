//! From a file's bytes to an upright photo, within limits.

use std::io::Cursor;

use image::codecs::jpeg::JpegDecoder;
use image::codecs::png::PngDecoder;
use image::codecs::webp::WebPDecoder;
use image::metadata::Orientation;
use image::{DynamicImage, ImageDecoder, ImageFormat};

use super::container::Wrapping;
use super::{Format, Photo, Samples};
use crate::error::{Error, Result};

/// How much is read at most. A file can be small and unpack to anything.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Bytes of a file.
    pub file_bytes: u64,
    /// Pixels of a picture.
    pub pixels: u64,
    /// Bytes of a picture once decoded.
    pub bytes: u64,
}

/// The most that a chunk of a PNG file, such as a colour profile, may unpack to.
const MOST_CHUNK: u64 = 32_000_000;

impl Default for Limits {
    /// 100 megapixels, several times a large camera's.
    fn default() -> Self {
        Self { file_bytes: 400_000_000, pixels: 100_000_000, bytes: 600_000_000 }
    }
}

impl Photo {
    /// Decodes a file's bytes and turns the picture as its EXIF orientation says. The content says
    /// what format it is, not the file's name.
    pub fn decode(file: &[u8], limits: &Limits) -> Result<Self> {
        Head::read(file, limits)?.decode()
    }
}

/// A file of which only the head was read: its size is known, and within limits.
pub(crate) struct Head<'a> {
    file: &'a [u8],
    format: Format,
    decoder: Box<dyn ImageDecoder + 'a>,
}

impl<'a> Head<'a> {
    pub fn read(file: &'a [u8], limits: &Limits) -> Result<Self> {
        if file.len() as u64 > limits.file_bytes {
            return Err(Error::TooManyBytes { found: file.len() as u64, most: limits.file_bytes });
        }
        let format = Format::of(file)?;
        let input = Cursor::new(file);
        let mut bounds = image::Limits::no_limits();
        let decoder: Box<dyn ImageDecoder + 'a> = match format {
            Format::Jpeg => Box::new(JpegDecoder::new(input).map_err(damaged)?),
            Format::Png => {
                // What chunks other than pixels may unpack to.
                bounds.max_alloc = Some(MOST_CHUNK);
                let decoder = PngDecoder::with_limits(input, bounds).map_err(damaged)?;
                if decoder.is_apng().map_err(damaged)? {
                    return Err(Error::Animated);
                }
                Box::new(decoder)
            }
            Format::WebP => {
                let mut decoder = WebPDecoder::new(input).map_err(damaged)?;
                if decoder.has_animation() {
                    return Err(Error::Animated);
                }
                bounds.max_alloc = Some(limits.bytes);
                decoder.set_limits(bounds).map_err(damaged)?;
                Box::new(decoder)
            }
        };
        let (width, height) = decoder.dimensions();
        if u64::from(width) * u64::from(height) > limits.pixels {
            return Err(Error::TooManyPixels { width, height, most: limits.pixels });
        }
        if decoder.total_bytes() > limits.bytes {
            return Err(Error::TooManyBytes { found: decoder.total_bytes(), most: limits.bytes });
        }
        Ok(Self { file, format, decoder })
    }

    /// Bytes that file and picture take.
    pub fn bytes(&self) -> u64 {
        self.file.len() as u64 + self.decoder.total_bytes()
    }

    pub fn decode(self) -> Result<Photo> {
        let mut wrapping = Wrapping::read(self.file, self.format)?;
        let mut image = DynamicImage::from_decoder(self.decoder).map_err(damaged)?;
        if let Some(turn) = wrapping.exif.as_deref().and_then(Orientation::from_exif_chunk) {
            image.apply_orientation(turn);
            use Orientation::{Rotate90, Rotate90FlipH, Rotate270, Rotate270FlipH};
            if matches!(turn, Rotate90 | Rotate270 | Rotate90FlipH | Rotate270FlipH) {
                wrapping.compression = wrapping.compression.turned();
            }
        }
        let (width, height) = (image.width() as usize, image.height() as usize);
        let (channels, samples) = match image {
            DynamicImage::ImageLuma8(i) => (1, Samples::Eight(i.into_raw())),
            DynamicImage::ImageLumaA8(i) => (2, Samples::Eight(i.into_raw())),
            DynamicImage::ImageRgb8(i) => (3, Samples::Eight(i.into_raw())),
            DynamicImage::ImageRgba8(i) => (4, Samples::Eight(i.into_raw())),
            DynamicImage::ImageLuma16(i) => (1, Samples::Sixteen(i.into_raw())),
            DynamicImage::ImageLumaA16(i) => (2, Samples::Sixteen(i.into_raw())),
            DynamicImage::ImageRgb16(i) => (3, Samples::Sixteen(i.into_raw())),
            DynamicImage::ImageRgba16(i) => (4, Samples::Sixteen(i.into_raw())),
            _ => return Err(Error::FloatingPoint),
        };
        // A profile that is not for these samples (of a CMYK picture, say) would spoil the colours.
        let space: &[u8] = if channels >= 3 { b"RGB " } else { b"GRAY" };
        wrapping.profile = wrapping.profile.filter(|icc| icc.get(16..20) == Some(space));
        Ok(Photo { width, height, channels, samples, wrapping })
    }
}

/// What a decoder says, in one line.
fn damaged(error: image::ImageError) -> Error {
    Error::Damaged(error.to_string().split_whitespace().collect::<Vec<_>>().join(" "))
}

impl Format {
    /// What the first bytes of a file say.
    fn of(file: &[u8]) -> Result<Self> {
        match image::guess_format(file) {
            Ok(ImageFormat::Jpeg) => Ok(Format::Jpeg),
            Ok(ImageFormat::Png) => Ok(Format::Png),
            Ok(ImageFormat::WebP) => Ok(Format::WebP),
            Ok(ImageFormat::Gif) => Err(Error::Format { found: "a GIF picture" }),
            Ok(ImageFormat::Avif) => Err(Error::Format { found: "an AVIF picture" }),
            Ok(_) => Err(Error::Format { found: "a picture of another format" }),
            Err(_) => Err(Error::Format {
                found: match file {
                    [] => "an empty file",
                    [_, _, _, _, b'f', b't', b'y', b'p', brand @ ..] => match brand.get(..4) {
                        Some(
                            b"heic" | b"heix" | b"heim" | b"heis" | b"hevc" | b"mif1" | b"msf1",
                        ) => "a HEIC picture",
                        _ => "a video or a picture of another format",
                    },
                    _ => "not a picture",
                },
            }),
        }
    }
}
