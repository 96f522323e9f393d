//! Estimates the quality of a lossy WebP picture from its quantisers.
//!
//! The frame header (RFC 6386, section 9) holds a quantiser index from 0 to 127, or one for each of four
//! segments. libwebp derives it from the quality by a cubic law, which is inverted here.

/// The libwebp quality of a VP8 frame, 0 to 100; none if it is not a key frame.
pub(super) fn estimated_quality(frame: &[u8]) -> Option<f32> {
    let (tag, rest) = frame.split_at_checked(10)?;
    let is_key_frame = tag[0] & 1 == 0 && tag[3..6] == [0x9d, 0x01, 0x2a];
    let mut header = is_key_frame.then(|| Bits::new(rest))?;
    header.skip(2); // colour space, clamping
    let mut segments = Vec::new();
    let mut absolute = false;
    if header.flag() {
        let updates_map = header.flag();
        if header.flag() {
            absolute = header.flag();
            segments = (0..4).map(|_| header.optional_signed(7)).collect();
            (0..4).for_each(|_| header.skip_optional(7));
        }
        if updates_map {
            (0..3).for_each(|_| header.skip_optional(8));
        }
    }
    header.skip(1 + 6 + 3); // loop filter: kind, level, sharpness
    if header.flag() && header.flag() {
        (0..8).for_each(|_| header.skip_optional(7));
    }
    header.skip(2); // partitions
    let base = header.literal(7) as f32;
    let quantiser = |segment: &i32| if absolute { *segment as f32 } else { base + *segment as f32 };
    let sum: f32 = segments.iter().map(quantiser).sum();
    let index = if segments.is_empty() { base } else { sum / segments.len() as f32 };
    let linear = (1.0 - index.clamp(0.0, 127.0) / 127.0).powi(3);
    let quality = if linear < 0.5 { 1.5 * linear } else { 0.5 * (linear + 1.0) };
    Some(100.0 * quality)
}

/// The boolean decoder of RFC 6386, section 7, for flags with probability 1/2. It reads zeros past the end.
struct Bits<'a> {
    input: std::slice::Iter<'a, u8>,
    value: u32,
    range: u32,
    shifts: u32,
}

impl<'a> Bits<'a> {
    fn new(input: &'a [u8]) -> Self {
        let mut bits = Self { input: input.iter(), value: 0, range: 255, shifts: 0 };
        bits.value = bits.byte() << 8 | bits.byte();
        bits
    }

    fn byte(&mut self) -> u32 {
        self.input.next().copied().map_or(0, u32::from)
    }

    fn flag(&mut self) -> bool {
        let split = 1 + ((self.range - 1) >> 1);
        let flag = self.value >= split << 8;
        if flag {
            self.range -= split;
            self.value -= split << 8;
        } else {
            self.range = split;
        }
        while self.range < 128 {
            self.range <<= 1;
            self.value <<= 1;
            self.shifts += 1;
            if self.shifts == 8 {
                self.shifts = 0;
                self.value |= self.byte();
            }
        }
        flag
    }

    fn literal(&mut self, bits: u32) -> i32 {
        (0..bits).fold(0, |value, _| 2 * value + i32::from(self.flag()))
    }

    fn skip(&mut self, bits: u32) {
        self.literal(bits);
    }

    /// Skips bits that are present only if a flag is set.
    fn skip_optional(&mut self, bits: u32) {
        if self.flag() {
            self.skip(bits);
        }
    }

    /// A number followed by its sign; 0 if its flag is not set.
    fn optional_signed(&mut self, bits: u32) -> i32 {
        if !self.flag() {
            return 0;
        }
        let size = self.literal(bits);
        if self.flag() { -size } else { size }
    }
}
