//! Whether faces are still recognised.

use crate::report::pick;
use crate::report::text::{counted, escape, number, percent, percents, short, span};
use crate::results::{AttackRow, Results};

/// Miss rates of each recogniser at the highest and the lowest PSNR.
pub(super) fn recognition(results: &Results) -> Vec<String> {
    let decibels = pick::numbers(results.recognition.iter().map(|row| row.psnr));
    let (Some(&lowest), Some(&highest)) = (decibels.first(), decibels.last()) else {
        return Vec::new();
    };
    let recognisers = pick::distinct(results.recognition.iter().map(|row| &row.recogniser));
    recognisers
        .into_iter()
        .filter_map(|recogniser| {
            let of = || results.recognition.iter().filter(move |row| &row.recogniser == recogniser);
            let rule = &of().find(|r| r.rule.name == "standard").or_else(|| of().next())?.rule;
            let clean = of().find(|row| &row.rule == rule)?.clean_pair_fnr;
            let at = |psnr: f64| {
                let rows = || of().filter(move |r| &r.rule == rule && pick::same(r.psnr, psnr));
                format!(
                    "at {} dB is {} against the photo’s own original and {} against another photo of \
                     the person",
                    short(psnr),
                    percents(rows().map(|row| row.self_fnr.value)),
                    percents(rows().map(|row| row.pair_fnr.value)),
                )
            };
            let worst = if pick::same(lowest, highest) {
                String::new()
            } else {
                "; the miss rate ".to_owned() + &at(lowest)
            };
            Some(format!(
                "<b>Does {} still match noisy photos?</b> Under the rule “{}”, the miss rate {}{worst}. \
                 Without noise, the miss rate against another photo is {}.",
                escape(recogniser),
                escape(&rule.name),
                at(highest),
                percent(clean.value),
            ))
        })
        .collect()
}

/// How attacks change the miss rate against the photo's own original. A lower rate is the attacker's gain.
pub(super) fn attacks(results: &Results) -> Option<String> {
    let noisy =
        || results.attacks.iter().filter(|row| row.method.is_some() && row.attack != "none");
    let change = |row: &AttackRow| {
        let same = results.recognition.iter().find(|r| {
            r.recogniser == row.recogniser
                && r.rule == row.rule
                && Some(r.method) == row.method
                && row.psnr.is_some_and(|psnr| pick::same(psnr, r.psnr))
        });
        let none = results.attacks.iter().find(|r| {
            r.attack == "none"
                && r.recogniser == row.recogniser
                && r.rule == row.rule
                && r.method == row.method
                && r.psnr == row.psnr
        });
        let before = none.map(|r| r.self_fnr.value).or(same.map(|r| r.self_fnr_detected.value))?;
        Some(row.self_fnr.value - before)
    };
    let mut changes: Vec<(&str, f64, f64)> = pick::distinct(noisy().map(|row| row.attack.as_str()))
        .into_iter()
        .filter_map(|attack| {
            let all: Vec<f64> = noisy().filter(|r| r.attack == attack).filter_map(change).collect();
            let low = all.iter().copied().reduce(f64::min)?;
            Some((attack, low, all.iter().copied().reduce(f64::max)?))
        })
        .collect();
    changes.sort_by(|a, b| a.1.total_cmp(&b.1));
    let &(gain, low, _) = changes.first()?;
    let &(harm, _, high) = changes.iter().max_by(|a, b| a.2.total_cmp(&b.2))?;
    let points = |share: f64| format!("{} points", number(100.0 * share.abs(), 1));
    let helped = if low < 0.0 {
        format!(
            "the largest gain is that of {}, which lowers a miss rate by {}",
            escape(gain),
            points(low)
        )
    } else {
        "no attack lowers a miss rate".to_owned()
    };
    let harmed = if high > 0.0 {
        format!(
            "; the largest loss is that of {}, which raises a miss rate by {}",
            escape(harm),
            points(high)
        )
    } else {
        String::new()
    };
    Some(format!(
        "<b>What do attacks change?</b> {} tried on noisy photos. Against the photo’s own original, \
         {helped}{harmed}.",
        counted(changes.len(), "attack was", "attacks were"),
    ))
}

/// The PSNR gained by averaging.
pub(super) fn averaging(results: &Results) -> Option<String> {
    let max = results.averaging.iter().map(|row| row.releases).max()?;
    let gains = |keyed: bool| {
        let rows = results.averaging.iter().filter(move |r| r.releases == max && r.keyed == keyed);
        rows.filter_map(|row| Some(row.psnr_average? - row.psnr_one?))
    };
    let write = |gain: f64| number(gain, 1);
    let mut parts = Vec::new();
    if gains(false).next().is_some() {
        parts.push(format!(
            "averaging {max} releases with fresh noise gains {} dB (expected for independent noise: {} \
             dB)",
            span(gains(false), write),
            number(10.0 * (max as f64).log10(), 1),
        ));
    }
    if gains(true).next().is_some() {
        parts.push(format!(
            "with one secret key all {max} releases are equal, and averaging gains {} dB",
            span(gains(true), write)
        ));
    }
    (!parts.is_empty())
        .then(|| format!("<b>Does averaging recover the photo?</b> In PSNR, {}.", parts.join("; ")))
}

/// Noisy photos searched among noisy photos.
pub(super) fn gallery(results: &Results) -> Option<String> {
    let lowest = *pick::numbers(results.gallery.iter().filter_map(|row| row.psnr)).first()?;
    let noisy = results.gallery.iter().filter(|r| r.psnr.is_some_and(|p| pick::same(p, lowest)));
    let clean = || results.gallery.iter().filter(|row| row.method.is_none());
    let beside = if clean().next().is_some() {
        format!("; without noise, for {}", percents(clean().map(|row| row.rank_1.value)))
    } else {
        String::new()
    };
    Some(format!(
        "<b>Can noisy photos be linked to each other?</b> At {} dB, the nearest photo in a gallery of \
         noisy photos is the right person’s for {} of people{beside}.",
        short(lowest),
        percents(noisy.map(|row| row.rank_1.value)),
    ))
}
