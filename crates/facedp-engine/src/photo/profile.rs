//! ICC colour profiles: what a profile says about colours, in a profile of our own.
//!
//! A profile is a header of 128 bytes, a table of tags, and their data. It can carry anything in private tags,
//! between tags and after its end. So it is written anew from primaries and tone curves. Profiles with lookup
//! tables or with curves of their own, which can hold any numbers, are applied instead: the samples become sRGB.

use std::ops::Range;

use moxcms::{ColorProfile, Layout, TransformOptions};

use super::curve;
use super::plain::is_plain;
use super::{Photo, Samples};

/// Larger profiles are left out. Those with large tables have some hundred kilobytes.
const MAX_BYTES: usize = 4_000_000;
const MAX_TAGS: usize = 100;
const MAX_NAME: usize = 80;
const HEADER: usize = 128;
/// Tags with an XYZ value, and tags with a matrix.
const COLOUR_TAGS: [&[u8; 4]; 3] = [b"rXYZ", b"gXYZ", b"bXYZ"];
const CURVE_TAGS: [&[u8; 4]; 3] = [b"rTRC", b"gTRC", b"bTRC"];
/// Tags with lookup tables or other computations, which replace primaries and curves.
const TABLE_TAGS: [&[u8; 3]; 2] = [b"A2B", b"D2B"];
/// D50 as every header states it.
const ILLUMINANT: [u8; 12] = [0, 0, 0xf6, 0xd6, 0, 1, 0, 0, 0, 0, 0xd3, 0x2d];

/// Further tags of ordinary profiles, which say nothing about colours: they go without being listed if they are short.
const COMMON_TAGS: [&[u8; 4]; 14] = [
    b"desc", b"cprt", b"wtpt", b"chad", b"cicp", b"bkpt", b"chrm", b"dmnd", b"dmdd", b"lumi",
    b"meas", b"tech", b"view", b"vued",
];
const MAX_COMMON: usize = 200;
/// What a source had more than a profile, for reports.
/// Data that is no profile, or not one.
pub(super) const FOREIGN: &str = "data in place of a colour profile";
pub(super) const AFTER: &str = "data after the colour profile";
const INSIDE: &str = "other data in the colour profile";

/// What becomes of a profile.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Profile {
    /// Written anew, and what the source had more.
    Kept(Vec<u8>, Vec<&'static str>),
    /// A profile that cannot be written anew.
    Tables,
    /// Of another colour space than the samples.
    OtherSpace,
    /// No profile at all.
    Foreign,
}

impl Profile {
    pub fn read(icc: &[u8], has_colour: bool) -> Self {
        let Some(source) = Source::read(icc) else { return Profile::Foreign };
        let space: &[u8; 4] = if has_colour { b"RGB " } else { b"GRAY" };
        if source.bytes.get(16..20) != Some(space) {
            return Profile::OtherSpace;
        }
        if source.tags.iter().any(|(tag, _)| TABLE_TAGS.iter().any(|name| tag.starts_with(*name))) {
            return Profile::Tables;
        }
        match source.rebuilt(has_colour) {
            Some(profile) => {
                let more = [(icc.len() > source.bytes.len(), AFTER), (source.has_more(), INSIDE)];
                let more = more.into_iter().filter_map(|(has, name)| has.then_some(name));
                Profile::Kept(profile, more.collect())
            }
            None => Profile::Tables,
        }
    }
}

/// A profile cut to its size, with its tags and where their data is.
struct Source<'a> {
    bytes: &'a [u8],
    tags: Vec<([u8; 4], &'a [u8])>,
    places: Vec<Range<usize>>,
}

impl<'a> Source<'a> {
    fn read(icc: &'a [u8]) -> Option<Self> {
        let size = usize::try_from(long(icc, 0)?).ok()?;
        let bytes =
            icc.get(..size).filter(|bytes| (HEADER + 4..=MAX_BYTES).contains(&bytes.len()))?;
        if bytes[36..40] != *b"acsp" {
            return None;
        }
        let count =
            usize::try_from(long(bytes, HEADER)?).ok().filter(|count| *count <= MAX_TAGS)?;
        let tag = |number: usize| {
            let at = HEADER + 4 + 12 * number;
            let name = bytes.get(at..at + 4)?.try_into().ok()?;
            let (start, length) = (long(bytes, at + 4)? as usize, long(bytes, at + 8)? as usize);
            let place = start..start.checked_add(length)?;
            Some(((name, bytes.get(place.clone())?), place))
        };
        let (tags, places) = (0..count).map(tag).collect::<Option<_>>()?;
        Some(Self { bytes, tags, places })
    }

    /// Whether there is more than ordinary profiles have: other tags, long ones, or data between tags.
    fn has_more(&self) -> bool {
        let known =
            |tag: &[u8; 4]| [&COLOUR_TAGS[..], &CURVE_TAGS, &[b"kTRC"]].concat().contains(&tag);
        let common = |tag: &[u8; 4]| COMMON_TAGS.contains(&tag);
        let ordinary =
            |(tag, data): &([u8; 4], &[u8])| known(tag) || common(tag) && data.len() <= MAX_COMMON;
        let mut places = self.places.clone();
        places.sort_by_key(|place| place.start);
        places.push(self.bytes.len()..self.bytes.len());
        let mut end = HEADER + 4 + 12 * self.tags.len();
        let mut between = false;
        for place in places {
            let gap = self.bytes.get(end..place.start).unwrap_or_default();
            between |= gap.iter().any(|byte| *byte != 0);
            end = end.max(place.end);
        }
        between || !self.tags.iter().all(ordinary)
    }

    fn tag(&self, name: &[u8; 4]) -> Option<&'a [u8]> {
        self.tags.iter().find(|(tag, _)| tag == name).map(|(_, data)| *data)
    }

    /// A profile with the primaries and curves of this one; none if it has no usable ones.
    fn rebuilt(&self, has_colour: bool) -> Option<Vec<u8>> {
        let version = *self.bytes.get(8)?;
        let mut tags: Vec<([u8; 4], Vec<u8>)> = Vec::new();
        for (name, default) in [(b"desc", "colours"), (b"cprt", "not stated")] {
            let text = self.tag(name).and_then(text).unwrap_or_else(|| default.to_owned());
            tags.push((*name, written_text(name, &text, version)));
        }
        let white = self.tag(b"wtpt").and_then(xyz);
        tags.push((*b"wtpt", white.unwrap_or_else(|| [b"XYZ \0\0\0\0", &ILLUMINANT[..]].concat())));
        if let Some(matrix) = self.tag(b"chad") {
            tags.push((*b"chad", sized(matrix, b"sf32", 44)?));
        }
        if let Some(points) = self.tag(b"cicp") {
            tags.push((*b"cicp", sized(points, b"cicp", 12)?));
        }
        match has_colour {
            true => {
                for name in COLOUR_TAGS {
                    tags.push((*name, xyz(self.tag(name)?)?));
                }
                for name in CURVE_TAGS {
                    tags.push((*name, curve::anew(self.tag(name)?)?));
                }
            }
            false => tags.push((*b"kTRC", curve::anew(self.tag(b"kTRC")?)?)),
        }
        Some(assembled(&self.header()?, &tags))
    }

    /// The header without anything that software may fill in freely.
    fn header(&self) -> Option<[u8; HEADER]> {
        let mut header = [0; HEADER];
        let class = self
            .bytes
            .get(12..16)
            .filter(|c| [b"mntr", b"scnr", b"prtr", b"spac"].iter().any(|k| c == k));
        header[8..10].copy_from_slice(self.bytes.get(8..10)?);
        header[12..16].copy_from_slice(class.unwrap_or(b"mntr"));
        header[16..20].copy_from_slice(&self.bytes[16..20]);
        // With curves and primaries, the connection space is XYZ; a grey curve may have either.
        let space =
            self.bytes.get(20..24).filter(|space| [b"XYZ ", b"Lab "].iter().any(|k| space == k))?;
        header[20..24].copy_from_slice(space);
        header[24..36].copy_from_slice(&[0x07, 0xd0, 0, 1, 0, 1, 0, 0, 0, 0, 0, 0]); // 2000-01-01
        header[36..40].copy_from_slice(b"acsp");
        header[67] = self.bytes.get(67).copied().unwrap_or(0) & 3;
        header[68..80].copy_from_slice(&ILLUMINANT);
        Some(header)
    }
}

fn long(bytes: &[u8], at: usize) -> Option<u32> {
    bytes.get(at..at.checked_add(4)?)?.try_into().ok().map(u32::from_be_bytes)
}

/// The data of a tag of one type and size.
fn sized(data: &[u8], kind: &[u8; 4], length: usize) -> Option<Vec<u8>> {
    let body = data.get(8..length)?;
    data.starts_with(kind).then(|| [kind, &[0; 4], body].concat())
}

fn xyz(data: &[u8]) -> Option<Vec<u8>> {
    sized(data, b"XYZ ", 20)
}

/// The first text of a tag, if it is plain ASCII.
fn text(data: &[u8]) -> Option<String> {
    let bytes: Vec<u8> = match data.get(..4)? {
        b"desc" => data.get(12..12usize.checked_add(long(data, 8)? as usize)?)?.to_vec(),
        b"text" => data.get(8..)?.to_vec(),
        b"mluc" => {
            let (length, at) = (long(data, 20)? as usize, long(data, 24)? as usize);
            let wide = data.get(at..at.checked_add(length)?)?;
            wide.chunks_exact(2).map(|pair| if pair[0] == 0 { pair[1] } else { 0x7f }).collect()
        }
        _ => return None,
    };
    let text = String::from_utf8(bytes).ok()?;
    let text = text.trim_end_matches('\0').trim();
    let printable = text.bytes().all(|byte| (0x20..0x7f).contains(&byte));
    (!text.is_empty() && text.len() <= MAX_NAME && printable && is_plain(text))
        .then(|| text.to_owned())
}

fn written_text(tag: &[u8; 4], text: &str, version: u8) -> Vec<u8> {
    let long = |number: usize| (number as u32).to_be_bytes();
    if version >= 4 {
        let wide: Vec<u8> = text.bytes().flat_map(|byte| [0, byte]).collect();
        let head =
            [b"mluc", &[0; 4][..], &long(1), &long(12), b"enUS", &long(wide.len()), &long(28)];
        return [head.concat(), wide].concat();
    }
    let ascii = [text.as_bytes(), &[0]].concat();
    match tag {
        b"desc" => {
            [b"desc", &[0; 4][..], &long(ascii.len()), &ascii, &[0; 8], &[0; 3], &[0; 67]].concat()
        }
        _ => [b"text", &[0; 4][..], &ascii].concat(),
    }
}

/// Puts a profile together; equal data is stored once.
fn assembled(header: &[u8; HEADER], tags: &[([u8; 4], Vec<u8>)]) -> Vec<u8> {
    let long = |number: usize| (number as u32).to_be_bytes();
    let start = HEADER + 4 + 12 * tags.len();
    let mut table = long(tags.len()).to_vec();
    let mut body: Vec<u8> = Vec::new();
    let mut known: Vec<(&[u8], usize)> = Vec::new();
    for (name, data) in tags {
        let shared = known.iter().find(|(other, _)| other == data).map(|(_, at)| *at);
        let at = shared.unwrap_or_else(|| {
            let at = start + body.len();
            body.extend(data);
            body.resize(body.len().next_multiple_of(4), 0);
            known.push((data, at));
            at
        });
        table.extend([&name[..], &long(at), &long(data.len())].concat());
    }
    let mut profile = [&header[..], &table, &body].concat();
    let size = long(profile.len());
    profile[..4].copy_from_slice(&size);
    profile
}

impl Photo {
    /// Replaces the samples by sRGB according to a profile. False if that is not possible.
    pub(super) fn convert_to_srgb(&mut self, icc: &[u8]) -> bool {
        let layout = match self.channels {
            3 => Layout::Rgb,
            4 => Layout::Rgba,
            _ => return false,
        };
        let convert = || {
            let source = ColorProfile::new_from_slice(icc).ok()?;
            let (srgb, options) = (ColorProfile::new_srgb(), TransformOptions::default());
            Some(match &self.samples {
                Samples::U8(before) => {
                    let mut after = before.clone();
                    let transform = source.create_transform_8bit(layout, &srgb, layout, options);
                    transform.ok()?.transform(before, &mut after).ok()?;
                    Samples::U8(after)
                }
                Samples::U16(before) => {
                    let mut after = before.clone();
                    let transform = source.create_transform_16bit(layout, &srgb, layout, options);
                    transform.ok()?.transform(before, &mut after).ok()?;
                    Samples::U16(after)
                }
            })
        };
        match convert() {
            Some(samples) => {
                self.samples = samples;
                true
            }
            None => false,
        }
    }
}

#[cfg(test)]
#[path = "profile_tests.rs"]
mod tests;
