//! Packed data of a PNG: whether there is more of it than its pixels and its colour profile.
//!
//! Decoders stop where the last row is complete, or where the packed data ends, and ignore what follows.

use img_parts::png::Png;
use miniz_oxide::inflate::stream::{InflateState, inflate};
use miniz_oxide::{DataFormat, MZFlush, MZStatus};

/// Names of colour profiles as programs write them. Any other is text of its own.
const PROFILE_NAMES: [&[u8]; 18] = [
    b"_",
    b"icc",
    b"ICC",
    b"ICC profile",
    b"ICC Profile",
    b"Photoshop ICC profile",
    b"sRGB",
    b"sRGB IEC61966-2.1",
    b"sRGB IEC61966-2-1 black scaled",
    b"c2",
    b"c2ci",
    b"Display P3",
    b"Adobe RGB (1998)",
    b"kCGColorSpaceGenericRGB",
    b"kCGColorSpaceDisplayP3",
    b"Skia",
    b"unnamed",
    b"1",
];
/// More of a profile is not unpacked.
const MAX_PROFILE: usize = 32_000_000;

/// Whether the chunk of a colour profile has text in its name, and data after the profile.
pub(super) fn profile_has(chunk: &[u8]) -> (bool, bool) {
    let Some(end) = chunk.iter().position(|byte| *byte == 0) else { return (true, false) };
    let packed = chunk.get(end + 2..).unwrap_or_default();
    (!PROFILE_NAMES.contains(&&chunk[..end]), has_more([packed].into_iter(), MAX_PROFILE))
}

/// Whether there are more packed data than the pixels need.
pub(super) fn has_more_than_pixels(png: &Png) -> bool {
    let chunks = png.chunks().iter();
    let Some(bytes) = chunks.clone().next().and_then(|head| unpacked_bytes(head.contents())) else {
        return false;
    };
    let pixels = chunks.filter(|chunk| chunk.kind() == *b"IDAT");
    has_more(pixels.map(|chunk| &chunk.contents()[..]), bytes)
}

/// Bytes of all rows with their filters, from the head of a picture.
fn unpacked_bytes(head: &[u8]) -> Option<usize> {
    let side = |at: usize| {
        let bytes = head.get(at..at + 4)?.try_into().ok()?;
        usize::try_from(u32::from_be_bytes(bytes)).ok()
    };
    let (width, height) = (side(0)?, side(4)?);
    let channels = [1, 0, 3, 1, 2, 0, 4].get(usize::from(*head.get(9)?))?;
    let bits = channels * usize::from(*head.get(8)?);
    // Start and step of columns and rows of each part of an interlaced picture.
    let parts: &[[usize; 4]] = match head.get(12)? {
        0 => &[[0, 1, 0, 1]],
        _ => &[
            [0, 8, 0, 8],
            [4, 8, 0, 8],
            [0, 4, 4, 8],
            [2, 4, 0, 4],
            [0, 2, 2, 4],
            [1, 2, 0, 2],
            [0, 1, 1, 2],
        ],
    };
    parts.iter().try_fold(0_usize, |all, [left, across, top, down]| {
        let columns = width.saturating_sub(*left).div_ceil(*across);
        let rows = height.saturating_sub(*top).div_ceil(*down);
        let row = columns.checked_mul(bits)?.div_ceil(8) + 1;
        all.checked_add(if columns == 0 { 0 } else { row.checked_mul(rows)? })
    })
}

/// Whether data in pieces unpacks to more bytes than that, or goes on after its end. Damaged data has no more: it is
/// the decoder's to refuse.
fn has_more<'a>(pieces: impl Iterator<Item = &'a [u8]>, most: usize) -> bool {
    let mut state = InflateState::new_boxed(DataFormat::Zlib);
    let mut out = vec![0; 64 * 1024];
    let (mut unpacked, mut ended) = (0, false);
    for mut piece in pieces {
        while !piece.is_empty() {
            if ended {
                return true;
            }
            let result = inflate(&mut state, piece, &mut out, MZFlush::None);
            piece = &piece[result.bytes_consumed..];
            unpacked += result.bytes_written;
            if unpacked > most {
                return true;
            }
            match result.status {
                Ok(MZStatus::StreamEnd) => ended = true,
                Ok(_) if result.bytes_consumed + result.bytes_written > 0 => {}
                _ => return false,
            }
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Sizes by hand, from the PNG specification.
    #[test]
    fn rows_are_counted() {
        let head = |width: u8, height: u8, depth: u8, colour: u8, interlaced: u8| {
            let head = [0, 0, 0, width, 0, 0, 0, height, depth, colour, 0, 0, interlaced];
            unpacked_bytes(&head)
        };
        assert_eq!(head(10, 4, 8, 2, 0), Some(4 * 31));
        assert_eq!(head(10, 4, 1, 0, 0), Some(4 * 3));
        assert_eq!(head(3, 2, 16, 6, 0), Some(2 * 25));
        // Parts of 1x1, 1x1, 2x1, 2x2, 4x2, 4x4 and 8x4 pixels.
        assert_eq!(head(8, 8, 8, 0, 1), Some(2 + 2 + 3 + 2 * 3 + 2 * 5 + 4 * 5 + 4 * 9));
        assert_eq!(head(1, 1, 8, 0, 1), Some(2));
        assert_eq!(head(1, 1, 8, 5, 0), Some(1));
    }
}
