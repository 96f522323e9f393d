//! How a JPEG file was compressed: its quantisation tables, subsampling and kind.
//!
//! Writing a photo with its own tables keeps its size, and changes blocks without noise hardly at
//! all: their coefficients are whole multiples already.

use img_parts::jpeg::{Jpeg, markers};
use jpeg_encoder::SamplingFactor;

use crate::error::{Error, Result};

/// What is written again as it was read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Tables {
    /// Number of components: 1 grey, 3 colour, 4 CMYK.
    pub components: u8,
    /// Quantisation of luma and chroma, in rows and columns (not in zigzag order), 1..=255.
    pub luma: [u16; 64],
    pub chroma: [u16; 64],
    /// Luma samples to a chroma sample, across and down.
    pub sampling: (u8, u8),
    pub progressive: bool,
    /// Whether bytes follow the end of the picture: a video, a further picture.
    pub has_trailer: bool,
}

impl Tables {
    /// Reads the segments before the first scan. `file` are the bytes they were parsed from.
    pub fn read(jpeg: &Jpeg, file: &[u8]) -> Result<Self> {
        let damaged = |problem: &str| Error::Damaged(problem.to_owned());
        let mut tables = [[1; 64]; 4];
        let mut frame = None;
        for segment in jpeg.segments() {
            match segment.marker() {
                markers::DQT => read_tables(segment.contents(), &mut tables)
                    .ok_or_else(|| damaged("quantisation tables are cut off"))?,
                markers::SOF0 | markers::SOF1 | markers::SOF2 => frame = Some(segment),
                _ => {}
            }
        }
        let frame = frame.ok_or_else(|| damaged("no frame of a known kind"))?;
        let contents = frame.contents();
        let progressive = frame.marker() == markers::SOF2;
        let components = *contents.get(5).ok_or_else(|| damaged("the frame header is cut off"))?;
        let scan = jpeg.segment_by_marker(markers::SOS).and_then(|s| s.contents().first());
        if !progressive && scan != Some(&components) {
            // The decoder would make wrong colours of it and say nothing (zune-jpeg 0.5.15, its
            // issue 422).
            return Err(damaged("colours in separate scans; save it again with another program"));
        }
        // All that follows the first scan's header: the decoder would fill up what is missing.
        let coded = jpeg.segments().last().map_or(0, |s| s.len_with_entropy() - s.len());
        let coded = &file[file.len() - coded..];
        let end = coded.windows(2).position(|pair| pair == [0xff, markers::EOI]);
        let end = end.ok_or_else(|| damaged("the file is cut off: it has no end marker"))?;
        let has_trailer = coded[end + 2..].iter().any(|byte| *byte != 0);
        // Sampling factors in one byte, and number of the quantisation table, of a component.
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
        })
    }

    /// The same for the picture turned by a quarter: rows become columns.
    pub fn turned(self) -> Self {
        let swap = |table: [u16; 64]| std::array::from_fn(|i| table[8 * (i % 8) + i / 8]);
        let (across, down) = self.sampling;
        Self { luma: swap(self.luma), chroma: swap(self.chroma), sampling: (down, across), ..self }
    }

    /// Whether the encoder has that subsampling.
    pub fn keeps_sampling(&self) -> bool {
        let (across, down) = self.sampling;
        across <= 2 && down <= 2
    }

    /// The nearest subsampling that the encoder has and every decoder reads.
    pub fn sampling_factor(&self) -> SamplingFactor {
        match self.sampling {
            (1, 1) => SamplingFactor::F_1_1,
            (2.., 1) => SamplingFactor::F_2_1,
            (1, 2..) => SamplingFactor::F_1_2,
            _ => SamplingFactor::F_2_2,
        }
    }
}

/// Puts the tables of a DQT segment in their places.
fn read_tables(mut contents: &[u8], tables: &mut [[u16; 64]; 4]) -> Option<()> {
    while let Some((&head, rest)) = contents.split_first() {
        let table = tables.get_mut(usize::from(head & 15))?;
        let bytes = if head >> 4 == 0 { 1 } else { 2 };
        let (values, after) = rest.split_at_checked(64 * bytes)?;
        for (value, place) in values.chunks_exact(bytes).zip(ZIGZAG) {
            let value = value.iter().fold(0, |sum, byte| 256 * sum + u16::from(*byte));
            table[usize::from(place)] = value.clamp(1, 255);
        }
        contents = after;
    }
    Some(())
}

/// Where the values of a table in file order lie in an 8x8 block.
#[rustfmt::skip]
const ZIGZAG: [u8; 64] = [
     0,  1,  8, 16,  9,  2,  3, 10, 17, 24, 32, 25, 18, 11,  4,  5,
    12, 19, 26, 33, 40, 48, 41, 34, 27, 20, 13,  6,  7, 14, 21, 28,
    35, 42, 49, 56, 57, 50, 43, 36, 29, 22, 15, 23, 30, 37, 44, 51,
    58, 59, 52, 45, 38, 31, 39, 46, 53, 60, 61, 54, 47, 55, 62, 63,
];
