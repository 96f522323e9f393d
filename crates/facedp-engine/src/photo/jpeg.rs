//! Compression parameters of a JPEG file: quantisation tables, subsampling, baseline or progressive.
//!
//! Writing a photo with its own tables keeps the size of the file and hardly changes untreated blocks:
//! their coefficients are multiples of the quantisers already.

use img_parts::jpeg::{Jpeg, markers};
use jpeg_encoder::SamplingFactor;

use crate::error::{Error, Result};

/// Parameters that a result takes over from its source.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct JpegParameters {
    /// Number of components: 1 grey, 3 colour, 4 CMYK.
    pub components: u8,
    /// Quantisation tables in row-major order (not in zigzag order), 1 to 255.
    pub luma: [u16; 64],
    pub chroma: [u16; 64],
    /// Luma samples per chroma sample, horizontally and vertically.
    pub sampling: (u8, u8),
    pub progressive: bool,
    /// Whether bytes follow the end of the picture, such as a video or another picture.
    pub has_trailer: bool,
    /// Whether there are segments with other data between scans.
    pub has_segments_in_scans: bool,
}

impl JpegParameters {
    /// Reads the segments before the first scan of a JPEG that was parsed from `file`.
    pub fn read(jpeg: &Jpeg, file: &[u8]) -> Result<Self> {
        let damaged = |problem: &str| Error::Damaged(problem.to_owned());
        let mut tables = [[1; 64]; 4];
        let mut frame = None;
        for segment in jpeg.segments() {
            match segment.marker() {
                markers::DQT => read_tables(segment.contents(), &mut tables)
                    .ok_or_else(|| damaged("the quantisation tables are truncated"))?,
                markers::SOF0 | markers::SOF1 | markers::SOF2 => frame = Some(segment),
                _ => {}
            }
        }
        let frame = frame.ok_or_else(|| damaged("no frame of a supported kind"))?;
        let contents = frame.contents();
        let progressive = frame.marker() == markers::SOF2;
        let components =
            *contents.get(5).ok_or_else(|| damaged("the frame header is truncated"))?;
        let scan = jpeg.segment_by_marker(markers::SOS).and_then(|s| s.contents().first());
        if !progressive && scan != Some(&components) {
            // The decoder would silently return wrong colours (zune-jpeg 0.5.15, issue 422).
            return Err(damaged("colours in separate scans are not supported"));
        }
        // Everything after the first scan header. The decoder would fill in missing data silently.
        let coded = jpeg.segments().last().map_or(0, |s| s.len_with_entropy() - s.len());
        let coded = &file[file.len() - coded..];
        let end = coded.windows(2).position(|pair| pair == [0xff, markers::EOI]);
        let end = end.ok_or_else(|| damaged("the file is truncated: it has no end marker"))?;
        let is_segment =
            |pair: &[u8]| pair[0] == 0xff && matches!(pair[1], 0xe0..=0xef | markers::COM);
        let has_segments_in_scans = coded[..end].windows(2).any(is_segment);
        let has_trailer = coded[end + 2..].iter().any(|byte| *byte != 0);
        // Sampling factors and number of the quantisation table of a component.
        let component = |n: usize| {
            let at = 6 + 3 * n;
            contents.get(at + 1..at + 3).map(|c| (c[0] >> 4, c[0] & 15, usize::from(c[1] & 3)))
        };
        let (across, down, luma) = component(0).ok_or_else(|| damaged("no components"))?;
        let (chroma_across, chroma_down, chroma) = component(1).unwrap_or((across, down, luma));
        let ratio = |whole: u8, part: u8| whole.checked_div(part).unwrap_or(1).max(1);
        Ok(Self {
            components,
            luma: tables[luma],
            chroma: tables[chroma],
            sampling: (ratio(across, chroma_across), ratio(down, chroma_down)),
            progressive,
            has_trailer,
            has_segments_in_scans,
        })
    }

    /// The parameters of the same picture after a quarter turn: rows become columns.
    pub fn transposed(self) -> Self {
        let swap = |table: [u16; 64]| std::array::from_fn(|i| table[8 * (i % 8) + i / 8]);
        let (across, down) = self.sampling;
        Self { luma: swap(self.luma), chroma: swap(self.chroma), sampling: (down, across), ..self }
    }

    /// Whether the encoder supports the subsampling.
    pub fn keeps_sampling(&self) -> bool {
        let (across, down) = self.sampling;
        across <= 2 && down <= 2
    }

    /// The nearest subsampling that the encoder supports and every decoder reads.
    pub fn sampling_factor(&self) -> SamplingFactor {
        match self.sampling {
            (1, 1) => SamplingFactor::F_1_1,
            (2.., 1) => SamplingFactor::F_2_1,
            (1, 2..) => SamplingFactor::F_1_2,
            _ => SamplingFactor::F_2_2,
        }
    }
}

/// Reads the tables of a DQT segment into their slots.
fn read_tables(mut contents: &[u8], tables: &mut [[u16; 64]; 4]) -> Option<()> {
    while let Some((&head, rest)) = contents.split_first() {
        let table = tables.get_mut(usize::from(head & 15))?;
        let bytes = if head >> 4 == 0 { 1 } else { 2 };
        let (values, after) = rest.split_at_checked(64 * bytes)?;
        for (value, index) in values.chunks_exact(bytes).zip(ZIGZAG) {
            let value = value.iter().fold(0, |sum, byte| 256 * sum + u16::from(*byte));
            table[usize::from(index)] = value.clamp(1, 255);
        }
        contents = after;
    }
    Some(())
}

/// Row-major index in an 8x8 block of each value in file order.
#[rustfmt::skip]
const ZIGZAG: [u8; 64] = [
     0,  1,  8, 16,  9,  2,  3, 10, 17, 24, 32, 25, 18, 11,  4,  5,
    12, 19, 26, 33, 40, 48, 41, 34, 27, 20, 13,  6,  7, 14, 21, 28,
    35, 42, 49, 56, 57, 50, 43, 36, 29, 22, 15, 23, 30, 37, 44, 51,
    58, 59, 52, 45, 38, 31, 39, 46, 53, 60, 61, 54, 47, 55, 62, 63,
];
