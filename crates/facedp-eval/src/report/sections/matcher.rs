//! The paper's matching rule on eigenface features.

use facedp::{Preset, Ranking};

use super::{budget_columns, point};
use crate::report::axis::Scale;
use crate::report::chart::{Chart, Label, Point, Series};
use crate::report::look::{Look, name, name_ranked};
use crate::report::table::Table;
use crate::report::text::{figures, rate, span};
use crate::report::{figure, findings, pick};
use crate::results::{MatcherRow, Results};

pub(super) fn body(results: &Results) -> Option<String> {
    let rows = &results.matcher;
    if rows.is_empty() {
        return None;
    }
    let charts: Vec<Chart> = pick::sorted(rows.iter().map(|row| row.features))
        .into_iter()
        .map(|features| chart(rows, features))
        .collect();
    Some(format!(
        "<p>The paper’s rule (its eq. 3.1) matches two photos if each eigenface feature differs by no \
         more than a radius, here the largest difference among photos of one person in the training \
         set. Shown is how often a release no longer matches its own original. The paper argues that \
         equal ε₀ means equal recognition, and leaves recognition at equal ε₀ out for that reason.\
         </p>\n{}{}{}",
        figure::lines(&charts, &[0.0, 10.0], "Share of missed originals, with 95 % intervals."),
        findings::of_section(results, "matcher"),
        table(rows).html(
            "Missed originals with 95 % intervals. Theory: what the paper’s assumptions make of them, \
             from the least to the most over methods."
        ),
    ))
}

fn usual(row: &MatcherRow) -> bool {
    row.method.parts().1 == row.ranking
}

fn chart(rows: &[MatcherRow], features: usize) -> Chart {
    let mut series = Vec::new();
    for method in Preset::ALL {
        let of = || {
            rows.iter().filter(move |r| r.method == method && r.features == features && usual(r))
        };
        let mut points: Vec<Point> = of().map(|row| point(row.epsilon, &row.miss, 100.0)).collect();
        points.sort_by(|a, b| a.x.total_cmp(&b.x));
        if !points.is_empty() {
            let (name, look) = (name(method).to_owned(), Look::of(method));
            series.push(Series { name, look, theory: false, points });
        }
    }
    Chart {
        title: format!("{features} features"),
        x: Label { words: "budget ε₀ (log scale)", scale: Scale::Log },
        y: Label::linear("missed (%)"),
        series,
        levels: Vec::new(),
        apart: 4.0,
    }
}

fn table(rows: &[MatcherRow]) -> Table {
    let budgets = pick::numbers(rows.iter().map(|row| row.epsilon));
    let mut table = Table::new(2, budget_columns(&["method", "features"], &budgets));
    for features in pick::sorted(rows.iter().map(|row| row.features)) {
        let of = || rows.iter().filter(move |row| row.features == features);
        let methods: Vec<(Preset, Ranking)> = pick::distinct(of().map(|r| (r.method, r.ranking)));
        for (at, (method, ranking)) in methods.into_iter().enumerate() {
            let cells = budgets.iter().map(|&epsilon| {
                of().find(|r| {
                    r.method == method && r.ranking == ranking && pick::same(r.epsilon, epsilon)
                })
                .map_or(String::new(), |row| rate(&row.miss))
            });
            let line =
                [name_ranked(method, ranking), features.to_string()].into_iter().chain(cells);
            if at == 0 { table.first_of_group(line) } else { table.row(line) }
        }
        let theory = budgets.iter().map(|&epsilon| {
            let shares = of().filter(|row| pick::same(row.epsilon, epsilon)).map(|row| row.theory);
            span(shares, |share| format!("{} %", figures(100.0 * share)))
        });
        table.of_paper(["theory".to_owned(), features.to_string()].into_iter().chain(theory));
    }
    table
}
