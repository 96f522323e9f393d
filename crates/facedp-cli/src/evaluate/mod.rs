//! `facedp evaluate`: the paper's tables and figures, attacks, and a report of them.

mod foreign;
mod recognisers;
mod steered;

use std::path::Path;
use std::process::ExitCode;

use anyhow::{Context, anyhow};
use facedp::Preset;
use facedp_eval::journal::Earlier;
use facedp_eval::progress::Progress;
use facedp_eval::results::{Results, Skipped};
use facedp_eval::run::{Options, run as evaluate};
use facedp_eval::{Error, attacks};
use serde_json::json;

use crate::args::{Evaluate, Images, Output};
use crate::failure::{Failure, complain, say};
use crate::progress::Bar;
use crate::{model, words};

pub fn run(args: &Evaluate, output: &Output) -> Result<ExitCode, Failure> {
    let pool = rayon::ThreadPoolBuilder::new()
        .num_threads(args.jobs.map_or(0, usize::from))
        .build()
        .context("worker threads")?;
    pool.install(|| match (&args.pairs, &args.output) {
        (Some(pairs), _) => recognisers::run(args, pairs, output),
        (None, Some(folder)) if args.steering.steered || args.steering.certified => {
            steered::run(args, folder, output)
        }
        (None, Some(folder)) => report(args, folder, output),
        (None, None) => Err(Failure::usage(anyhow!("name a folder for the report with -o"))),
    })
}

fn report(args: &Evaluate, folder: &Path, output: &Output) -> Result<ExitCode, Failure> {
    let model = model::load(args.model.as_deref())?;
    let options = args.options();
    if let Some(features) = options.features.iter().find(|n| !(1..=model.features()).contains(n)) {
        let most = model.features();
        return Err(Failure::usage(anyhow!("--features {features}: the model has 1 to {most}")));
    }
    if options.decibels.iter().chain([&options.attack_psnr]).any(|d| !(0.0..=100.0).contains(d)) {
        return Err(Failure::usage(anyhow!("--psnr and --attack-psnr take 0 to 100 decibels")));
    }
    let foreign = foreign::open(&args.foreign)?;
    let earlier = args.earlier();
    let stop = words::stop_on_signal("stopping; press Ctrl-C again to stop at once")?;
    let bar = Bar::new(output);
    let progress = Progress::new(&bar, &stop);
    let done = evaluate(&args.data, folder, &model, &options, foreign, earlier, &progress);
    bar.clear();
    let Some(results) = unless_stopped(done)? else { return Ok(ExitCode::from(130)) };
    complain_of(&results.skipped);
    if output.json {
        say(
            json!({ "report": folder, "images": results.about.images, "skipped": results.skipped }),
        )?;
    } else if !output.quiet {
        say(describe(&results, folder))?;
    }
    Ok(if results.skipped.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// What was found; none if the run was stopped, and that is said.
fn unless_stopped<T>(done: Result<T, Error>) -> Result<Option<T>, Failure> {
    match done {
        Err(Error::Stopped) => {
            complain("interrupted: go on with the same command and --resume");
            Ok(None)
        }
        done => Ok(Some(done?)),
    }
}

/// Names pictures that were left out.
fn complain_of(skipped: &[Skipped]) {
    for Skipped { file, reason } in skipped {
        complain(format_args!("skipped: {file}: {reason}"));
    }
}

impl Evaluate {
    /// What becomes of an earlier report.
    fn earlier(&self) -> Earlier {
        match (self.resume, self.force) {
            (true, _) => Earlier::Resume,
            (_, true) => Earlier::Discard,
            _ => Earlier::Refuse,
        }
    }

    fn options(&self) -> Options {
        let all: Vec<String> = attacks::all().iter().map(|a| a.name().to_owned()).collect();
        let attacks = match (self.attack_images, self.attacks.is_empty()) {
            (0, _) => Vec::new(),
            (_, true) => all,
            (_, false) => self.attacks.clone(),
        };
        let methods =
            if self.methods.is_empty() { Preset::ALL.to_vec() } else { self.methods.clone() };
        Options {
            methods,
            epsilons: self.epsilons.iter().map(|epsilon| epsilon.get()).collect(),
            matcher_epsilons: self.matcher_epsilons.iter().map(|epsilon| epsilon.get()).collect(),
            features: self.features.clone(),
            geometric_p: self.geometric_p,
            amplitude_images: self.amplitude,
            images: match self.images {
                Images::All => None,
                Images::AtMost(n) => Some(n),
            },
            repeats: self.repeats as usize,
            draws: self.draws,
            audit_runs: self.audit_runs,
            recognisers: self.recognisers.clone(),
            recognition_images: self.recognition,
            decibels: self.psnr.clone(),
            attacks,
            attack_images: self.attack_images,
            attack_psnr: self.attack_psnr,
            half: self.identities.half(),
            seed: self.seed,
        }
    }
}

fn describe(results: &Results, folder: &Path) -> String {
    let about = &results.about;
    format!(
        "{} of {} and {} for recognisers: {}",
        words::count(about.images, "picture"),
        if about.identities == 1 {
            "1 person".to_owned()
        } else {
            format!("{} people", about.identities)
        },
        about.recognition_images,
        folder.join("report.html").display(),
    )
}
