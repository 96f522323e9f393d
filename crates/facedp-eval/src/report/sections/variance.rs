//! The paper's real variance.

use facedp::Preset;

use super::{against_budget, by_budget, point};
use crate::report::chart::{Label, Level};
use crate::report::style::name;
use crate::report::table::Table;
use crate::report::text::{mean, short};
use crate::report::{figure, findings, paper, pick};
use crate::results::Results;

pub(super) fn body(results: &Results) -> Option<String> {
    let smallest = *pick::budgets(results).first()?;
    let y = Label::linear("log₁₀ of the real variance");
    let mut charts =
        against_budget(results, &y, |row| Some(point(row.epsilon, &row.log10_variance, 1.0)));
    for chart in &mut charts {
        chart.levels = vec![
            Level {
                y: paper::LOG_VARIANCE_PROPOSED,
                text: "paper: NA, LMGD below at ε₀ 0.2".into(),
            },
            Level { y: paper::LOG_VARIANCE_DCT, text: "paper: DCT-DP at ε₀ 0.2".into() },
        ];
    }
    let all = by_budget(results, |row| mean(&row.log10_variance, 2));
    Some(format!(
        "<p>The energy of the noise over all pixels, before rounding; lower is better. The charts show \
         the mean of its logarithm over releases.</p>\n{}{}{}{}",
        figure::lines(&charts, &[], "Mean over releases, with 95 % intervals."),
        findings::of_section(results, "variance"),
        at(results, smallest).html(&format!("At ε₀ {}.", short(smallest))),
        all.folded("All budgets"),
    ))
}

/// A row per method, a column per number of features.
fn at(results: &Results, epsilon: f64) -> Table {
    let features = pick::features(results);
    let columns = features.iter().map(|features| format!("{features} features"));
    let mut table = Table::new(1, ["method".to_owned()].into_iter().chain(columns));
    for method in Preset::ALL {
        let cells = features.iter().map(|&features| {
            pick::quality(results, method, features, epsilon)
                .map_or(String::new(), |row| mean(&row.log10_variance, 2))
        });
        table.row([name(method).to_owned()].into_iter().chain(cells));
    }
    table
}
