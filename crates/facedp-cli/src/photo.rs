//! A picture file: decoding, its face square, adding noise, encoding.

use std::io::Cursor;
use std::path::Path;

use anyhow::{Context, Result, anyhow, bail};
use facedp::Plane;
use facedp::resample::resized;
use facedp_nets::{Face, Picture, Rect};
use image::codecs::jpeg::JpegEncoder;
use image::codecs::png::{PngDecoder, PngEncoder};
use image::codecs::webp::WebPDecoder;
use image::{
    ColorType, DynamicImage, ExtendedColorType, ImageDecoder, ImageEncoder, ImageFormat,
    ImageReader, RgbImage,
};

/// A decoded picture, upright: grey or colour, 8 or 16 bit, with or without alpha.
#[derive(Clone)]
pub struct Photo {
    width: usize,
    height: usize,
    colour: ColorType,
    /// Samples pixel by pixel; those of 16 bits in the machine's byte order.
    bytes: Vec<u8>,
    colour_profile: Option<Vec<u8>>,
    metadata: Vec<String>,
}

/// The largest picture that is read: 100 megapixels, several times a large camera's.
const MOST_PIXELS: u64 = 100_000_000;

/// A square part of a picture.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Square {
    pub x: usize,
    pub y: usize,
    pub side: usize,
}

impl Photo {
    /// Reads a JPEG, PNG or WebP picture and turns it as its EXIF orientation says. Errors name
    /// the file.
    pub fn read(path: &Path) -> Result<Self> {
        let read = || Self::decode(&std::fs::read(path)?);
        read().with_context(|| format!("{}", path.display()))
    }

    /// Decodes a file's bytes. The content says what format it is, not the file's name.
    fn decode(file: &[u8]) -> Result<Self> {
        let format = image::guess_format(file).ok().filter(|format| format.reading_enabled());
        let format = format.ok_or_else(|| {
            anyhow!(
                "not a picture that facedp reads (JPEG, PNG, WebP); \
                 convert HEIC, AVIF, GIF or video frames to one of these first"
            )
        })?;
        if is_animated(file, format) {
            bail!("animated pictures are not supported: save one frame as a picture of its own");
        }
        let undecodable = |e: image::ImageError| anyhow!("damaged or unsupported picture: {e}");
        let mut decoder = ImageReader::with_format(Cursor::new(file), format)
            .into_decoder()
            .map_err(undecodable)?;
        let (width, height) = decoder.dimensions();
        if u64::from(width) * u64::from(height) > MOST_PIXELS {
            bail!("{width}x{height} pixels are more than the {MOST_PIXELS} that facedp reads");
        }
        let colour_profile = decoder.icc_profile().ok().flatten();
        let orientation = decoder.orientation().map_err(undecodable)?;
        let blocks = [
            ("EXIF", decoder.exif_metadata()),
            ("XMP", decoder.xmp_metadata()),
            ("IPTC", decoder.iptc_metadata()),
        ];
        let present = blocks.iter().filter(|(_, block)| matches!(block, Ok(Some(_))));
        let metadata = present.map(|(name, _)| (*name).to_owned()).collect();
        let mut image = DynamicImage::from_decoder(decoder).map_err(undecodable)?;
        image.apply_orientation(orientation);
        let colour = image.color();
        if usize::from(colour.bytes_per_pixel() / colour.channel_count()) > 2 {
            bail!("pictures with floating-point samples are not supported");
        }
        // A profile that is not for these samples (of a CMYK picture, say) would spoil the colours.
        let space: &[u8] = if colour.has_color() { b"RGB " } else { b"GRAY" };
        let colour_profile = colour_profile.filter(|icc| icc.get(16..20) == Some(space));
        let (width, height) = (image.width() as usize, image.height() as usize);
        Ok(Self { width, height, colour, bytes: image.into_bytes(), colour_profile, metadata })
    }

    /// Kinds of metadata in the file, which are not written again.
    pub fn metadata(&self) -> &[String] {
        &self.metadata
    }

    /// The centre square: `crop` pixels wide, or as large as fits.
    pub fn centre(&self, crop: Option<u32>) -> Result<Square> {
        let fits = self.width.min(self.height);
        let side = crop.map_or(fits, |side| side as usize);
        if side > fits {
            bail!("a crop of {side} pixels does not fit into {}x{}", self.width, self.height);
        }
        Ok(Square { x: (self.width - side) / 2, y: (self.height - side) / 2, side })
    }

    fn channels(&self) -> usize {
        usize::from(self.colour.channel_count())
    }

    /// One sample as a grey level 0..=255.
    fn sample(&self, index: usize) -> f64 {
        match self.bytes_per_sample() {
            1 => f64::from(self.bytes[index]),
            _ => {
                let pair = [self.bytes[2 * index], self.bytes[2 * index + 1]];
                f64::from(u16::from_ne_bytes(pair)) / 257.0
            }
        }
    }

    /// Sets one sample to a grey level, rounded and cut to the range.
    fn set_sample(&mut self, index: usize, level: f64) {
        match self.bytes_per_sample() {
            1 => self.bytes[index] = level.round() as u8,
            _ => {
                let word = (level * 257.0).round() as u16;
                self.bytes[2 * index..2 * index + 2].copy_from_slice(&word.to_ne_bytes());
            }
        }
    }

    fn bytes_per_sample(&self) -> u8 {
        self.colour.bytes_per_pixel() / self.colour.channel_count()
    }

    /// Grey levels 0..=255 of the whole picture (ITU-R BT.601 luma), not rounded.
    pub fn luma(&self) -> Plane {
        let mut plane = Plane::zeros(self.width, self.height);
        for (pixel, out) in plane.data_mut().iter_mut().enumerate() {
            let first = pixel * self.channels();
            *out = if self.colour.has_color() {
                luma([0, 1, 2].map(|c| self.sample(first + c)))
            } else {
                self.sample(first)
            };
        }
        plane
    }

    /// The picture in colour, 8 bits a sample, as networks take it.
    pub fn colour_picture(&self) -> Result<Picture> {
        let mut rgb = Vec::with_capacity(3 * self.width * self.height);
        for pixel in 0..self.width * self.height {
            let first = pixel * self.channels();
            let step = usize::from(self.colour.has_color());
            rgb.extend([0, 1, 2].map(|c| self.sample(first + c * step).round() as u8));
        }
        Ok(Picture::new(self.width, self.height, rgb)?)
    }

    /// The picture as a colour PNG file, with a frame round every face and its landmarks dotted.
    pub fn annotated(&self, faces: &[Face]) -> Result<Vec<u8>> {
        let picture = self.colour_picture()?;
        let (width, height) = (u32::try_from(self.width)?, u32::try_from(self.height)?);
        let mut canvas = RgbImage::from_raw(width, height, picture.rgb().to_vec())
            .ok_or_else(|| anyhow!("the picture's size"))?;
        let thick = (self.width.max(self.height) as f32 / 500.0).max(1.0).round() as i64;
        let mut block = |x: f32, y: f32, wide: f32, high: f32, colour: [u8; 3]| {
            for y in y as i64..(y + high) as i64 {
                for x in x as i64..(x + wide) as i64 {
                    let inside = u32::try_from(x).ok().zip(u32::try_from(y).ok());
                    if let Some(pixel) =
                        inside.and_then(|(x, y)| canvas.get_pixel_mut_checked(x, y))
                    {
                        pixel.0 = colour;
                    }
                }
            }
        };
        let t = thick as f32;
        for face in faces {
            let Rect { x, y, width, height } = face.rect;
            let frame = [0, 220, 80];
            block(x, y, width, t, frame);
            block(x, y + height - t, width, t, frame);
            block(x, y, t, height, frame);
            block(x + width - t, y, t, height, frame);
            for [x, y] in face.landmarks {
                block(x - t, y - t, 2.0 * t, 2.0 * t, [255, 40, 40]);
            }
        }
        let annotated = Self {
            colour: ColorType::Rgb8,
            bytes: canvas.into_raw(),
            colour_profile: None,
            metadata: Vec::new(),
            ..*self
        };
        annotated.to_png()
    }

    /// Adds noise of the square's size to all colour channels of the square alike. Alpha stays.
    pub fn add(&mut self, noise: &Plane, square: Square) {
        let channels = self.channels();
        let colours = channels - usize::from(self.colour.has_alpha());
        for y in 0..square.side {
            for (x, noise) in noise.row(y).iter().enumerate() {
                let first = ((square.y + y) * self.width + square.x + x) * channels;
                for index in first..first + colours {
                    self.set_sample(index, self.sample(index) + noise);
                }
            }
        }
    }

    /// The picture as a PNG file, with its colour profile and no other metadata.
    pub fn to_png(&self) -> Result<Vec<u8>> {
        let mut file = Vec::new();
        let mut encoder = PngEncoder::new(&mut file);
        if let Some(profile) = &self.colour_profile {
            encoder.set_icc_profile(profile.clone())?;
        }
        let (width, height) = (u32::try_from(self.width)?, u32::try_from(self.height)?);
        encoder.write_image(&self.bytes, width, height, self.colour.into())?;
        Ok(file)
    }

    /// Whether both hold the same pixels.
    pub fn same_pixels(&self, other: &Photo) -> bool {
        self.bytes == other.bytes
    }
}

/// The grey level of a colour (ITU-R BT.601).
pub fn luma([red, green, blue]: [f64; 3]) -> f64 {
    0.299 * red + 0.587 * green + 0.114 * blue
}

/// A picture as it comes out of JPEG at that quality.
pub fn jpeg(picture: &Picture, quality: u8) -> Result<Picture> {
    let (width, height) = (u32::try_from(picture.width())?, u32::try_from(picture.height())?);
    let mut file = Vec::new();
    JpegEncoder::new_with_quality(&mut file, quality).write_image(
        picture.rgb(),
        width,
        height,
        ExtendedColorType::Rgb8,
    )?;
    let decoded = image::load_from_memory_with_format(&file, ImageFormat::Jpeg)?.into_rgb8();
    Ok(Picture::new(picture.width(), picture.height(), decoded.into_raw())?)
}

/// Whether the file holds several frames. What cannot be read is left for the decoder to report.
fn is_animated(file: &[u8], format: ImageFormat) -> bool {
    match format {
        ImageFormat::WebP => WebPDecoder::new(Cursor::new(file)).is_ok_and(|d| d.has_animation()),
        ImageFormat::Png => {
            PngDecoder::new(Cursor::new(file)).is_ok_and(|d| d.is_apng().unwrap_or(false))
        }
        _ => false,
    }
}

/// The face chip of a model: a square of a plane, brought to `side` pixels.
pub fn chip(luma: &Plane, square: Square, side: usize) -> Plane {
    let mut cut = Plane::zeros(square.side, square.side);
    for (y, row) in cut.data_mut().chunks_exact_mut(square.side).enumerate() {
        row.copy_from_slice(&luma.row(square.y + y)[square.x..square.x + square.side]);
    }
    resized(&cut, side, side)
}
