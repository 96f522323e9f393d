//! Random numbers that can be taken back.

use std::convert::Infallible;

use rand_core::{CryptoRng, TryCryptoRng, TryRng};

/// A generator that gives numbers again that were drawn after a mark.
pub(super) struct Replay<'a> {
    random: &'a mut (dyn CryptoRng + Send),
    /// What was drawn since the mark, and what was taken back and is still to come.
    drawn: Vec<u32>,
    /// How many of these have been given.
    given: usize,
    marked: bool,
}

impl<'a> Replay<'a> {
    pub(super) fn new(random: &'a mut (dyn CryptoRng + Send)) -> Self {
        Self { random, drawn: Vec::new(), given: 0, marked: false }
    }

    /// What is drawn from here on can be taken back.
    pub(super) fn mark(&mut self) {
        self.drawn.drain(..self.given);
        (self.given, self.marked) = (0, true);
    }

    /// Goes on from the mark.
    pub(super) fn take_back(&mut self) {
        self.given = 0;
    }

    /// Nothing will be taken back before the next mark.
    pub(super) fn keep(&mut self) {
        self.marked = false;
    }
}

impl TryRng for Replay<'_> {
    type Error = Infallible;

    fn try_next_u32(&mut self) -> Result<u32, Infallible> {
        if let Some(number) = self.drawn.get(self.given) {
            self.given += 1;
            return Ok(*number);
        }
        let number = self.random.next_u32();
        if self.marked {
            self.drawn.push(number);
            self.given += 1;
        }
        Ok(number)
    }

    fn try_next_u64(&mut self) -> Result<u64, Infallible> {
        Ok(u64::from(self.try_next_u32()?) | u64::from(self.try_next_u32()?) << 32)
    }

    fn try_fill_bytes(&mut self, bytes: &mut [u8]) -> Result<(), Infallible> {
        for part in bytes.chunks_mut(4) {
            part.copy_from_slice(&self.try_next_u32()?.to_le_bytes()[..part.len()]);
        }
        Ok(())
    }
}

impl TryCryptoRng for Replay<'_> {}

#[cfg(test)]
mod tests {
    use super::*;
    use rand_core::Rng;

    /// 0, 1, 2, ...
    struct Counter(u32);

    impl TryRng for Counter {
        type Error = Infallible;

        fn try_next_u32(&mut self) -> Result<u32, Infallible> {
            self.0 += 1;
            Ok(self.0 - 1)
        }

        fn try_next_u64(&mut self) -> Result<u64, Infallible> {
            self.try_next_u32().map(u64::from)
        }

        fn try_fill_bytes(&mut self, bytes: &mut [u8]) -> Result<(), Infallible> {
            bytes.fill(self.try_next_u32()? as u8);
            Ok(())
        }
    }

    impl TryCryptoRng for Counter {}

    #[test]
    fn numbers_come_in_their_order_whatever_is_taken_back() {
        let mut counter = Counter(0);
        let mut random = Replay::new(&mut counter);
        let draw = |random: &mut Replay<'_>, numbers: std::ops::Range<u32>| {
            numbers.for_each(|number| assert_eq!(random.next_u32(), number));
        };
        draw(&mut random, 0..2);
        random.mark();
        draw(&mut random, 2..7);
        random.take_back();
        draw(&mut random, 2..4);
        random.keep();
        // Of what was taken back, some is left.
        draw(&mut random, 4..5);
        random.mark();
        draw(&mut random, 5..9);
        random.take_back();
        draw(&mut random, 5..11);
        random.keep();
        draw(&mut random, 11..13);
    }
}
