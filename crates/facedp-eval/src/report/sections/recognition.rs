//! Whether recognisers still match, all methods brought to the same PSNR.

use facedp::Preset;

use super::point;
use crate::report::chart::{Chart, Label, Level, Series};
use crate::report::look::{Look, name};
use crate::report::paper::{self, Dataset};
use crate::report::table::Table;
use crate::report::text::{count, escape, number, percent, rate, short};
use crate::report::{figure, findings, pick};
use crate::results::{Estimate, RecognitionRow, Results, Rule};

pub(super) fn body(results: &Results) -> Option<String> {
    if results.recognition.is_empty() && results.recognisers.is_empty() {
        return None;
    }
    let mut html =
        "<p>Noise of every method is scaled to the same PSNR on the chip and put into the \
                    photo. Then a recogniser compares the noisy photo with its own original \
                    (<b>self</b>) and with another photo of the same person (<b>pair</b>); a face \
                    that is not found any more counts as missed. Rules differ in the largest \
                    distance that matches: the recogniser’s own (standard), the paper’s 0.975, and \
                    the one at which one in 1,000 pairs of different people would match \
                    (far-1e-3).</p>\n"
            .to_owned();
    if !results.recognisers.is_empty() {
        html += &clean(results).html(
            "Without noise: pairs of photos of one person that do not match, with 95 % intervals.",
        );
    }
    html += &findings::of_section(results, "recognition");
    if results.recognition.iter().any(|row| row.rule.name == "paper") {
        html += &beside_paper(results);
    }
    for (recogniser, rule) in groups(&results.recognition) {
        let rows: Vec<&RecognitionRow> = results
            .recognition
            .iter()
            .filter(|row| row.recogniser == recogniser && &row.rule == rule)
            .collect();
        html += &group(&recogniser, rule, &rows);
    }
    Some(html)
}

fn groups(rows: &[RecognitionRow]) -> Vec<(String, &Rule)> {
    pick::distinct(rows.iter().map(|row| (row.recogniser.clone(), &row.rule)))
}

/// Recognisers on untouched photos.
fn clean(results: &Results) -> Table {
    let mut table = Table::new(2, ["recogniser", "rule", "distance", "missed", "impostor pairs"]);
    for row in &results.recognisers {
        for (at, (rule, missed)) in row.clean_pair_fnr.iter().enumerate() {
            let line = [
                escape(&row.recogniser),
                escape(&rule.name),
                number(f64::from(rule.threshold), 3),
                rate(missed),
                count(row.impostor_pairs),
            ];
            if at == 0 { table.first_of_group(line) } else { table.row(line) }
        }
    }
    table
}

/// The paper's table, ours beside at every PSNR.
fn beside_paper(results: &Results) -> String {
    let rows = || results.recognition.iter().filter(|row| row.rule.name == "paper");
    let decibels = pick::numbers(rows().map(|row| row.psnr));
    let lfw = Dataset::of(&results.about.data) == Some(Dataset::Lfw);
    let mut head = vec!["method".to_owned(), "recogniser".to_owned()];
    if lfw {
        head.push("paper (LFW)".to_owned());
    }
    head.extend(decibels.iter().map(|&psnr| format!("{} dB", short(psnr))));
    let mut table = Table::new(2, head);
    for recogniser in pick::distinct(rows().map(|row| &row.recogniser)) {
        for (at, method) in Preset::ALL.into_iter().enumerate() {
            let of = || rows().filter(|r| &r.recogniser == recogniser && r.method == method);
            let mut line = vec![name(method).to_owned(), escape(recogniser)];
            if lfw {
                let theirs = paper::miss_rate(method);
                line.push(theirs.map_or(String::new(), |v| number(100.0 * v, 2) + " %"));
            }
            line.extend(decibels.iter().map(|&psnr| {
                of().find(|row| pick::same(row.psnr, psnr))
                    .map_or(String::new(), |row| rate(&row.self_fnr))
            }));
            if at == 0 { table.first_of_group(line) } else { table.row(line) }
        }
    }
    table.html(
        "Missed originals under the paper’s rule, with 95 % intervals. The paper does not say at \
         which PSNR its figures are.",
    )
}

/// Charts and table of one recogniser and rule.
fn group(recogniser: &str, rule: &Rule, rows: &[&RecognitionRow]) -> String {
    let title = format!(
        "{}, rule {} (distance up to {})",
        escape(recogniser),
        escape(&rule.name),
        number(f64::from(rule.threshold), 3)
    );
    let clean = rows.first().map(|row| row.clean_pair_fnr);
    let mut charts = [
        chart("Its own original (self)", rows, |row| row.self_fnr),
        chart("Another photo of the person (pair)", rows, |row| row.pair_fnr),
    ];
    if let Some(clean) = clean {
        charts[1].title += &format!("; {} without noise (dotted)", percent(clean.value));
        charts[1].levels.push(Level { y: 100.0 * clean.value, words: String::new() });
    }
    let head = [
        "method",
        "PSNR",
        "self",
        "pair",
        "face not found",
        "self, if found",
        "pair, if found",
        "pair, no noise",
    ];
    let mut table = Table::new(1, head);
    for (at, row) in rows.iter().enumerate() {
        let mut line = vec![name(row.method).to_owned(), short(row.psnr)];
        let rates = [
            row.self_fnr,
            row.pair_fnr,
            row.undetected,
            row.self_fnr_detected,
            row.pair_fnr_detected,
            row.clean_pair_fnr,
        ];
        line.extend(rates.iter().map(rate));
        let new =
            at.checked_sub(1).and_then(|at| rows.get(at)).is_none_or(|r| r.method != row.method);
        if new { table.first_of_group(line) } else { table.row(line) }
    }
    format!(
        "<h3>{title}</h3>\n{}{}",
        figure::lines(&charts, &[0.0, 10.0], "Share of missed photos, with 95 % intervals."),
        table.folded(&format!("All figures: {title}")),
    )
}

fn chart(title: &str, rows: &[&RecognitionRow], of: impl Fn(&RecognitionRow) -> Estimate) -> Chart {
    let series = Preset::ALL.into_iter().filter_map(|method| {
        let mut own: Vec<_> = rows.iter().filter(|row| row.method == method).collect();
        own.sort_by(|a, b| a.psnr.total_cmp(&b.psnr));
        let points: Vec<_> = own.iter().map(|row| point(row.psnr, &of(row), 100.0)).collect();
        let (name, look) = (name(method).to_owned(), Look::of(method));
        (!points.is_empty()).then_some(Series { name, look, theory: false, points })
    });
    Chart {
        title: title.to_owned(),
        x: Label::linear("PSNR (dB)"),
        y: Label::linear("missed (%)"),
        series: series.collect(),
        levels: Vec::new(),
        apart: 4.0,
    }
}
