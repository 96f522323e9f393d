//! Reading a picture between its pixels, and the way back that gradients take.

/// For each output value, four input values and their shares: a linear map and its transpose.
#[derive(Default)]
pub(super) struct Taps {
    from: Vec<[u32; 4]>,
    share: Vec<[f32; 4]>,
}

impl Taps {
    /// Values at points of a picture whose pixel centres are whole numbers; black outside, as
    /// recognisers' chips have it.
    pub(super) fn at(points: impl Iterator<Item = [f32; 2]>, width: usize, height: usize) -> Self {
        let mut taps = Self::default();
        for [x, y] in points {
            let (left, top) = (x.floor(), y.floor());
            let (right, bottom) = (x - left, y - top);
            let corner = |dx: f32, dy: f32, share: f32| {
                let (x, y) = (left + dx, top + dy);
                let inside = x >= 0.0 && y >= 0.0 && x < width as f32 && y < height as f32;
                if inside { ((y as usize * width + x as usize) as u32, share) } else { (0, 0.0) }
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
        self.from.push(four.map(|(from, _)| from));
        self.share.push(four.map(|(_, share)| share));
    }

    /// The map.
    pub(super) fn read(&self, from: &[f32]) -> Vec<f32> {
        let value = |(places, shares): (&[u32; 4], &[f32; 4])| -> f32 {
            places.iter().zip(shares).map(|(place, share)| share * from[*place as usize]).sum()
        };
        self.from.iter().zip(&self.share).map(value).collect()
    }

    /// The transpose: adds what each output says to the inputs it came from.
    pub(super) fn spread(&self, outputs: &[f32], into: &mut [f32]) {
        for ((places, shares), output) in self.from.iter().zip(&self.share).zip(outputs) {
            for (place, share) in places.iter().zip(shares) {
                into[*place as usize] += share * output;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `<A x, y> = <x, A^T y>`.
    #[test]
    fn spreading_is_the_transpose_of_reading() {
        let points =
            (0..300).map(|n| [(n * 7 % 31) as f32 * 0.37 - 1.5, (n * 5 % 23) as f32 * 0.41]);
        let taps = Taps::at(points, 9, 8);
        let wave = |n: usize| (n as f32 * 0.7).sin();
        let x: Vec<f32> = (0..72).map(wave).collect();
        let y: Vec<f32> = (0..300).map(|n| wave(n + 11)).collect();
        let mut back = vec![0.0; 72];
        taps.spread(&y, &mut back);
        let dot = |a: &[f32], b: &[f32]| -> f32 { a.iter().zip(b).map(|(a, b)| a * b).sum() };
        let (there, here) = (dot(&taps.read(&x), &y), dot(&x, &back));
        assert!((there - here).abs() < 1e-3, "{there} {here}");
        assert!(there.abs() > 0.1, "{there}");
    }
}
