//! A line chart as SVG, without fonts or scripts. Colours come from the style sheet of the page.

use super::axis::{Axis, Scale};
use super::style::Style;
use super::text::{escape, interval, short};

pub(super) struct Chart {
    pub title: String,
    pub x: Label,
    pub y: Label,
    pub series: Vec<Series>,
    pub levels: Vec<Level>,
    /// Horizontal offset between neighbouring series, so that coinciding points remain visible.
    pub apart: f64,
}

/// The label and scale of an axis.
#[derive(Clone, PartialEq)]
pub(super) struct Label {
    /// Quantity and unit.
    pub text: &'static str,
    pub scale: Scale,
}

impl Label {
    pub fn linear(text: &'static str) -> Self {
        Self { text, scale: Scale::Linear }
    }
}

pub(super) struct Series {
    pub name: String,
    pub style: Style,
    /// Theory is drawn dashed and without markers, and is not in the legend by name.
    pub theory: bool,
    /// From left to right.
    pub points: Vec<Point>,
}

#[derive(Debug, Clone, Copy)]
pub(super) struct Point {
    pub x: f64,
    pub y: f64,
    /// The interval of `y`.
    pub interval: Option<(f64, f64)>,
}

/// A dotted horizontal line for comparison.
pub(super) struct Level {
    pub y: f64,
    pub text: String,
}

/// The plot area of a chart.
struct Frame {
    left: f64,
    right: f64,
    top: f64,
    bottom: f64,
}

const HEIGHT: f64 = 270.0;

impl Chart {
    /// All y values that the axis must include.
    pub fn heights(&self) -> impl Iterator<Item = f64> {
        let points = self.series.iter().flat_map(|s| &s.points);
        points
            .flat_map(|p| [p.y, p.interval.map_or(p.y, |i| i.0), p.interval.map_or(p.y, |i| i.1)])
            .chain(self.levels.iter().map(|level| level.y))
    }

    /// The SVG, `width` units wide, on the given y axis.
    pub fn svg(&self, width: f64, y: &Axis) -> String {
        let x = Axis::at(self.x.scale, self.series.iter().flat_map(|s| &s.points).map(|p| p.x));
        let frame = Frame { left: 48.0, right: width - 10.0, top: 28.0, bottom: HEIGHT - 44.0 };
        let mut svg = format!(
            "<svg viewBox=\"0 0 {width} {HEIGHT}\" role=\"img\" xmlns=\"http://www.w3.org/2000/svg\">\n\
             <title>{title}: {up} against {right}</title>\n\
             <text class=\"name\" x=\"{left}\" y=\"16\">{title}</text>\n",
            title = escape(&self.title),
            up = escape(self.y.text),
            right = escape(self.x.text),
            left = frame.left,
        );
        svg += &self.grid(&frame, &x, y);
        for level in &self.levels {
            svg += &level_line(level, &frame, y);
        }
        let middle = (self.series.iter().filter(|s| !s.theory).count() as f64 - 1.0) / 2.0;
        let mut at = 0.0;
        for series in &self.series {
            let aside = if series.theory { 0.0 } else { self.apart * (at - middle) };
            at += if series.theory { 0.0 } else { 1.0 };
            svg += &self.line(series, aside, &frame, &x, y);
        }
        svg + "</svg>\n"
    }

    /// Grid lines, ticks and labels of both axes.
    fn grid(&self, frame: &Frame, x: &Axis, y: &Axis) -> String {
        let Frame { left, right, top, bottom } = *frame;
        let mut svg = String::new();
        for &tick in &y.ticks {
            let Some(at) = y.place(tick, bottom, top) else { continue };
            svg += &format!(
                "<path class=\"grid\" d=\"M{left} {at:.1}H{right}\"/>\
                 <text class=\"tick\" x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"end\">{}</text>\n",
                left - 6.0,
                at + 4.0,
                short(tick),
            );
        }
        let mut free = f64::NEG_INFINITY;
        for &tick in &x.ticks {
            let Some(at) = x.place(tick, left, right) else { continue };
            svg += &format!("<path class=\"axis\" d=\"M{at:.1} {bottom}v4\"/>");
            if at < free {
                continue;
            }
            let text = short(tick);
            free = at + 7.0 * text.chars().count() as f64 + 8.0;
            svg += &format!(
                "<text class=\"tick\" x=\"{at:.1}\" y=\"{:.1}\" text-anchor=\"middle\">{text}</text>\n",
                bottom + 17.0,
            );
        }
        svg + &format!(
            "<path class=\"axis\" d=\"M{left} {top}V{bottom}H{right}\"/>\n\
             <text class=\"label\" x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"middle\">{}</text>\n\
             <text class=\"label\" transform=\"translate(12 {:.1}) rotate(-90)\" \
             text-anchor=\"middle\">{}</text>\n",
            (left + right) / 2.0,
            HEIGHT - 8.0,
            escape(self.x.text),
            (top + bottom) / 2.0,
            escape(self.y.text),
        )
    }

    /// The line, intervals and markers of one series, shifted by `aside`.
    fn line(&self, series: &Series, aside: f64, frame: &Frame, x: &Axis, y: &Axis) -> String {
        let mut path = String::new();
        let (mut bars, mut markers) = (String::new(), String::new());
        for point in &series.points {
            let right = x.place(point.x, frame.left, frame.right);
            let (Some(px), Some(py)) = (right, y.place(point.y, frame.bottom, frame.top)) else {
                continue;
            };
            let px = px + aside;
            path += &format!("{}{px:.1} {py:.1}", if path.is_empty() { "M" } else { "L" });
            if series.theory {
                continue;
            }
            if let Some((low, high)) = point.interval {
                let end = |value| y.place(value, frame.bottom, frame.top);
                let (from, to) = (end(low).unwrap_or(frame.bottom), end(high).unwrap_or(py));
                bars += &format!("M{px:.1} {from:.1}V{to:.1}");
            }
            markers += &series.style.marker(px, py, &self.tooltip(series, point));
        }
        let class = series.style.class();
        if series.theory {
            return format!("<path class=\"line theory {class}\" d=\"{path}\"/>\n");
        }
        format!(
            "<g class=\"{class}\"><path class=\"line\" d=\"{path}\"/><path class=\"bar\" d=\"{bars}\"/>\
             {markers}</g>\n"
        )
    }

    fn tooltip(&self, series: &Series, point: &Point) -> String {
        let (x, y, interval) = (short(point.x), short(point.y), interval(point.interval));
        escape(&format!("{}, {} {x}: {y}{interval}", series.name, self.x.text))
    }
}

/// A dotted line with its text at the right end.
fn level_line(level: &Level, frame: &Frame, y: &Axis) -> String {
    let Some(at) = y.place(level.y, frame.bottom, frame.top) else { return String::new() };
    format!(
        "<path class=\"level\" d=\"M{} {at:.1}H{}\"/><text class=\"remark\" x=\"{}\" y=\"{:.1}\" \
         text-anchor=\"end\">{}</text>\n",
        frame.left,
        frame.right,
        frame.right - 3.0,
        if at < frame.top + 12.0 { at + 11.0 } else { at - 4.0 },
        escape(&level.text),
    )
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    fn places(svg: &str) -> Vec<(f64, f64)> {
        svg.split("class=\"marker\" transform=\"translate(")
            .skip(1)
            .map(|rest| {
                let (x, y) = rest.split(')').next().unwrap().split_once(' ').unwrap();
                (x.parse().unwrap(), y.parse().unwrap())
            })
            .collect()
    }

    fn chart(points: &[(f64, f64)]) -> Chart {
        let points = points
            .iter()
            .map(|&(x, y)| Point { x, y, interval: Some((y - 0.1, y + 0.1)) })
            .collect();
        Chart {
            title: "a < b".to_owned(),
            x: Label::linear("budget"),
            y: Label::linear("figure"),
            series: vec![Series { name: "RDP".into(), style: Style(2), theory: false, points }],
            levels: vec![Level { y: 3.0, text: "paper".to_owned() }],
            apart: 0.0,
        }
    }

    #[test]
    fn every_point_has_a_marker_inside_the_frame() {
        let chart = chart(&[(0.2, 1.0), (0.6, 5.0), (1.0, 2.0)]);
        let svg = chart.svg(360.0, &Axis::round(Scale::Linear, chart.heights()));
        let places = places(&svg);
        assert_eq!(places.len(), 3);
        for &(x, y) in &places {
            assert!((48.0..=350.0).contains(&x) && (28.0..=226.0).contains(&y), "{x} {y}");
        }
        assert!(places[0].0 < places[1].0 && places[1].1 < places[2].1);
        assert!(svg.contains("a &lt; b") && svg.contains("RDP, budget 0.2: 1 (0.9 to 1.1)"));
    }

    #[test]
    fn points_that_cannot_be_drawn_are_left_out() {
        let chart = chart(&[(0.2, f64::NAN), (0.6, f64::INFINITY), (1.0, 2.0)]);
        let svg = chart.svg(360.0, &Axis::round(Scale::Linear, chart.heights()));
        assert_eq!(places(&svg).len(), 1);
        assert!(!svg.contains("NaN") && !svg.contains("inf"));
    }
}
