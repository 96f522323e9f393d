//! The paper's table of SSIM, with the results of this run.

use facedp::Preset;

use super::{budget_columns, by_budget, line};
use crate::report::paper::{self, Dataset};
use crate::report::style::name;
use crate::report::table::Table;
use crate::report::text::{mean, number};
use crate::report::{findings, pick};
use crate::results::Results;

pub(super) fn body(results: &Results) -> Option<String> {
    if results.quality.is_empty() {
        return None;
    }
    let data = Dataset::of(&results.about.data);
    let beside = match data {
        Some(data) => format!("Shaded: the paper’s figures for {}.", data.name()),
        None => "The paper has no figures for this data set.".to_owned(),
    };
    let wang = by_budget(results, |row| mean(&row.ssim_wang, 4));
    Some(format!(
        "<p>Similarity of original and release; 1 means equal. Mean over releases after rounding, as \
         scikit-image computes it by default. The best method for each number of features and budget \
         is in bold.</p>\n{}{}{}",
        findings::of_section(results, "ssim"),
        table(results, data).html(&format!("Mean SSIM with 95 % intervals. {beside}")),
        wang.folded("SSIM as originally defined (Wang et al. 2004)"),
    ))
}

/// By method: a row per number of features, then the row of the paper.
fn table(results: &Results, data: Option<Dataset>) -> Table {
    let budgets = pick::budgets(results);
    let mut table = Table::new(2, budget_columns(&budgets));
    for method in Preset::ALL {
        table.group(pick::features(results).into_iter().map(|features| {
            let cells = budgets.iter().map(|&epsilon| cell(results, method, features, epsilon));
            line(name(method), features, cells).collect::<Vec<_>>()
        }));
        if let Some(data) = data.filter(|&data| paper::ssim(data, method).is_some()) {
            let cells = budgets.iter().map(|&epsilon| {
                paper::ssim_at(data, method, epsilon).map_or(String::new(), |v| number(v, 4))
            });
            table.paper_row([name(method).to_owned(), "paper".to_owned()].into_iter().chain(cells));
        }
    }
    table
}

fn cell(results: &Results, method: Preset, features: usize, epsilon: f64) -> String {
    let Some(row) = pick::quality(results, method, features, epsilon) else {
        return String::new();
    };
    let others =
        Preset::ALL.into_iter().filter_map(|m| pick::quality(results, m, features, epsilon));
    let best = others.map(|other| other.ssim.value).fold(f64::NEG_INFINITY, f64::max);
    let words = mean(&row.ssim, 4);
    if row.ssim.value >= best { format!("<b>{words}</b>") } else { words }
}
