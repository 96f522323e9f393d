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
        say(serde_json::to_string(&quality).context("JSON")?);
    } else if !output.quiet {
        say(describe(&quality));
    }
    Ok(ExitCode::SUCCESS)
}

fn describe(quality: &Quality) -> String {
    let decibels = |value: Option<f64>| value.map_or("equal".to_owned(), |v| format!("{v:.2} dB"));
    format!(
        "psnr        {}\npsnr_paper  {}\nssim        {:.5}\nssim_wang   {:.5}\nvariance    {:.1}",
        decibels(quality.psnr),
        decibels(quality.psnr_paper),
        quality.ssim,
        quality.ssim_wang,
        quality.variance,
    )
}
