//! The paper's matching rule on eigenface features.

use facedp::{Preset, Ranking};

use super::{budget_columns, line, point, series};
use crate::report::axis::Scale;
use crate::report::chart::{Chart, Label};
use crate::report::style::name_ranked;
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
         more than a radius: here the largest difference among photos of one person in the training \
         set. The charts show how often a release no longer matches its own original. The paper argues \
         that equal ε₀ means equal recognition, and therefore does not evaluate recognition at equal ε₀. \
         What it writes as the probability p̂ of a miss is a product of Laplace densities; “theory” here is \
         the probability that the noise of some feature exceeds its radius, if all were independent and \
         Laplace distributed.</p>\n{}{}{}",
        figure::lines(&charts, &[0.0, 10.0], "Share of missed originals, with 95 % intervals."),
        findings::of_section(results, "matcher"),
        table(rows).html(
            "Missed originals with 95 % intervals. Theory: the miss rate under the paper’s assumptions, \
             as a range over methods."
        ),
    ))
}

fn chart(rows: &[MatcherRow], features: usize) -> Chart {
    let lines = Preset::ALL.into_iter().filter_map(|method| {
        let own = rows.iter().filter(|r| {
            r.method == method
                && r.features == features
                && pick::is_default_ranking(r.method, r.ranking)
        });
        series(method, own.map(|row| point(row.epsilon, &row.miss, 100.0)).collect())
    });
    Chart {
        title: format!("{features} features"),
        x: Label { text: "budget ε₀ (log scale)", scale: Scale::Log },
        y: Label::linear("missed (%)"),
        series: lines.collect(),
        levels: Vec::new(),
        apart: 4.0,
    }
}

fn table(rows: &[MatcherRow]) -> Table {
    let budgets = pick::numbers(rows.iter().map(|row| row.epsilon));
    let mut table = Table::new(2, budget_columns(&budgets));
    for features in pick::sorted(rows.iter().map(|row| row.features)) {
        let of = || rows.iter().filter(move |row| row.features == features);
        let methods: Vec<(Preset, Ranking)> = pick::distinct(of().map(|r| (r.method, r.ranking)));
        table.group(methods.into_iter().map(|(method, ranking)| {
            let cells = budgets.iter().map(|&epsilon| {
                of().find(|r| {
                    r.method == method && r.ranking == ranking && pick::same(r.epsilon, epsilon)
                })
                .map_or(String::new(), |row| rate(&row.miss))
            });
            line(&name_ranked(method, ranking), features, cells).collect::<Vec<_>>()
        }));
        let theory = budgets.iter().map(|&epsilon| {
            let shares = of().filter(|row| pick::same(row.epsilon, epsilon)).map(|row| row.theory);
            span(shares, |share| format!("{} %", figures(100.0 * share)))
        });
        table.paper_row(line("theory", features, theory));
    }
    table
}
