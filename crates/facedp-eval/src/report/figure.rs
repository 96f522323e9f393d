//! Charts side by side, on one scale and with one legend.

use super::axis::Axis;
use super::chart::Chart;
use super::dots::Dots;
use super::style::Style;
use super::text::escape;

/// Line charts side by side. Charts with the same y label share one scale, which includes the values in
/// `include`.
pub(super) fn lines(charts: &[Chart], include: &[f64], caption: &str) -> String {
    let drawn: String = charts
        .iter()
        .map(|chart| {
            let alike = charts.iter().filter(|other| other.y == chart.y);
            let heights = alike.flat_map(Chart::heights).chain(include.iter().copied());
            chart.svg(width(charts.len()), &Axis::round(chart.y.scale, heights))
        })
        .collect();
    let series = || charts.iter().flat_map(|chart| &chart.series);
    let names = series().filter(|s| !s.theory).map(|s| (s.name.as_str(), s.style));
    let theory = series().any(|s| s.theory);
    whole(charts.len(), &drawn, &legend(names, theory), caption)
}

/// Charts of rates side by side.
pub(super) fn dots(charts: &[Dots], caption: &str) -> String {
    let drawn: String = charts.iter().map(|chart| chart.svg(width(charts.len()))).collect();
    let dots = charts.iter().flat_map(|chart| &chart.cases).flat_map(|case| &case.dots);
    let names = legend(dots.map(|dot| (dot.name.as_str(), dot.style)), false);
    whole(charts.len(), &drawn, &names, caption)
}

/// The width of the view box. It shrinks with the number of charts so that text appears equally large.
fn width(charts: usize) -> f64 {
    match charts {
        0 | 1 => 720.0,
        2 | 4 => 520.0,
        _ => 345.0,
    }
}

fn whole(charts: usize, drawn: &str, legend: &str, caption: &str) -> String {
    let columns = match charts {
        0 | 1 => 1,
        2 | 4 => 2,
        _ => 3,
    };
    format!(
        "<figure>{legend}<div class=\"charts c{columns}\">{drawn}</div>\
         <figcaption>{caption}</figcaption></figure>\n"
    )
}

fn legend<'a>(names: impl Iterator<Item = (&'a str, Style)>, theory: bool) -> String {
    let mut seen: Vec<(&str, Style)> = Vec::new();
    for entry in names {
        if !seen.contains(&entry) {
            seen.push(entry);
        }
    }
    let swatch = |inner: &str, class: &str, name: &str| {
        format!(
            "<li><svg class=\"{class}\" viewBox=\"0 0 28 12\" width=\"28\" height=\"12\" \
             aria-hidden=\"true\">{inner}</svg>{}</li>",
            escape(name)
        )
    };
    let mut items: String = seen
        .iter()
        .map(|(name, style)| {
            let inner =
                format!("<path class=\"line\" d=\"M1 6H27\"/>{}", style.marker(14.0, 6.0, ""));
            swatch(&inner, &style.class(), name)
        })
        .collect();
    if theory {
        items += &swatch("<path class=\"line theory\" d=\"M1 6H27\"/>", "", "theory");
    }
    format!("<ul class=\"legend\">{items}</ul>")
}
