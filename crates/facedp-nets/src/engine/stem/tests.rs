//! The gradient of rounded numbers against that in single precision: emulated on each kind of processor, and by the
//! instructions of this one if it has them.
#![allow(clippy::unwrap_used)]

use super::super::emulated::Emulated;
use super::super::registers::{dispatch, with_each_kind};
use super::*;

/// Numbers of 8 bits in -1..1, which rounding keeps.
fn numbers(count: usize, seed: usize) -> Vec<f32> {
    (0..count).map(|n| ((n * 7919 + seed * 104_729) % 255) as f32 / 128.0 - 127.0 / 128.0).collect()
}

/// Both gradients.
struct Both<'a> {
    stem: &'a Stem,
    upstream: &'a [Lanes],
    from: Shape,
    single: &'a mut Bordered,
    rounded: &'a mut Bordered,
}

impl Work for Both<'_> {
    #[inline(always)]
    fn run<S: Simd, const V: usize>(self, registers: Registers<S, V>) {
        let Self { stem, upstream, from, single, rounded } = self;
        let mut scratch = Scratch::default();
        scratch.memory.reserve(stem.scratch_len(from));
        stem.backward(registers, upstream, from, single, &mut scratch);
        let weights = paired(&stem.transposed, Emulated);
        let weights = ((), &weights[..]);
        stem.backward_rounded(registers, weights, upstream, from, rounded, &mut scratch);
    }
}

/// Zeros for a gradient.
fn zeros(from: Shape, window: Window) -> Bordered {
    let mut picture = Bordered::default();
    picture.prepare(from, window.padding);
    picture
}

/// Sums may be taken in another order.
fn assert_close(found: &Bordered, expected: &Bordered, what: &str) {
    let pixels = found.pixels().as_flattened().iter().zip(expected.pixels().as_flattened());
    for (found, expected) in pixels {
        assert!((found - expected).abs() < 1e-4, "{what}: {found}, not {expected}");
    }
}

/// The windows that have code of their own, and others.
#[test]
fn gradients_of_rounded_numbers_equal_others() {
    for (kernel, stride, padding) in [(3, 1, 1), (3, 2, 1), (7, 2, 3), (1, 1, 0), (4, 3, 2)] {
        for (outputs, height, width) in [(20, 9, 13), (33, 12, 61)] {
            let window = Window::new(kernel, stride, padding);
            let weights = numbers(outputs * COLOURS * kernel * kernel, 1);
            let stem = Stem::new(window, COLOURS, &weights, &vec![0.0; outputs]).unwrap();
            let from = Shape::new(COLOURS, height, width);
            let to = stem.shape(from);
            let all = numbers(to.lanes() * LANES, 2);
            let upstream = all.as_chunks().0;
            let what = format!("{window:?}, {outputs} outputs");
            let mut expected = zeros(from, window);
            with_each_kind(|| {
                expected = zeros(from, window);
                let mut rounded = zeros(from, window);
                dispatch(Both {
                    stem: &stem,
                    upstream,
                    from,
                    single: &mut expected,
                    rounded: &mut rounded,
                });
                assert!(expected.pixels().iter().any(|pixel| pixel[0].abs() > 0.5));
                assert_close(&rounded, &expected, &what);
            });
            let Some(instructions) = Bfloat::new() else { continue };
            let mut scratch = Scratch::default();
            scratch.memory.reserve(stem.scratch_len(from));
            let mut rounded = zeros(from, window);
            instructions.dispatch(RoundedStem {
                instructions,
                stem: &stem,
                upstream,
                from,
                picture: &mut rounded,
                scratch: &mut scratch,
            });
            assert_close(&rounded, &expected, &what);
        }
    }
}
