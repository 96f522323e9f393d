//! The paper's other ranking: by amplitude.

use facedp::Ranking;

use super::{budget_columns, line};
use crate::report::pick;
use crate::report::style::name;
use crate::report::table::Table;
use crate::report::text::{maybe, mean, number, rate, span};
use crate::results::{QualityRow, Results};

pub(super) fn body(results: &Results) -> Option<String> {
    let rows = || results.quality.iter().filter(|row| row.ranking == Ranking::Amplitude);
    rows().next()?;
    let changes = rows().filter_map(|row| change(results, row));
    Some(format!(
        "<p>The paper’s definition ranks coefficients by their weight in the features; its algorithm \
         ranks them by their amplitude in the photo. A ranking by amplitude depends on the photo, so \
         the budget supports no privacy claim. Compared with ranking by weight, it changes the PSNR by \
         {} dB.</p>\n{}{}",
        span(changes, |v| number(v, 1)),
        table(results, psnr).html(
            "PSNR (dB) of the mean squared error, ranked by amplitude, and the change from ranking by \
             weight."
        ),
        table(results, |_, row| mean(&row.ssim, 4) + "unchanged " + &rate(&row.unchanged))
            .folded("SSIM and share of unchanged releases, ranked by amplitude"),
    ))
}

/// The PSNR (dB) gained by ranking by amplitude.
fn change(results: &Results, row: &QualityRow) -> Option<f64> {
    let default = pick::quality(results, row.method, row.features, row.epsilon)?;
    Some(row.psnr_mean_mse? - default.psnr_mean_mse?)
}

fn psnr(results: &Results, row: &QualityRow) -> String {
    let change = change(results, row).map_or(String::new(), |gain| {
        let sign = if gain > 0.0 { "+" } else { "" };
        format!("<span class=\"ci\">{sign}{} dB</span>", number(gain, 1))
    });
    maybe(row.psnr_mean_mse, 2) + &change
}

/// A row per number of features and method, a column per budget.
fn table(results: &Results, cell: impl Fn(&Results, &QualityRow) -> String) -> Table {
    let rows = || results.quality.iter().filter(|row| row.ranking == Ranking::Amplitude);
    let budgets = pick::numbers(rows().map(|row| row.epsilon));
    let mut table = Table::new(2, budget_columns(&budgets));
    for features in pick::sorted(rows().map(|row| row.features)) {
        let of = || rows().filter(move |row| row.features == features);
        table.group(pick::distinct(of().map(|row| row.method)).into_iter().map(|method| {
            let cells = budgets.iter().map(|&epsilon| {
                of().find(|r| r.method == method && pick::same(r.epsilon, epsilon))
                    .map_or(String::new(), |row| cell(results, row))
            });
            line(name(method), features, cells).collect::<Vec<_>>()
        }));
    }
    table
}
