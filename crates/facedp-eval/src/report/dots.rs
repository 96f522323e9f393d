//! A chart of rates by case: a row per case, a marker per method, thin bars for intervals.
//!
//! Many rates are 0, where a bar would be invisible, so rates are drawn as markers.

use super::axis::{Axis, Scale};
use super::style::Style;
use super::text::{escape, interval, short};

pub(super) struct Dots {
    pub title: String,
    /// The label of the horizontal axis.
    pub label: &'static str,
    /// From top to bottom.
    pub cases: Vec<Case>,
}

pub(super) struct Case {
    pub name: String,
    pub dots: Vec<Dot>,
}

pub(super) struct Dot {
    /// The name in the legend.
    pub name: String,
    pub style: Style,
    pub value: f64,
    pub interval: Option<(f64, f64)>,
}

const STEP: f64 = 9.0;
const LEFT: f64 = 122.0;

impl Dots {
    /// The SVG, `width` units wide. The axis starts at 0 and reaches at least 10.
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
            escape(self.label),
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
            escape(self.label),
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
        let (value, interval) = (short(self.value), interval(self.interval));
        let tooltip = escape(&format!("{case}, {}: {value}{interval}", self.name));
        let marker = self.style.marker(x, y, &tooltip);
        format!("<g class=\"{}\">{}{marker}</g>\n", self.style.class(), bar.unwrap_or_default())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_marker_per_figure_even_for_rates_of_zero() {
        let dot = |value| Dot {
            name: "RDP".into(),
            style: Style(2),
            value,
            interval: Some((0.0, value + 3.0)),
        };
        let cases = vec![
            Case { name: "none".into(), dots: vec![dot(0.0), dot(12.0)] },
            Case { name: "blur".into(), dots: vec![dot(0.0), dot(f64::NAN)] },
        ];
        let svg = Dots { title: "dlib".into(), label: "misses (%)", cases }.svg(500.0);
        assert_eq!(svg.matches("class=\"marker\"").count(), 3);
        assert!(svg.contains("none, RDP: 12 (0 to 15)") && !svg.contains("NaN"));
    }
}
