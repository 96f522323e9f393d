//! Sums of products of pixels with matrices: what all dense convolutions consist of.

use std::ops::Range;

use pulp::Simd;

use super::lanes::{LANES, Lanes};
use super::registers::{Registers, Row};

/// For each place and each group of results, a sum over terms: the `I` values from the pixel at the place's base plus
/// the term's offset on, times the term's matrix of `I x 16` weights. A pixel has `N` values.
pub(super) struct Products<'a, const I: usize, const N: usize, W = Lanes> {
    pub pixels: &'a [[f32; N]],
    pub terms: &'a [Term],
    /// Matrices of `I` rows.
    pub weights: &'a [W],
    /// Rows of weights from one group of results to the next.
    pub pitch: usize,
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
    /// Pixels from one place to the next.
    const STRIDE: usize;
    /// Whether sums of neighbours are neighbours in the result.
    const IN_ORDER: bool;
    fn count(self) -> usize;
    /// The position of a sum in the result.
    fn target(self, n: usize) -> usize;
}

/// Places along a line, every `T`th pixel. Sums follow each other from `target` on.
#[derive(Clone, Copy)]
pub(super) struct Along<const T: usize> {
    pub count: usize,
    pub target: usize,
}

/// As many places as there are pixels, in the same order.
pub(super) fn in_order(count: usize) -> Along<1> {
    Along { count, target: 0 }
}

impl<const T: usize> Places for Along<T> {
    const STRIDE: usize = T;
    const IN_ORDER: bool = true;
    #[inline(always)]
    fn count(self) -> usize {
        self.count
    }
    #[inline(always)]
    fn target(self, n: usize) -> usize {
        self.target + n
    }
}

/// Pixels were copied side by side: see [`gather`]. Targets come from a table.
impl Places for &[Place] {
    const STRIDE: usize = 1;
    const IN_ORDER: bool = false;
    #[inline(always)]
    fn count(self) -> usize {
        self.len()
    }
    #[inline(always)]
    fn target(self, n: usize) -> usize {
        self[n].target as usize
    }
}

/// Copies the pixels that some places need, term by term, and sets up terms that find them there: from side by
/// side, one address does for all.
#[inline(always)]
pub(super) fn gather<T: Copy>(
    pixels: &[T],
    terms: &[Term],
    places: &[Place],
    gathered: &mut [T],
    gathered_terms: &mut Vec<Term>,
) {
    debug_assert!(gathered.len() >= terms.len() * places.len(), "too little memory");
    gathered_terms.clear();
    for (n, (term, line)) in terms.iter().zip(gathered.chunks_exact_mut(places.len())).enumerate() {
        let pixels = &pixels[term.offset as usize..];
        for (to, place) in line.iter_mut().zip(places) {
            *to = pixels[place.base as usize];
        }
        let offset = (n * places.len()) as u32;
        gathered_terms.push(Term { offset, matrix: term.matrix });
    }
}

/// Takes sums.
pub(super) trait Sink<S: Simd, const V: usize> {
    fn put(&mut self, registers: Registers<S, V>, target: usize, sum: [S::f32s; V]);

    /// Takes the sums of neighbouring pixels. Decides what to do with them once for all.
    fn put_all<const P: usize>(
        &mut self,
        registers: Registers<S, V>,
        target: usize,
        sums: [[S::f32s; V]; P],
    );
}

/// Puts sums from the one at `skipped` on, the first of which belongs to `target`.
#[inline(always)]
pub(super) fn put_rest<S: Simd, const V: usize, const P: usize>(
    registers: Registers<S, V>,
    (target, skipped): (usize, usize),
    sums: [[S::f32s; V]; P],
    sink: &mut impl Sink<S, V>,
) {
    if skipped == 0 {
        return sink.put_all(registers, target, sums);
    }
    // Stored first, in a loop that is unrolled: else the compiler would keep sums in memory all the time.
    let mut stored = [[0.0; LANES]; P];
    for p in 0..P {
        registers.store(sums[p], &mut stored[p]);
    }
    for p in skipped..P {
        sink.put(registers, target + p - skipped, registers.load(&stored[p]));
    }
}

/// Where the sums of each group of channels go.
pub(super) trait Sinks<S: Simd, const V: usize> {
    type Of<'a>: Sink<S, V>
    where
        Self: 'a;

    /// Of `G` groups from `n` on, which have `area` pixels each.
    fn groups<const G: usize>(&mut self, n: usize, area: usize) -> [Self::Of<'_>; G];
}

/// Groups of results that are computed together, if there are enough registers: a pixel is loaded once for both.
/// At most 2: see `tile`.
pub(super) const TOGETHER: usize = 2;

impl<const I: usize, const N: usize, W: Row> Products<'_, I, N, W> {
    /// Computes all sums of some groups of results, of `area` pixels each. As many at once as fit into the registers, so
    /// that a weight is loaded once for all of them.
    #[inline(always)]
    pub(super) fn run<S: Simd, const V: usize>(
        &self,
        registers: Registers<S, V>,
        groups: Range<usize>,
        area: usize,
        places: impl Places,
        sinks: &mut impl Sinks<S, V>,
    ) {
        let mut n = groups.start;
        while n < groups.end {
            let left = groups.end - n;
            match V {
                1 if left >= TOGETHER && places.count() == 9 => {
                    let sinks = &mut sinks.groups::<TOGETHER>(n, area);
                    self.run_by::<S, V, 9, 9, 9, TOGETHER>(registers, n, places, sinks);
                    n += TOGETHER;
                    continue;
                }
                1 if left >= TOGETHER && (8..=16).contains(&places.count()) => {
                    let sinks = &mut sinks.groups::<TOGETHER>(n, area);
                    self.run_by::<S, V, 8, 8, 8, TOGETHER>(registers, n, places, sinks);
                    n += TOGETHER;
                    continue;
                }
                1 if left >= TOGETHER => {
                    let sinks = &mut sinks.groups::<TOGETHER>(n, area);
                    self.run_by::<S, V, 14, 7, 4, TOGETHER>(registers, n, places, sinks);
                    n += TOGETHER;
                    continue;
                }
                1 => {
                    let sinks = &mut sinks.groups::<1>(n, area);
                    self.run_by::<S, V, 14, 7, 4, 1>(registers, n, places, sinks);
                }
                2 | 4 => {
                    let sinks = &mut sinks.groups::<1>(n, area);
                    self.run_by::<S, V, 6, 3, 1, 1>(registers, n, places, sinks);
                }
                _ => {
                    let sinks = &mut sinks.groups::<1>(n, area);
                    self.run_by::<S, V, 1, 1, 1, 1>(registers, n, places, sinks);
                }
            }
            n += 1;
        }
    }

    /// `G` groups from `group` on. `P` sums of each at once; of fewer `Q`, which is half of it, or `R`.
    #[inline(always)]
    fn run_by<
        S: Simd,
        const V: usize,
        const P: usize,
        const Q: usize,
        const R: usize,
        const G: usize,
    >(
        &self,
        registers: Registers<S, V>,
        group: usize,
        places: impl Places,
        sinks: &mut [impl Sink<S, V>; G],
    ) {
        let count = places.count();
        let mut n = 0;
        while n < count {
            let left = count - n;
            if count >= P && left > Q {
                self.tile::<S, V, P, G, _>(registers, group, n, places, sinks);
                n += P;
            } else if count >= Q {
                self.tile::<S, V, Q, G, _>(registers, group, n, places, sinks);
                n += Q;
            } else if count >= R {
                self.tile::<S, V, R, G, _>(registers, group, n, places, sinks);
                n += R;
            } else {
                self.tile::<S, V, 1, G, _>(registers, group, n, places, sinks);
                n += 1;
            }
        }
    }

    /// Sums from `first` on. Where less than `P` are left, earlier ones are computed once more, but not put.
    #[inline(always)]
    fn tile<S: Simd, const V: usize, const P: usize, const G: usize, L: Places>(
        &self,
        registers: Registers<S, V>,
        group: usize,
        first: usize,
        places: L,
        sinks: &mut [impl Sink<S, V>; G],
    ) {
        let start = first.min(places.count() - P);
        let mut sums = [[registers.zero(); P]; G];
        let mut matrices = [&[][..]; G];
        for g in 0..G {
            matrices[g] = self.weights[(group + g) * self.pitch..].as_chunks::<I>().0;
        }
        let flat = self.pixels.as_flattened();
        for term in self.terms {
            let mut weights = [&matrices[0][term.matrix as usize]; G];
            for g in 1..G {
                weights[g] = &matrices[g][term.matrix as usize];
            }
            // One check of bounds for all.
            let at = N * (L::STRIDE * start + term.offset as usize);
            let run = &flat[at..at + N * L::STRIDE * (P - 1) + I];
            let mut pixels = [&[0.0; I]; P];
            for p in 0..P {
                pixels[p] = run[N * L::STRIDE * p..].first_chunk().unwrap_or(&[0.0; I]);
            }
            for i in 0..I {
                let mut weight = [registers.zero(); G];
                for g in 0..G {
                    weight[g] = weights[g][i].load(registers);
                }
                for p in 0..P {
                    let value = registers.splat(pixels[p][i]);
                    for g in 0..G {
                        for v in 0..V {
                            let row = &weights[g][i];
                            let sum = sums[g][p][v];
                            sums[g][p][v] = row.mul_add(registers, weight[g][v], value, sum);
                        }
                    }
                }
            }
        }
        // Not a loop: it would not be unrolled, and the compiler would keep the sums in memory all the time.
        let at = (start, first);
        put_at(registers, places, at, sums[0], &mut sinks[0]);
        if G > 1 {
            put_at(registers, places, at, sums[G - 1], &mut sinks[G - 1]);
        }
    }
}

/// Puts the sums of places from `start` on, without those before `first`.
#[inline(always)]
fn put_at<S: Simd, const V: usize, const P: usize, L: Places>(
    registers: Registers<S, V>,
    places: L,
    (start, first): (usize, usize),
    sums: [[S::f32s; V]; P],
    sink: &mut impl Sink<S, V>,
) {
    if L::IN_ORDER {
        return put_rest(registers, (places.target(first), first - start), sums, sink);
    }
    let mut stored = [[0.0; LANES]; P];
    for p in 0..P {
        registers.store(sums[p], &mut stored[p]);
    }
    for p in first - start..P {
        sink.put(registers, places.target(start + p), registers.load(&stored[p]));
    }
}
