//! An attacker whose gallery is of noisy photos too.

use facedp::Preset;

use super::point;
use crate::report::chart::{Chart, Label, Level, Series};
use crate::report::look::{Look, name, name_any};
use crate::report::table::Table;
use crate::report::text::{escape, maybe, percent, rate};
use crate::report::{figure, pick};
use crate::results::{GalleryRow, Results};

pub(super) fn body(results: &Results) -> Option<String> {
    let rows = &results.gallery;
    if rows.is_empty() {
        return None;
    }
    let charts: Vec<Chart> = pick::distinct(rows.iter().map(|row| row.recogniser.as_str()))
        .into_iter()
        .map(|recogniser| chart(rows, recogniser))
        .collect();
    let caption = "Share of people whose other photo is nearest, with 95 % intervals.";
    Some(format!(
        "<p>The attacker has noisy photos only: two noisy photos of one person are compared, and a \
         noisy photo is looked up among noisy photos of everyone. If the right person is still \
         nearest, noise does not keep photos of one person from being linked.</p>\n{}{}",
        figure::lines(&charts, &[0.0, 100.0], caption),
        table(rows).folded("All figures, with pairs that no longer match"),
    ))
}

/// How often the right person is nearest. That does not depend on the rule, so the first one's rows
/// are shown.
fn chart(rows: &[GalleryRow], recogniser: &str) -> Chart {
    let of = || rows.iter().filter(|row| row.recogniser == recogniser);
    let rule = of().next().map(|row| &row.rule);
    let of = || of().filter(|row| Some(&row.rule) == rule);
    let series = Preset::ALL.into_iter().filter_map(|method| {
        let own = of().filter(|row| row.method == Some(method));
        let mut points: Vec<_> =
            own.filter_map(|row| Some(point(row.psnr?, &row.rank_1, 100.0))).collect();
        points.sort_by(|a, b| a.x.total_cmp(&b.x));
        let (name, look) = (name(method).to_owned(), Look::of(method));
        (!points.is_empty()).then_some(Series { name, look, theory: false, points })
    });
    let clean = of().find(|row| row.method.is_none()).map(|row| row.rank_1.value);
    let title = clean.map_or(recogniser.to_owned(), |share| {
        format!("{recogniser}; {} without noise (dotted)", percent(share))
    });
    let level = clean.map(|share| Level { y: 100.0 * share, words: String::new() });
    Chart {
        title,
        x: Label::linear("PSNR (dB)"),
        y: Label::linear("right person nearest (%)"),
        series: series.collect(),
        levels: level.into_iter().collect(),
        apart: 4.0,
    }
}

fn table(rows: &[GalleryRow]) -> Table {
    let head = ["recogniser", "rule", "method", "PSNR", "pair missed", "right person nearest"];
    let mut table = Table::new(3, head);
    let mut before = None;
    for row in rows {
        let line = [
            escape(&row.recogniser),
            escape(&row.rule.name),
            name_any(row.method).to_owned(),
            maybe(row.psnr, 0),
            rate(&row.pair_fnr),
            rate(&row.rank_1),
        ];
        let group = (&row.recogniser, row.method);
        if before == Some(group) {
            table.row(line)
        } else {
            table.first_of_group(line)
        }
        before = Some(group);
    }
    table
}
