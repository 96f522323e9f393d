//! Decoding: from the bytes of a file to an upright photo, within limits.

use std::io::Cursor;

use image::codecs::jpeg::JpegDecoder;
use image::codecs::png::PngDecoder;
use image::codecs::webp::WebPDecoder;
use image::metadata::Orientation;
use image::{DynamicImage, ImageDecoder, ImageFormat};

use super::container::Container;
use super::profile::{FOREIGN, Profile};
use super::{Photo, Samples, heic};
use crate::error::{Error, Result};
use crate::format::Format;

/// Upper bounds on what is read. A small file can decode to any size.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    pub file_bytes: u64,
    pub pixels: u64,
    /// Bytes of decoded samples.
    pub bytes: u64,
}

/// Largest decompressed size of a PNG chunk other than pixels, such as a colour profile.
const MAX_CHUNK_BYTES: u64 = 32_000_000;

impl Default for Limits {
    /// 100 megapixels: several times the resolution of large cameras.
    fn default() -> Self {
        Self { file_bytes: 400_000_000, pixels: 100_000_000, bytes: 600_000_000 }
    }
}

impl Limits {
    /// Fails if a picture of that size, with that many bytes of samples, is too large.
    pub(super) fn require(&self, (width, height): (u32, u32), bytes: u64) -> Result<()> {
        if u64::from(width) * u64::from(height) > self.pixels {
            return Err(Error::TooManyPixels { width, height, max: self.pixels });
        }
        match bytes > self.bytes {
            true => Err(Error::TooManyBytes { found: bytes, max: self.bytes }),
            false => Ok(()),
        }
    }
}

impl Photo {
    /// Decodes a file and applies its EXIF orientation. The format is detected from the content.
    pub fn decode(file: &[u8], limits: &Limits) -> Result<Self> {
        Head::read(file, limits)?.decode()
    }
}

/// A file whose header has been read: its size is known and within the limits.
pub(crate) struct Head<'a> {
    file: &'a [u8],
    format: Format,
    coded: Coded<'a>,
}

/// What decodes the samples.
enum Coded<'a> {
    Image(Box<dyn ImageDecoder + 'a>),
    Heic(heic::Head),
}

impl<'a> Head<'a> {
    pub fn read(file: &'a [u8], limits: &Limits) -> Result<Self> {
        if file.len() as u64 > limits.file_bytes {
            return Err(Error::TooManyBytes { found: file.len() as u64, max: limits.file_bytes });
        }
        let format = Format::detect(file)?;
        let input = Cursor::new(file);
        let mut bounds = image::Limits::no_limits();
        let decoder: Box<dyn ImageDecoder + 'a> = match format {
            Format::Jpeg => Box::new(JpegDecoder::new(input).map_err(damaged)?),
            Format::Png => {
                bounds.max_alloc = Some(MAX_CHUNK_BYTES);
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
            Format::Heic => {
                let head = heic::Head::read(file)?;
                limits.require((head.width, head.height), head.bytes)?;
                // A small picture can be put together from parts of any size.
                if head.coded_pixels > limits.pixels.saturating_mul(2) {
                    return Err(Error::TooManyPixels {
                        width: head.width,
                        height: head.height,
                        max: limits.pixels,
                    });
                }
                return Ok(Self { file, format, coded: Coded::Heic(head) });
            }
        };
        limits.require(decoder.dimensions(), decoder.total_bytes())?;
        Ok(Self { file, format, coded: Coded::Image(decoder) })
    }

    /// Bytes of the file and of its decoded samples.
    pub fn bytes(&self) -> u64 {
        let decoded = match &self.coded {
            Coded::Image(decoder) => decoder.total_bytes(),
            Coded::Heic(head) => head.bytes.max(head.work_bytes()),
        };
        self.file.len() as u64 + decoded
    }

    pub fn decode(self) -> Result<Photo> {
        let mut photo = match self.coded {
            Coded::Image(decoder) => decode_image(self.file, self.format, decoder)?,
            Coded::Heic(_) => heic::decode(self.file)?,
        };
        photo.settle_profile();
        Ok(photo)
    }
}

/// Decodes with the libraries of `image`, and applies the orientation of EXIF.
fn decode_image(file: &[u8], format: Format, decoder: Box<dyn ImageDecoder + '_>) -> Result<Photo> {
    let mut container = Container::read(file, format)?;
    let mut image = DynamicImage::from_decoder(decoder).map_err(damaged)?;
    if let Some(orientation) = container.exif.as_deref().and_then(Orientation::from_exif_chunk) {
        image.apply_orientation(orientation);
        use Orientation::{Rotate90, Rotate90FlipH, Rotate270, Rotate270FlipH};
        if matches!(orientation, Rotate90 | Rotate270 | Rotate90FlipH | Rotate270FlipH) {
            container.compression = container.compression.transposed();
        }
    }
    let (width, height) = (image.width() as usize, image.height() as usize);
    let (channels, samples) = match image {
        DynamicImage::ImageLuma8(i) => (1, Samples::U8(i.into_raw())),
        DynamicImage::ImageLumaA8(i) => (2, Samples::U8(i.into_raw())),
        DynamicImage::ImageRgb8(i) => (3, Samples::U8(i.into_raw())),
        DynamicImage::ImageRgba8(i) => (4, Samples::U8(i.into_raw())),
        DynamicImage::ImageLuma16(i) => (1, Samples::U16(i.into_raw())),
        DynamicImage::ImageLumaA16(i) => (2, Samples::U16(i.into_raw())),
        DynamicImage::ImageRgb16(i) => (3, Samples::U16(i.into_raw())),
        DynamicImage::ImageRgba16(i) => (4, Samples::U16(i.into_raw())),
        _ => return Err(Error::FloatingPoint),
    };
    Ok(Photo { width, height, channels, samples, container })
}

impl Photo {
    /// Keeps what the colour profile says about colours, and nothing else.
    fn settle_profile(&mut self) {
        let Some(icc) = self.container.profile.take() else { return };
        match Profile::read(&icc, self.has_colour()) {
            Profile::Kept(profile, more) => {
                self.container.profile = Some(profile);
                more.into_iter().for_each(|kind| self.container.add_kind(kind));
            }
            Profile::Tables => {
                let note = match self.convert_to_srgb(&icc) {
                    true => {
                        "colours were converted to sRGB, since the colour profile holds tables or curves of its own"
                    }
                    false => "the colour profile was left out, since it cannot be applied",
                };
                self.container.notes.push(note.to_owned());
            }
            // The profile of a CMYK source, say, would give wrong colours.
            Profile::OtherSpace => {
                let note = "the colour profile was left out, since it is for another colour space";
                self.container.notes.push(note.to_owned());
            }
            Profile::Foreign => {
                self.container.add_kind(FOREIGN);
            }
        }
    }
}

/// The message of a decoder on one line.
fn damaged(error: image::ImageError) -> Error {
    Error::Damaged(error.to_string().split_whitespace().collect::<Vec<_>>().join(" "))
}

impl Format {
    /// Detects the format from the first bytes of a file.
    fn detect(file: &[u8]) -> Result<Self> {
        if let Some((b"ftyp", brand)) = file.get(4..12).map(|head| head.split_at(4))
            && [b"heic", b"heix", b"heim", b"heis", b"hevc", b"mif1", b"msf1"]
                .iter()
                .any(|b| brand == *b)
        {
            // The common brands say nothing about the coding; those that follow do.
            let more = file[16.min(file.len())..].chunks(4).take(8).any(|b| b == b"avif");
            return match more {
                true => Err(Error::Format { found: "an AVIF picture" }),
                false => Ok(Format::Heic),
            };
        }
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
                    [_, _, _, _, b'f', b't', b'y', b'p', ..] => {
                        "a video or a picture of another format"
                    }
                    _ => "not a picture",
                },
            }),
        }
    }
}
