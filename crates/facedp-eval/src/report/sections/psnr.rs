//! PSNR: expected, measured, and medians.

use facedp::Preset;
use facedp::metrics::psnr;

use super::{against_budget, by_budget};
use crate::report::chart::{Label, Level, Point, Series};
use crate::report::order::Order;
use crate::report::style::name;
use crate::report::table::Table;
use crate::report::text::{maybe, number, rate, short};
use crate::report::{figure, findings, paper, pick};
use crate::results::{QualityRow, Results};

pub(super) fn body(results: &Results) -> Option<String> {
    let smallest = *pick::budgets(results).first()?;
    let y = Label::linear("PSNR (dB)");
    let measured = |row: &QualityRow| {
        Some(Point { x: row.epsilon, y: row.psnr_mean_mse?, interval: interval(row) })
    };
    let expected =
        |row: &QualityRow| Some(Point { x: row.epsilon, y: row.psnr_expected?, interval: None });
    let mut charts = against_budget(results, &y, measured);
    for (chart, theory) in charts.iter_mut().zip(against_budget(results, &y, expected)) {
        let dashed = theory.series.into_iter().map(|series| Series { theory: true, ..series });
        chart.series.splice(0..0, dashed);
        chart.levels = vec![
            Level { y: paper::PSNR_PROPOSED, text: "paper: NA, LMGD above at ε₀ 0.2".into() },
            Level { y: paper::PSNR_COMPARED, text: "paper: others at ε₀ 0.2".into() },
        ];
    }
    let all = by_budget(results, |row| {
        format!(
            "{}<span class=\"ci\">median {}</span>",
            maybe(row.psnr_mean_mse, 2),
            median(row.psnr_median, row),
        )
    });
    Some(format!(
        "<p>PSNR of the mean squared error over all releases, before rounding, with the expected value \
         (dashed); higher is better. Decibels are not averaged, because the PSNR of a release that \
         equals its original is infinite.</p>\n{}<p>By expected squared error, the order optimal ≥ LMGD ≥ \
         NA ≥ uniform {}. By measured squared error, it {}.</p>\n{}{}{}",
        figure::lines(&charts, &[], "Measured (markers) and expected (dashed) PSNR."),
        Order::expected(results).in_words(),
        Order::measured(results).in_words(),
        findings::of_section(results, "psnr"),
        at(results, smallest).html(&format!(
            "At ε₀ {}. PSNR (dB): expected; measured, of the mean squared error; median after rounding; \
             and median with the paper’s peak (the largest level of the release). Unchanged: releases \
             that equal their original, with 95 % interval.",
            short(smallest)
        )),
        all.folded("All budgets"),
    ))
}

/// The interval of the mean squared error, as PSNRs.
fn interval(row: &QualityRow) -> Option<(f64, f64)> {
    Some((psnr(row.mse.high, 255.0)?, psnr(row.mse.low, 255.0)?))
}

fn with_interval(row: &QualityRow) -> String {
    let ends = interval(row).map(|(low, high)| {
        format!("<span class=\"ci\">{} to {}</span>", number(low, 2), number(high, 2))
    });
    maybe(row.psnr_mean_mse, 2) + &ends.unwrap_or_default()
}

/// A median PSNR. It is infinite if at least half of the releases equal their original.
fn median(value: Option<f64>, row: &QualityRow) -> String {
    match value {
        Some(value) => number(value, 2),
        None if row.unchanged.value >= 0.5 => "∞".to_owned(),
        None => maybe(None, 2),
    }
}

fn at(results: &Results, epsilon: f64) -> Table {
    let head = [
        "method",
        "features",
        "expected",
        "measured",
        "median",
        "median, paper’s peak",
        "unchanged",
    ];
    let mut table = Table::new(2, head);
    for features in pick::features(results) {
        let rows =
            Preset::ALL.into_iter().filter_map(|m| pick::quality(results, m, features, epsilon));
        table.group(rows.map(|row| {
            [
                name(row.method).to_owned(),
                features.to_string(),
                maybe(row.psnr_expected, 2),
                with_interval(row),
                median(row.psnr_median, row),
                median(row.psnr_paper_median, row),
                rate(&row.unchanged),
            ]
        }));
    }
    table
}
