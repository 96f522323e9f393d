//! `facedp evaluate recognisers`: recognisers on pairs of pictures, by LFW's View 2 protocol.

use std::collections::{BTreeSet, HashMap};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Instant;

use anyhow::Context;
use facedp_engine::{FaceDetector, Recognisers, Workspace};
use facedp_eval::pairs::{self, Pair};
use facedp_eval::verification::{Scored, Verification};
use rayon::prelude::*;
use serde::Serialize;

use super::{files, time};
use crate::args::{Output, Verification as Args};
use crate::failure::{Failure, complain, say};
use crate::{photo, progress};

#[derive(Serialize)]
struct Report {
    pairs: usize,
    pictures: usize,
    /// Pictures that could not be read.
    failed: usize,
    /// Pictures in which no face was found. Pairs with one of them count as no match.
    undetected: usize,
    seconds: f64,
    recognisers: Vec<Verification>,
}

/// The embeddings of a picture's most central face, one per recogniser; `None` without a face.
type Embeddings = Option<Vec<Vec<f32>>>;

pub fn run(args: &Args, output: &Output) -> Result<ExitCode, Failure> {
    let start = Instant::now();
    let recognisers = files::add(Recognisers::embedded()?, &args.data.recogniser_files)?;
    let detector = FaceDetector::new()?;
    let pairs = pairs::read(&args.pairs, &args.data.data)?;
    let pictures: Vec<&PathBuf> = pairs
        .iter()
        .flat_map(|p| [&p.first, &p.second])
        .collect::<BTreeSet<_>>()
        .into_iter()
        .collect();
    time::announce(time::of_pictures(pictures.len(), recognisers.as_slice().len()), output);
    let bar = progress::bar(pictures.len(), "recognising", output);
    let one = |work: &mut Workspace, path: &&PathBuf| {
        let done = embed(&detector, &recognisers, path, work);
        bar.inc(1);
        done
    };
    let embedded: Vec<anyhow::Result<Embeddings>> =
        pictures.par_iter().map_init(Workspace::default, one).collect();
    bar.finish_and_clear();

    let mut by_path: HashMap<&PathBuf, Vec<Vec<f32>>> = HashMap::new();
    let (mut failed, mut undetected) = (0, 0);
    for (path, embeddings) in pictures.iter().zip(embedded) {
        match embeddings {
            Ok(Some(embeddings)) => drop(by_path.insert(path, embeddings)),
            Ok(None) => undetected += 1,
            Err(error) => {
                failed += 1;
                complain(format_args!("failed: {error:#}"));
            }
        }
    }
    let verified = recognisers.as_slice().iter().enumerate().map(|(r, recogniser)| {
        let distance = |pair: &Pair| {
            let faces = by_path.get(&pair.first).zip(by_path.get(&pair.second));
            faces.map_or(f32::INFINITY, |(a, b)| recogniser.distance(&a[r], &b[r]))
        };
        let scored = pairs.iter().map(|pair| Scored {
            distance: distance(pair),
            same: pair.same,
            fold: pair.fold,
        });
        Verification::new(recogniser.name(), recogniser.threshold(), &scored.collect::<Vec<_>>())
    });
    let report = Report {
        pairs: pairs.len(),
        pictures: pictures.len(),
        failed,
        undetected,
        recognisers: verified.collect(),
        seconds: start.elapsed().as_secs_f64(),
    };
    if output.json {
        say(serde_json::to_string(&report).context("JSON")?)?;
    } else if !output.quiet {
        say(describe(&report))?;
    }
    Ok(if failed == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

fn embed(
    detector: &FaceDetector,
    recognisers: &Recognisers,
    path: &Path,
    work: &mut Workspace,
) -> anyhow::Result<Embeddings> {
    let photo = photo::read(path)?;
    let Some(face) = detector.central_face(&photo, work)? else { return Ok(None) };
    Ok(Some(recognisers.reference(&photo, &face, work)?.embeddings().to_vec()))
}

fn describe(report: &Report) -> String {
    let width = report.recognisers.iter().map(|r| r.name.len()).max().unwrap_or(0).max(8);
    let mut text = format!(
        "{} pairs of {} pictures in {:.0} s; no face found in {}, {} unreadable\n\n\
         {:<width$} {:>18} {:>14} {:>16} {:>12} {:>12}\n",
        report.pairs,
        report.pictures,
        report.seconds,
        report.undetected,
        report.failed,
        "",
        "10-fold accuracy",
        "at standard",
        "best threshold",
        "TPR@FAR 1e-2",
        "TPR@FAR 1e-3",
    );
    for r in &report.recognisers {
        text += &format!(
            "{:<width$} {:>9.2} +- {:.2} % {:>5.2} % ({:.3}) {:>7.2} % ({:.3}) {:>10.2} % {:>10.2} %\n",
            r.name,
            100.0 * r.accuracy,
            100.0 * r.standard_error,
            100.0 * r.standard_accuracy,
            r.standard_threshold,
            100.0 * r.best_accuracy,
            r.best_threshold,
            100.0 * r.tpr_at_far_1e2,
            100.0 * r.tpr_at_far_1e3,
        );
    }
    let best = report.recognisers.iter().max_by(|a, b| a.accuracy.total_cmp(&b.accuracy));
    if let Some(best) = best {
        let name = crate::words::recogniser(&best.name);
        let share = 100.0 * best.accuracy;
        text += &format!("\nfindings: {name} tells most pairs right, {share:.1} of 100");
    }
    text.trim_end().to_owned()
}
