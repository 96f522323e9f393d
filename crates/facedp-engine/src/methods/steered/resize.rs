//! Changing the size of planes again and again: [`facedp::resample::resized`] in f32, planned once.

/// From planes of one size to planes of another, both square.
pub(super) struct Resize {
    from: usize,
    to: usize,
    /// For each output position, the first input position and the number of weights from there on.
    taps: Vec<(usize, usize)>,
    weights: Vec<f32>,
}

impl Resize {
    pub(super) fn new(from: usize, to: usize) -> Self {
        let ratio = from as f64 / to as f64;
        let reach = ratio.max(1.0);
        let (mut taps, mut weights) = (Vec::with_capacity(to), Vec::new());
        for out in 0..to {
            let centre = (out as f64 + 0.5) * ratio;
            // As Pillow rounds the ends of the window.
            let start = (centre - reach + 0.5).max(0.0) as usize;
            let end = ((centre + reach + 0.5) as usize).min(from);
            let weight = |i: usize| (1.0 - ((i as f64 + 0.5 - centre) / reach).abs()).max(0.0);
            let sum: f64 = (start..end).map(weight).sum();
            taps.push((start, end - start));
            weights.extend((start..end).map(|i| (weight(i) / sum) as f32));
        }
        Self { from, to, taps, weights }
    }

    /// Side of the results.
    pub(super) fn to(&self) -> usize {
        self.to
    }

    pub(super) fn apply(&self, plane: &[f32]) -> Vec<f32> {
        if self.from == self.to {
            return plane.to_vec();
        }
        // Down first: rows are added as a whole.
        let mut low = vec![0.0; self.to * self.from];
        let mut weights = self.weights.iter();
        for ((start, count), row) in self.taps.iter().zip(low.chunks_exact_mut(self.from)) {
            let lines = plane[start * self.from..].chunks_exact(self.from);
            for (weight, line) in weights.by_ref().take(*count).zip(lines) {
                row.iter_mut().zip(line).for_each(|(out, v)| *out += weight * v);
            }
        }
        let mut result = Vec::with_capacity(self.to * self.to);
        for row in low.chunks_exact(self.from) {
            let mut weights = &self.weights[..];
            for (start, count) in &self.taps {
                let (own, rest) = weights.split_at(*count);
                result.push(own.iter().zip(&row[*start..]).map(|(w, v)| w * v).sum());
                weights = rest;
            }
        }
        result
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use facedp::Plane;
    use facedp::resample::resized;

    #[test]
    fn sizes_change_as_in_the_mechanism() {
        for (from, to) in [(128, 97), (61, 112), (40, 40), (9, 2), (3, 8)] {
            let values: Vec<f64> = (0..from * from).map(|n| (n as f64 * 0.37).sin()).collect();
            let plane: Vec<f32> = values.iter().map(|v| *v as f32).collect();
            let expected = resized(&Plane::new(from, from, values).unwrap(), to, to);
            let found = Resize::new(from, to).apply(&plane);
            assert_eq!(found.len(), expected.data().len());
            for (found, expected) in found.iter().zip(expected.data()) {
                assert!((f64::from(*found) - expected).abs() < 1e-6, "{found} {expected}");
            }
        }
    }
}
