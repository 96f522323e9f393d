//! An axis of a chart: its range, its ticks, and the position of a value.

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Scale {
    Linear,
    Log,
}

impl Scale {
    /// Whether a value can be drawn.
    fn has(self, value: f64) -> bool {
        value.is_finite() && (self == Scale::Linear || value > 0.0)
    }
}

#[derive(Debug, Clone, PartialEq)]
pub(super) struct Axis {
    scale: Scale,
    low: f64,
    high: f64,
    pub ticks: Vec<f64>,
}

impl Axis {
    /// An axis that contains the values and ends at round numbers.
    pub fn round(scale: Scale, values: impl IntoIterator<Item = f64>) -> Self {
        let (low, high) = ends(scale, values);
        match scale {
            Scale::Linear => {
                let step = step((high - low) / 5.0);
                let (first, last) = ((low / step).floor(), (high / step).ceil());
                let ticks = (0..=(last - first) as usize).map(|n| (first + n as f64) * step);
                Self { scale, low: first * step, high: last * step, ticks: ticks.collect() }
            }
            Scale::Log => {
                let (first, last) = (low.log10().floor() as i32, high.log10().ceil() as i32);
                let ticks = (first..=last).map(|n| 10f64.powi(n)).collect();
                Self { scale, low: 10f64.powi(first), high: 10f64.powi(last), ticks }
            }
        }
    }

    /// An axis with a tick at each value and some room at both ends.
    pub fn at(scale: Scale, values: impl IntoIterator<Item = f64>) -> Self {
        let mut ticks: Vec<f64> = values.into_iter().filter(|v| scale.has(*v)).collect();
        ticks.sort_by(f64::total_cmp);
        ticks.dedup();
        let (low, high) = ends(scale, ticks.iter().copied());
        let room = 0.07;
        let (low, high) = match scale {
            Scale::Linear => (low - room * (high - low), high + room * (high - low)),
            Scale::Log => (low / (high / low).powf(room), high * (high / low).powf(room)),
        };
        Self { scale, low, high, ticks }
    }

    /// The coordinate of a value on an axis drawn from `from` to `to`; `None` if it cannot be drawn.
    pub fn place(&self, value: f64, from: f64, to: f64) -> Option<f64> {
        let along = |v: f64| if self.scale == Scale::Log { v.log10() } else { v };
        let share = (along(value) - along(self.low)) / (along(self.high) - along(self.low));
        share.is_finite().then(|| from + share.clamp(0.0, 1.0) * (to - from))
    }
}

/// The range of the values that can be drawn, widened if they are all equal.
fn ends(scale: Scale, values: impl IntoIterator<Item = f64>) -> (f64, f64) {
    let (low, high) = values
        .into_iter()
        .filter(|v| scale.has(*v))
        .fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), v| (low.min(v), high.max(v)));
    match scale {
        _ if low > high => (0.1, 1.0),
        Scale::Linear if high - low > 1e-9 * high.abs().max(low.abs()) => (low, high),
        Scale::Linear => (low - 0.05 * low.abs().max(0.1), high + 0.05 * high.abs().max(0.1)),
        Scale::Log if high / low > 1.001 => (low, high),
        Scale::Log => (low / 2.0, high * 2.0),
    }
}

/// The round number nearest to a step: 1, 2, 5 or 10 times a power of ten.
fn step(rough: f64) -> f64 {
    let power = 10f64.powf(rough.log10().floor());
    match rough / power {
        r if r < 1.5 => power,
        r if r < 3.5 => 2.0 * power,
        r if r < 7.5 => 5.0 * power,
        _ => 10.0 * power,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ends_are_round_and_include_the_values() {
        let axis = Axis::round(Scale::Linear, [31.2, 64.9]);
        assert_eq!((axis.low, axis.high), (30.0, 65.0));
        assert_eq!(axis.ticks, [30.0, 35.0, 40.0, 45.0, 50.0, 55.0, 60.0, 65.0]);
        let axis = Axis::round(Scale::Log, [0.02, 5.0]);
        assert_eq!(axis.ticks, [0.01, 0.1, 1.0, 10.0]);
    }

    #[test]
    fn equal_values_and_no_values_have_an_axis() {
        for values in [vec![], vec![0.0], vec![7.0, 7.0], vec![f64::NAN, f64::INFINITY]] {
            for scale in [Scale::Linear, Scale::Log] {
                for axis in [
                    Axis::round(scale, values.iter().copied()),
                    Axis::at(scale, values.iter().copied()),
                ] {
                    assert!(axis.low < axis.high, "{values:?}");
                    assert!(axis.ticks.len() < 12);
                }
            }
        }
    }

    #[test]
    fn values_that_cannot_be_drawn_have_no_position() {
        let axis = Axis::round(Scale::Log, [1.0, 100.0]);
        assert_eq!(axis.place(0.0, 0.0, 10.0), None);
        assert_eq!(axis.place(10.0, 0.0, 10.0), Some(5.0));
        assert_eq!(axis.place(f64::NAN, 0.0, 10.0), None);
    }
}
