//! An attacker with a gallery of noisy photos.

use facedp::Preset;

use super::{point, series};
use crate::report::chart::{Chart, Label, Level};
use crate::report::style::name_any;
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
    let caption = "Share of people whose own other photo is nearest, with 95 % intervals.";
    Some(format!(
        "<p>The attacker has noisy photos only. Two noisy photos of one person are compared, and a \
         noisy photo is searched among noisy photos of everyone. If the right person is still nearest, \
         noise does not prevent photos of one person from being linked.</p>\n{}{}",
        figure::lines(&charts, &[0.0, 100.0], caption),
        table(rows).folded("All figures, with pairs that no longer match"),
    ))
}

/// How often the right person is nearest. This does not depend on the rule, so the chart shows the rows of
/// the first rule.
fn chart(rows: &[GalleryRow], recogniser: &str) -> Chart {
    let of = || rows.iter().filter(|row| row.recogniser == recogniser);
    let rule = of().next().map(|row| &row.rule);
    let of = || of().filter(|row| Some(&row.rule) == rule);
    let lines = Preset::ALL.into_iter().filter_map(|method| {
        let own = of().filter(|row| row.method == Some(method));
        series(method, own.filter_map(|row| Some(point(row.psnr?, &row.rank_1, 100.0))).collect())
    });
    let clean = of().find(|row| row.method.is_none()).map(|row| row.rank_1.value);
    let title = clean.map_or(recogniser.to_owned(), |share| {
        format!("{recogniser}; {} without noise (dotted)", percent(share))
    });
    let level = clean.map(|share| Level { y: 100.0 * share, text: String::new() });
    Chart {
        title,
        x: Label::linear("PSNR (dB)"),
        y: Label::linear("right person nearest (%)"),
        series: lines.collect(),
        levels: level.into_iter().collect(),
        apart: 4.0,
    }
}

fn table(rows: &[GalleryRow]) -> Table {
    let head = ["recogniser", "rule", "method", "PSNR", "pair missed", "right person nearest"];
    let mut table = Table::new(3, head);
    for group in rows.chunk_by(|a, b| (&a.recogniser, a.method) == (&b.recogniser, b.method)) {
        table.group(group.iter().map(|row| {
            [
                escape(&row.recogniser),
                escape(&row.rule.name),
                name_any(row.method).to_owned(),
                maybe(row.psnr, 0),
                rate(&row.pair_fnr),
                rate(&row.rank_1),
            ]
        }));
    }
    table
}
