//! HEIC: the pictures of phones. They are read, not written.
//!
//! A file is a tree of boxes. The primary picture is one HEVC picture or a grid of them; thumbnails, depth and gain
//! maps are pictures of their own, which are not read. Turns and crops are in the boxes, and EXIF only repeats them.

use heic_decoder::hevc::nal::{NAL_SPS, parse_nal_header};
use heic_decoder::hevc::params::parse_sps;
use heic_decoder::isobmff::{self, ResolvedImage};
use heic_decoder::{ColorInfo, DecodedImage, HeifError};
use moxcms::{
    CicpColorPrimaries, CicpProfile, ColorProfile, MatrixCoefficients, TransferCharacteristics,
};

use super::boxes;
use super::container::{Compression, Container};
use super::{Photo, Samples};
use crate::error::{Error, Result};
use crate::format::Format;

/// Bytes per coded pixel that count as decoded. Decoding takes three times as many, for planes of 32 bits.
const WORK_BYTES: u64 = 5;

/// What the head of a file says.
pub(super) struct Head {
    pub width: u32,
    pub height: u32,
    /// Bytes of decoded samples.
    pub bytes: u64,
    /// Pixels of all pictures that have to be decoded.
    pub coded_pixels: u64,
}

impl Head {
    pub fn read(file: &[u8]) -> Result<Self> {
        let parsed = isobmff::parse(file).map_err(damaged)?;
        let info = heic_decoder::probe(file).map_err(damaged)?;
        let alpha = parsed.alpha.iter().flat_map(|alpha| &alpha.image.images);
        let pictures = parsed.images.iter().chain(alpha).chain(&parsed.reference_image);
        let coded_pixels = pictures.map(pixels).sum::<Result<u64>>()?;
        let side = |length: usize| u32::try_from(length).map_err(|_| damaged(TOO_WIDE));
        let (width, height) = (side(info.width)?, side(info.height)?);
        let pixels = u64::from(width) * u64::from(height);
        let canvas = (info.coded_width as u64).saturating_mul(info.coded_height as u64);
        let channels = 3 + u64::from(info.alpha_bit_depth.is_some());
        let depth = if info.bit_depth_luma > 8 { 2 } else { 1 };
        let coded_pixels = coded_pixels.max(canvas).max(pixels);
        Ok(Self { width, height, bytes: pixels.saturating_mul(channels * depth), coded_pixels })
    }

    /// Bytes that count as decoded, also if a small picture is put together from large ones.
    pub fn work_bytes(&self) -> u64 {
        self.coded_pixels.saturating_mul(WORK_BYTES)
    }
}

const TOO_WIDE: HeifError = HeifError::LimitExceeded("size");

/// The pixels of one HEVC picture, from its parameters.
fn pixels(image: &ResolvedImage) -> Result<u64> {
    let missing = || damaged(HeifError::MalformedHevc("no parameters"));
    let parameters = image.hevc_config.nalus_of_type(NAL_SPS).next().ok_or_else(missing)?;
    let (_, payload) = parse_nal_header(parameters).map_err(damaged)?;
    let plain = heic_decoder::bitreader::strip_emulation_prevention(payload);
    let sps = parse_sps(&plain).map_err(damaged)?;
    Ok(u64::from(sps.pic_width_in_luma_samples) * u64::from(sps.pic_height_in_luma_samples))
}

fn damaged(error: HeifError) -> Error {
    Error::Damaged(error.to_string())
}

/// The primary picture, upright.
pub(super) fn decode(file: &[u8]) -> Result<Photo> {
    let image = heic_decoder::decode(file).map_err(damaged)?;
    let mut container = Container::new(Format::Heic);
    container.compression = Compression::OtherLossy;
    container.exif = image.metadata.exif.clone();
    container.xmp = image.metadata.xmp.clone();
    container.profile = profile(&image, &mut container);
    container.add_common_kinds();
    boxes::kinds(file).into_iter().for_each(|kind| container.add_kind(kind));
    let (width, height) = (image.width, image.height);
    let deep = image.bit_depth_luma > 8;
    let (channels, samples) = match (&image.alpha, deep) {
        (None, false) => (3, Samples::U8(image.to_rgb8().map_err(damaged)?.data)),
        (None, true) => (3, Samples::U16(image.to_rgb16().map_err(damaged)?.data)),
        (Some(_), false) => {
            let rgba = image.to_rgba8().map_err(damaged)?;
            let divide = |c: u8, a: u8| (u32::from(c) * 255 / u32::from(a)).min(255) as u8;
            (4, Samples::U8(straight(rgba.data, rgba.premultiplied, divide)))
        }
        (Some(_), true) => {
            let rgba = image.to_rgba16().map_err(damaged)?;
            let divide = |c: u16, a: u16| (u32::from(c) * 65_535 / u32::from(a)).min(65_535) as u16;
            (4, Samples::U16(straight(rgba.data, rgba.premultiplied, divide)))
        }
    };
    Ok(Photo { width, height, channels, samples, container })
}

/// Colours that are not multiplied by their opacity.
fn straight<S: Copy + PartialEq + Default>(
    mut rgba: Vec<S>,
    premultiplied: bool,
    divide: impl Fn(S, S) -> S,
) -> Vec<S> {
    for pixel in rgba.chunks_exact_mut(4).filter(|_| premultiplied) {
        let alpha = pixel[3];
        if alpha != S::default() {
            pixel[..3].iter_mut().for_each(|colour| *colour = divide(*colour, alpha));
        }
    }
    rgba
}

/// The colour profile, or one that says what the file says in numbers.
fn profile(image: &DecodedImage, container: &mut Container) -> Option<Vec<u8>> {
    if image.metadata.icc_profile.is_some() {
        return image.metadata.icc_profile.clone();
    }
    let ColorInfo { color_primaries, transfer_characteristics, .. } = image.color_info?;
    let primaries = match color_primaries {
        9 => CicpColorPrimaries::Bt2020,
        11 => CicpColorPrimaries::Smpte431,
        12 => CicpColorPrimaries::Smpte432,
        _ => return None, // those of sRGB, or near them
    };
    if matches!(transfer_characteristics, 16 | 18) {
        container
            .notes
            .push("high dynamic range was not converted: colours may look pale".to_owned());
        return None;
    }
    let profile = ColorProfile::new_from_cicp(CicpProfile {
        color_primaries: primaries,
        transfer_characteristics: TransferCharacteristics::Srgb,
        matrix_coefficients: MatrixCoefficients::Identity,
        full_range: true,
    });
    profile.encode().ok()
}
