//! A pixel in the vector registers of the machine.

use pulp::Simd;

use super::dense::widened;
use super::lanes::{Halves, LANES, Lanes};

/// Operations on pixels that lie in `V` registers each.
#[derive(Clone, Copy)]
pub(super) struct Registers<S, const V: usize> {
    simd: S,
}

/// A row of 16 weights, as it lies in memory.
pub(super) trait Row: Copy {
    fn load<S: Simd, const V: usize>(&self, registers: Registers<S, V>) -> [S::f32s; V];

    /// A sum with the product of a part of the loaded row and what every lane of a pixel's value is.
    #[inline(always)]
    fn mul_add<S: Simd, const V: usize>(
        &self,
        registers: Registers<S, V>,
        weight: S::f32s,
        value: S::f32s,
        sum: S::f32s,
    ) -> S::f32s {
        registers.mul_add(weight, value, sum)
    }
}

impl Row for Lanes {
    #[inline(always)]
    fn load<S: Simd, const V: usize>(&self, registers: Registers<S, V>) -> [S::f32s; V] {
        registers.load(self)
    }
}

impl Row for Halves {
    #[inline(always)]
    fn load<S: Simd, const V: usize>(&self, registers: Registers<S, V>) -> [S::f32s; V] {
        registers.load_halves(self)
    }
}

/// Whether [`Registers::load_halves`] takes one instruction on this processor.
pub(super) fn halves_are_fast() -> bool {
    #[cfg(target_arch = "x86_64")]
    return pulp::x86::V4::try_new().is_some();
    #[cfg(not(target_arch = "x86_64"))]
    false
}

/// Work that is compiled for the registers of each kind of processor. Whatever it calls must be
/// `inline(always)`: other functions are compiled for the oldest processors.
pub(super) trait Work {
    fn run<S: Simd, const V: usize>(self, registers: Registers<S, V>);
}

/// Runs it with the widest registers that this processor has.
pub(super) fn dispatch(work: impl Work) {
    #[cfg(test)]
    if let Some(kind) = KIND.get() {
        return kind.dispatch(Dispatched(work));
    }
    pulp::Arch::new().dispatch(Dispatched(work));
}

/// Whether work may use the best that this processor has: tests ask for less.
pub(super) fn is_widest() -> bool {
    #[cfg(test)]
    return KIND.get().is_none();
    #[cfg(not(test))]
    true
}

#[cfg(test)]
thread_local! {
    static KIND: std::cell::Cell<Option<pulp::Arch>> = const { std::cell::Cell::new(None) };
}

/// Calls it once for each kind of registers that this processor has.
#[cfg(test)]
pub(super) fn with_each_kind(mut work: impl FnMut()) {
    let mut kinds = vec![pulp::Arch::Scalar, pulp::Arch::new()];
    #[cfg(target_arch = "x86_64")]
    kinds.extend(pulp::x86::V3::try_new().map(pulp::Arch::V3));
    for kind in kinds {
        KIND.set(Some(kind));
        work();
    }
    KIND.set(None);
}

struct Dispatched<W>(W);

impl<W: Work> pulp::WithSimd for Dispatched<W> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        match S::F32_LANES {
            16 => self.0.run(Registers::<S, 1> { simd }),
            8 => self.0.run(Registers::<S, 2> { simd }),
            4 => self.0.run(Registers::<S, 4> { simd }),
            _ => self.0.run(Registers::<S, LANES> { simd }),
        }
    }
}

impl<S: Simd, const V: usize> Registers<S, V> {
    #[inline(always)]
    pub(super) fn new(simd: S) -> Self {
        Self { simd }
    }

    #[inline(always)]
    pub(super) fn splat(self, value: f32) -> S::f32s {
        self.simd.splat_f32s(value)
    }

    #[inline(always)]
    pub(super) fn zero(self) -> [S::f32s; V] {
        [self.splat(0.0); V]
    }

    #[inline(always)]
    pub(super) fn load(self, pixel: &Lanes) -> [S::f32s; V] {
        let (vectors, _) = S::as_simd_f32s(pixel);
        let mut loaded = self.zero();
        for v in 0..V {
            loaded[v] = vectors[v];
        }
        loaded
    }

    /// Finite numbers in half precision, exactly. One instruction where registers have 16 lanes.
    #[inline(always)]
    pub(super) fn load_halves(self, pixel: &Halves) -> [S::f32s; V] {
        #[cfg(target_arch = "x86_64")]
        if let Some(simd) = (&self.simd as &dyn std::any::Any).downcast_ref::<pulp::x86::V4>() {
            let halves = pulp::cast(pixel.map(half::f16::to_bits));
            return self.load(&pulp::cast(simd.avx512f._mm512_cvtph_ps(halves)));
        }
        self.load(&pixel.map(widened))
    }

    #[inline(always)]
    pub(super) fn store(self, values: [S::f32s; V], pixel: &mut Lanes) {
        let (vectors, _) = S::as_mut_simd_f32s(pixel);
        vectors[..V].copy_from_slice(&values);
    }

    /// `a * b + c`.
    #[inline(always)]
    pub(super) fn mul_add(self, a: S::f32s, b: S::f32s, c: S::f32s) -> S::f32s {
        self.simd.mul_add_e_f32s(a, b, c)
    }

    /// `a * b + c` of whole pixels.
    #[inline(always)]
    pub(super) fn mul_adds(
        self,
        a: [S::f32s; V],
        b: [S::f32s; V],
        c: [S::f32s; V],
    ) -> [S::f32s; V] {
        let mut sum = c;
        for v in 0..V {
            sum[v] = self.mul_add(a[v], b[v], c[v]);
        }
        sum
    }

    #[inline(always)]
    pub(super) fn add(self, a: [S::f32s; V], b: [S::f32s; V]) -> [S::f32s; V] {
        let mut sum = a;
        for v in 0..V {
            sum[v] = self.simd.add_f32s(a[v], b[v]);
        }
        sum
    }

    /// The larger one of each two values.
    #[inline(always)]
    pub(super) fn max(self, a: [S::f32s; V], b: [S::f32s; V]) -> [S::f32s; V] {
        let mut larger = a;
        for v in 0..V {
            let is_larger = self.simd.greater_than_f32s(a[v], b[v]);
            larger[v] = self.simd.select_f32s(is_larger, a[v], b[v]);
        }
        larger
    }

    /// `x` where `a` and `b` are equal, else 0.
    #[inline(always)]
    pub(super) fn where_equal(
        self,
        a: [S::f32s; V],
        b: [S::f32s; V],
        x: [S::f32s; V],
    ) -> [S::f32s; V] {
        let mut chosen = x;
        for v in 0..V {
            let equal = self.simd.equal_f32s(a[v], b[v]);
            chosen[v] = self.simd.select_f32s(equal, x[v], self.splat(0.0));
        }
        chosen
    }

    #[inline(always)]
    pub(super) fn muls(self, a: [S::f32s; V], b: [S::f32s; V]) -> [S::f32s; V] {
        let mut product = a;
        for v in 0..V {
            product[v] = self.mul(a[v], b[v]);
        }
        product
    }

    #[inline(always)]
    pub(super) fn sub(self, a: [S::f32s; V], b: [S::f32s; V]) -> [S::f32s; V] {
        let mut difference = a;
        for v in 0..V {
            difference[v] = self.simd.sub_f32s(a[v], b[v]);
        }
        difference
    }

    /// The lower and the upper halves of all lanes, as numbers in bfloat16.
    #[inline(always)]
    pub(super) fn unpaired(self, pairs: S::f32s) -> [S::f32s; 2] {
        let simd = self.simd;
        let bits = simd.transmute_u32s_f32s(pairs);
        let upper = simd.and_u32s(bits, simd.splat_u32s(0xffff_0000));
        let lower = simd.wrapping_dyn_shl_u32s(bits, simd.splat_u32s(16));
        [lower, upper].map(|bits| simd.transmute_f32s_u32s(bits))
    }

    /// `x` times 1 where the lowest bit of `value` is 1, else times `slope`.
    #[inline(always)]
    pub(super) fn undo_marked(self, x: S::f32s, value: S::f32s, slope: S::f32s) -> S::f32s {
        let simd = self.simd;
        let one = simd.splat_u32s(1);
        let passed = simd.equal_u32s(simd.and_u32s(simd.transmute_u32s_f32s(value), one), one);
        simd.select_f32s(passed, x, simd.mul_f32s(x, slope))
    }

    #[inline(always)]
    pub(super) fn mul(self, a: S::f32s, b: S::f32s) -> S::f32s {
        self.simd.mul_f32s(a, b)
    }

    /// `x` between 0 and `cap`.
    #[inline(always)]
    pub(super) fn clip(self, x: S::f32s, cap: f32) -> S::f32s {
        let simd = self.simd;
        simd.min_f32s(simd.max_f32s(x, self.splat(0.0)), self.splat(cap))
    }

    /// `x` where `0 < value < cap`, else 0.
    #[inline(always)]
    pub(super) fn undo_clip(self, x: S::f32s, value: S::f32s, cap: f32) -> S::f32s {
        let (simd, zero) = (self.simd, self.splat(0.0));
        let passed = simd.greater_than_f32s(value, zero);
        let passed = simd.and_m32s(passed, simd.less_than_f32s(value, self.splat(cap)));
        simd.select_f32s(passed, x, zero)
    }

    /// `x` where positive, else `slope * x`. The lowest bit is 1 where `x` is positive.
    #[inline(always)]
    pub(super) fn marked(self, x: S::f32s, slope: S::f32s) -> S::f32s {
        let simd = self.simd;
        let passed = simd.greater_than_f32s(x, self.splat(0.0));
        let value = simd.select_f32s(passed, x, simd.mul_f32s(slope, x));
        let (zero, one) = (simd.splat_u32s(0), simd.splat_u32s(1));
        let even = simd.and_u32s(simd.transmute_u32s_f32s(value), simd.not_u32s(one));
        let mark = simd.select_u32s(passed, one, zero);
        simd.transmute_f32s_u32s(simd.or_u32s(even, mark))
    }
}
