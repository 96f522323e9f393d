//! Products of rounded numbers on processors without instructions for them, for tests.

use pulp::Simd;

use super::bfloat::{PairRow, Rounded, rounded_pixel, sum_of_pairs};
use super::lanes::Lanes;
use super::registers::{Registers, Row};

/// Rows of pairs without special instructions.
#[derive(Clone, Copy)]
pub(super) struct Emulated(pub Lanes);

impl Row for Emulated {
    #[inline(always)]
    fn load<S: Simd, const V: usize>(&self, registers: Registers<S, V>) -> [S::f32s; V] {
        registers.load(&self.0)
    }

    #[inline(always)]
    fn mul_add<S: Simd, const V: usize>(
        &self,
        registers: Registers<S, V>,
        weight: S::f32s,
        value: S::f32s,
        sum: S::f32s,
    ) -> S::f32s {
        sum_of_pairs(registers, weight, value, sum)
    }
}

impl PairRow for Emulated {
    type Means = ();

    #[inline(always)]
    fn round(_: (), pixels: &[Lanes], rounded: &mut [Rounded]) {
        rounded.iter_mut().zip(pixels).for_each(|(to, pixel)| *to = rounded_pixel(*pixel));
    }
}
