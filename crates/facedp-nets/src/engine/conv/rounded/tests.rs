//! Convolutions of rounded numbers against plain loops: emulated on each kind of processor, and by the instructions of
//! this one if it has them.
#![allow(clippy::unwrap_used)]

use half::bf16;

use super::super::super::Window;
use super::super::super::emulated::Emulated;
use super::super::super::lanes::LANES;
use super::super::super::registers::{dispatch, with_each_kind};
use super::*;

/// Numbers in -1..1 that repeat exactly.
fn numbers(count: usize, seed: usize) -> Vec<f32> {
    (0..count).map(|n| ((n * 7919 + seed * 104_729) % 2003) as f32 / 1001.5 - 1.0).collect()
}

/// A convolution and its gradient.
struct Both<'a> {
    conv: &'a Conv,
    input: (&'a [Lanes], Shape),
    upstream: &'a [Lanes],
    output: &'a mut [Lanes],
    gradient: &'a mut [Lanes],
}

impl Work for Both<'_> {
    #[inline(always)]
    fn run<S: Simd, const V: usize>(self, registers: Registers<S, V>) {
        let Self { conv, input, upstream, output, gradient } = self;
        let mut scratch = Scratch::default();
        scratch.memory.reserve(conv.scratch_len(input.1));
        let weights = conv.pairs_forward(Emulated);
        let (epilogue, output) =
            (Epilogue { activation: None, factors: &[] }, Part { first: 0, values: output });
        let scratch = &mut scratch;
        conv.forward_rounded(registers, ((), &weights[..]), input, epilogue, output, scratch);
        let weights = conv.pairs_backward(Emulated);
        let target = Target { first: true, start: 0, values: gradient, undo: None };
        conv.backward_rounded(registers, ((), &weights[..]), upstream, input.1, target, scratch);
    }
}

/// Sums of products of rounded numbers, forward and backward, in plain loops.
fn in_plain_loops(
    window: Window,
    (weights, outputs): (&[f32], usize),
    (input, from): (&[Lanes], Shape),
    (upstream, to): (&[Lanes], Shape),
) -> (Vec<[f64; 16]>, Vec<[f64; 16]>) {
    let rounded = |number: f32| bf16::from_f32(number).to_f64();
    let area = window.kernel * window.kernel;
    let mut output = vec![[0.0; 16]; to.lanes()];
    let mut gradient = vec![[0.0; 16]; from.lanes()];
    for (y, x) in (0..to.height).flat_map(|y| (0..to.width).map(move |x| (y, x))) {
        for tap in 0..area {
            let at = |n: usize, tap: usize| (n * window.stride + tap).checked_sub(window.padding);
            let line = at(y, tap / window.kernel).filter(|&y| y < from.height);
            let column = at(x, tap % window.kernel).filter(|&x| x < from.width);
            let Some((line, column)) = line.zip(column) else { continue };
            for (o, i) in (0..outputs).flat_map(|o| (0..from.channels).map(move |i| (o, i))) {
                let weight = rounded(weights[(o * from.channels + i) * area + tap]);
                let there = o / 16 * to.area() + y * to.width + x;
                let here = i / 16 * from.area() + line * from.width + column;
                output[there][o % 16] += weight * rounded(input[here][i % 16]);
                gradient[here][i % 16] += weight * rounded(upstream[there][o % 16]);
            }
        }
    }
    (output, gradient)
}

/// Within what single precision loses in sums of a few hundred products.
fn assert_close(found: &[Lanes], expected: &[[f64; 16]], what: &str) {
    for (found, expected) in found.as_flattened().iter().zip(expected.as_flattened()) {
        assert!((f64::from(*found) - expected).abs() < 1e-4, "{what}: {found}, not {expected}");
    }
}

/// As many channels as windows are transformed for, and more; pictures of less and of more than one block, and one that
/// needs more memory rounded than for transformed windows.
#[test]
fn products_of_rounded_numbers_equal_plain_loops() {
    let windows = [(1, 1, 0), (3, 1, 1), (3, 2, 0), (2, 1, 0), (4, 3, 2)];
    let small = windows.map(|window| [(window, (35, 20, 9, 13)), (window, (70, 33, 4, 4))]);
    let large = ((3, 1, 1), (64, 64, 44, 44));
    for (window, (inputs, outputs, height, width)) in small.into_iter().flatten().chain([large]) {
        let (kernel, stride, padding) = window;
        let window = Window::new(kernel, stride, padding);
        let weights = numbers(outputs * inputs * kernel * kernel, 1);
        let conv = Conv::new(window, inputs, &weights, &vec![0.0; outputs]).unwrap();
        let from = Shape::new(inputs, height, width);
        let to = conv.shape(from);
        let tensor = |shape: Shape, seed| {
            let mut all = numbers(shape.lanes() * LANES, seed).as_chunks().0.to_vec();
            for pixel in &mut all[shape.channels / LANES * shape.area()..] {
                pixel[shape.channels % LANES..].fill(0.0);
            }
            all
        };
        let (input, upstream) = (tensor(from, 2), tensor(to, 3));
        let expected = in_plain_loops(window, (&weights, outputs), (&input, from), (&upstream, to));
        let mut output = vec![[0.0; LANES]; to.lanes()];
        let mut gradient = vec![[0.0; LANES]; from.lanes()];
        let what = format!("{window:?}, {inputs} to {outputs}");
        with_each_kind(|| {
            dispatch(Both {
                conv: &conv,
                input: (&input, from),
                upstream: &upstream,
                output: &mut output,
                gradient: &mut gradient,
            });
            assert_close(&output, &expected.0, &what);
            assert_close(&gradient, &expected.1, &what);
        });
        let Some(instructions) = Bfloat::new() else { continue };
        let mut scratch = Scratch::default();
        scratch.memory.reserve(conv.scratch_len(from));
        output.fill([0.0; LANES]);
        gradient.fill([0.0; LANES]);
        instructions.dispatch(RoundedForward {
            instructions,
            conv: &conv,
            input: (&input, from),
            epilogue: Epilogue { activation: None, factors: &[] },
            output: Part { first: 0, values: &mut output },
            scratch: &mut scratch,
        });
        instructions.dispatch(RoundedBackward {
            instructions,
            conv: &conv,
            upstream: &upstream,
            from,
            gradient: Target { first: true, start: 0, values: &mut gradient, undo: None },
            scratch: &mut scratch,
        });
        assert_close(&output, &expected.0, &what);
        assert_close(&gradient, &expected.1, &what);
    }
}
