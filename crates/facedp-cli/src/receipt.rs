//! `facedp receipt`: receipts, explained.

use std::path::Path;
use std::process::ExitCode;

use anyhow::Context;
use facedp::Randomness;
use facedp_engine::{FaceRecord, Receipt};

use crate::args::{Output, Receipt as Command};
use crate::failure::{Failure, say};
use crate::words;

pub fn run(command: &Command, output: &Output) -> Result<ExitCode, Failure> {
    match command {
        Command::Public { receipt } => {
            let public = read(receipt)?.public;
            say(serde_json::to_string_pretty(&public).context("JSON")?)?;
        }
        Command::Show { receipt } if output.json => {
            say(serde_json::to_string(&read(receipt)?).context("JSON")?)?;
        }
        Command::Show { receipt } => say(explain(&read(receipt)?))?,
    }
    Ok(ExitCode::SUCCESS)
}

fn read(path: &Path) -> anyhow::Result<Receipt> {
    let name = || format!("{}", path.display());
    let bytes = std::fs::read(path).with_context(name)?;
    serde_json::from_slice(&bytes)
        .context("not a receipt that `facedp protect --receipt` wrote")
        .with_context(name)
}

fn explain(receipt: &Receipt) -> String {
    let (public, private) = (&receipt.public, &receipt.private);
    let terms = &public.terms;
    let method = &terms.method;
    let randomness = match terms.randomness {
        Randomness::System => "fresh entropy of the system",
        Randomness::Keyed => "follows from the owner's secret key and the photo",
        Randomness::Experiment => "a seed: whoever knows it can take the noise off again",
    };
    let list = |items: &[String]| match items {
        [] => "nothing".to_owned(),
        items => items.join(", "),
    };
    let mut lines = vec![
        "may be published".to_owned(),
        format!("  made by     {}", terms.tool),
        format!(
            "  method      {}, {} features, p {}",
            method.preset, method.features, method.geometric_p
        ),
        format!("  epsilon     {} a face ({})", method.epsilon.get(), terms.epsilon_unit),
        format!("  claim       {}", terms.claim.in_words()),
        format!("  randomness  {randomness}"),
        format!("  left out    {}", list(&public.stripped)),
        format!("  belongs to  the file with SHA-256 {}", public.file_sha256),
    ];
    lines.extend(public.notes.iter().map(|note| format!("  note        {note}")));
    lines.push("private: depends on the original, do not publish".to_owned());
    for (number, face) in (1..).zip(&private.faces) {
        lines.extend(explain_face(number, face));
    }
    lines.join("\n")
}

fn explain_face(number: usize, face: &FaceRecord) -> Vec<String> {
    let place = match &face.spot {
        Some(spot) => {
            let [x, y, width, height] = spot.rect;
            format!("at {x:.0},{y:.0}, {width:.0}x{height:.0} pixels")
        }
        None => "a face crop".to_owned(),
    };
    let drawn = &face.drawn;
    let mut lines = vec![
        format!("  face {number}      {place}"),
        format!(
            "    noise     K = {}, variance {:.1} drawn, {:.1} in theory",
            drawn.geometric_number, drawn.real_variance, drawn.theoretical_variance
        ),
    ];
    if let Some(quality) = &face.quality {
        let psnr = words::decibels(quality.psnr, "infinite");
        let ssim = quality.ssim.map_or("undefined".to_owned(), |ssim| format!("{ssim:.5}"));
        lines.push(format!("    quality   PSNR {psnr}, SSIM {ssim}"));
    }
    lines.extend(face.recognisers.iter().map(|verdict| {
        format!(
            "    {:<9} distance {:.3}, {} (up to {:.3})",
            verdict.name,
            verdict.plain.distance,
            words::matches(&verdict.plain),
            verdict.threshold
        )
    }));
    lines
}
