//! The EXIF fields that are kept on request, and what each may hold.
//!
//! Any other field contains a picture, or could contain one. So could these, if their type and size were anything: a
//! number is a number of its own type and count, and a text is as short as what belongs there.

/// Types of values.
const BYTE: u16 = 1;
const ASCII: u16 = 2;
const SHORT: u16 = 3;
const LONG: u16 = 4;
const FRACTION: u16 = 5;
const UNDEFINED: u16 = 7;
const SIGNED_LONG: u16 = 9;
const SIGNED_FRACTION: u16 = 10;
/// The encoding that is named before text of no type.
const ENCODING: &[u8] = b"ASCII\0\0\0";
/// What dates and times are written with.
const OF_DATES: &[u8] = b"0123456789:-+./TZ \0";

/// Where a field is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Place {
    Main,
    Exif,
    Gps,
}
use Place::{Exif, Gps, Main};

/// What a field may hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Form {
    /// Words, of so many bytes at most.
    Words(usize),
    /// A date or a part of one, of so many bytes at most.
    Date(usize),
    /// [`Form::Words`] behind the name of their encoding.
    Coded(usize),
    /// Four digits.
    Version,
    /// So many bytes.
    Bytes(u32),
    /// One whole number; sensitivities can be two.
    Whole(u32),
    /// So many fractions.
    Fractions(u32),
}
use Form::{Bytes, Coded, Date, Fractions, Version, Whole, Words};

#[rustfmt::skip]
const KEPT: [(Place, u16, Form); 84] = [
    // Description, maker, model, resolution, software, date, artist, copyright.
    (Main, 0x010e, Words(500)), (Main, 0x010f, Words(64)), (Main, 0x0110, Words(64)), (Main, 0x011a, Fractions(1)),
    (Main, 0x011b, Fractions(1)), (Main, 0x0128, Whole(1)), (Main, 0x0131, Words(64)), (Main, 0x0132, Date(20)),
    (Main, 0x013b, Words(200)), (Main, 0x8298, Words(300)),
    // Exposure, dates, camera and lens.
    (Exif, 0x829a, Fractions(1)), (Exif, 0x829d, Fractions(1)), (Exif, 0x8822, Whole(1)), (Exif, 0x8827, Whole(2)),
    (Exif, 0x8830, Whole(1)), (Exif, 0x9000, Version), (Exif, 0x9003, Date(20)), (Exif, 0x9004, Date(20)),
    (Exif, 0x9010, Date(8)), (Exif, 0x9011, Date(8)), (Exif, 0x9012, Date(8)), (Exif, 0x9201, Fractions(1)),
    (Exif, 0x9202, Fractions(1)), (Exif, 0x9203, Fractions(1)), (Exif, 0x9204, Fractions(1)),
    (Exif, 0x9205, Fractions(1)), (Exif, 0x9206, Fractions(1)), (Exif, 0x9207, Whole(1)), (Exif, 0x9208, Whole(1)),
    (Exif, 0x9209, Whole(1)), (Exif, 0x920a, Fractions(1)), (Exif, 0x9290, Date(10)), (Exif, 0x9291, Date(10)),
    (Exif, 0x9292, Date(10)), (Exif, 0xa001, Whole(1)), (Exif, 0xa20e, Fractions(1)), (Exif, 0xa20f, Fractions(1)),
    (Exif, 0xa210, Whole(1)), (Exif, 0xa217, Whole(1)), (Exif, 0xa402, Whole(1)), (Exif, 0xa403, Whole(1)),
    (Exif, 0xa404, Fractions(1)), (Exif, 0xa405, Whole(1)), (Exif, 0xa406, Whole(1)), (Exif, 0xa408, Whole(1)),
    (Exif, 0xa409, Whole(1)), (Exif, 0xa40a, Whole(1)), (Exif, 0xa430, Words(100)), (Exif, 0xa431, Words(32)),
    (Exif, 0xa432, Fractions(4)), (Exif, 0xa433, Words(64)), (Exif, 0xa434, Words(64)),
    // Position, altitude, time, satellites, speed, direction, map, and those of a destination.
    (Gps, 0x00, Bytes(4)), (Gps, 0x01, Words(2)), (Gps, 0x02, Fractions(3)), (Gps, 0x03, Words(2)),
    (Gps, 0x04, Fractions(3)), (Gps, 0x05, Bytes(1)), (Gps, 0x06, Fractions(1)), (Gps, 0x07, Fractions(3)),
    (Gps, 0x08, Words(16)), (Gps, 0x09, Words(2)), (Gps, 0x0a, Words(2)), (Gps, 0x0b, Fractions(1)),
    (Gps, 0x0c, Words(2)), (Gps, 0x0d, Fractions(1)), (Gps, 0x0e, Words(2)), (Gps, 0x0f, Fractions(1)),
    (Gps, 0x10, Words(2)), (Gps, 0x11, Fractions(1)), (Gps, 0x12, Words(16)), (Gps, 0x13, Words(2)),
    (Gps, 0x14, Fractions(3)), (Gps, 0x15, Words(2)), (Gps, 0x16, Fractions(3)), (Gps, 0x17, Words(2)),
    (Gps, 0x18, Fractions(1)), (Gps, 0x19, Words(2)), (Gps, 0x1a, Fractions(1)), (Gps, 0x1b, Coded(40)),
    (Gps, 0x1c, Coded(40)), (Gps, 0x1d, Date(11)), (Gps, 0x1e, Whole(1)), (Gps, 0x1f, Fractions(1)),
];

/// Whether a field with this value is one that is kept. Words are judged elsewhere.
pub(super) fn is_kept(place: Place, tag: u16, (kind, count): (u16, u32), value: &[u8]) -> bool {
    let known = KEPT.iter().find(|(known, number, _)| (*known, *number) == (place, tag));
    known.is_some_and(|(.., form)| match *form {
        Words(most) => kind == ASCII && (1..=most).contains(&value.len()),
        Date(most) => {
            let of_dates = value.iter().all(|byte| OF_DATES.contains(byte));
            kind == ASCII && (1..=most).contains(&value.len()) && of_dates
        }
        Coded(most) => {
            let coded = kind == UNDEFINED && value.starts_with(ENCODING);
            (coded || kind == ASCII) && (1..=most).contains(&value.len())
        }
        Version => kind == UNDEFINED && value.len() == 4 && value.iter().all(u8::is_ascii_digit),
        Bytes(number) => kind == BYTE && count == number,
        Whole(most) => [SHORT, LONG].contains(&kind) && (1..=most).contains(&count),
        Fractions(number) => [FRACTION, SIGNED_FRACTION].contains(&kind) && count == number,
    })
}

/// The words of a value; none for numbers.
pub(super) fn words(kind: u16, value: &[u8]) -> Option<&str> {
    let text = match kind {
        ASCII => value,
        UNDEFINED => value.strip_prefix(ENCODING)?,
        _ => return None,
    };
    std::str::from_utf8(text).ok().map(|text| text.trim_end_matches('\0'))
}

/// Whether the value is text and no number.
pub(super) fn is_text(kind: u16, value: &[u8]) -> bool {
    kind == ASCII || kind == UNDEFINED && value.starts_with(ENCODING)
}

/// Bytes of a value of that type; none for unknown types.
pub(super) fn size(kind: u16) -> Option<usize> {
    Some(match kind {
        BYTE | ASCII | 6 | UNDEFINED => 1,
        SHORT | 8 => 2,
        LONG | SIGNED_LONG | 11 => 4,
        FRACTION | SIGNED_FRACTION | 12 => 8,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The figures in SECURITY.md.
    #[test]
    fn numbers_hold_few_bytes() {
        let bytes = |form: Form| match form {
            Bytes(number) => number as usize,
            Version => 4,
            Whole(most) => 4 * most as usize,
            Fractions(number) => 8 * number as usize,
            Words(_) | Date(_) | Coded(_) => 0,
        };
        let all: usize = KEPT.iter().map(|(.., form)| bytes(*form)).sum();
        assert!(all <= 450, "{all}");
    }

    #[test]
    fn each_field_has_its_own_type_and_size() {
        assert!(is_kept(Exif, 0x829a, (FRACTION, 1), &[0; 8]));
        assert!(is_kept(Main, 0x010f, (ASCII, 6), b"maker\0"));
        assert!(is_kept(Exif, 0x9000, (UNDEFINED, 4), b"0232"));
        assert!(is_kept(Exif, 0x9003, (ASCII, 20), b"2001:02:03 04:05:06\0"));
        assert!(is_kept(Gps, 0x1b, (UNDEFINED, 11), b"ASCII\0\0\0GPS"));
        for (place, tag, kind, value) in [
            (Exif, 0x829a, ASCII, &b"a sixtieth"[..]),
            (Exif, 0x9207, FRACTION, &[1; 8]),
            (Exif, 0x9000, UNDEFINED, b"\xff\xd8\xff\xe0"),
            (Exif, 0x9003, ASCII, b"the day before last\0"),
            (Exif, 0xa432, FRACTION, &[1; 40]),
            (Main, 0x010f, ASCII, &[b'a'; 65]),
            (Main, 0x013b, UNDEFINED, b"ASCII\0\0\0Anna"),
            (Gps, 0x1b, UNDEFINED, b"GPS"),
            (Gps, 0x010f, ASCII, b"maker\0"),
        ] {
            let count = (value.len() / size(kind).unwrap_or(1)) as u32;
            assert!(!is_kept(place, tag, (kind, count), value), "{tag:x}");
        }
    }
}
