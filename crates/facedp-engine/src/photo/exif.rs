//! EXIF blocks: listing their contents, and copying the fields that are safe to keep.
//!
//! A block is a TIFF structure of a few directories (IFDs). This parser reads each directory once, up to
//! a limit. Libraries follow every pointer, so that a block of 10 kB can expand to gigabytes of entries
//! (kamadak-exif 0.6.1 does).

use std::ops::Range;

use super::fields::{self, Place};
use super::plain::{MAX_TEXT, Room, Together, is_plain};

/// Kinds of metadata as reports list them.
pub(super) const EXIF: &str = "EXIF";
const GPS: &str = "GPS position";
const THUMBNAIL: &str = "thumbnail";
const MAKER_NOTES: &str = "maker notes";

/// What is said where fields are left out of a block that is kept.
pub(super) const OTHER_FIELDS: &str = "EXIF (other fields)";

/// Entries of a directory after these are ignored.
const MAX_ENTRIES: usize = 200;
const ORIENTATION: u16 = 0x0112;
const EXIF_POINTER: u16 = 0x8769;
const GPS_POINTER: u16 = 0x8825;
const MAKER_NOTE: u16 = 0x927c;
/// Sizes, positions of samples, versions, and the pointer to such.
const TECHNICAL_TAGS: [u16; 13] = [
    0x0100, 0x0101, 0x0102, 0x0103, 0x0106, 0x0115, 0x0213, 0x9101, 0x9102, 0xa000, 0xa002, 0xa003,
    0xa005,
];
/// Sizes and positions of a thumbnail, and of further directories.
const THUMBNAIL_AT: u16 = 0x0201;
const THUMBNAIL_BYTES: u16 = 0x0202;
const INTEROPERABILITY: u16 = 0xa005;
/// A number is no text, and no larger than this.
const MAX_NUMBER_BYTES: usize = 8;

pub(super) struct Exif {
    little_endian: bool,
    main: Vec<Entry>,
    exif: Vec<Entry>,
    gps: Vec<Entry>,
    has_thumbnail: bool,
    has_maker_notes: bool,
    /// Whether there is data that belongs to no field.
    has_more: bool,
}

/// An entry of a directory, with its value in the byte order of the block.
struct Entry {
    tag: u16,
    kind: u16,
    count: u32,
    value: Vec<u8>,
    /// Where the value is in the block.
    place: Range<usize>,
}

impl Entry {
    /// The words of the value; none for numbers.
    fn words(&self) -> Option<&str> {
        fields::words(self.kind, &self.value)
    }

    /// Bytes of text, with what follows its end.
    fn text_bytes(&self) -> usize {
        if fields::is_text(self.kind, &self.value) { self.value.len() } else { 0 }
    }

    /// Whether it only says how the block or the picture was coded, or is listed by a name of its own.
    fn is_technical(&self) -> bool {
        let own = [ORIENTATION, EXIF_POINTER, GPS_POINTER, MAKER_NOTE].contains(&self.tag);
        let short = (1..=MAX_NUMBER_BYTES).contains(&self.value.len());
        own || short && TECHNICAL_TAGS.contains(&self.tag)
    }

    /// Whether it is a field that is kept, with a value of its own type and size, and words of people.
    fn is_safe(&self, place: Place) -> bool {
        let kept = fields::is_kept(place, self.tag, (self.kind, self.count), &self.value);
        let is_text = fields::is_text(self.kind, &self.value);
        kept && (!is_text || self.words().is_some_and(is_plain))
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

    /// The number that an entry has, as an offset.
    fn offset(self, entry: &Entry) -> Option<usize> {
        let here = Reader { block: &entry.value, ..self };
        (entry.value.len() == 4).then(|| here.long(0)).flatten().map(|at| at as usize)
    }

    /// Whether bytes other than zero are in no directory and no value of any.
    fn has_more(self, directories: &[(usize, &[Entry])]) -> bool {
        let mut known = Vec::from([Range { start: 0, end: 8 }]);
        for (at, entries) in directories {
            let count = usize::from(self.short(*at).unwrap_or(0)).min(MAX_ENTRIES);
            known.push(*at..at.saturating_add(2 + 12 * count + 4));
            known.extend(entries.iter().map(|entry| entry.place.clone()));
            let number = |tag| {
                entries.iter().find(|entry| entry.tag == tag).and_then(|entry| self.offset(entry))
            };
            let thumbnail = number(THUMBNAIL_AT).zip(number(THUMBNAIL_BYTES));
            known.extend(thumbnail.map(|(at, length)| at..at.saturating_add(length)));
        }
        known.sort_by_key(|range| range.start);
        known.push(self.block.len()..self.block.len());
        let mut end = 0;
        known.into_iter().any(|range| {
            let gap = self.block.get(end..range.start).unwrap_or_default();
            end = end.max(range.end);
            gap.iter().any(|byte| *byte != 0)
        })
    }

    /// The entry at an offset; none if it is damaged. Values that are too long become empty.
    fn entry(self, at: usize) -> Option<Entry> {
        let (tag, kind, count) = (self.short(at)?, self.short(at + 2)?, self.long(at + 4)?);
        let size = fields::size(kind)?;
        let length = (count as usize).checked_mul(size)?;
        let start = if length <= 4 { at + 8 } else { self.long(at + 8)? as usize };
        let place = start..start.checked_add(length)?;
        let value = self.block.get(place.clone())?;
        let value = if length <= MAX_TEXT { value.to_vec() } else { Vec::new() };
        Some(Entry { tag, kind, count, value, place })
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
        let first = reader.long(4)? as usize;
        let (main, next) = reader.directory(first)?;
        let below = |entries: &[Entry], pointer: u16| {
            let at = reader.offset(entries.iter().find(|entry| entry.tag == pointer)?)?;
            reader.directory(at).map(|(entries, _)| (at, entries))
        };
        let nothing = || (0, Vec::new());
        let (exif_at, exif) = below(&main, EXIF_POINTER).unwrap_or_else(nothing);
        let (gps_at, gps) = below(&main, GPS_POINTER).unwrap_or_else(nothing);
        let has_maker_notes = exif.iter().any(|e| e.tag == MAKER_NOTE);
        let (more_at, more) = below(&exif, INTEROPERABILITY).unwrap_or_else(nothing);
        let second = reader.directory(next as usize).filter(|_| next != 0);
        let second = second.map_or_else(Vec::new, |(entries, _)| entries);
        let directories = [
            (first, &main[..]),
            (exif_at, &exif),
            (gps_at, &gps),
            (more_at, &more),
            (next as usize, &second),
        ];
        let directories: Vec<_> = directories.into_iter().filter(|(at, _)| *at != 0).collect();
        let has_more = reader.has_more(&directories);
        Some(Self {
            little_endian,
            main,
            exif,
            gps,
            has_thumbnail: next != 0,
            has_maker_notes,
            has_more,
        })
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
    pub fn safe_copy(&self, room: &mut Room) -> (Vec<u8>, Vec<&'static str>, bool) {
        let lists = [(Place::Main, &self.main), (Place::Exif, &self.exif), (Place::Gps, &self.gps)];
        let safe = lists.map(|(place, entries)| {
            let mut safe: Vec<&Entry> = Vec::new();
            for entry in entries.iter().filter(|entry| entry.is_safe(place)) {
                if safe.iter().all(|known| known.tag != entry.tag) {
                    safe.push(entry);
                }
            }
            safe
        });
        // With what is too long, too: a picture must not get in by its first part.
        let texts = lists.iter().flat_map(|(_, entries)| *entries).filter_map(Entry::words);
        let all = Together::of(texts);
        let [mut main, exif, gps] = safe.map(|entries| {
            let allowed = entries.into_iter().filter(|e| all.allow(e.words()));
            let allowed = allowed.filter(|e| room.take(e.text_bytes()));
            allowed.map(|e| (e.tag, e.kind, e.count, e.value.clone())).collect::<Vec<_>>()
        });
        let kept = main.len() + exif.len() + gps.len();
        let fields = lists.iter().flat_map(|(_, entries)| *entries);
        let left_out = self.has_more || fields.filter(|e| !e.is_technical()).count() > kept;
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
