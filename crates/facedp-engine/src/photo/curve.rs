//! Tone curves of colour profiles, written anew.
//!
//! A curve of points can hold thousands of numbers: any that never fall make a curve. So none of a source's points are
//! written. What is written is the standard or the power that they follow; there are a few hundred of those, so that a
//! curve tells no more than that. A curve that follows none is not written.

/// Points of a standard that is written as a curve of points.
const POINTS: usize = 1024;
const MAX_POINTS: usize = 4096;
/// Powers are written in steps of 1/256, in 16 bits.
const POWERS: std::ops::RangeInclusive<f64> = 0.25..=4.0;
/// How far a curve may be from the one that is written, in grey levels of the photo's samples.
const MAX_LEVELS: f64 = 0.5;
/// Points are rounded to this.
const STEP: f64 = 1.0 / 65_535.0;

/// Curves that profiles write as points, from coded level to light, both 0 to 1.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Standard {
    Srgb,
    /// BT.709 and BT.2020.
    Television,
    /// L* of CIE Lab.
    Lightness,
    /// ROMM RGB (ProPhoto).
    Romm,
    Power(f64),
}
use Standard::{Lightness, Power, Romm, Srgb, Television};

impl Standard {
    fn light(self, level: f64) -> f64 {
        match self {
            Srgb if level <= 0.04045 => level / 12.92,
            Srgb => ((level + 0.055) / 1.055).powf(2.4),
            Television if level < 0.081 => level / 4.5,
            Television => ((level + 0.099) / 1.099).powf(1.0 / 0.45),
            Lightness if level <= 0.08 => level * 27.0 / 243.89,
            Lightness => ((level + 0.16) / 1.16).powi(3),
            Romm if level < 0.031_25 => level / 16.0,
            Romm => level.powf(1.8),
            Power(power) => level.powf(power),
        }
    }

    /// The level of that much light, by halving: there are few to be found.
    fn level(self, light: f64) -> f64 {
        let (mut low, mut high) = (0.0, 1.0);
        for _ in 0..30 {
            let middle = (low + high) / 2.0;
            if self.light(middle) < light { low = middle } else { high = middle }
        }
        (low + high) / 2.0
    }

    /// Whether points, evenly spread, follow it.
    fn is_followed(self, points: &[f64]) -> bool {
        let last = (points.len() - 1) as f64;
        points.iter().enumerate().all(|(at, light)| {
            let level = at as f64 / last;
            // The light of a point is known to a step.
            let low = self.level((light - STEP).max(0.0)) - MAX_LEVELS / 255.0;
            let high = self.level((light + STEP).min(1.0)) + MAX_LEVELS / 255.0;
            (low..=high).contains(&level)
        })
    }

    fn written(self) -> Vec<u8> {
        let numbers: Vec<u16> = match self {
            Power(power) => vec![(power * 256.0).round() as u16],
            _ => (0..POINTS)
                .map(|at| (self.light(at as f64 / (POINTS - 1) as f64) / STEP).round() as u16)
                .collect(),
        };
        let points: Vec<u8> = numbers.iter().flat_map(|number| number.to_be_bytes()).collect();
        [b"curv", &[0; 4][..], &(numbers.len() as u32).to_be_bytes(), &points].concat()
    }
}

/// The power that the middle of a curve follows, as it can be written.
fn power(points: &[f64]) -> Option<f64> {
    let at = (points.len() - 1) * 3 / 5;
    let level = at as f64 / (points.len() - 1) as f64;
    let inside = at > 0 && points[at] > 0.0 && points[at] < 1.0;
    let power = if inside { points[at].ln() / level.ln() } else { 1.0 };
    let power = (power * 256.0).round() / 256.0;
    POWERS.contains(&power).then_some(power)
}

/// The data of a curve's tag, written anew; none if it follows nothing that is known.
pub(super) fn anew(data: &[u8]) -> Option<Vec<u8>> {
    match data.get(..4)? {
        b"curv" => {
            let count = u32::from_be_bytes(data.get(8..12)?.try_into().ok()?) as usize;
            let points = data.get(12..12 + 2 * Some(count).filter(|n| *n <= MAX_POINTS)?)?;
            if count < 2 {
                // No curve at all, or a power.
                return Some([&data[..4], &[0; 4], &data[8..12], points].concat());
            }
            let points: Vec<f64> = points
                .chunks_exact(2)
                .map(|point| f64::from(u16::from_be_bytes([point[0], point[1]])) * STEP)
                .collect();
            let power = power(&points).map(Power);
            let known = [Srgb, Television, Lightness, Romm].into_iter().chain(power);
            known.into_iter().find(|known| known.is_followed(&points)).map(Standard::written)
        }
        b"para" => {
            let parameters = [1, 3, 4, 5, 7].get(usize::from(*data.get(9)?))?;
            let values = data.get(12..12 + 4 * parameters)?;
            Some([b"para", &[0; 4][..], &[0, data[9], 0, 0], values].concat())
        }
        _ => None,
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    fn points(numbers: impl IntoIterator<Item = u16>) -> Vec<u8> {
        let numbers: Vec<u16> = numbers.into_iter().collect();
        let bytes: Vec<u8> = numbers.iter().flat_map(|number| number.to_be_bytes()).collect();
        [b"curv\0\0\0\0", &(numbers.len() as u32).to_be_bytes()[..], &bytes].concat()
    }

    fn sampled(standard: Standard, count: usize) -> Vec<u8> {
        let light = |at: usize| standard.light(at as f64 / (count - 1) as f64);
        points((0..count).map(|at| (light(at) * 65_535.0).round() as u16))
    }

    /// The largest difference of light that two curves give, in levels of an sRGB screen.
    fn difference(one: &[u8], other: &[u8]) -> f64 {
        let light = |data: &[u8], level: f64| {
            let numbers: Vec<f64> = data[12..]
                .chunks_exact(2)
                .map(|pair| f64::from(u16::from_be_bytes([pair[0], pair[1]])))
                .collect();
            if let [power] = numbers[..] {
                return level.powf(power / 256.0);
            }
            let at = level * (numbers.len() - 1) as f64;
            let low = (at.floor() as usize).min(numbers.len() - 2);
            let part = at - low as f64;
            (numbers[low] * (1.0 - part) + numbers[low + 1] * part) / 65_535.0
        };
        (0..256)
            .map(|n| {
                let shown = |data| 255.0 * Srgb.level(light(data, f64::from(n) / 255.0));
                (shown(one) - shown(other)).abs()
            })
            .fold(0.0, f64::max)
    }

    #[test]
    fn curves_of_known_profiles_are_written_anew_with_the_same_effect() {
        for count in [256, 1024, 4096] {
            for known in
                [Srgb, Television, Lightness, Romm, Power(1.0), Power(1.8), Power(2.2), Power(2.4)]
            {
                let before = sampled(known, count);
                let after = anew(&before).unwrap();
                let most = difference(&before, &after);
                assert!(most < 0.5, "{known:?} of {count} points: {most}");
                assert_eq!(anew(&after).unwrap(), after, "{known:?} of {count} points");
            }
        }
        // What profiles say without points stays: no curve, the power of Adobe RGB, parameters.
        for short in
            [points([]), points([563]), [&b"para\0\0\0\0\0\0\0\0"[..], &[0, 2, 0, 0]].concat()]
        {
            assert_eq!(anew(&short).unwrap(), short);
        }
    }

    #[test]
    fn curves_that_are_data_are_not_written() {
        let mut state = 1_u32;
        let mut random = move |below: u32| {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            (state >> 16) % below
        };
        // Rising by a random half of a byte, as a picture would be stored.
        let mut level = 0;
        let rising = points((0..4096).map(|_| {
            level += random(16) as u16;
            level
        }));
        assert_eq!(anew(&rising), None);
        // Bits added to a curve that is known are not in what is written.
        let clean = sampled(Srgb, 4096);
        let mut noisy = clean.clone();
        noisy[12..].iter_mut().skip(1).step_by(2).for_each(|low| *low ^= random(2) as u8);
        assert_ne!(clean, noisy);
        assert_eq!(anew(&noisy), anew(&clean));
        assert_eq!(anew(&points([0, 65_535, 0])), None);
        assert_eq!(anew(&points([7; 300])), None);
    }
}
