//! Whether the mean energy of the noise agrees with theory.

use crate::report::style::name_ranked;
use crate::report::table::Table;
use crate::report::text::{count, counted, figures, number, short};
use crate::results::{LawRow, Results};

/// Deviations beyond this many standard errors are highlighted.
const FAR: f64 = 3.0;

/// The probability of such a deviation by chance: both tails of the normal distribution beyond 3.
const BY_CHANCE: f64 = 0.0027;

/// Longer tables are collapsed.
const LONG: usize = 24;

const CAPTION: &str = "Energy of the noise (mean with 95 % interval). Difference: mean of |real − \
                       theory given K| / theory.";

pub(super) fn body(results: &Results) -> Option<String> {
    let rows = &results.law;
    if rows.is_empty() {
        return None;
    }
    let far = rows.iter().filter(|row| is_far(row)).count();
    let verdict = if far == 0 {
        format!(
            "All {} are within {FAR} standard errors of theory.",
            counted(rows.len(), "mean", "means")
        )
    } else {
        format!(
            "<b>{far} of {} are more than {FAR} standard errors from theory</b>; by chance alone about \
             {} would be.",
            counted(rows.len(), "mean", "means"),
            number(BY_CHANCE * rows.len() as f64, 2),
        )
    };
    let head = ["method", "features", "ε₀", "draws", "expected", "mean", "z", "difference"];
    let mut table = Table::new(1, head);
    for row in rows {
        table.row(line(row));
    }
    Some(format!(
        "<p>The mean energy of the noise over many draws, compared with its expectation; z is the \
         deviation in standard errors. {verdict}</p>\n{}",
        if rows.len() > LONG { table.folded(CAPTION) } else { table.html(CAPTION) },
    ))
}

fn is_far(row: &LawRow) -> bool {
    !row.z.is_finite() || row.z.abs() > FAR
}

fn line(row: &LawRow) -> [String; 8] {
    let around = 1.96 * row.standard_error;
    let z = number(row.z, 2);
    [
        name_ranked(row.method, row.ranking),
        row.features.to_string(),
        short(row.epsilon),
        count(row.draws),
        figures(row.expected),
        format!(
            "{}<span class=\"ci\">{}–{}</span>",
            figures(row.mean),
            figures(row.mean - around),
            figures(row.mean + around)
        ),
        if is_far(row) { format!("<b class=\"no\">{z}</b>") } else { z },
        number(row.difference, 3),
    ]
}
