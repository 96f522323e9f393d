//! `facedp check`: a picture against its original: how much changed, and who still recognises it.

use std::process::ExitCode;

use anyhow::{Context, anyhow};
use facedp::Quality;
use facedp_nets::{Face, Picture, Recogniser, Similarity, Workspace};
use serde::Serialize;
use serde_json::Value;

use crate::args::{Check, Output};
use crate::eyes::{Eyes, MIN_SCORE};
use crate::failure::{Failure, say};
use crate::inspect::face_json;
use crate::photo::{Photo, jpeg};

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
    face: Value,
    recognisers: Vec<Verdict>,
}

/// What one recogniser says of a face and its changed twin.
#[derive(Serialize)]
struct Verdict {
    name: &'static str,
    /// The largest distance that counts as a match.
    threshold: f32,
    #[serde(flatten)]
    plain: Distance,
    /// After the changed picture went through JPEG at quality 75.
    jpeg_75: Distance,
    /// After it was reduced to half its size and seen at the old one again.
    half_size: Distance,
}

#[derive(Serialize)]
struct Distance {
    distance: f32,
    #[serde(rename = "match")]
    matches: bool,
}

pub fn run(args: &Check, output: &Output) -> Result<ExitCode, Failure> {
    let (original, released) = (Photo::read(&args.original)?, Photo::read(&args.released)?);
    let quality = Quality::compare(&original.luma(), &released.luma()).map_err(|e| {
        anyhow!("{} against {}: {e}", args.released.display(), args.original.display())
    })?;
    let faces = faces(&original.colour_picture()?, &released.colour_picture()?)?;
    let report = Report { quality, faces };
    if output.json {
        say(serde_json::to_string(&report).context("JSON")?)?;
    } else if !output.quiet {
        say(describe(&report))?;
    }
    Ok(ExitCode::SUCCESS)
}

fn faces(original: &Picture, released: &Picture) -> anyhow::Result<Vec<FaceReport>> {
    let eyes = Eyes::open()?;
    let mut work = Workspace::default();
    let found = eyes.detector.detect(original, MIN_SCORE, &mut work);
    if found.is_empty() {
        return Ok(Vec::new());
    }
    let (compressed, halved) = (jpeg(released, 75)?, released.halved());
    let mut look = |recogniser: &Recogniser, face: &Face| -> anyhow::Result<Verdict> {
        // One alignment for all: jitter of landmarks must not count as protection.
        let placement = recogniser.placement(&face.landmarks)?;
        let mut embed = |picture: &Picture, placement: &Similarity| {
            recogniser.embed(&picture.chip(placement, recogniser.side()), &mut work)
        };
        let own = embed(original, &placement)?;
        let mut distance =
            |picture: &Picture, placement: &Similarity| -> anyhow::Result<Distance> {
                let distance = recogniser.distance(&own, &embed(picture, placement)?);
                Ok(Distance { distance, matches: recogniser.matches(distance) })
            };
        Ok(Verdict {
            name: recogniser.name(),
            threshold: recogniser.threshold(),
            plain: distance(released, &placement)?,
            jpeg_75: distance(&compressed, &placement)?,
            half_size: distance(&halved, &placement.for_half_size())?,
        })
    };
    let report = |face: &Face| -> anyhow::Result<FaceReport> {
        let recognisers =
            eyes.recognisers.iter().map(|r| look(r, face)).collect::<Result<_, _>>()?;
        Ok(FaceReport { face: face_json(face), recognisers })
    };
    found.iter().map(report).collect()
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
    let word = |d: &Distance| if d.matches { "match" } else { "no match" };
    for (number, face) in (1..).zip(&report.faces) {
        for v in &face.recognisers {
            text += &format!(
                "face {number:<3} {:<6} distance {:.3}, {} (up to {:.3}); after JPEG 75 {:.3}, {}; \
                 at half size {:.3}, {}\n",
                v.name,
                v.plain.distance,
                word(&v.plain),
                v.threshold,
                v.jpeg_75.distance,
                word(&v.jpeg_75),
                v.half_size.distance,
                word(&v.half_size),
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
