//! EXIF blocks: what is in them, and a copy that is safe to keep.

use std::io::Cursor;

use exif::experimental::Writer;
use exif::{Context, Field, In, Reader, Tag, Value};

/// What an EXIF block is called in lists of metadata.
pub(super) const NAME: &str = "EXIF";
const GPS: &str = "GPS position";
const THUMBNAIL: &str = "thumbnail";
const MAKER_NOTES: &str = "maker notes";

/// A parsed EXIF block.
pub(super) struct Exif(exif::Exif);

impl Exif {
    /// Parses what can be parsed.
    pub fn read(block: &[u8]) -> Option<Self> {
        let mut reader = Reader::new();
        reader.continue_on_error(true);
        let parsed = reader.read_raw(block.to_vec());
        parsed.or_else(|error| error.distill_partial_result(|_| ())).ok().map(Self)
    }

    /// Parts that a user should hear of.
    pub fn parts(&self) -> impl Iterator<Item = &'static str> {
        let has = |test: fn(&Field) -> bool| self.0.fields().any(test);
        [
            (has(|f| f.tag.context() == Context::Gps), GPS),
            (has(|f| f.ifd_num != In::PRIMARY), THUMBNAIL),
            (has(|f| f.tag == Tag::MakerNote), MAKER_NOTES),
        ]
        .into_iter()
        .filter_map(|(present, name)| present.then_some(name))
    }

    /// The block written anew from its known fields, upright, and the parts it still has. Thumbnail
    /// and maker notes, which hold pictures of the original face, are never taken over.
    pub fn safe_copy(&self) -> Option<(Vec<u8>, Vec<&'static str>)> {
        let upright =
            Field { tag: Tag::Orientation, ifd_num: In::PRIMARY, value: Value::Short(vec![1]) };
        let wanted = |field: &&Field| {
            field.ifd_num == In::PRIMARY && ![Tag::MakerNote, Tag::Orientation].contains(&field.tag)
        };
        let mut writer = Writer::new();
        writer.push_field(&upright);
        let mut seen = Vec::new();
        for field in self.0.fields().filter(wanted) {
            if !seen.contains(&field.tag) {
                seen.push(field.tag);
                writer.push_field(field);
            }
        }
        let mut block = Cursor::new(Vec::new());
        writer.write(&mut block, self.0.little_endian()).ok()?;
        let kept = self.parts().filter(|part| *part == GPS);
        Some((block.into_inner(), std::iter::once(NAME).chain(kept).collect()))
    }
}
