//! `facedp receipt`: receipts, explained.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::Context;
use facedp::certified::CertifiedMethod;
use facedp::noise::Randomness;
use facedp_engine::ledger::{Ledger, photo_name, totals};
use facedp_engine::{
    Certificate, Details, Distance, FaceRecord, Goal, Limits, Photo, Receipt, SteeringOutcome,
    Terms, Verdict, files,
};
use serde_json::json;

use crate::args::{Output, Receipt as Command};
use crate::failure::{Failure, say};
use crate::{plain, words};

/// Receipts have some kilobytes a face.
const MAX_BYTES: u64 = 100_000_000;

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
        Command::Total { photos, ledger } => return total(photos, ledger.as_deref(), output),
    }
    Ok(ExitCode::SUCCESS)
}

/// What was spent on photos.
fn total(photos: &[PathBuf], ledger: Option<&Path>, output: &Output) -> Result<ExitCode, Failure> {
    let path = ledger.map_or_else(Ledger::default_path, |path| Ok(path.to_owned()))?;
    let totals = match path.exists() || ledger.is_some() {
        true => totals(&Ledger::read(&path)?),
        // Nothing was released yet.
        false => Vec::new(),
    };
    let mut names = Vec::new();
    for photo in photos {
        let limits = Limits::default();
        let read = || Photo::decode(&files::read(photo, limits.file_bytes)?, &limits);
        let digest = read().with_context(|| photo.display().to_string())?.digest();
        names.push((photo.display().to_string(), photo_name(&digest)));
    }
    if photos.is_empty() {
        names.extend(totals.iter().map(|(hash, _)| (hash.clone(), hash.clone())));
    }
    let mut lines = Vec::new();
    for (name, hash) in names {
        let known = totals.iter().find(|(photo, _)| *photo == hash).map(|(_, total)| total);
        lines.push(match (known, output.json) {
            (Some(total), true) => {
                let mut line = serde_json::to_value(total).context("JSON")?;
                line["photo"] = name.into();
                line.to_string()
            }
            (None, true) => json!({ "photo": name, "releases": 0, "epsilon": 0.0 }).to_string(),
            (Some(total), false) => {
                let releases = words::count(total.releases, "release");
                format!("{name}  {releases}, {}", words::cost(total))
            }
            (None, false) => format!("{name}  no release in this ledger"),
        });
    }
    if lines.is_empty() && !output.json {
        lines.push(format!("no release in {}", path.display()));
    }
    if !output.quiet && !lines.is_empty() {
        say(plain::lines(lines))?;
    }
    Ok(ExitCode::SUCCESS)
}

fn read(path: &Path) -> anyhow::Result<Receipt> {
    let name = || format!("{}", path.display());
    let text = files::read_text(path, MAX_BYTES).with_context(name)?;
    Receipt::from_json(&text).with_context(name)
}

fn explain(receipt: &Receipt) -> String {
    let (public, private) = (&receipt.public, &receipt.private);
    let terms = &public.terms;
    let randomness = match terms.randomness() {
        Randomness::System => "fresh entropy of the system",
        Randomness::Keyed => "follows from the owner's secret key and the photo",
        Randomness::Experiment => "a seed: whoever knows it can repeat it",
    };
    let (method, epsilon) = match terms {
        Terms::Noise(terms) => {
            let method = &terms.method;
            let (preset, features, p) = (method.preset, method.features, method.geometric_p);
            let epsilon = format!("{} a face ({})", method.epsilon.get(), terms.epsilon_unit);
            (format!("{preset}, {features} features, p {p}"), epsilon)
        }
        Terms::Certified(terms) => {
            let CertifiedMethod { features, mechanism, epsilon, .. } = terms.method.method;
            let noise = mechanism.in_words();
            let epsilon = format!("{} a face ({})", epsilon.get(), terms.epsilon_unit);
            (format!("certified, {noise} noise on {features} features"), epsilon)
        }
        Terms::Steered(terms) => {
            let steering = &terms.method.steering;
            let goal = match steering.goal {
                Goal::Away => "away from itself",
                Goal::Both => "away from itself and towards a person drawn for it",
                Goal::Draw => "towards a person drawn for it",
            };
            let epsilon = format!("{} for the draw, none for the picture", steering.epsilon.get());
            let shape = if steering.shape { "" } else { ", shape kept" };
            let quality = steering.min_quality;
            (format!("steered {goal}, quality at least {quality}{shape}"), epsilon)
        }
    };
    let list = |items: &[String]| match items {
        [] => "nothing".to_owned(),
        items => items.join(", "),
    };
    let mut lines = vec![
        "may be published".to_owned(),
        format!("  made by     {}", terms.tool()),
        format!("  method      {method}"),
        format!("  epsilon     {epsilon}"),
        format!("  claim       {}", terms.claim().in_words()),
        format!("  randomness  {randomness}"),
        format!("  left out    {}", list(&public.stripped)),
        format!("  asked       {}", asked(&public.recognisers_asked)),
        format!("  belongs to  the file with SHA-256 {}", public.file_sha256),
    ];
    if let Terms::Certified(terms) = terms {
        lines.push(format!("  neighbours  {}", terms.neighbours));
        lines.extend(terms.assumptions.iter().map(|text| format!("  provided    {text}")));
    }
    lines.extend(public.notes.iter().map(|note| format!("  note        {note}")));
    lines.push("private: depends on the original, do not publish".to_owned());
    for (number, face) in (1..).zip(&private.faces) {
        lines.extend(explain_face(number, face));
    }
    plain::lines(lines)
}

/// The recognisers that were asked about the result.
fn asked(names: &[String]) -> String {
    let names: Vec<&str> = names.iter().map(|name| words::recogniser(name)).collect();
    if names.is_empty() { "no recogniser".to_owned() } else { names.join(", ") }
}

fn explain_face(number: usize, face: &FaceRecord) -> Vec<String> {
    let place = match &face.face {
        Some(face) => {
            let [x, y, width, height] = face.rect;
            format!("at {x:.0},{y:.0}, {width:.0}x{height:.0} pixels")
        }
        None => "a face crop".to_owned(),
    };
    let mut lines = vec![format!("  face {number}      {place}")];
    lines.extend(face.details.as_ref().map(|details| match details {
        Details::Noise(drawn) => format!(
            "    noise     K = {}, variance {:.1} drawn, {:.1} in theory",
            drawn.geometric_number, drawn.real_variance, drawn.theoretical_variance
        ),
        Details::Certified(Certificate { noisy_features, .. }) => format!(
            "    features  {} of {} drawn, the others as the surroundings predict",
            noisy_features.iter().flatten().count(),
            noisy_features.len()
        ),
        Details::Steered(SteeringOutcome { steps, reached, shape }) => {
            let end = if *reached { "margin reached" } else { "margin not reached" };
            let moved = shape.map_or(String::new(), |shape| {
                let [mean, most, stretch] =
                    [shape.displacement, shape.max_displacement, shape.stretch].map(|v| 100.0 * v);
                format!(
                    "; moved by {mean:.1} % of the distance of the eyes, at most {most:.1} %, \
                     stretched by at most {stretch:.0} %"
                )
            });
            format!("    steered   {}, {end}{moved}", words::count(*steps, "step"))
        }
    }));
    if let Some(quality) = &face.quality {
        let psnr = words::decibels(quality.psnr, "infinite");
        let ssim = quality.ssim.map_or("undefined".to_owned(), |ssim| format!("{ssim:.5}"));
        lines.push(format!("    region    PSNR {psnr}, SSIM {ssim}"));
    }
    if let Some(score) = face.ssimulacra2 {
        lines.push(format!("    quality   {score:.1} (SSIMULACRA2)"));
    }
    for verdict in &face.recognisers {
        let before = face.before.iter().find(|before| before.name == verdict.name);
        lines.extend(explain_verdict(verdict, before));
    }
    lines
}

/// What a recogniser says of a face, and said before.
fn explain_verdict(verdict: &Verdict, before: Option<&Verdict>) -> Vec<String> {
    let (name, threshold) = (words::recogniser(&verdict.name), verdict.threshold);
    let looks = [
        ("as written", Some(verdict.plain), before.map(|b| b.plain)),
        ("JPEG 75", verdict.jpeg_75, before.and_then(|b| b.jpeg_75)),
        ("half size", verdict.half_size, before.and_then(|b| b.half_size)),
    ];
    let line = |(look, after, before): (&str, Option<Distance>, Option<Distance>)| {
        let after = after?;
        let before = before.map_or(String::new(), |b| format!("{:.3} before, ", b.distance));
        let verdict = words::matches(&after);
        Some(format!(
            "    {name:<9} {look}: distance {before}{:.3} after, {verdict} (up to {threshold:.3})",
            after.distance
        ))
    };
    looks.into_iter().filter_map(line).collect()
}
