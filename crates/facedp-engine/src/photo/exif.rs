//! EXIF blocks: listing their contents, and copying the fields that are safe to keep.
//!
//! A block is a TIFF structure of a few directories (IFDs). This parser reads each directory once, up to
//! a limit. Libraries follow every pointer, so that a block of 10 kB can expand to gigabytes of entries
//! (kamadak-exif 0.6.1 does).

use super::plain::{MAX_TEXT, Together, is_plain};

/// Kinds of metadata as reports list them.
pub(super) const EXIF: &str = "EXIF";
const GPS: &str = "GPS position";
const THUMBNAIL: &str = "thumbnail";
const MAKER_NOTES: &str = "maker notes";

/// What is said where fields are left out of a block that is kept.
pub(super) const OTHER_FIELDS: &str = "EXIF (other fields)";

/// Entries of a directory after these are ignored.
const MAX_ENTRIES: usize = 200;
/// Longer values are dropped.
const MAX_VALUE_BYTES: usize = MAX_TEXT;
/// Longer values that are not text are dropped: a fraction has 8 bytes.
const MAX_NUMBER_BYTES: usize = 8;
/// What is longer: the lens's range, and positions and the time of day.
const LENS_BYTES: usize = 32;
const POSITION_BYTES: usize = 24;
/// Types of values: text, and bytes that mean anything.
const ASCII: u16 = 2;
const UNDEFINED: u16 = 7;
/// Bytes of a version. Longer ones must be text behind the name of its encoding.
const VERSION_BYTES: usize = 4;
const ENCODING: &[u8] = b"ASCII\0\0\0";

const ORIENTATION: u16 = 0x0112;
const EXIF_POINTER: u16 = 0x8769;
const GPS_POINTER: u16 = 0x8825;
const MAKER_NOTE: u16 = 0x927c;
/// Sizes, positions of samples, versions, and the pointer to such.
const TECHNICAL_TAGS: [u16; 13] = [
    0x0100, 0x0101, 0x0102, 0x0103, 0x0106, 0x0115, 0x0213, 0x9101, 0x9102, 0xa000, 0xa002, 0xa003,
    0xa005,
];
const LENS_RANGE: u16 = 0xa432;
/// Latitude, longitude, time, and those of a destination.
const POSITION_TAGS: [u16; 5] = [0x02, 0x04, 0x07, 0x14, 0x16];

/// Tags that are kept on request: author, date, camera and exposure settings. Any other tag contains a
/// picture, or could contain one.
const KEPT_MAIN_TAGS: [u16; 10] =
    [0x010e, 0x010f, 0x0110, 0x011a, 0x011b, 0x0128, 0x0131, 0x0132, 0x013b, 0x8298];
#[rustfmt::skip]
const KEPT_EXIF_TAGS: [u16; 42] = [
    0x829a, 0x829d, 0x8822, 0x8827, 0x8830, 0x9000, 0x9003, 0x9004, 0x9010, 0x9011, 0x9012, 0x9201,
    0x9202, 0x9203, 0x9204, 0x9205, 0x9206, 0x9207, 0x9208, 0x9209, 0x920a, 0x9290, 0x9291, 0x9292,
    0xa001, 0xa20e, 0xa20f, 0xa210, 0xa217, 0xa402, 0xa403, 0xa404, 0xa405, 0xa406, 0xa408, 0xa409,
    0xa40a, 0xa430, 0xa431, 0xa432, 0xa433, 0xa434,
];
/// The GPS tags from 0 to this one are kept: position, altitude, time, speed, direction.
const LAST_GPS_TAG: u16 = 0x001f;

pub(super) struct Exif {
    little_endian: bool,
    main: Vec<Entry>,
    exif: Vec<Entry>,
    gps: Vec<Entry>,
    has_thumbnail: bool,
    has_maker_notes: bool,
}

/// Whether a tag is kept.
type Keep = fn(u16) -> bool;

/// An entry of a directory, with its value in the byte order of the block.
struct Entry {
    tag: u16,
    kind: u16,
    count: u32,
    value: Vec<u8>,
}

impl Entry {
    /// The text of the value; none for numbers.
    fn text(&self) -> Option<&str> {
        let text = match self.kind {
            ASCII => &self.value[..],
            UNDEFINED => self.value.strip_prefix(ENCODING)?,
            _ => return None,
        };
        std::str::from_utf8(text).ok().map(|text| text.trim_end_matches('\0'))
    }

    /// Whether it only says how the block or the picture was coded, or is listed by a name of its own.
    fn is_technical(&self) -> bool {
        let own = [ORIENTATION, EXIF_POINTER, GPS_POINTER, MAKER_NOTE].contains(&self.tag);
        let short = (1..=MAX_NUMBER_BYTES).contains(&self.value.len());
        own || short && TECHNICAL_TAGS.contains(&self.tag)
    }

    /// Whether the value is a plain text, or too short for a picture.
    fn is_safe(&self) -> bool {
        let max = match self.tag {
            LENS_RANGE => LENS_BYTES,
            tag if POSITION_TAGS.contains(&tag) => POSITION_BYTES,
            _ if self.kind == UNDEFINED => VERSION_BYTES,
            _ => MAX_NUMBER_BYTES,
        };
        let is_number = self.kind != ASCII && self.value.len() <= max;
        !self.value.is_empty() && (is_number || self.text().is_some_and(is_plain))
    }
}

#[derive(Clone, Copy)]
struct Reader<'a> {
    block: &'a [u8],
    little_endian: bool,
}

impl Reader<'_> {
    fn short(self, at: usize) -> Option<u16> {
        let bytes = self.block.get(at..at.checked_add(2)?)?.try_into().ok()?;
        Some(if self.little_endian { u16::from_le_bytes(bytes) } else { u16::from_be_bytes(bytes) })
    }

    fn long(self, at: usize) -> Option<u32> {
        let bytes = self.block.get(at..at.checked_add(4)?)?.try_into().ok()?;
        Some(if self.little_endian { u32::from_le_bytes(bytes) } else { u32::from_be_bytes(bytes) })
    }

    /// The entries of the directory at an offset, and the offset of the next directory (0 for none).
    fn directory(self, at: usize) -> Option<(Vec<Entry>, u32)> {
        let count = usize::from(self.short(at)?);
        let first = at + 2;
        let entries = (0..count.min(MAX_ENTRIES)).filter_map(|n| self.entry(first + 12 * n));
        Some((entries.collect(), self.long(first + 12 * count).unwrap_or(0)))
    }

    /// The entry at an offset; none if it is damaged. Values that are too long become empty.
    fn entry(self, at: usize) -> Option<Entry> {
        let (tag, kind, count) = (self.short(at)?, self.short(at + 2)?, self.long(at + 4)?);
        let size = match kind {
            1 | 2 | 6 | 7 => 1,
            3 | 8 => 2,
            4 | 9 | 11 => 4,
            5 | 10 | 12 => 8,
            _ => return None,
        };
        let length = (count as usize).checked_mul(size)?;
        let start = if length <= 4 { at + 8 } else { self.long(at + 8)? as usize };
        let value = self.block.get(start..start.checked_add(length)?)?;
        let value = if length <= MAX_VALUE_BYTES { value.to_vec() } else { Vec::new() };
        Some(Entry { tag, kind, count, value })
    }
}

impl Exif {
    /// Parses a block. Skips damaged entries; fails if the main directory cannot be read.
    pub fn read(block: &[u8]) -> Option<Self> {
        let little_endian = match block.get(..4)? {
            b"II*\0" => true,
            b"MM\0*" => false,
            _ => return None,
        };
        let reader = Reader { block, little_endian };
        let (main, next) = reader.directory(reader.long(4)? as usize)?;
        let subdirectory = |pointer: u16| {
            let entry = main.iter().find(|e| e.tag == pointer && e.value.len() == 4)?;
            let at = Reader { block: &entry.value, ..reader }.long(0)?;
            reader.directory(at as usize).map(|(entries, _)| entries)
        };
        let exif = subdirectory(EXIF_POINTER).unwrap_or_default();
        let gps = subdirectory(GPS_POINTER).unwrap_or_default();
        let has_maker_notes = exif.iter().any(|e| e.tag == MAKER_NOTE);
        Some(Self { little_endian, main, exif, gps, has_thumbnail: next != 0, has_maker_notes })
    }

    /// Sensitive parts of the block, for reports.
    pub fn parts(&self) -> impl Iterator<Item = &'static str> {
        [
            (!self.gps.is_empty(), GPS),
            (self.has_thumbnail, THUMBNAIL),
            (self.has_maker_notes, MAKER_NOTES),
        ]
        .into_iter()
        .filter_map(|(present, name)| present.then_some(name))
    }

    /// A new block with the tags that are kept and upright orientation, the kinds of metadata in it, and whether fields
    /// were left out.
    pub fn safe_copy(&self) -> (Vec<u8>, Vec<&'static str>, bool) {
        let lists: [(&[Entry], Keep); 3] = [
            (&self.main, |tag| KEPT_MAIN_TAGS.contains(&tag)),
            (&self.exif, |tag| KEPT_EXIF_TAGS.contains(&tag)),
            (&self.gps, |tag| tag <= LAST_GPS_TAG),
        ];
        let safe = lists.map(|(entries, keep)| {
            let mut safe: Vec<&Entry> = Vec::new();
            for entry in entries.iter().filter(|e| keep(e.tag) && e.is_safe()) {
                if safe.iter().all(|known| known.tag != entry.tag) {
                    safe.push(entry);
                }
            }
            safe
        });
        let all = Together::of(safe.iter().flatten().filter_map(|e| e.text()));
        let [mut main, exif, gps] = safe.map(|entries| {
            let allowed = entries.into_iter().filter(|e| all.allow(e.text()));
            allowed.map(|e| (e.tag, e.kind, e.count, e.value.clone())).collect::<Vec<_>>()
        });
        let kept = main.len() + exif.len() + gps.len();
        let fields = lists.iter().flat_map(|(entries, _)| *entries);
        let left_out = fields.filter(|e| !e.is_technical()).count() > kept;
        main.push((ORIENTATION, 3, 1, self.short(1).to_vec()));
        for (pointer, entries) in [(EXIF_POINTER, &exif), (GPS_POINTER, &gps)] {
            if !entries.is_empty() {
                main.push((pointer, 4, 1, vec![0; 4])); // the offset is set below
            }
        }
        let mut block = if self.little_endian { b"II*\0".to_vec() } else { b"MM\0*".to_vec() };
        block.extend(self.long(8));
        let offsets = self.write(&mut block, main);
        for (pointer, entries) in [(EXIF_POINTER, exif), (GPS_POINTER, gps)] {
            if let Some((_, offset)) = offsets.iter().find(|(tag, _)| *tag == pointer) {
                let at = self.long(block.len() as u32);
                block[*offset..offset + 4].copy_from_slice(&at);
                self.write(&mut block, entries);
            }
        }
        let kept = self.parts().filter(|part| *part == GPS);
        (block, std::iter::once(EXIF).chain(kept).collect(), left_out)
    }

    /// Appends a directory and its values. Returns the offset of each entry's value field, by tag.
    fn write(
        &self,
        block: &mut Vec<u8>,
        mut entries: Vec<(u16, u16, u32, Vec<u8>)>,
    ) -> Vec<(u16, usize)> {
        entries.sort_by_key(|(tag, ..)| *tag);
        let mut after = block.len() + 2 + 12 * entries.len() + 4;
        let mut offsets = Vec::new();
        block.extend(self.short(entries.len() as u16));
        for (tag, kind, count, value) in &entries {
            block.extend(self.short(*tag));
            block.extend(self.short(*kind));
            block.extend(self.long(*count));
            offsets.push((*tag, block.len()));
            if value.len() <= 4 {
                block.extend(value.iter().copied().chain([0; 4]).take(4));
            } else {
                block.extend(self.long(after as u32));
                after += value.len().next_multiple_of(2);
            }
        }
        block.extend(self.long(0));
        for (.., value) in entries.iter().filter(|(.., value)| value.len() > 4) {
            block.extend(value);
            block.extend(vec![0; value.len() % 2]);
        }
        offsets
    }

    fn short(&self, value: u16) -> [u8; 2] {
        if self.little_endian { value.to_le_bytes() } else { value.to_be_bytes() }
    }

    fn long(&self, value: u32) -> [u8; 4] {
        if self.little_endian { value.to_le_bytes() } else { value.to_be_bytes() }
    }
}
