//! How much of the picture is kept, in plain words.

use facedp::Preset;

use crate::report::look::name;
use crate::report::order::Order;
use crate::report::pick;
use crate::report::text::{list, number, percent, short};
use crate::results::Results;

/// Which method keeps most of the picture.
pub(super) fn best(results: &Results) -> Option<String> {
    let epsilon = *pick::budgets(results).first()?;
    let parts: Vec<String> = pick::features(results)
        .into_iter()
        .filter_map(|features| {
            let at = |m: Preset| pick::quality(results, m, features, epsilon)?.psnr_mean_mse;
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
            Some(format!("with {features} features it is {} ({psnr} dB{next})", name(first)))
        })
        .collect();
    (!parts.is_empty()).then(|| {
        format!(
            "<b>Which method keeps most of the picture?</b> At ε₀ {}, by PSNR of the mean squared \
             error, {}.",
            short(epsilon),
            list(&parts)
        )
    })
}

/// Whether the order of theory holds.
pub(super) fn order(results: &Results) -> Option<String> {
    let expected = Order::expected(results);
    let measured = Order::measured(results);
    (expected.compared + measured.compared > 0).then(|| {
        format!(
            "<b>Is the order optimal ≥ LMGD ≥ NA ≥ uniform?</b> By expected squared error it {}. \
             By measured squared error it {}.",
            expected.in_words(),
            measured.in_words()
        )
    })
}

/// How often nothing happens.
pub(super) fn unchanged(results: &Results) -> Option<String> {
    let epsilon = *pick::budgets(results).first()?;
    let parts: Vec<String> = pick::features(results)
        .into_iter()
        .map(|features| {
            let rows = Preset::ALL
                .into_iter()
                .filter_map(|m| pick::quality(results, m, features, epsilon));
            let rows: Vec<_> = rows.collect();
            let most = rows.iter().max_by(|a, b| a.unchanged.value.total_cmp(&b.unchanged.value));
            let least = rows.iter().min_by(|a, b| a.unchanged.value.total_cmp(&b.unchanged.value));
            let Some((least, most)) = least.zip(most) else { return String::new() };
            format!(
                "with {features} features {} ({}) to {} ({})",
                percent(least.unchanged.value),
                name(least.method),
                percent(most.unchanged.value),
                name(most.method),
            )
        })
        .collect();
    Some(format!(
        "<b>How often is the release the original?</b> At ε₀ {}, after rounding to 8 bits, {} of \
         releases do not differ from their photo by a single grey level.",
        short(epsilon),
        list(&parts)
    ))
}
