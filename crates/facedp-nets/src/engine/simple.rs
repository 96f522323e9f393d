//! Element-wise operations, and operations that only move values.

use super::Shape;

/// 1 or 0. A number instead of a branch: signs are practically random, and a mispredicted branch costs
/// more than the multiplication.
#[inline(always)]
fn is_positive(value: f32) -> f32 {
    f32::from(u8::from(value > 0.0))
}

#[inline(always)]
pub(super) fn relu(input: &[f32], output: &mut [f32]) {
    output.iter_mut().zip(input).for_each(|(o, i)| *o = i.max(0.0));
}

/// Where the result is positive, the input was too.
#[inline(always)]
pub(super) fn relu_backward(output: &[f32], upstream: &[f32], gradient: &mut [f32]) {
    for ((g, u), o) in gradient.iter_mut().zip(upstream).zip(output) {
        *g += u * is_positive(*o);
    }
}

#[inline(always)]
pub(super) fn relu6(input: &[f32], output: &mut [f32]) {
    output.iter_mut().zip(input).for_each(|(o, i)| *o = i.clamp(0.0, 6.0));
}

/// Where the result lies strictly between the bounds, it equals the input.
#[inline(always)]
pub(super) fn relu6_backward(output: &[f32], upstream: &[f32], gradient: &mut [f32]) {
    for ((g, u), o) in gradient.iter_mut().zip(upstream).zip(output) {
        *g += u * is_positive(*o) * is_positive(6.0 - o);
    }
}

#[inline(always)]
pub(super) fn prelu(input: &[f32], shape: Shape, slopes: &[f32], output: &mut [f32]) {
    let channels = output.chunks_exact_mut(shape.area()).zip(input.chunks_exact(shape.area()));
    for ((output, input), slope) in channels.zip(slopes) {
        output.iter_mut().zip(input).for_each(|(o, i)| *o = i.max(0.0) + slope * i.min(0.0));
    }
}

#[inline(always)]
pub(super) fn prelu_backward(
    input: &[f32],
    shape: Shape,
    slopes: &[f32],
    upstream: &[f32],
    gradient: &mut [f32],
) {
    let area = shape.area();
    let channels = gradient.chunks_exact_mut(area).zip(upstream.chunks_exact(area));
    for (((gradient, upstream), input), slope) in channels.zip(input.chunks_exact(area)).zip(slopes)
    {
        for ((g, u), i) in gradient.iter_mut().zip(upstream).zip(input) {
            *g += u * (slope + (1.0 - slope) * is_positive(*i));
        }
    }
}

#[inline(always)]
pub(super) fn sigmoid(input: &[f32], output: &mut [f32]) {
    output.iter_mut().zip(input).for_each(|(o, i)| *o = 1.0 / (1.0 + (-i).exp()));
}

#[inline(always)]
pub(super) fn sigmoid_backward(output: &[f32], upstream: &[f32], gradient: &mut [f32]) {
    for ((g, u), o) in gradient.iter_mut().zip(upstream).zip(output) {
        *g += u * o * (1.0 - o);
    }
}

#[inline(always)]
pub(super) fn global_average(input: &[f32], shape: Shape, output: &mut [f32]) {
    for (o, channel) in output.iter_mut().zip(input.chunks_exact(shape.area())) {
        *o = channel.iter().sum::<f32>() / shape.area() as f32;
    }
}

#[inline(always)]
pub(super) fn global_average_backward(shape: Shape, upstream: &[f32], gradient: &mut [f32]) {
    for (channel, u) in gradient.chunks_exact_mut(shape.area()).zip(upstream) {
        channel.iter_mut().for_each(|g| *g += u / shape.area() as f32);
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
    gradient: &mut [f32],
) {
    let area = shape.area();
    let channels = gradient.chunks_exact_mut(area).zip(upstream.chunks_exact(area)).zip(factors);
    for ((gradient, upstream), factor) in channels {
        gradient.iter_mut().zip(upstream).for_each(|(g, u)| *g += u * factor);
    }
}

/// The gradient with respect to the factors.
#[inline(always)]
pub(super) fn factors_backward(
    input: &[f32],
    shape: Shape,
    upstream: &[f32],
    gradient: &mut [f32],
) {
    let channels = input.chunks_exact(shape.area()).zip(upstream.chunks_exact(shape.area()));
    for (g, (input, upstream)) in gradient.iter_mut().zip(channels) {
        *g += input.iter().zip(upstream).map(|(i, u)| i * u).sum::<f32>();
    }
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
pub(super) fn upsample_backward(shape: Shape, upstream: &[f32], gradient: &mut [f32]) {
    let pairs = gradient.chunks_exact_mut(shape.width).zip(upstream.chunks_exact(4 * shape.width));
    for (line, two_lines) in pairs {
        let (upper, lower) = two_lines.split_at(2 * shape.width);
        for ((g, u), l) in line.iter_mut().zip(upper.chunks_exact(2)).zip(lower.chunks_exact(2)) {
            *g += u[0] + u[1] + l[0] + l[1];
        }
    }
}

/// Adds a tensor to the corner of one that is at least as large in every dimension.
#[inline(always)]
pub(super) fn add_to_corner(small: &[f32], shape: Shape, large: &mut [f32], into: Shape) {
    for_each_line(shape, into, |s, l| {
        large[l..l + shape.width].iter_mut().zip(&small[s..]).for_each(|(l, s)| *l += s);
    });
}

/// The reverse: adds the corner of a large tensor to a small one.
#[inline(always)]
pub(super) fn add_from_corner(large: &[f32], from: Shape, small: &mut [f32], shape: Shape) {
    for_each_line(shape, from, |s, l| {
        small[s..s + shape.width].iter_mut().zip(&large[l..]).for_each(|(s, l)| *s += l);
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
