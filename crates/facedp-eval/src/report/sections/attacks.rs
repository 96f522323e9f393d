//! Noisy photos after an attacker has treated them.

use facedp::Preset;

use crate::report::dots::{Case, Dot, Dots};
use crate::report::style::{Style, name_any};
use crate::report::table::Table;
use crate::report::text::{escape, maybe, mean, number, rate, short};
use crate::report::{figure, pick};
use crate::results::{AttackRow, Estimate, RecognitionRow, Results, Rule};

/// The name of the attack that does nothing.
const NOTHING: &str = "none";

pub(super) fn body(results: &Results) -> Option<String> {
    let rows = &results.attacks;
    if rows.is_empty() {
        return None;
    }
    let mut html = "<p>An attacker treats the noisy photo before comparing it. Fewer misses than \
                    without the treatment are the attacker’s gain. Untouched photos get the same \
                    treatment, for comparison.</p>\n"
        .to_owned();
    for recogniser in pick::distinct(rows.iter().map(|row| &row.recogniser)) {
        let of = || rows.iter().filter(move |row| &row.recogniser == recogniser);
        let rules = pick::distinct(of().map(|row| &row.rule));
        let Some(&main) = rules.iter().find(|r| r.name == "standard").or(rules.first()) else {
            continue;
        };
        for psnr in pick::numbers(of().filter_map(|row| row.psnr)) {
            let shown: Vec<&AttackRow> = of()
                .filter(|r| &r.rule == main && r.psnr.is_none_or(|p| pick::same(p, psnr)))
                .collect();
            html += &format!(
                "<h3>{}, rule {} (distance up to {}), noise at {} dB</h3>\n{}",
                escape(recogniser),
                escape(&main.name),
                number(f64::from(main.threshold), 3),
                short(psnr),
                charts(&shown, &untreated(results, recogniser, main, psnr)),
            );
        }
        for rule in rules {
            html += &table(of(), rule).folded(&format!(
                "All figures: {}, rule {}",
                escape(recogniser),
                escape(&rule.name)
            ));
        }
    }
    Some(html)
}

/// The same noise without an attack; empty if the attacks include [`NOTHING`].
fn untreated<'a>(
    results: &'a Results,
    recogniser: &str,
    rule: &Rule,
    psnr: f64,
) -> Vec<&'a RecognitionRow> {
    if results.attacks.iter().any(|row| row.attack == NOTHING) {
        return Vec::new();
    }
    let alike = |row: &&RecognitionRow| {
        row.recogniser == recogniser && &row.rule == rule && pick::same(row.psnr, psnr)
    };
    results.recognition.iter().filter(alike).collect()
}

fn charts(rows: &[&AttackRow], untreated: &[&RecognitionRow]) -> String {
    let mut own = dots("Own original (self)", rows, |row| row.self_fnr);
    let mut pair = dots("Another photo of the person (pair)", rows, |row| row.pair_fnr);
    let mut caption = "Share of missed photos after each attack, with 95 % intervals.".to_owned();
    if !untreated.is_empty() {
        let case = |of: fn(&RecognitionRow) -> Estimate| Case {
            name: "no attack".to_owned(),
            dots: untreated.iter().map(|row| dot(Some(row.method), of(row))).collect(),
        };
        own.cases.insert(0, case(|row| row.self_fnr_detected));
        pair.cases.insert(0, case(|row| row.pair_fnr_detected));
        caption += " Attackers know where the face is; “no attack” covers all photos in which the \
                    detector still finds the face.";
    }
    figure::dots(&[own, pair], &caption)
}

fn dots(title: &str, rows: &[&AttackRow], of: impl Fn(&AttackRow) -> Estimate) -> Dots {
    let cases = pick::distinct(rows.iter().map(|row| &row.attack)).into_iter().map(|attack| {
        let dots = rows.iter().filter(|row| &row.attack == attack);
        Case { name: attack.clone(), dots: dots.map(|row| dot(row.method, of(row))).collect() }
    });
    Dots { title: title.to_owned(), label: "missed (%)", cases: cases.collect() }
}

fn dot(method: Option<Preset>, rate: Estimate) -> Dot {
    Dot {
        name: name_any(method).to_owned(),
        style: Style::of_any(method),
        value: if rate.n == 0 { f64::NAN } else { 100.0 * rate.value },
        interval: Some((100.0 * rate.low, 100.0 * rate.high)),
    }
}

fn table<'a>(rows: impl Iterator<Item = &'a AttackRow>, rule: &Rule) -> Table {
    let head = ["attack", "method", "PSNR", "self", "pair", "distance to the own original"];
    let mut table = Table::new(2, head);
    let rows: Vec<&AttackRow> = rows.filter(|row| &row.rule == rule).collect();
    for group in rows.chunk_by(|a, b| a.attack == b.attack) {
        table.group(group.iter().map(|row| {
            [
                escape(&row.attack),
                name_any(row.method).to_owned(),
                maybe(row.psnr, 0),
                rate(&row.self_fnr),
                rate(&row.pair_fnr),
                mean(&row.self_distance, 3),
            ]
        }));
    }
    table
}
