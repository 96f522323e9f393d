//! The paper's findings on whether faces are still recognised.

use facedp::Preset;

use super::{Finding, Verdict};
use crate::report::paper::{COMPARED, OURS, PROPOSED};
use crate::report::pick;
use crate::report::text::{counted, list, percents, short};
use crate::results::{Estimate, MatcherRow, RecognitionRow, Results};

pub(super) fn all(results: &Results) -> Vec<Finding> {
    vec![
        equal_budgets(results),
        same_utility(results, PROPOSED).beside(same_utility(results, OURS)),
    ]
}

/// Rows of the matching rule with default rankings, grouped by number of features and budget.
fn cells(results: &Results) -> Vec<Vec<&MatcherRow>> {
    let all =
        || results.matcher.iter().filter(|row| pick::is_default_ranking(row.method, row.ranking));
    let mut cells = Vec::new();
    for features in pick::sorted(all().map(|row| row.features)) {
        for epsilon in pick::numbers(all().map(|row| row.epsilon)) {
            let rows = all()
                .filter(|row| row.features == features && pick::same(row.epsilon, epsilon))
                .collect::<Vec<_>>();
            if rows.len() > 1 {
                cells.push(rows);
            }
        }
    }
    cells
}

/// Whether some value lies in all intervals.
fn overlap<'a>(rates: impl Iterator<Item = &'a Estimate> + Clone) -> bool {
    let low = rates.clone().map(|rate| rate.low).fold(f64::NEG_INFINITY, f64::max);
    low <= rates.map(|rate| rate.high).fold(f64::INFINITY, f64::min)
}

fn equal_budgets(results: &Results) -> Finding {
    let cells = cells(results);
    let equal: Vec<bool> =
        cells.iter().map(|rows| overlap(rows.iter().map(|row| &row.miss))).collect();
    let widest = cells.iter().max_by(|a, b| spread(a).total_cmp(&spread(b)));
    let ours = widest.map_or(String::new(), |rows| {
        let yes = equal.iter().filter(|&&equal| equal).count();
        let at = rows.first().map_or(String::new(), |row| {
            format!(" ({} features, ε₀ {})", row.features, short(row.epsilon))
        });
        format!(
            "the intervals of the methods overlap in {yes} of {}; the widest range of miss rates is \
             {}{at}",
            counted(equal.len(), "case", "cases"),
            percents(rows.iter().map(|row| row.miss.value)),
        )
    });
    Finding {
        section: "matcher",
        claim: "Equal ε₀ can be considered as equal recognition.",
        ours,
        verdict: Verdict::over(equal),
    }
}

fn spread(rows: &[&MatcherRow]) -> f64 {
    let high = rows.iter().map(|row| row.miss.value).fold(f64::NEG_INFINITY, f64::max);
    high - rows.iter().map(|row| row.miss.value).fold(f64::INFINITY, f64::min)
}

/// Whether both proposed methods have miss rates above those of all compared methods, with disjoint
/// intervals. Judged by recogniser and PSNR, under the paper's threshold.
fn same_utility(results: &Results, two: [Preset; 2]) -> Finding {
    let rows = || results.recognition.iter().filter(|row| row.rule.name == "paper");
    let among = |methods: &[Preset], row: &RecognitionRow| methods.contains(&row.method);
    let mut cases = Vec::new();
    for recogniser in pick::distinct(rows().map(|row| row.recogniser.as_str())) {
        for psnr in pick::numbers(rows().map(|row| row.psnr)) {
            let at = || rows().filter(|r| r.recogniser == recogniser && pick::same(r.psnr, psnr));
            let proposed =
                at().filter(|row| among(&two, row)).map(|r| r.self_fnr.low).reduce(f64::min);
            let compared =
                at().filter(|row| among(&COMPARED, row)).map(|r| r.self_fnr.high).reduce(f64::max);
            cases.extend(proposed.zip(compared).map(|(proposed, compared)| proposed > compared));
        }
    }
    let decibels: Vec<String> =
        pick::numbers(rows().map(|row| row.psnr)).into_iter().map(short).collect();
    let ours = format!(
        "RDP-NA and RDP-LMGD miss {}, the other three {}, at {} dB",
        percents(rows().filter(|row| among(&two, row)).map(|row| row.self_fnr.value)),
        percents(rows().filter(|row| among(&COMPARED, row)).map(|row| row.self_fnr.value)),
        list(&decibels),
    );
    let finding = Finding {
        section: "recognition",
        claim: "At equal utility and a threshold of 0.975, RDP-NA and RDP-LMGD miss 77 % and 81 %, \
                the other three methods 38 to 40 %.",
        ours: if cases.is_empty() { String::new() } else { ours },
        verdict: Verdict::over(cases),
    };
    let known: Vec<Preset> = rows().map(|row| row.method).collect();
    finding.about(two.into_iter().chain(COMPARED), |method| known.contains(&method))
}
