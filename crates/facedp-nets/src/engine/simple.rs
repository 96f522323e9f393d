//! Element-wise operations, and operations that only move values.
//!
//! Pixels are loaded into registers one by one: of loops over their values, compilers make gathers and scatters.

use pulp::Simd;

use super::Shape;
use super::lanes::Lanes;
use super::registers::Registers;
use super::target::Target;

#[inline(always)]
pub(super) fn sigmoid(input: &[Lanes], output: &mut [Lanes]) {
    let values = output.as_flattened_mut().iter_mut().zip(input.as_flattened());
    values.for_each(|(o, i)| *o = 1.0 / (1.0 + (-i).exp()));
}

#[inline(always)]
pub(super) fn sigmoid_backward<S: Simd, const V: usize>(
    registers: Registers<S, V>,
    output: &[Lanes],
    upstream: &[Lanes],
    mut gradient: Target<'_>,
) {
    let one = [registers.splat(1.0); V];
    for (n, (o, u)) in output.iter().zip(upstream).enumerate() {
        let (o, u) = (registers.load(o), registers.load(u));
        let slope = registers.muls(o, registers.sub(one, o));
        gradient.write(registers, n, registers.muls(u, slope));
    }
}

#[inline(always)]
pub(super) fn global_average<S: Simd, const V: usize>(
    registers: Registers<S, V>,
    input: &[Lanes],
    shape: Shape,
    output: &mut [Lanes],
) {
    let part = [registers.splat(1.0 / shape.area() as f32); V];
    for (out, group) in output.iter_mut().zip(input.chunks_exact(shape.area())) {
        let mut sum = registers.zero();
        for pixel in group {
            sum = registers.add(sum, registers.load(pixel));
        }
        registers.store(registers.muls(sum, part), out);
    }
}

#[inline(always)]
pub(super) fn global_average_backward<S: Simd, const V: usize>(
    registers: Registers<S, V>,
    shape: Shape,
    upstream: &[Lanes],
    mut gradient: Target<'_>,
) {
    let part = [registers.splat(1.0 / shape.area() as f32); V];
    for (group, u) in upstream.iter().enumerate() {
        let pixel = registers.muls(registers.load(u), part);
        (0..shape.area()).for_each(|n| gradient.write(registers, group * shape.area() + n, pixel));
    }
}

/// Multiplies each channel by its factor.
#[inline(always)]
pub(super) fn scale<S: Simd, const V: usize>(
    registers: Registers<S, V>,
    input: &[Lanes],
    shape: Shape,
    factors: &[Lanes],
    output: &mut [Lanes],
) {
    let area = shape.area();
    let groups = output.chunks_exact_mut(area).zip(input.chunks_exact(area)).zip(factors);
    for ((output, input), factors) in groups {
        let factors = registers.load(factors);
        for (out, pixel) in output.iter_mut().zip(input) {
            registers.store(registers.muls(registers.load(pixel), factors), out);
        }
    }
}

/// The gradient with respect to what is multiplied.
#[inline(always)]
pub(super) fn scale_backward<S: Simd, const V: usize>(
    registers: Registers<S, V>,
    shape: Shape,
    factors: &[Lanes],
    upstream: &[Lanes],
    mut gradient: Target<'_>,
) {
    let area = shape.area();
    for (group, (upstream, factors)) in upstream.chunks_exact(area).zip(factors).enumerate() {
        let factors = registers.load(factors);
        for (n, u) in upstream.iter().enumerate() {
            let product = registers.muls(registers.load(u), factors);
            gradient.write(registers, group * area + n, product);
        }
    }
}

/// The gradient with respect to the factors.
#[inline(always)]
pub(super) fn factors_backward<S: Simd, const V: usize>(
    registers: Registers<S, V>,
    input: &[Lanes],
    shape: Shape,
    upstream: &[Lanes],
    mut gradient: Target<'_>,
) {
    let area = shape.area();
    let groups = input.chunks_exact(area).zip(upstream.chunks_exact(area));
    for (n, (input, upstream)) in groups.enumerate() {
        let mut sum = registers.zero();
        for (x, u) in input.iter().zip(upstream) {
            sum = registers.mul_adds(registers.load(x), registers.load(u), sum);
        }
        gradient.write(registers, n, sum);
    }
}

#[inline(always)]
pub(super) fn upsample(input: &[Lanes], shape: Shape, output: &mut [Lanes]) {
    let pairs = output.chunks_exact_mut(4 * shape.width).zip(input.chunks_exact(shape.width));
    for (two_lines, line) in pairs {
        let (upper, lower) = two_lines.split_at_mut(2 * shape.width);
        upper.chunks_exact_mut(2).zip(line).for_each(|(pair, v)| pair.fill(*v));
        lower.copy_from_slice(upper);
    }
}

#[inline(always)]
pub(super) fn upsample_backward<S: Simd, const V: usize>(
    registers: Registers<S, V>,
    shape: Shape,
    upstream: &[Lanes],
    mut gradient: Target<'_>,
) {
    let width = shape.width;
    for (y, two_lines) in upstream.chunks_exact(4 * width).enumerate() {
        let (upper, lower) = two_lines.split_at(2 * width);
        let squares = upper.as_chunks::<2>().0.iter().zip(lower.as_chunks::<2>().0);
        for (x, ([a, b], [c, d])) in squares.enumerate() {
            let upper = registers.add(registers.load(a), registers.load(b));
            let lower = registers.add(registers.load(c), registers.load(d));
            gradient.write(registers, y * width + x, registers.add(upper, lower));
        }
    }
}

#[inline(always)]
pub(super) fn add<S: Simd, const V: usize>(
    registers: Registers<S, V>,
    a: &[Lanes],
    b: &[Lanes],
    output: &mut [Lanes],
) {
    for (out, (a, b)) in output.iter_mut().zip(a.iter().zip(b)) {
        registers.store(registers.add(registers.load(a), registers.load(b)), out);
    }
}

/// Adds a tensor to the corner of one that is at least as large in every dimension.
#[inline(always)]
pub(super) fn add_to_corner<S: Simd, const V: usize>(
    registers: Registers<S, V>,
    small: &[Lanes],
    shape: Shape,
    large: &mut [Lanes],
    into: Shape,
) {
    for_each_line(shape, into, |s, l| {
        for (large, small) in large[l..l + shape.width].iter_mut().zip(&small[s..]) {
            registers.store(registers.add(registers.load(large), registers.load(small)), large);
        }
    });
}

/// The reverse: writes or adds the corner of a large tensor to a small one.
#[inline(always)]
pub(super) fn add_from_corner<S: Simd, const V: usize>(
    registers: Registers<S, V>,
    large: &[Lanes],
    from: Shape,
    mut small: Target<'_>,
    shape: Shape,
) {
    for_each_line(shape, from, |s, l| {
        for (x, pixel) in large[l..l + shape.width].iter().enumerate() {
            small.write(registers, s + x, registers.load(pixel));
        }
    });
}

/// Calls `visit` with the start of each line of the small tensor, in it and in the large one.
#[inline(always)]
fn for_each_line(small: Shape, large: Shape, mut visit: impl FnMut(usize, usize)) {
    for group in 0..small.groups() {
        for y in 0..small.height {
            let at = |shape: Shape| group * shape.area() + y * shape.width;
            visit(at(small), at(large));
        }
    }
}
