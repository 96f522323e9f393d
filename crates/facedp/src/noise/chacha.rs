//! The ChaCha20 generator, sixteen blocks at a time.
//!
//! The stream is that of `rand_chacha`'s `ChaCha20Rng`: a 64-bit counter of blocks, and stream 0. That crate
//! computes four blocks at a time, so that a processor with long vector instructions mostly waits for the
//! result of the one before: half of the time that drawing noise took.

use std::convert::Infallible;

use pulp::{Simd, WithSimd};
use rand_core::block::{BlockRng, Generator};
use rand_core::{SeedableRng, TryCryptoRng, TryRng};

/// Words of a block.
const WORDS: usize = 16;
/// Blocks that are computed together: one per lane of the longest vectors.
const BLOCKS: usize = 16;
/// "expand 32-byte k".
const CONSTANTS: [u32; 4] = [0x6170_7865, 0x3320_646e, 0x7962_2d32, 0x6b20_6574];

/// A ChaCha20 generator: a seed of 256 bits, 2^70 bytes. The same seed gives the same stream on all machines.
pub struct ChaCha(BlockRng<Core>);

/// The key, and the number of the next block.
struct Core {
    key: [u32; 8],
    block: u64,
}

impl std::fmt::Debug for ChaCha {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("ChaCha { .. }") // The state is secret.
    }
}

impl SeedableRng for ChaCha {
    type Seed = [u8; 32];

    fn from_seed(seed: [u8; 32]) -> Self {
        Self(BlockRng::new(Core { key: rand_core::utils::read_words(&seed), block: 0 }))
    }
}

impl TryRng for ChaCha {
    type Error = Infallible;

    #[inline]
    fn try_next_u32(&mut self) -> Result<u32, Infallible> {
        Ok(self.0.next_word())
    }

    #[inline]
    fn try_next_u64(&mut self) -> Result<u64, Infallible> {
        Ok(self.0.next_u64_from_u32())
    }

    fn try_fill_bytes(&mut self, bytes: &mut [u8]) -> Result<(), Infallible> {
        self.0.fill_bytes(bytes);
        Ok(())
    }
}

impl TryCryptoRng for ChaCha {}

impl Generator for Core {
    type Output = [u32; WORDS * BLOCKS];

    fn generate(&mut self, output: &mut Self::Output) {
        // The same word of all blocks lies in one row.
        let mut start = [[0; BLOCKS]; WORDS];
        let fixed = CONSTANTS.iter().chain(&self.key);
        start.iter_mut().zip(fixed).for_each(|(row, &word)| *row = [word; BLOCKS]);
        let numbers: [u64; BLOCKS] =
            std::array::from_fn(|lane| self.block.wrapping_add(lane as u64));
        start[12] = numbers.map(|block| block as u32);
        start[13] = numbers.map(|block| (block >> 32) as u32);
        self.block = self.block.wrapping_add(BLOCKS as u64);
        let mut rows = start;
        pulp::Arch::new().dispatch(Blocks(&mut rows));
        for (block, words) in output.as_chunks_mut::<WORDS>().0.iter_mut().enumerate() {
            for (out, row) in words.iter_mut().zip(&rows) {
                *out = row[block];
            }
        }
    }
}

/// Blocks before their rounds, and then after them.
struct Blocks<'a>(&'a mut [[u32; BLOCKS]; WORDS]);

impl WithSimd for Blocks<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        for part in 0..BLOCKS / S::U32_LANES {
            let mut state = [simd.splat_u32s(0); WORDS];
            for (word, row) in state.iter_mut().zip(self.0.iter()) {
                *word = S::as_simd_u32s(row).0[part];
            }
            let start = state;
            for _ in 0..10 {
                quarter(simd, &mut state, [0, 4, 8, 12]);
                quarter(simd, &mut state, [1, 5, 9, 13]);
                quarter(simd, &mut state, [2, 6, 10, 14]);
                quarter(simd, &mut state, [3, 7, 11, 15]);
                quarter(simd, &mut state, [0, 5, 10, 15]);
                quarter(simd, &mut state, [1, 6, 11, 12]);
                quarter(simd, &mut state, [2, 7, 8, 13]);
                quarter(simd, &mut state, [3, 4, 9, 14]);
            }
            for ((row, word), start) in self.0.iter_mut().zip(state).zip(start) {
                S::as_mut_simd_u32s(row).0[part] = simd.add_u32s(word, start);
            }
        }
    }
}

/// A quarter round of RFC 8439.
#[inline(always)]
fn quarter<S: Simd>(simd: S, state: &mut [S::u32s; WORDS], [a, b, c, d]: [usize; 4]) {
    for (to, by, and, left) in [(a, b, d, 16), (c, d, b, 12), (a, b, d, 8), (c, d, b, 7)] {
        state[to] = simd.add_u32s(state[to], state[by]);
        let mixed = simd.xor_u32s(state[and], state[to]);
        let high = simd.wrapping_dyn_shl_u32s(mixed, simd.splat_u32s(left));
        let low = simd.wrapping_dyn_shr_u32s(mixed, simd.splat_u32s(32 - left));
        state[and] = simd.or_u32s(high, low);
    }
}

#[cfg(test)]
mod tests {
    use rand_chacha::ChaCha20Rng;
    use rand_core::Rng;

    use super::*;

    /// Words, numbers and bytes in turn, over several refills.
    #[test]
    fn the_stream_is_that_of_rand_chacha() {
        for seed in [[0; 32], [7; 32], std::array::from_fn(|i| i as u8)] {
            let (mut ours, mut theirs) = (ChaCha::from_seed(seed), ChaCha20Rng::from_seed(seed));
            for turn in 0..500 {
                assert_eq!(ours.next_u64(), theirs.next_u64(), "{turn}");
                if turn % 7 == 0 {
                    assert_eq!(ours.next_u32(), theirs.next_u32(), "{turn}");
                }
                if turn % 11 == 0 {
                    let [mut a, mut b] = [[0; 37]; 2];
                    ours.fill_bytes(&mut a);
                    theirs.fill_bytes(&mut b);
                    assert_eq!(a, b, "{turn}");
                }
            }
        }
    }

    /// The counter carries into its upper word.
    #[test]
    fn blocks_beyond_32_bits_of_counter() {
        let last = u64::from(u32::MAX) - 3;
        let mut theirs = ChaCha20Rng::from_seed([3; 32]);
        theirs.set_word_pos(u128::from(last) * 16);
        let mut core = Core { key: [0x0303_0303; 8], block: last };
        let mut output = [0; WORDS * BLOCKS];
        core.generate(&mut output);
        assert!(output.iter().all(|&word| word == theirs.next_u32()));
    }
}
