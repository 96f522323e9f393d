//! Whether recognisers still match treated photos, for any method.

use std::process::ExitCode;
use std::sync::Arc;

use anyhow::Context;
use facedp::FeatureModel;
use facedp_engine::Request;
use facedp_eval::attacks;
use facedp_eval::protection::{Judge, Options, ProtectionRow, run as evaluate, title};
use facedp_eval::results::Estimate;

use super::{complain_of, interrupted, report, time};
use crate::args::{Output, PhotoArgs, ReportArgs};
use crate::failure::{Failure, say};
use crate::words;

pub fn run(
    args: &ReportArgs,
    photos: &PhotoArgs,
    model: Arc<FeatureModel>,
    requests: Vec<Request>,
    output: &Output,
) -> Result<ExitCode, Failure> {
    let attacks = match photos.attacks.is_empty() {
        true => attacks::all().iter().map(|attack| attack.name().to_owned()).collect(),
        false => photos.attacks.clone(),
    };
    let options = Options {
        requests,
        people: photos.people as usize,
        skip: photos.skip,
        threshold_images: photos.threshold_images,
        galleries: photos.galleries,
        attacks,
    };
    time::announce(time::of_photos(&options), output);
    let done = report(args, model, output, |task| evaluate(task, &options))?;
    let Some(results) = done else { return Ok(interrupted()) };
    let code = complain_of(&results.skipped);
    if output.json {
        say(serde_json::to_string(&results).context("JSON")?)?;
    } else if !output.quiet {
        for (request, row) in options.requests.iter().zip(&results.rows) {
            say(format!("{}\n{}", describe(&title(request)?, row), findings(row)))?;
        }
    }
    Ok(code)
}

fn describe(title: &str, row: &ProtectionRow) -> String {
    let steps = row.steps.map_or(String::new(), |steps| format!(", {steps:.1} steps"));
    let mut text = format!(
        "{title}: {} of {} people; quality {:.1} (5 % below {:.1}, least {:.1}), PSNR {:.2} (min {:.2}, in \
         dlib's crop {:.2}), SSIM {:.4}{steps}",
        words::count(row.photos, "photo"),
        row.people,
        row.score.median,
        row.score.low,
        row.score.least,
        row.psnr.value,
        row.psnr_min,
        row.psnr_crop.value,
        row.ssim.value,
    );
    if let (Some(displacement), Some(stretch)) = (row.displacement, row.stretch) {
        text += &format!(
            "\n  moved by {:.2} % of the distance of the eyes (at most {:.2} %), stretched by up to {:.0} % \
             (at most {:.0} %)",
            100.0 * displacement.median,
            100.0 * displacement.largest,
            100.0 * stretch.median,
            100.0 * stretch.largest,
        );
    }
    for judge in &row.judges {
        text += &describe_judge(judge);
    }
    text
}

/// What the figures say, for readers who read nothing else.
fn findings(row: &ProtectionRow) -> String {
    let mut lines = Vec::new();
    for (known, who) in [
        (true, "the recognisers that steering knows"),
        (false, "recognisers that the method does not know"),
    ] {
        let judges: Vec<&Judge> = row.judges.iter().filter(|judge| judge.known == known).collect();
        let worst = |judge: &&Judge| {
            let missed = judge.attacks.iter().map(|attacked| attacked.pair_fnr.value);
            missed.reduce(f64::min)
        };
        let plain = |judge: &&Judge| {
            judge.attacks.iter().find(|a| a.attack == "none").map(|a| a.pair_fnr.value)
        };
        let clean = of_hundred(judges.iter().map(|judge| judge.clean_pair_fnr.value));
        let (Some(clean), Some(after)) = (clean, of_hundred(judges.iter().filter_map(worst)))
        else {
            continue;
        };
        let plain = of_hundred(judges.iter().filter_map(plain));
        let first = plain.map_or(String::new(), |plain| format!("{plain} as written, and "));
        lines.push(format!(
            "- Of 100 photos, {who} no longer match {first}{after} after the attack that helps each of them \
             most, with another photo of the person. Of untouched photos, they miss {clean}."
        ));
    }
    let galleries = row.judges.iter().filter_map(|judge| judge.gallery.as_ref());
    if let Some(linked) = of_hundred(galleries.map(|gallery| 1.0 - gallery.pair_fnr.value)) {
        lines.push(format!(
            "- Of 100 pairs of results of the same person, recognisers link {linked}."
        ));
    }
    let words = match row.score.median {
        score if score >= 90.0 => "people do not see the change",
        score if score >= 70.0 => "the change is hard to see without the original beside it",
        score if score >= 50.0 => "the change is visible on a close look",
        _ => "the change is plainly visible",
    };
    lines.push(format!("- By the quality score of {:.0}, {words}.", row.score.median));
    format!("  findings:\n{}", lines.join("\n"))
}

/// Shares as numbers of a hundred, as in `3` or `97 to 100`.
fn of_hundred(shares: impl Iterator<Item = f64>) -> Option<String> {
    let numbers: Vec<f64> = shares.map(|share| (100.0 * share).round()).collect();
    let low = numbers.iter().copied().reduce(f64::min)?;
    let high = numbers.iter().copied().reduce(f64::max)?;
    Some(if low == high { format!("{low}") } else { format!("{low} to {high}") })
}

fn describe_judge(judge: &Judge) -> String {
    let held_out = if judge.known { "" } else { ", held out" };
    let mut text = format!(
        "\n  {} at {:.3} ({}{held_out}); no match of untouched pairs {}",
        words::recogniser(&judge.recogniser),
        judge.rule.threshold,
        judge.rule.name,
        share(&judge.clean_pair_fnr),
    );
    for attacked in &judge.attacks {
        text += &format!(
            "\n    {:<18} no match with the original {}, with another photo {}",
            attacked.attack,
            share(&attacked.self_fnr),
            share(&attacked.pair_fnr),
        );
    }
    if let Some(gallery) = &judge.gallery {
        text += &format!(
            "\n    among treated      no match {}, found first {} (untouched {})",
            share(&gallery.pair_fnr),
            share(&gallery.rank_1),
            share(&gallery.clean_rank_1),
        );
    }
    text
}

fn share(rate: &Estimate) -> String {
    format!("{:.3} ({:.3} to {:.3})", rate.value, rate.low, rate.high)
}
