//! `facedp check`: a picture against its original: how much changed, and who still recognises it.

use std::process::ExitCode;

use anyhow::{Context, anyhow};
use facedp::Quality;
use facedp_engine::{Distance, Eyes, MIN_SCORE, Photo, Spot, Trial, Verdict, Workspace};
use serde::Serialize;

use crate::args::{Check, Output};
use crate::failure::{Failure, say};
use crate::{photo, words};

/// What is found of a pair of pictures.
#[derive(Serialize)]
struct Report {
    #[serde(flatten)]
    quality: Quality,
    /// Faces of the original.
    faces: Vec<FaceReport>,
}

#[derive(Serialize)]
struct FaceReport {
    #[serde(flatten)]
    face: Spot,
    recognisers: Vec<Verdict>,
}

pub fn run(args: &Check, output: &Output) -> Result<ExitCode, Failure> {
    let (original, released) = (photo::read(&args.original)?, photo::read(&args.released)?);
    let [before, after] = [&original, &released].map(|photo| photo.luma(photo.whole()));
    let quality = Quality::compare(&before, &after).map_err(|e| {
        anyhow!("{} against {}: {e}", args.released.display(), args.original.display())
    })?;
    let report = Report { quality, faces: faces(&original, &released)? };
    if output.json {
        say(serde_json::to_string(&report).context("JSON")?)?;
    } else if !output.quiet {
        say(describe(&report))?;
    }
    Ok(ExitCode::SUCCESS)
}

fn faces(original: &Photo, released: &Photo) -> anyhow::Result<Vec<FaceReport>> {
    let eyes = Eyes::open().context("the embedded networks")?;
    let mut work = Workspace::default();
    let found = eyes.find(original, MIN_SCORE, &mut work)?;
    let report = |face: Spot| -> anyhow::Result<FaceReport> {
        let witness = eyes.witness(original, &face, &mut work)?;
        let recognisers = eyes.judge(&witness, released, Trial::Degraded, &mut work)?;
        Ok(FaceReport { face, recognisers })
    };
    found.into_iter().map(report).collect()
}

fn describe(report: &Report) -> String {
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
        for v in &face.recognisers {
            text += &format!(
                "face {number:<3} {:<6} distance {} (up to {:.3}); after JPEG 75 {}; at half size \
                 {}\n",
                v.name,
                shown(&Some(v.plain)),
                v.threshold,
                shown(&v.jpeg_75),
                shown(&v.half_size),
            );
        }
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
