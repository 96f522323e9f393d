//! `facedp check`: a picture against its original.

use std::process::ExitCode;

use anyhow::{Context, anyhow};
use facedp::Quality;

use crate::args::{Check, Output};
use crate::failure::{Failure, say};
use crate::photo::Photo;

pub fn run(args: &Check, output: &Output) -> Result<ExitCode, Failure> {
    let (original, released) = (Photo::read(&args.original)?, Photo::read(&args.released)?);
    let quality = Quality::compare(&original.luma(), &released.luma()).map_err(|e| {
        anyhow!("{} against {}: {e}", args.released.display(), args.original.display())
    })?;
    if output.json {
        say(serde_json::to_string(&quality).context("JSON")?)?;
    } else if !output.quiet {
        say(describe(&quality))?;
    }
    Ok(ExitCode::SUCCESS)
}

fn describe(quality: &Quality) -> String {
    let equal = quality.variance == 0.0;
    let decibels = |value: Option<f64>| match value {
        Some(value) => format!("{value:.2} dB"),
        None if equal => "equal".to_owned(),
        None => "undefined: the second picture is black".to_owned(),
    };
    let similarity = |value: Option<f64>| {
        value.map_or("undefined: the pictures are too small".to_owned(), |v| format!("{v:.5}"))
    };
    format!(
        "psnr        {}\npsnr_paper  {}\nssim        {}\nssim_wang   {}\nvariance    {:.1}",
        decibels(quality.psnr),
        decibels(quality.psnr_paper),
        similarity(quality.ssim),
        similarity(quality.ssim_wang),
        quality.variance,
    )
}
