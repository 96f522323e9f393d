//! Element-wise operations, and operations that only move values.

use super::Shape;
use super::lanes::{LANES, Lanes};
use super::target::Target;

#[inline(always)]
pub(super) fn sigmoid(input: &[Lanes], output: &mut [Lanes]) {
    let values = output.as_flattened_mut().iter_mut().zip(input.as_flattened());
    values.for_each(|(o, i)| *o = 1.0 / (1.0 + (-i).exp()));
}

#[inline(always)]
pub(super) fn sigmoid_backward(output: &[Lanes], upstream: &[Lanes], mut gradient: Target<'_>) {
    for (n, (o, u)) in output.iter().zip(upstream).enumerate() {
        gradient.write(n, std::array::from_fn(|i| u[i] * o[i] * (1.0 - o[i])));
    }
}

#[inline(always)]
pub(super) fn global_average(input: &[Lanes], shape: Shape, output: &mut [Lanes]) {
    let part = 1.0 / shape.area() as f32;
    for (out, group) in output.iter_mut().zip(input.chunks_exact(shape.area())) {
        let mut sum = [0.0; LANES];
        for pixel in group {
            for i in 0..LANES {
                sum[i] += pixel[i];
            }
        }
        *out = sum.map(|sum| sum * part);
    }
}

#[inline(always)]
pub(super) fn global_average_backward(shape: Shape, upstream: &[Lanes], mut gradient: Target<'_>) {
    let part = 1.0 / shape.area() as f32;
    for (group, u) in upstream.iter().enumerate() {
        let pixel = u.map(|u| u * part);
        (0..shape.area()).for_each(|n| gradient.write(group * shape.area() + n, pixel));
    }
}

/// Multiplies each channel by its factor.
#[inline(always)]
pub(super) fn scale(input: &[Lanes], shape: Shape, factors: &[Lanes], output: &mut [Lanes]) {
    let area = shape.area();
    let groups = output.chunks_exact_mut(area).zip(input.chunks_exact(area)).zip(factors);
    for ((output, input), factors) in groups {
        for (out, pixel) in output.iter_mut().zip(input) {
            for i in 0..LANES {
                out[i] = pixel[i] * factors[i];
            }
        }
    }
}

/// The gradient with respect to what is multiplied.
#[inline(always)]
pub(super) fn scale_backward(
    shape: Shape,
    factors: &[Lanes],
    upstream: &[Lanes],
    mut gradient: Target<'_>,
) {
    for (n, u) in upstream.iter().enumerate() {
        let factors = &factors[n / shape.area()];
        gradient.write(n, std::array::from_fn(|i| u[i] * factors[i]));
    }
}

/// The gradient with respect to the factors.
#[inline(always)]
pub(super) fn factors_backward(
    input: &[Lanes],
    shape: Shape,
    upstream: &[Lanes],
    mut gradient: Target<'_>,
) {
    let area = shape.area();
    let groups = input.chunks_exact(area).zip(upstream.chunks_exact(area));
    for (n, (input, upstream)) in groups.enumerate() {
        let mut sum = [0.0; LANES];
        for (x, u) in input.iter().zip(upstream) {
            for i in 0..LANES {
                sum[i] += x[i] * u[i];
            }
        }
        gradient.write(n, sum);
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
pub(super) fn upsample_backward(shape: Shape, upstream: &[Lanes], mut gradient: Target<'_>) {
    let width = shape.width;
    for (y, two_lines) in upstream.chunks_exact(4 * width).enumerate() {
        let (upper, lower) = two_lines.split_at(2 * width);
        let squares = upper.as_chunks::<2>().0.iter().zip(lower.as_chunks::<2>().0);
        for (x, ([a, b], [c, d])) in squares.enumerate() {
            gradient.write(y * width + x, std::array::from_fn(|i| a[i] + b[i] + c[i] + d[i]));
        }
    }
}

#[inline(always)]
pub(super) fn add(a: &[Lanes], b: &[Lanes], output: &mut [Lanes]) {
    for (out, (a, b)) in output.iter_mut().zip(a.iter().zip(b)) {
        for i in 0..LANES {
            out[i] = a[i] + b[i];
        }
    }
}

/// Adds a tensor to the corner of one that is at least as large in every dimension.
#[inline(always)]
pub(super) fn add_to_corner(small: &[Lanes], shape: Shape, large: &mut [Lanes], into: Shape) {
    for_each_line(shape, into, |s, l| {
        let pairs = large[l..l + shape.width].iter_mut().zip(&small[s..]);
        pairs.for_each(|(l, s)| (0..LANES).for_each(|i| l[i] += s[i]));
    });
}

/// The reverse: writes or adds the corner of a large tensor to a small one.
#[inline(always)]
pub(super) fn add_from_corner(large: &[Lanes], from: Shape, mut small: Target<'_>, shape: Shape) {
    for_each_line(shape, from, |s, l| {
        (0..shape.width).for_each(|x| small.write(s + x, large[l + x]));
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
