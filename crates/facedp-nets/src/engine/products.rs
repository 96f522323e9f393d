//! Sums of products of pixels with matrices: what all dense convolutions consist of.

use pulp::Simd;

use super::lanes::Lanes;
use super::registers::Registers;

/// For each place, a sum over terms: the `I` values from the pixel at the place's base plus the term's offset on, times
/// the term's matrix of `I x 16` weights. A pixel has `N` values.
pub(super) struct Products<'a, const I: usize, const N: usize> {
    pub pixels: &'a [[f32; N]],
    pub terms: &'a [Term],
    /// Matrices of `I` rows.
    pub weights: &'a [Lanes],
}

#[derive(Debug, Clone, Copy)]
pub(super) struct Term {
    /// The position of its pixel, counted from the base.
    pub offset: u32,
    /// The number of its matrix.
    pub matrix: u32,
}

/// A base, and the position of its sum in the result.
#[derive(Debug, Clone, Copy)]
pub(super) struct Place {
    pub base: u32,
    pub target: u32,
}

/// Where sums come from and go to.
pub(super) trait Places: Copy {
    /// Pixels from one place to the next, if that is the same for all.
    const STRIDE: Option<usize>;
    fn count(self) -> usize;
    /// The position of the first pixel of a sum.
    fn base(self, n: usize) -> usize;
    /// The position of a sum in the result.
    fn target(self, n: usize) -> usize;
}

/// As many places as there are pixels, in the same order.
#[derive(Clone, Copy)]
pub(super) struct InOrder(pub usize);

impl Places for InOrder {
    const STRIDE: Option<usize> = Some(1);
    #[inline(always)]
    fn count(self) -> usize {
        self.0
    }
    #[inline(always)]
    fn base(self, n: usize) -> usize {
        n
    }
    #[inline(always)]
    fn target(self, n: usize) -> usize {
        n
    }
}

/// Places along a line, every `T`th pixel.
#[derive(Clone, Copy)]
pub(super) struct Along<const T: usize>(pub usize);

impl<const T: usize> Places for Along<T> {
    const STRIDE: Option<usize> = Some(T);
    #[inline(always)]
    fn count(self) -> usize {
        self.0
    }
    #[inline(always)]
    fn base(self, n: usize) -> usize {
        T * n
    }
    #[inline(always)]
    fn target(self, n: usize) -> usize {
        n
    }
}

/// Bases and targets from a table.
impl Places for &[Place] {
    const STRIDE: Option<usize> = None;
    #[inline(always)]
    fn count(self) -> usize {
        self.len()
    }
    #[inline(always)]
    fn base(self, n: usize) -> usize {
        self[n].base as usize
    }
    #[inline(always)]
    fn target(self, n: usize) -> usize {
        self[n].target as usize
    }
}

/// Takes sums one pixel after the other.
pub(super) trait Sink<S: Simd, const V: usize> {
    fn put(&mut self, registers: Registers<S, V>, target: usize, sum: [S::f32s; V]);

    /// Whether a sum may be put twice.
    fn repeats(&self) -> bool;
}

/// Where the sums of each group of channels go.
pub(super) trait Sinks<S: Simd, const V: usize> {
    type Of<'a>: Sink<S, V>
    where
        Self: 'a;

    /// Of group `n`, which has `area` pixels.
    fn group(&mut self, n: usize, area: usize) -> Self::Of<'_>;
}

impl<const I: usize, const N: usize> Products<'_, I, N> {
    /// Computes all sums. As many at once as fit into the registers, so that a weight is loaded once for all
    /// of them.
    #[inline(always)]
    pub(super) fn run<S: Simd, const V: usize>(
        &self,
        registers: Registers<S, V>,
        places: impl Places,
        sink: &mut impl Sink<S, V>,
    ) {
        match V {
            1 => self.run_by::<S, V, 12, 6>(registers, places, sink),
            2 | 4 => self.run_by::<S, V, 6, 3>(registers, places, sink),
            _ => self.run_by::<S, V, 1, 1>(registers, places, sink),
        }
    }

    /// `P` sums at once; of the last ones `Q`, which is half of it.
    #[inline(always)]
    fn run_by<S: Simd, const V: usize, const P: usize, const Q: usize>(
        &self,
        registers: Registers<S, V>,
        places: impl Places,
        sink: &mut impl Sink<S, V>,
    ) {
        let count = places.count();
        let mut n = 0;
        while n < count {
            if n + P > count {
                if count < P || !sink.repeats() {
                    if n + Q <= count {
                        self.tile::<S, V, Q, _>(registers, n, places, sink);
                        n += Q;
                        continue;
                    }
                    self.tile::<S, V, 1, _>(registers, n, places, sink);
                    n += 1;
                    continue;
                }
                n = count - P;
            }
            self.tile::<S, V, P, _>(registers, n, places, sink);
            n += P;
        }
    }

    /// Sums from `first` on.
    #[inline(always)]
    fn tile<S: Simd, const V: usize, const P: usize, L: Places>(
        &self,
        registers: Registers<S, V>,
        first: usize,
        places: L,
        sink: &mut impl Sink<S, V>,
    ) {
        let mut bases = [0; P];
        for p in 0..P {
            bases[p] = places.base(first + p);
        }
        let mut sums = [registers.zero(); P];
        let matrices = self.weights.as_chunks::<I>().0;
        for term in self.terms {
            let weights = &matrices[term.matrix as usize];
            let mut pixels = [&[0.0; I]; P];
            let flat = self.pixels.as_flattened();
            if let Some(stride) = L::STRIDE {
                // One check of bounds for all.
                let start = N * (bases[0] + term.offset as usize);
                let run = &flat[start..start + N * stride * (P - 1) + I];
                for p in 0..P {
                    pixels[p] = run[N * stride * p..].first_chunk().unwrap_or(&[0.0; I]);
                }
            } else {
                for p in 0..P {
                    let start = N * (bases[p] + term.offset as usize);
                    pixels[p] = flat[start..].first_chunk().unwrap_or(&[0.0; I]);
                }
            }
            for i in 0..I {
                let weight = registers.load(&weights[i]);
                for p in 0..P {
                    let value = registers.splat(pixels[p][i]);
                    for v in 0..V {
                        sums[p][v] = registers.mul_add(weight[v], value, sums[p][v]);
                    }
                }
            }
        }
        for p in 0..P {
            sink.put(registers, places.target(first + p), sums[p]);
        }
    }
}
