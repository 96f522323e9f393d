//! Element-wise operations, and operations that only move values.

use super::Shape;
use super::target::{Target, put};

#[inline(always)]
pub(super) fn sigmoid(input: &[f32], output: &mut [f32]) {
    output.iter_mut().zip(input).for_each(|(o, i)| *o = 1.0 / (1.0 + (-i).exp()));
}

#[inline(always)]
pub(super) fn sigmoid_backward(output: &[f32], upstream: &[f32], gradient: Target<'_>) {
    gradient.put(upstream.iter().zip(output).map(|(u, o)| u * o * (1.0 - o)));
}

#[inline(always)]
pub(super) fn global_average(input: &[f32], shape: Shape, output: &mut [f32]) {
    for (o, channel) in output.iter_mut().zip(input.chunks_exact(shape.area())) {
        let (chunks, rest) = channel.as_chunks::<8>();
        // In eight parts: one sum would be added up value by value.
        let mut parts = [0.0; 8];
        for chunk in chunks {
            for i in 0..8 {
                parts[i] += chunk[i];
            }
        }
        let sum = parts.iter().sum::<f32>() + rest.iter().sum::<f32>();
        *o = sum / shape.area() as f32;
    }
}

#[inline(always)]
pub(super) fn global_average_backward(shape: Shape, upstream: &[f32], gradient: Target<'_>) {
    for (channel, u) in gradient.values.chunks_exact_mut(shape.area()).zip(upstream) {
        put(channel, gradient.first, std::iter::repeat(u / shape.area() as f32));
    }
}

/// Multiplies each channel by its factor.
#[inline(always)]
pub(super) fn scale(input: &[f32], shape: Shape, factors: &[f32], output: &mut [f32]) {
    let area = shape.area();
    let channels = output.chunks_exact_mut(area).zip(input.chunks_exact(area)).zip(factors);
    for ((output, input), factor) in channels {
        output.iter_mut().zip(input).for_each(|(o, i)| *o = i * factor);
    }
}

/// The gradient with respect to what is multiplied.
#[inline(always)]
pub(super) fn scale_backward(
    shape: Shape,
    factors: &[f32],
    upstream: &[f32],
    gradient: Target<'_>,
) {
    let (area, Target { first, values }) = (shape.area(), gradient);
    let channels = values.chunks_exact_mut(area).zip(upstream.chunks_exact(area)).zip(factors);
    for ((gradient, upstream), factor) in channels {
        put(gradient, first, upstream.iter().map(|u| u * factor));
    }
}

/// The gradient with respect to the factors.
#[inline(always)]
pub(super) fn factors_backward(
    input: &[f32],
    shape: Shape,
    upstream: &[f32],
    gradient: Target<'_>,
) {
    let channels = input.chunks_exact(shape.area()).zip(upstream.chunks_exact(shape.area()));
    let sum = |(input, upstream): (&[f32], &[f32])| dot(input, upstream);
    gradient.put(channels.map(sum));
}

/// A sum of products, in eight parts: one sum would be added up value by value.
#[inline(always)]
fn dot(a: &[f32], b: &[f32]) -> f32 {
    let ((a, a_rest), (b, b_rest)) = (a.as_chunks::<8>(), b.as_chunks::<8>());
    let mut parts = [0.0; 8];
    for (a, b) in a.iter().zip(b) {
        for i in 0..8 {
            parts[i] += a[i] * b[i];
        }
    }
    parts.iter().sum::<f32>() + a_rest.iter().zip(b_rest).map(|(a, b)| a * b).sum::<f32>()
}

#[inline(always)]
pub(super) fn upsample(input: &[f32], shape: Shape, output: &mut [f32]) {
    let pairs = output.chunks_exact_mut(4 * shape.width).zip(input.chunks_exact(shape.width));
    for (two_lines, line) in pairs {
        let (upper, lower) = two_lines.split_at_mut(2 * shape.width);
        upper.chunks_exact_mut(2).zip(line).for_each(|(pair, v)| pair.fill(*v));
        lower.copy_from_slice(upper);
    }
}

#[inline(always)]
pub(super) fn upsample_backward(shape: Shape, upstream: &[f32], gradient: Target<'_>) {
    let gradient = gradient.zeroed();
    let pairs = gradient.chunks_exact_mut(shape.width).zip(upstream.chunks_exact(4 * shape.width));
    for (line, two_lines) in pairs {
        let (upper, lower) = two_lines.split_at(2 * shape.width);
        for ((g, u), l) in line.iter_mut().zip(upper.chunks_exact(2)).zip(lower.chunks_exact(2)) {
            *g += u[0] + u[1] + l[0] + l[1];
        }
    }
}

#[inline(always)]
pub(super) fn add(a: &[f32], b: &[f32], output: &mut [f32]) {
    output.iter_mut().zip(a.iter().zip(b)).for_each(|(o, (a, b))| *o = a + b);
}

/// Adds a tensor to the corner of one that is at least as large in every dimension.
#[inline(always)]
pub(super) fn add_to_corner(small: &[f32], shape: Shape, large: &mut [f32], into: Shape) {
    for_each_line(shape, into, |s, l| {
        large[l..l + shape.width].iter_mut().zip(&small[s..]).for_each(|(l, s)| *l += s);
    });
}

/// The reverse: writes or adds the corner of a large tensor to a small one.
#[inline(always)]
pub(super) fn add_from_corner(large: &[f32], from: Shape, small: Target<'_>, shape: Shape) {
    let Target { first, values } = small;
    if from == shape {
        return put(values, first, large.iter().copied());
    }
    for_each_line(shape, from, |s, l| {
        put(&mut values[s..s + shape.width], first, large[l..].iter().copied());
    });
}

/// Calls `visit` with the start of each line of the small tensor, in it and in the large one.
#[inline(always)]
fn for_each_line(small: Shape, large: Shape, mut visit: impl FnMut(usize, usize)) {
    for channel in 0..small.channels {
        for y in 0..small.height {
            let at = |shape: Shape| channel * shape.area() + y * shape.width;
            visit(at(small), at(large));
        }
    }
}
