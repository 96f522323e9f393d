//! Products of numbers in bfloat16, the upper halves of numbers in single precision: one instruction adds two products
//! to each of 16 sums. They cost half the time and half the memory of single precision. Rounding to 8 bits moves a
//! gradient by less than a hundredth where only the way back is rounded, and by about an eighth where the forward run is,
//! too, as in jittered networks: far less than another draw of their factors does (docs/measurements/networks.md).
//!
//! The only module with `unsafe`: neither `std` nor pulp has these instructions without it.
#![allow(unsafe_code)]

use pulp::Simd;

use super::lanes::{LANES, Lanes};
use super::registers::{Registers, Row, Work};

/// Pairs of neighbouring channels in a pixel.
pub(super) const PAIRS: usize = LANES / 2;

/// A rounded pixel. A pair lies in the bits of one number, its first channel in the lower half: memory is for `f32`.
pub(super) type Rounded = [f32; PAIRS];

/// The instructions of this processor: to have one is proof that there are any.
#[derive(Debug, Clone, Copy)]
pub(super) struct Bfloat {
    #[cfg(target_arch = "x86_64")]
    simd: pulp::x86::V4,
    #[cfg(not(target_arch = "x86_64"))]
    never: std::convert::Infallible,
}

impl Bfloat {
    /// `None` on processors without them.
    pub(super) fn new() -> Option<Self> {
        #[cfg(target_arch = "x86_64")]
        if is_x86_feature_detected!("avx512bf16") {
            return pulp::x86::V4::try_new().map(|simd| Self { simd });
        }
        None
    }

    /// Two pixels.
    #[inline(always)]
    fn rounded(self, [a, b]: &[Lanes; 2]) -> [Rounded; 2] {
        #[cfg(target_arch = "x86_64")]
        {
            use std::arch::x86_64::{__m512bh, _mm512_cvtne2ps_pbh};
            let [lower, upper] = [pulp::cast(*a), pulp::cast(*b)];
            // SAFETY: `self` is proof of the instruction. Both types have 64 bytes, any of which are valid.
            unsafe {
                let both = _mm512_cvtne2ps_pbh(upper, lower);
                std::mem::transmute::<__m512bh, [Rounded; 2]>(both)
            }
        }
        #[cfg(not(target_arch = "x86_64"))]
        match (self.never, a, b).0 {}
    }

    /// Runs it, compiled for these instructions.
    pub(super) fn dispatch(self, work: impl Work) {
        #[cfg(target_arch = "x86_64")]
        // SAFETY: `Bfloat::new` found AVX512-BF16, and `V4` is proof of the other features.
        unsafe {
            run(work, self.simd)
        }
        #[cfg(not(target_arch = "x86_64"))]
        match (self.never, work).0 {}
    }
}

/// All features of `V4` and one more: what is inlined may have no others.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f,avx512bw,avx512cd,avx512dq,avx512vl,avx512bf16")]
#[target_feature(enable = "avx2,bmi1,bmi2,fma,fxsr,lzcnt,popcnt")]
fn run(work: impl Work, simd: pulp::x86::V4) {
    work.run(Registers::<_, 1>::new(simd));
}

/// Rows of weights that are multiplied with rounded pixels.
pub(super) trait PairRow: Row {
    /// What rounding takes.
    type Means: Copy;

    /// Rounds as many pixels.
    fn round(means: Self::Means, pixels: &[Lanes], rounded: &mut [Rounded]);
}

/// For a pair of inputs, the weights to 16 outputs: pairs in the lanes.
#[derive(Debug, Clone, Copy)]
pub(super) struct Pairs(Lanes);

impl Pairs {
    /// Only where there are the instructions to multiply it.
    pub(super) fn new(_: Bfloat, pairs: Lanes) -> Self {
        Self(pairs)
    }
}

impl Row for Pairs {
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
        #[cfg(target_arch = "x86_64")]
        if let (Some(weight), Some(value), Some(sum)) = (wide(&weight), wide(&value), wide(&sum)) {
            use std::arch::x86_64::{__m512bh, _mm512_dpbf16_ps};
            use std::mem::transmute;
            // SAFETY: `self` was made from a `Bfloat`. Both types have 64 bytes, any of which are valid.
            let sum: pulp::f32x16 = pulp::cast(unsafe {
                let weight = transmute::<pulp::f32x16, __m512bh>(weight);
                let value = transmute::<pulp::f32x16, __m512bh>(value);
                _mm512_dpbf16_ps(pulp::cast(sum), weight, value)
            });
            let sum: &dyn std::any::Any = &sum;
            if let Some(sum) = sum.downcast_ref() {
                return *sum;
            }
        }
        sum_of_pairs(registers, weight, value, sum)
    }
}

impl PairRow for Pairs {
    type Means = Bfloat;

    #[inline(always)]
    fn round(means: Bfloat, pixels: &[Lanes], rounded: &mut [Rounded]) {
        let (pixels, last) = pixels.as_chunks::<2>();
        let (two, one) = rounded.as_chunks_mut::<2>();
        two.iter_mut().zip(pixels).for_each(|(to, pixels)| *to = means.rounded(pixels));
        one.iter_mut().zip(last).for_each(|(to, pixel)| *to = rounded_pixel(*pixel));
    }
}

/// A register of 16 lanes, if it is one.
#[cfg(target_arch = "x86_64")]
#[inline(always)]
fn wide<T: 'static>(register: &T) -> Option<pulp::f32x16> {
    (register as &dyn std::any::Any).downcast_ref().copied()
}

/// The bits of the nearest bfloat16 in the upper half, of numbers with the same distance to two of them the even one. The
/// number must be finite.
#[inline(always)]
fn rounded(number: f32) -> u32 {
    let bits = number.to_bits();
    bits.wrapping_add(0x7fff + (bits >> 16 & 1)) & 0xffff_0000
}

/// Two numbers as a pair.
#[inline(always)]
fn pair(first: f32, second: f32) -> f32 {
    f32::from_bits(rounded(first) >> 16 | rounded(second))
}

/// Two rows in one, and their weights in pairs.
pub(super) fn paired<W>(rows: &[Lanes], row: impl Fn(Lanes) -> W) -> Vec<W> {
    let pairs = rows.as_chunks::<2>().0.iter();
    pairs.map(|[a, b]| row(std::array::from_fn(|n| pair(a[n], b[n])))).collect()
}

/// Whole pixels without special instructions.
#[inline(always)]
pub(super) fn rounded_pixel(pixel: Lanes) -> Rounded {
    std::array::from_fn(|n| pair(pixel[2 * n], pixel[2 * n + 1]))
}

/// The sum with both products, in single precision: what other processors would have to do.
#[inline(always)]
pub(super) fn sum_of_pairs<S: Simd, const V: usize>(
    registers: Registers<S, V>,
    weight: S::f32s,
    value: S::f32s,
    sum: S::f32s,
) -> S::f32s {
    let ([a, b], [c, d]) = (registers.unpaired(weight), registers.unpaired(value));
    registers.mul_add(a, c, registers.mul_add(b, d, sum))
}
