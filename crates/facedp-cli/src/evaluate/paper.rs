//! `facedp evaluate paper`: the paper's tables and figures.

use std::path::Path;
use std::process::ExitCode;

use anyhow::anyhow;
use facedp::Preset;
use facedp_eval::attacks;
use facedp_eval::paper::{Options, run as evaluate};
use facedp_eval::report;
use facedp_eval::results::Results;
use serde_json::json;

use super::{complain_of, interrupted, require_features, time};
use crate::args::{Images, Output, Paper};
use crate::failure::{Failure, say};
use crate::{model, words};

pub fn run(args: &Paper, output: &Output) -> Result<ExitCode, Failure> {
    let model = model::load(args.model.model.as_deref())?;
    let options = args.options();
    require_features(&options.features, &model)?;
    if options.decibels.iter().chain([&options.attack_psnr]).any(|d| !(0.0..=100.0).contains(d)) {
        return Err(Failure::usage(anyhow!("--psnr and --attack-psnr take 0 to 100 decibels")));
    }
    time::announce(time::of_paper(&options), output);
    let done = super::report(&args.report, model, output, |task| evaluate(task, &options))?;
    let Some(results) = done else { return Ok(interrupted()) };
    let code = complain_of(&results.skipped);
    let folder = &args.report.output;
    if output.json {
        say(
            json!({ "report": folder, "images": results.about.images, "skipped": results.skipped }),
        )?;
    } else if !output.quiet {
        say(describe(&results, folder))?;
    }
    Ok(code)
}

impl Paper {
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
            recognition_images: self.recognition,
            decibels: self.psnr.clone(),
            attacks,
            attack_images: self.attack_images,
            attack_psnr: self.attack_psnr,
        }
    }
}

fn describe(results: &Results, folder: &Path) -> String {
    let about = &results.about;
    let people = match about.identities {
        1 => "1 person".to_owned(),
        count => format!("{count} people"),
    };
    let mut lines = vec![format!(
        "{} of {people} and {} for recognisers: {}",
        words::count(about.images, "picture"),
        about.recognition_images,
        folder.join("report.html").display(),
    )];
    lines.extend(about.left_out().into_iter().map(|reason| format!("left out: {reason}")));
    let few = results.recognisers.iter().filter(|row| row.too_few_impostors());
    lines.extend(few.map(|row| {
        format!(
            "too little to tell: the false accept rate of 1e-3 of {} comes from {} impostor pairs",
            words::recogniser(&row.recogniser),
            row.impostor_pairs
        )
    }));
    lines.push("findings:".to_owned());
    lines.extend(report::in_words(results).into_iter().map(|sentence| format!("- {sentence}")));
    lines.join("\n")
}
