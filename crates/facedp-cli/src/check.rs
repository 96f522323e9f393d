//! `facedp check`: a picture against its original: how much changed, and who still recognises it.

use std::path::Path;
use std::process::ExitCode;

use anyhow::Context;
use facedp_engine::{
    Checked, Distance, Engine, Limits, MethodName, Request, Resources, Secret, Workspace, files,
};

use crate::args::{Check, Output};
use crate::failure::{Failure, say};
use crate::words;

pub fn run(args: &Check, output: &Output) -> Result<ExitCode, Failure> {
    let read = |path: &Path| {
        let limits = Limits::default();
        files::read(path, limits.file_bytes).with_context(|| path.display().to_string())
    };
    let (original, released) = (read(&args.original)?, read(&args.released)?);
    let engine = Engine::new(Request::new(MethodName::None), Resources::new(Secret::Fresh)?)?;
    let names = || format!("{} against {}", args.released.display(), args.original.display());
    let checked = engine.check(&original, &released, &mut Workspace::default());
    let report = checked.with_context(names)?;
    if output.json {
        say(serde_json::to_string(&report).context("JSON")?)?;
    } else if !output.quiet {
        say(describe(&report))?;
    }
    Ok(ExitCode::SUCCESS)
}

fn describe(report: &Checked) -> String {
    let quality = &report.quality;
    let equal = quality.variance == 0.0;
    let decibels = |value: Option<f64>| match value {
        Some(value) => format!("{value:.2} dB"),
        None if equal => "equal".to_owned(),
        None => "undefined: the second picture is black".to_owned(),
    };
    let similarity = |value: Option<f64>| {
        value.map_or("undefined: the pictures are too small".to_owned(), |v| format!("{v:.5}"))
    };
    let mut text = format!(
        "psnr        {}\npsnr_paper  {}\nssim        {}\nssim_wang   {}\nvariance    {:.1}\n\n",
        decibels(quality.psnr),
        decibels(quality.psnr_paper),
        similarity(quality.ssim),
        similarity(quality.ssim_wang),
        quality.variance,
    );
    let Some(first) = report.faces.first() else {
        return text + "no face found in the original, so there is nothing to recognise";
    };
    let shown = |d: &Option<Distance>| {
        d.map_or(String::new(), |d| format!("{:.3}, {}", d.distance, words::matches(&d)))
    };
    for (number, face) in (1..).zip(&report.faces) {
        let lost = if face.found_again { "" } else { "; the detector no longer finds it" };
        text += &format!(
            "face {number:<3} quality {:.1} (SSIMULACRA2; pixels that moved count as damage){lost}\n",
            face.ssimulacra2
        );
        for v in &face.recognisers {
            text += &format!(
                "face {number:<3} {:<13} distance {} (up to {:.3}); after JPEG 75 {}; at half size \
                 {}\n",
                v.name,
                shown(&Some(v.plain)),
                v.threshold,
                shown(&v.jpeg_75),
                shown(&v.half_size),
            );
        }
    }
    for face in &report.other_faces {
        let place = words::place(face);
        text += &format!("the second picture has a face at {place} where the original has none\n");
    }
    let still = (0..first.recognisers.len()).map(|r| {
        let verdicts = report.faces.iter().map(|face| &face.recognisers[r]);
        let matching = verdicts.filter(|v| v.plain.matches).count();
        format!("{}: {matching} of {}", first.recognisers[r].name, report.faces.len())
    });
    text + &format!(
        "faces that still match their original: {}",
        still.collect::<Vec<_>>().join(", ")
    )
}
