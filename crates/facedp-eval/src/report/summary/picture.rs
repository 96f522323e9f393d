//! How much of the picture is preserved.

use facedp::Preset;

use crate::report::order::Order;
use crate::report::pick;
use crate::report::style::name;
use crate::report::text::{list, number, percent, short};
use crate::results::Results;

/// The method with the highest PSNR that its expectation bears out.
pub(super) fn best(results: &Results) -> Option<String> {
    let epsilon = *pick::budgets(results).first()?;
    let parts: Vec<String> = pick::features(results)
        .into_iter()
        .filter_map(|features| {
            let at = |m: Preset| pick::quality(results, m, features, epsilon)?.reliable_psnr();
            let mut ranked: Vec<(Preset, f64)> =
                Preset::ALL.into_iter().filter_map(|m| Some((m, at(m)?))).collect();
            ranked.sort_by(|a, b| b.1.total_cmp(&a.1));
            let (first, psnr) = *ranked.first()?;
            let next = ranked.get(1).map_or(String::new(), |(second, value)| {
                let lead = number(psnr - value, 1);
                let second = name(*second);
                if lead == "0.0" {
                    format!(", level with {second}")
                } else {
                    format!(", {lead} dB ahead of {second}")
                }
            });
            let psnr = number(psnr, 1);
            Some(format!("{} with {features} features ({psnr} dB{next})", name(first)))
        })
        .collect();
    (!parts.is_empty()).then(|| {
        format!(
            "<b>Which method preserves most of the picture?</b> At ε₀ {}, the PSNR of the mean squared \
             error, measured or expected, whichever is lower, is highest for {}.",
            short(epsilon),
            list(&parts)
        )
    })
}

/// Whether the order that theory predicts holds.
pub(super) fn order(results: &Results) -> Option<String> {
    let expected = Order::expected(results);
    let measured = Order::measured(results);
    (expected.compared + measured.compared > 0).then(|| {
        format!(
            "<b>Does the order optimal ≥ LMGD ≥ NA ≥ uniform hold?</b> By expected squared error it {}. \
             By measured squared error it {}.",
            expected.in_words(),
            measured.in_words()
        )
    })
}

/// How often a release equals its original.
pub(super) fn unchanged(results: &Results) -> Option<String> {
    let epsilon = *pick::budgets(results).first()?;
    let parts: Vec<String> = pick::features(results)
        .into_iter()
        .map(|features| {
            let rows = Preset::ALL
                .into_iter()
                .filter_map(|m| pick::quality(results, m, features, epsilon));
            let rows: Vec<_> = rows.collect();
            let max = rows.iter().max_by(|a, b| a.unchanged.value.total_cmp(&b.unchanged.value));
            let min = rows.iter().min_by(|a, b| a.unchanged.value.total_cmp(&b.unchanged.value));
            let Some((min, max)) = min.zip(max) else { return String::new() };
            format!(
                "{} ({}) to {} ({}) with {features} features",
                percent(min.unchanged.value),
                name(min.method),
                percent(max.unchanged.value),
                name(max.method),
            )
        })
        .collect();
    Some(format!(
        "<b>How often does a release equal its original?</b> At ε₀ {}, after rounding to 8 bits, the \
         share of releases that equal their original is {}.",
        short(epsilon),
        list(&parts)
    ))
}
