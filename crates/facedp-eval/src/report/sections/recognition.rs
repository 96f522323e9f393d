//! Recognisers on noisy photos, with all methods scaled to the same PSNR.

use facedp::Preset;

use super::{point, series};
use crate::report::chart::{Chart, Label, Level};
use crate::report::paper::{self, Dataset};
use crate::report::style::name;
use crate::report::table::Table;
use crate::report::text::{count, escape, number, percent, rate, short};
use crate::report::{figure, findings, pick};
use crate::results::{Estimate, RecognitionRow, Results, Rule};

pub(super) fn body(results: &Results) -> Option<String> {
    if results.recognition.is_empty() && results.recognisers.is_empty() {
        return None;
    }
    let mut html =
        "<p>The noise of every method is scaled to the same PSNR on the chip and added to the \
                    photo. A recogniser then compares the noisy photo with its own original \
                    (<b>self</b>) and with another photo of the same person (<b>pair</b>). A face \
                    that the detector no longer finds counts as missed. A rule is the largest \
                    distance that matches: the recogniser’s own threshold (standard), the paper’s \
                    0.975 (paper), or the threshold at which one in 1,000 pairs of different people \
                    would match (far-1e-3).</p>\n"
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

/// Miss rates on untouched photos.
fn clean(results: &Results) -> Table {
    let mut table = Table::new(2, ["recogniser", "rule", "distance", "missed", "impostor pairs"]);
    for row in &results.recognisers {
        table.group(row.clean_pair_fnr.iter().map(|(rule, missed)| {
            let few = rule.name == "far-1e-3" && row.too_few_impostors();
            [
                escape(&row.recogniser),
                escape(&rule.name),
                number(f64::from(rule.threshold), 3),
                rate(missed),
                count(row.impostor_pairs) + if few { " (too few to tell)" } else { "" },
            ]
        }));
    }
    table
}

/// The paper's table, with the results of this run at every PSNR.
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
        table.group(Preset::ALL.into_iter().map(|method| {
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
            line
        }));
    }
    table.html(
        "Missed originals under the paper’s rule, with 95 % intervals. The paper does not state the \
         PSNR of its figures.",
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
        chart("Own original (self)", rows, |row| row.self_fnr),
        chart("Another photo of the person (pair)", rows, |row| row.pair_fnr),
    ];
    if let Some(clean) = clean {
        charts[1].title += &format!("; {} without noise (dotted)", percent(clean.value));
        charts[1].levels.push(Level { y: 100.0 * clean.value, text: String::new() });
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
    for group in rows.chunk_by(|a, b| a.method == b.method) {
        table.group(group.iter().map(|row| {
            [
                name(row.method).to_owned(),
                short(row.psnr),
                rate(&row.self_fnr),
                rate(&row.pair_fnr),
                rate(&row.undetected),
                rate(&row.self_fnr_detected),
                rate(&row.pair_fnr_detected),
                rate(&row.clean_pair_fnr),
            ]
        }));
    }
    format!(
        "<h3>{title}</h3>\n{}{}",
        figure::lines(&charts, &[0.0, 10.0], "Share of missed photos, with 95 % intervals."),
        table.folded(&format!("All figures: {title}")),
    )
}

fn chart(title: &str, rows: &[&RecognitionRow], of: impl Fn(&RecognitionRow) -> Estimate) -> Chart {
    let lines = Preset::ALL.into_iter().filter_map(|method| {
        let own = rows.iter().filter(|row| row.method == method);
        series(method, own.map(|row| point(row.psnr, &of(row), 100.0)).collect())
    });
    Chart {
        title: title.to_owned(),
        x: Label::linear("PSNR (dB)"),
        y: Label::linear("missed (%)"),
        series: lines.collect(),
        levels: Vec::new(),
        apart: 4.0,
    }
}
