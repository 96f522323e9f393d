//! Charts side by side, on one scale and under one legend.

use super::axis::Axis;
use super::chart::Chart;
use super::dots::Dots;
use super::look::Look;
use super::text::escape;

/// Line charts side by side. Those with the same heights share their scale, which includes the
/// values given, so that they compare at a glance.
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
    let names = series().filter(|s| !s.theory).map(|s| (s.name.as_str(), s.look));
    let theory = series().any(|s| s.theory);
    whole(charts.len(), &drawn, &legend(names, theory), caption)
}

/// Charts of rates side by side.
pub(super) fn dots(charts: &[Dots], caption: &str) -> String {
    let drawn: String = charts.iter().map(|chart| chart.svg(width(charts.len()))).collect();
    let dots = charts.iter().flat_map(|chart| &chart.cases).flat_map(|case| &case.dots);
    let names = legend(dots.map(|dot| (dot.name.as_str(), dot.look)), false);
    whole(charts.len(), &drawn, &names, caption)
}

/// Wide charts have room, so that letters come out equally large whatever the number of charts.
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

fn legend<'a>(names: impl Iterator<Item = (&'a str, Look)>, theory: bool) -> String {
    let mut seen: Vec<(&str, Look)> = Vec::new();
    for entry in names {
        if !seen.contains(&entry) {
            seen.push(entry);
        }
    }
    let swatch = |inner: &str, class: &str, words: &str| {
        format!(
            "<li><svg class=\"{class}\" viewBox=\"0 0 28 12\" width=\"28\" height=\"12\" \
             aria-hidden=\"true\">{inner}</svg>{}</li>",
            escape(words)
        )
    };
    let mut items: String = seen
        .iter()
        .map(|(name, look)| {
            let inner =
                format!("<path class=\"line\" d=\"M1 6H27\"/>{}", look.marker(14.0, 6.0, ""));
            swatch(&inner, &look.class(), name)
        })
        .collect();
    if theory {
        items += &swatch("<path class=\"line theory\" d=\"M1 6H27\"/>", "", "theory");
    }
    format!("<ul class=\"legend\">{items}</ul>")
}
