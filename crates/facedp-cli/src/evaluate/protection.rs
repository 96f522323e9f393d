//! Whether recognisers still match treated photos, for any method.

use std::process::ExitCode;
use std::sync::Arc;

use anyhow::Context;
use facedp::FeatureModel;
use facedp_engine::Request;
use facedp_eval::attacks;
use facedp_eval::protection::{Judge, Options, ProtectionRow, run as evaluate, title};
use facedp_eval::results::Estimate;

use super::{complain_of, interrupted, report};
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
    let done = report(args, model, output, |task| evaluate(task, &options))?;
    let Some(results) = done else { return Ok(interrupted()) };
    let code = complain_of(&results.skipped);
    if output.json {
        say(serde_json::to_string(&results).context("JSON")?)?;
    } else if !output.quiet {
        for (request, row) in options.requests.iter().zip(&results.rows) {
            say(describe(&title(request)?, row))?;
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
