//! What the page shows, section by section.

mod about;
mod amplitude;
mod attacks;
mod audits;
mod averaging;
mod difference;
mod gallery;
mod law;
mod matcher;
mod pictures;
mod psnr;
mod recognition;
mod ssim;
mod variance;

use facedp::Preset;

use super::Panel;
use super::chart::{Chart, Label, Point, Series};
use super::look::{Look, name};
use super::page::Section;
use super::pick;
use super::text::short;
use super::{findings, summary};
use crate::results::{Estimate, QualityRow, Results};

/// All sections, in the order of the page.
pub(super) fn all(results: &Results, panels: &[Panel]) -> Vec<Section> {
    vec![
        Section::new("summary", "In plain words", Some(summary(results))),
        Section::new("about", "What was done", Some(about::body(&results.about))),
        Section::new("difference", "Real and theoretical variance", difference::body(results)),
        Section::new("variance", "Real variance", variance::body(results)),
        Section::new("ssim", "Structural similarity (SSIM)", ssim::body(results)),
        Section::new("psnr", "Peak signal to noise ratio (PSNR)", psnr::body(results)),
        Section::new("amplitude", "Ranking by amplitude", amplitude::body(results)),
        Section::new("law", "The law of the noise", law::body(results)),
        Section::new("matcher", "The paper’s matching rule", matcher::body(results)),
        Section::new("recognition", "Recognisers at equal quality", recognition::body(results)),
        Section::new("attacks", "After an attack", attacks::body(results)),
        Section::new("averaging", "Several releases, averaged", averaging::body(results)),
        Section::new("gallery", "A gallery of noisy photos", gallery::body(results)),
        Section::new("audits", "Audits of the claims", audits::body(results)),
        Section::new("pictures", "Pictures", pictures::body(panels)),
        Section::new("skipped", "Pictures left out", Some(pictures::skipped(&results.skipped))),
    ]
}

fn summary(results: &Results) -> String {
    let sentences: String =
        summary::sentences(results).iter().map(|words| format!("<li>{words}</li>\n")).collect();
    let findings = findings::all(results);
    let table = findings::table(&findings, "The paper’s findings, one by one.");
    format!(
        "<ul>\n{sentences}</ul>\n<p class=\"none\">Ranges are over methods; 95 % intervals stand in the \
         sections below.</p>\n{table}"
    )
}

/// A rate or mean as a point of a chart, times a factor (100 for percent). That of no case at all has
/// no place there.
fn point(x: f64, estimate: &Estimate, factor: f64) -> Point {
    let Estimate { value, low, high, n } = *estimate;
    let value = if n == 0 { f64::NAN } else { value };
    Point { x, y: factor * value, interval: Some((factor * low, factor * high)) }
}

/// A chart per number of features of a figure against the budget, a line per method with its own
/// ranking.
fn against_budget(
    results: &Results,
    y: &Label,
    figure: impl Fn(&QualityRow) -> Option<Point>,
) -> Vec<Chart> {
    let charts = pick::features(results).into_iter().map(|features| {
        let series = Preset::ALL.into_iter().filter_map(|method| {
            let points: Vec<Point> = pick::budgets(results)
                .into_iter()
                .filter_map(|epsilon| figure(pick::quality(results, method, features, epsilon)?))
                .collect();
            let (name, look) = (name(method).to_owned(), Look::of(method));
            (!points.is_empty()).then_some(Series { name, look, theory: false, points })
        });
        Chart {
            title: format!("{features} features"),
            x: Label::linear("budget ε₀"),
            y: y.clone(),
            series: series.collect(),
            levels: Vec::new(),
            apart: 0.0,
        }
    });
    charts.collect()
}

/// Head of a table with a column per budget.
fn budget_columns(words: &[&str], budgets: &[f64]) -> Vec<String> {
    let budgets = budgets.iter().map(|&epsilon| format!("ε₀ {}", short(epsilon)));
    words.iter().map(|&word| word.to_owned()).chain(budgets).collect()
}

/// A table of a figure: a row per number of features and method, a column per budget.
fn by_budget(results: &Results, cell: impl Fn(&QualityRow) -> String) -> super::table::Table {
    let budgets = pick::budgets(results);
    let mut table = super::table::Table::new(2, budget_columns(&["method", "features"], &budgets));
    for features in pick::features(results) {
        let mut first = true;
        for method in Preset::ALL {
            let row = |epsilon: &f64| pick::quality(results, method, features, *epsilon);
            if !budgets.iter().any(|epsilon| row(epsilon).is_some()) {
                continue;
            }
            let cells = budgets.iter().map(|e| row(e).map_or(String::new(), &cell));
            let line: Vec<String> =
                [name(method).to_owned(), features.to_string()].into_iter().chain(cells).collect();
            if first {
                table.first_of_group(line)
            } else {
                table.row(line)
            }
            first = false;
        }
    }
    table
}
