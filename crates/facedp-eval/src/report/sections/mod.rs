//! The sections of the page.

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
use super::page::Section;
use super::pick;
use super::style::{Style, name};
use super::table::Table;
use super::text::short;
use super::{findings, summary};
use crate::results::{Estimate, QualityRow, Results};

/// All sections, in the order of the page.
pub(super) fn all(results: &Results, panels: &[Panel]) -> Vec<Section> {
    vec![
        Section::new("summary", "Summary", Some(summary(results))),
        Section::new("about", "Data and settings", Some(about::body(&results.about))),
        Section::new("difference", "Real and theoretical variance", difference::body(results)),
        Section::new("variance", "Real variance", variance::body(results)),
        Section::new("ssim", "Structural similarity (SSIM)", ssim::body(results)),
        Section::new("psnr", "Peak signal-to-noise ratio (PSNR)", psnr::body(results)),
        Section::new("amplitude", "Ranking by amplitude", amplitude::body(results)),
        Section::new("law", "Energy of the noise", law::body(results)),
        Section::new("matcher", "The paper’s matching rule", matcher::body(results)),
        Section::new("recognition", "Recognition at equal PSNR", recognition::body(results)),
        Section::new("attacks", "Attacks", attacks::body(results)),
        Section::new("averaging", "Averaging several releases", averaging::body(results)),
        Section::new("gallery", "A gallery of noisy photos", gallery::body(results)),
        Section::new("audits", "Audits of the privacy claims", audits::body(results)),
        Section::new("pictures", "Example pictures", pictures::body(panels)),
        Section::new("skipped", "Skipped pictures", Some(pictures::skipped(&results.skipped))),
    ]
}

fn summary(results: &Results) -> String {
    let sentences: String =
        summary::sentences(results).iter().map(|text| format!("<li>{text}</li>\n")).collect();
    let findings = findings::all(results);
    let table = findings::table(&findings, "The paper’s findings and the results of this run.");
    format!(
        "<ul>\n{sentences}</ul>\n<p class=\"none\">Ranges are over methods. The sections below give 95 % \
         intervals.</p>\n{table}"
    )
}

/// A rate or mean as a point of a chart, times a factor (100 for percent). Without cases the point is not
/// drawn.
fn point(x: f64, estimate: &Estimate, factor: f64) -> Point {
    let Estimate { value, low, high, n } = *estimate;
    let value = if n == 0 { f64::NAN } else { value };
    Point { x, y: factor * value, interval: Some((factor * low, factor * high)) }
}

/// The line of a method; `None` without points.
fn series(method: Preset, mut points: Vec<Point>) -> Option<Series> {
    points.sort_by(|a, b| a.x.total_cmp(&b.x));
    let (name, style) = (name(method).to_owned(), Style::of(method));
    (!points.is_empty()).then_some(Series { name, style, theory: false, points })
}

/// A figure against the budget: a chart per number of features, a line per method with its default
/// ranking.
fn against_budget(
    results: &Results,
    y: &Label,
    figure: impl Fn(&QualityRow) -> Option<Point>,
) -> Vec<Chart> {
    let charts = pick::features(results).into_iter().map(|features| {
        let lines = Preset::ALL.into_iter().filter_map(|method| {
            let points = pick::budgets(results)
                .into_iter()
                .filter_map(|epsilon| figure(pick::quality(results, method, features, epsilon)?));
            series(method, points.collect())
        });
        Chart {
            title: format!("{features} features"),
            x: Label::linear("budget ε₀"),
            y: y.clone(),
            series: lines.collect(),
            levels: Vec::new(),
            apart: 0.0,
        }
    });
    charts.collect()
}

/// The head of a table with a column per budget.
fn budget_columns(budgets: &[f64]) -> Vec<String> {
    let budgets = budgets.iter().map(|&epsilon| format!("ε₀ {}", short(epsilon)));
    ["method", "features"].map(str::to_owned).into_iter().chain(budgets).collect()
}

/// A table of a figure: a row per number of features and method, a column per budget.
fn by_budget(results: &Results, cell: impl Fn(&QualityRow) -> String) -> Table {
    let budgets = pick::budgets(results);
    let mut table = Table::new(2, budget_columns(&budgets));
    for features in pick::features(results) {
        table.group(Preset::ALL.into_iter().filter_map(|method| {
            let row = |epsilon: &f64| pick::quality(results, method, features, *epsilon);
            budgets.iter().find_map(row)?;
            let cells = budgets.iter().map(|e| row(e).map_or(String::new(), &cell));
            Some(line(name(method), features, cells).collect::<Vec<_>>())
        }));
    }
    table
}

/// A row of a table with a column per budget.
fn line(
    method: &str,
    features: usize,
    cells: impl Iterator<Item = String>,
) -> impl Iterator<Item = String> {
    [method.to_owned(), features.to_string()].into_iter().chain(cells)
}
