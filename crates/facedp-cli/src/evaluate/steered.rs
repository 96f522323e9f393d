//! `facedp evaluate --steered`: does steering work?

use std::path::Path;
use std::process::ExitCode;

use anyhow::{Context, anyhow};
use facedp::CertifiedMethod;
use facedp_engine::{Steering, Strength, Tuning};
use facedp_eval::attacks;
use facedp_eval::progress::Progress;
use facedp_eval::results::Estimate;
use facedp_eval::steering::{Options, SteeringResults, Way, in_words, run as evaluate};

use super::{Bar, complain_of, foreign, unless_stopped};
use crate::args::{Evaluate, Output, SteeredArgs, Switch};
use crate::failure::{Failure, say};
use crate::{model, words};

pub fn run(args: &Evaluate, folder: &Path, output: &Output) -> Result<ExitCode, Failure> {
    let model = model::load(args.model.as_deref())?;
    let all = attacks::all();
    let attacks = match args.attacks.is_empty() {
        true => all.iter().map(|attack| attack.name().to_owned()).collect(),
        false => args.attacks.clone(),
    };
    let options = Options {
        ways: args.ways()?,
        people: args.steering.people as usize,
        skip: args.steering.skip,
        threshold_images: args.recognition,
        galleries: args.steering.galleries,
        attacks,
        recognisers: args.recognisers.clone(),
        half: args.identities.half(),
        seed: args.seed,
    };
    let foreign = foreign::open(&args.foreign)?;
    let stop = words::stop_on_signal("stopping; press Ctrl-C again to stop at once")?;
    let bar = Bar::new(output);
    let progress = Progress::new(&bar, &stop);
    let done = evaluate(&args.data, folder, &model, &options, foreign, args.earlier(), &progress);
    bar.clear();
    let Some(results) = unless_stopped(done)? else { return Ok(ExitCode::from(130)) };
    complain_of(&results.skipped);
    if output.json {
        say(serde_json::to_string(&results).context("JSON")?)?;
    } else if !output.quiet {
        say(describe(&results))?;
    }
    Ok(if results.skipped.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

impl Evaluate {
    /// Every way that is to be judged.
    fn ways(&self) -> Result<Vec<Way>, Failure> {
        if !self.steering.certified {
            return Ok(self.steering.steerings()?.into_iter().map(Way::Steered).collect());
        }
        let each = self.features.iter().flat_map(|&features| {
            self.epsilons
                .iter()
                .map(move |&epsilon| Way::Certified(CertifiedMethod::new(epsilon, features)))
        });
        Ok(each.collect())
    }
}

impl SteeredArgs {
    /// Every goal at every floor.
    fn steerings(&self) -> Result<Vec<Steering>, Failure> {
        let mut steerings = Vec::new();
        for goal in &self.goals {
            for &min_psnr in &self.min_psnr {
                let usual = Steering::new(Strength::Medium, goal.goal())?;
                let margin = match self.margin {
                    Some(margin) if margin <= 0.0 => f32::MAX,
                    Some(margin) => margin,
                    None => usual.margin,
                };
                let steering = Steering {
                    min_psnr,
                    margin,
                    colour: self.colour == Switch::On,
                    recognisers: self.steer_by.clone(),
                    tuning: self.tuning()?,
                    ..usual
                };
                steering.validate().map_err(Failure::usage)?;
                steerings.push(steering);
            }
        }
        Ok(steerings)
    }

    /// The usual numbers but for those that were given.
    fn tuning(&self) -> Result<Tuning, Failure> {
        let mut numbers = serde_json::to_value(Tuning::default()).context("JSON")?;
        for (name, value) in &self.tune {
            let known = numbers.as_object_mut().and_then(|numbers| numbers.get_mut(name));
            let Some(number) = known else {
                let names = numbers.as_object().into_iter().flat_map(|n| n.keys().cloned());
                let names = names.collect::<Vec<_>>().join(", ");
                return Err(Failure::usage(anyhow!("--tune {name}: there are {names}")));
            };
            let whole = number.is_u64() && *value >= 1.0;
            *number = if whole { (*value as u64).into() } else { (*value).into() };
        }
        let tuning: Tuning =
            serde_json::from_value(numbers).map_err(|e| Failure::usage(anyhow!("--tune: {e}")))?;
        Ok(tuning)
    }
}

fn describe(results: &SteeringResults) -> String {
    let mut text = String::new();
    for row in &results.rows {
        text += &format!(
            "{}: {} of {} people; PSNR {:.2} (least {:.2}, where dlib looks {:.2}), SSIM {:.4}, {:.1} steps\n",
            row.way().as_ref().map_or(String::new(), in_words),
            words::count(row.photos, "photo"),
            row.people,
            row.psnr.value,
            row.psnr_least,
            row.psnr_tight.value,
            row.ssim.value,
            row.steps,
        );
        for judge in &row.judges {
            let held_out = if judge.known { "" } else { ", held out" };
            text += &format!(
                "  {} at {:.3} ({}{held_out}); no match of untouched pairs {}\n",
                words::recogniser(&judge.recogniser),
                judge.rule.threshold,
                judge.rule.name,
                share(&judge.clean_pair_fnr),
            );
            for attacked in &judge.attacks {
                text += &format!(
                    "    {:<18} no match with the original {}, with another photo {}\n",
                    attacked.attack,
                    share(&attacked.self_fnr),
                    share(&attacked.pair_fnr),
                );
            }
            if let Some(gallery) = &judge.gallery {
                text += &format!(
                    "    among steered      no match {}, found first {} (untouched {})\n",
                    share(&gallery.pair_fnr),
                    share(&gallery.rank_1),
                    share(&gallery.clean_rank_1),
                );
            }
        }
    }
    text.trim_end().to_owned()
}

fn share(rate: &Estimate) -> String {
    format!("{:.3} ({:.3} to {:.3})", rate.value, rate.low, rate.high)
}
