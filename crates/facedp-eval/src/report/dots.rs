//! A chart of rates by case: a line per case, a marker per method, thin bars for intervals.
//!
//! Markers rather than bars, since many rates are 0, where a bar could not be seen.

use super::axis::{Axis, Scale};
use super::look::Look;
use super::text::{escape, short};

/// Rates by case.
pub(super) struct Dots {
    /// What it shows.
    pub title: String,
    /// What runs to the right.
    pub words: &'static str,
    /// The cases, from top to bottom.
    pub cases: Vec<Case>,
}

/// One case with a marker per method.
pub(super) struct Case {
    /// What it is called.
    pub name: String,
    /// Its markers.
    pub dots: Vec<Dot>,
}

/// One marker.
pub(super) struct Dot {
    /// What the legend calls it.
    pub name: String,
    /// Colour and marker.
    pub look: Look,
    /// To the right.
    pub value: f64,
    /// Its interval.
    pub interval: Option<(f64, f64)>,
}

const STEP: f64 = 9.0;
const LEFT: f64 = 122.0;

impl Dots {
    /// The SVG, `width` units wide. The axis starts at 0 and reaches 10 at least.
    pub fn svg(&self, width: f64) -> String {
        let dots = || self.cases.iter().flat_map(|case| &case.dots);
        let ends = dots().flat_map(|d| [d.value, d.interval.map_or(d.value, |i| i.1)]);
        let axis = Axis::round(Scale::Linear, ends.chain([0.0, 10.0]));
        let heights: Vec<f64> =
            self.cases.iter().map(|c| STEP * c.dots.len() as f64 + 12.0).collect();
        let (top, right) = (28.0, width - 16.0);
        let bottom = top + heights.iter().sum::<f64>();
        let mut svg = format!(
            "<svg viewBox=\"0 0 {width} {}\" role=\"img\" xmlns=\"http://www.w3.org/2000/svg\">\n\
             <title>{title}: {}</title>\n<text class=\"name\" x=\"4\" y=\"16\">{title}</text>\n",
            bottom + 44.0,
            escape(self.words),
            title = escape(&self.title),
        );
        for &tick in &axis.ticks {
            let Some(at) = axis.place(tick, LEFT, right) else { continue };
            svg += &format!(
                "<path class=\"grid\" d=\"M{at:.1} {top}V{bottom}\"/><text class=\"tick\" \
                 x=\"{at:.1}\" y=\"{}\" text-anchor=\"middle\">{}</text>\n",
                bottom + 17.0,
                short(tick),
            );
        }
        let mut from = top;
        for (case, height) in self.cases.iter().zip(heights) {
            svg += &format!(
                "<path class=\"axis\" d=\"M4 {from}H{right}\"/><text class=\"label\" x=\"{}\" y=\"{}\" \
                 text-anchor=\"end\">{}</text>\n",
                LEFT - 8.0,
                from + height / 2.0 + 4.0,
                escape(&case.name),
            );
            for (at, dot) in case.dots.iter().enumerate() {
                svg += &dot.svg(&case.name, &axis, right, from + 6.0 + STEP * (at as f64 + 0.5));
            }
            from += height;
        }
        svg + &format!(
            "<path class=\"axis\" d=\"M4 {bottom}H{right}\"/><text class=\"label\" x=\"{}\" y=\"{}\" \
             text-anchor=\"middle\">{}</text>\n</svg>\n",
            (LEFT + right) / 2.0,
            bottom + 36.0,
            escape(self.words),
        )
    }
}

impl Dot {
    fn svg(&self, case: &str, axis: &Axis, right: f64, y: f64) -> String {
        let place = |value| axis.place(value, LEFT, right);
        let Some(x) = place(self.value) else { return String::new() };
        let bar = self.interval.and_then(|(low, high)| {
            Some(format!(
                "<path class=\"bar\" d=\"M{:.1} {y:.1}H{:.1}\"/>",
                place(low)?,
                place(high)?
            ))
        });
        let interval = self
            .interval
            .map_or(String::new(), |(low, high)| format!(" ({} to {})", short(low), short(high)));
        let words = escape(&format!("{case}, {}: {}{interval}", self.name, short(self.value)));
        let marker = self.look.marker(x, y, &words);
        format!("<g class=\"{}\">{}{marker}</g>\n", self.look.class(), bar.unwrap_or_default())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_marker_per_figure_even_for_rates_of_zero() {
        let dot = |value| Dot {
            name: "RDP".into(),
            look: Look(2),
            value,
            interval: Some((0.0, value + 3.0)),
        };
        let cases = vec![
            Case { name: "none".into(), dots: vec![dot(0.0), dot(12.0)] },
            Case { name: "blur".into(), dots: vec![dot(0.0), dot(f64::NAN)] },
        ];
        let svg = Dots { title: "dlib".into(), words: "misses (%)", cases }.svg(500.0);
        assert_eq!(svg.matches("class=\"marker\"").count(), 3);
        assert!(svg.contains("none, RDP: 12 (0 to 15)") && !svg.contains("NaN"));
    }
}
