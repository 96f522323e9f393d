//! Depthwise convolution of stride 2 with windows of 3x3 and a padding of 1.
//!
//! Even and odd lines of a channel are kept apart, so that one loop computes every second line of the result and
//! no others. It runs over all lines at once and would run into the next line at both ends; masks prevent that.

use super::Shape;

/// Memory for one channel.
pub(super) struct Halving<'s> {
    width: usize,
    /// Values in the even lines.
    count: usize,
    /// The even lines, with one value before and after them.
    even: &'s mut [f32],
    /// The odd lines, after a line of zeros; with one value before and after them.
    odd: &'s mut [f32],
    /// 0 in the first column, else 1.
    left: &'s [f32],
    /// 0 in the last column, else 1.
    right: &'s [f32],
    /// Space for a result.
    result: &'s mut [f32],
}

/// Nine neighbours of a value, from three lines.
type Window = [f32; 9];

impl<'s> Halving<'s> {
    pub(super) fn scratch_len(shape: Shape) -> usize {
        5 * Self::count(shape) + shape.width + 4
    }

    /// Values in the even lines.
    fn count(shape: Shape) -> usize {
        shape.height.div_ceil(2) * shape.width
    }

    /// `shape` is that of the larger side: of the input.
    #[inline(always)]
    pub(super) fn new(scratch: &'s mut [f32], shape: Shape) -> Self {
        let (width, count) = (shape.width, Self::count(shape));
        let (even, rest) = scratch.split_at_mut(count + 2);
        let (odd, rest) = rest.split_at_mut(count + width + 2);
        let (left, rest) = rest.split_at_mut(count);
        let (right, rest) = rest.split_at_mut(count);
        even.fill(0.0);
        odd.fill(0.0);
        left.fill(1.0);
        right.fill(1.0);
        left.iter_mut().step_by(width).for_each(|v| *v = 0.0);
        right.iter_mut().skip(width - 1).step_by(width).for_each(|v| *v = 0.0);
        Self { width, count, even, odd, left, right, result: &mut rest[..count] }
    }

    /// Every second value of every second line of a convolution; lines of the result have `to` values.
    #[inline(always)]
    pub(super) fn forward(
        &mut self,
        channel: &[f32],
        window: &Window,
        to: usize,
        output: &mut [f32],
    ) {
        let (width, count) = (self.width, self.count);
        for (n, lines) in channel.chunks(2 * width).enumerate() {
            let (even, odd) = lines.split_at(width);
            self.even[1 + n * width..][..width].copy_from_slice(even);
            self.odd[1 + (n + 1) * width..][..odd.len()].copy_from_slice(odd);
        }
        let [a, b, c] = [0, 1, 2].map(|by| &self.odd[by..][..count]);
        let [d, e, f] = [0, 1, 2].map(|by| &self.even[by..][..count]);
        let [g, h, i] = [0, 1, 2].map(|by| &self.odd[width + by..][..count]);
        let [ka, kb, kc, kd, ke, kf, kg, kh, ki] = *window;
        let (left, right) = (&self.left[..count], &self.right[..count]);
        for (n, out) in self.result.iter_mut().enumerate() {
            *out = (kb * b[n] + ke * e[n] + kh * h[n])
                + left[n] * (ka * a[n] + kd * d[n] + kg * g[n])
                + right[n] * (kc * c[n] + kf * f[n] + ki * i[n]);
        }
        for (line, output) in self.result.chunks_exact(width).zip(output.chunks_exact_mut(to)) {
            output.iter_mut().zip(line.iter().step_by(2)).for_each(|(o, v)| *o = *v);
        }
    }

    /// The transpose of [`Self::forward`]: writes it, or adds it. Lines of `upstream` have `to` values.
    #[inline(always)]
    pub(super) fn backward(
        &mut self,
        upstream: &[f32],
        window: &Window,
        to: usize,
        (gradient, first): (&mut [f32], bool),
    ) {
        let (width, count) = (self.width, self.count);
        // Each value stands in an even column; `odd` holds the lines with a line of zeros below them.
        for (line, up) in self.odd[1..].chunks_exact_mut(width).zip(upstream.chunks_exact(to)) {
            line.iter_mut().step_by(2).zip(up).for_each(|(l, u)| *l = *u);
        }
        let [a, b, c] = [0, 1, 2].map(|by| &self.odd[by..][..count]);
        let [d, e, f] = [0, 1, 2].map(|by| &self.odd[width + by..][..count]);
        let [ka, kb, kc, kd, ke, kf, kg, kh, ki] = *window;
        let (left, right) = (&self.left[..count], &self.right[..count]);
        // Even lines meet the middle line of a window only.
        for (n, out) in self.result.iter_mut().enumerate() {
            *out = ke * b[n] + left[n] * (kf * a[n]) + right[n] * (kd * c[n]);
        }
        let lines = gradient.chunks_exact_mut(width).step_by(2);
        lines.zip(self.result.chunks_exact(width)).for_each(|(line, own)| put(line, own, first));
        // Odd lines meet the last line of the window above them and the first of the one below.
        for (n, out) in self.result.iter_mut().enumerate() {
            *out = (kh * b[n] + kb * e[n])
                + left[n] * (ki * a[n] + kc * d[n])
                + right[n] * (kg * c[n] + ka * f[n]);
        }
        let lines = gradient.chunks_exact_mut(width).skip(1).step_by(2);
        lines.zip(self.result.chunks_exact(width)).for_each(|(line, own)| put(line, own, first));
    }
}

#[inline(always)]
fn put(line: &mut [f32], own: &[f32], first: bool) {
    if first {
        line.copy_from_slice(own);
    } else {
        line.iter_mut().zip(own).for_each(|(l, v)| *l += v);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wave(count: usize, step: f32) -> Vec<f32> {
        (0..count).map(|n| (step * n as f32).sin()).collect()
    }

    /// Plain loops, and `<A x, y> = <x, A^T y>`. Memory is reused.
    #[test]
    fn every_second_value_is_computed() {
        for (height, width) in [(8, 6), (7, 9), (1, 5), (4, 1), (2, 2)] {
            let shape = Shape::new(1, height, width);
            let (rows, columns) = (height.div_ceil(2), width.div_ceil(2));
            let [mut forward, mut backward] =
                [(); 2].map(|()| vec![9.0; Halving::scratch_len(shape)]);
            let mut forward = Halving::new(&mut forward, shape);
            let mut backward = Halving::new(&mut backward, shape);
            for window in [wave(9, 0.8), wave(9, 1.7)] {
                let window: [f32; 9] = std::array::from_fn(|n| window[n]);
                let (input, up) = (wave(height * width, 0.7), wave(rows * columns, 1.1));
                let mut output = vec![0.0; rows * columns];
                forward.forward(&input, &window, columns, &mut output);
                for (n, found) in output.iter().enumerate() {
                    let (y, x) = (2 * (n / columns), 2 * (n % columns));
                    let at = |k: usize| {
                        let (y, x) = ((y + k / 3).checked_sub(1)?, (x + k % 3).checked_sub(1)?);
                        (y < height && x < width).then(|| input[y * width + x])
                    };
                    let sum: f32 = (0..9).filter_map(|k| Some(window[k] * at(k)?)).sum();
                    assert!((found - sum).abs() < 1e-5, "{found}, not {sum}");
                }
                let mut gradient = vec![0.0; height * width];
                backward.backward(&up, &window, columns, (&mut gradient, true));
                let dot =
                    |a: &[f32], b: &[f32]| -> f32 { a.iter().zip(b).map(|(a, b)| a * b).sum() };
                assert!((dot(&output, &up) - dot(&input, &gradient)).abs() < 1e-4);
                // Added to what is there.
                let once = gradient.clone();
                backward.backward(&up, &window, columns, (&mut gradient, false));
                assert!(gradient.iter().zip(&once).all(|(twice, once)| *twice == 2.0 * once));
            }
        }
    }
}
