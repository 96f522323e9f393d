//! Bilinear interpolation as a sparse linear map, with its transpose for gradients.

/// A linear map in which each output is a weighted sum of four inputs.
#[derive(Default)]
pub(super) struct Taps {
    indices: Vec<[u32; 4]>,
    weights: Vec<[f32; 4]>,
}

impl Taps {
    /// Interpolates a picture at points. Pixel centres have integer coordinates; outside it is black, as in
    /// the chips of recognisers.
    pub(super) fn bilinear(
        points: impl Iterator<Item = [f32; 2]>,
        width: usize,
        height: usize,
    ) -> Self {
        let mut taps = Self::default();
        for [x, y] in points {
            let (left, top) = (x.floor(), y.floor());
            let (right, bottom) = (x - left, y - top);
            let corner = |dx: f32, dy: f32, weight: f32| {
                let (x, y) = (left + dx, top + dy);
                let inside = x >= 0.0 && y >= 0.0 && x < width as f32 && y < height as f32;
                if inside { ((y as usize * width + x as usize) as u32, weight) } else { (0, 0.0) }
            };
            taps.push([
                corner(0.0, 0.0, (1.0 - right) * (1.0 - bottom)),
                corner(1.0, 0.0, right * (1.0 - bottom)),
                corner(0.0, 1.0, (1.0 - right) * bottom),
                corner(1.0, 1.0, right * bottom),
            ]);
        }
        taps
    }

    pub(super) fn push(&mut self, four: [(u32, f32); 4]) {
        self.indices.push(four.map(|(index, _)| index));
        self.weights.push(four.map(|(_, weight)| weight));
    }

    pub(super) fn apply(&self, inputs: &[f32]) -> Vec<f32> {
        let value = |(indices, weights): (&[u32; 4], &[f32; 4])| -> f32 {
            indices
                .iter()
                .zip(weights)
                .map(|(index, weight)| weight * inputs[*index as usize])
                .sum()
        };
        self.indices.iter().zip(&self.weights).map(value).collect()
    }

    /// Adds the transpose of the map, applied to `outputs`, to `inputs`.
    pub(super) fn apply_transpose(&self, outputs: &[f32], inputs: &mut [f32]) {
        for ((indices, weights), output) in self.indices.iter().zip(&self.weights).zip(outputs) {
            for (index, weight) in indices.iter().zip(weights) {
                inputs[*index as usize] += weight * output;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `<A x, y> = <x, A^T y>`.
    #[test]
    fn apply_transpose_is_the_transpose_of_apply() {
        let points =
            (0..300).map(|n| [(n * 7 % 31) as f32 * 0.37 - 1.5, (n * 5 % 23) as f32 * 0.41]);
        let taps = Taps::bilinear(points, 9, 8);
        let wave = |n: usize| (n as f32 * 0.7).sin();
        let x: Vec<f32> = (0..72).map(wave).collect();
        let y: Vec<f32> = (0..300).map(|n| wave(n + 11)).collect();
        let mut back = vec![0.0; 72];
        taps.apply_transpose(&y, &mut back);
        let dot = |a: &[f32], b: &[f32]| -> f32 { a.iter().zip(b).map(|(a, b)| a * b).sum() };
        let (left, right) = (dot(&taps.apply(&x), &y), dot(&x, &back));
        assert!((left - right).abs() < 1e-3, "{left} {right}");
        assert!(left.abs() > 0.1, "{left}");
    }
}
