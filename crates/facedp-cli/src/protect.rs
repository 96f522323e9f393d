//! `facedp protect`: noise for face crops.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Instant;

use anyhow::{Context, anyhow, bail};
use facedp::metrics::psnr;
use facedp::resample::resized;
use facedp::{Claim, Plan, Quality, Randomness, Receipt, noise};
use getrandom::SysRng;
use rand_chacha::ChaCha20Rng;
use rand_core::SeedableRng;
use rayon::prelude::*;
use serde::Serialize;

use crate::args::{Output, Protect};
use crate::failure::{Failure, complain, say};
use crate::files::{self, Found, Readers};
use crate::model;
use crate::photo::{Photo, chip};
use crate::progress;

/// What was done to one file.
#[derive(Serialize)]
struct Done {
    file: String,
    output: String,
    /// Mean squared noise over the picture, before rounding.
    mse: f64,
    /// What the plan expects of it, for a picture of the model's size.
    expected_mse: f64,
    unchanged: bool,
    #[serde(flatten)]
    quality: Quality,
    stripped: Vec<String>,
}

#[derive(Serialize)]
struct Summary {
    files: usize,
    failed: usize,
    method: facedp::Preset,
    epsilon: f64,
    /// PSNR of the mean squared noise over all files, before rounding: comparable with theory.
    psnr_mean_mse: Option<f64>,
    /// PSNR of the mean of what the plan expected.
    psnr_expected: Option<f64>,
    /// Median over files, after rounding; none if at least half are unchanged.
    psnr_median: Option<f64>,
    ssim_mean: Option<f64>,
    unchanged: f64,
    seconds: f64,
    claim: Claim,
    randomness: Randomness,
}

pub fn run(args: &Protect, output: &Output) -> Result<ExitCode, Failure> {
    if !args.aligned {
        return Err(Failure::usage(anyhow!(
            "whole photos are not supported yet: pass --aligned if the pictures are face crops"
        )));
    }
    let start = Instant::now();
    let model = model::load(args.method.model.as_deref())?;
    let method = args.method.resolve(args.method.method, model.features())?;
    let plan = Plan::new(model, method).map_err(Failure::usage)?;
    let jobs = jobs(files::collect(&args.paths, &args.output)?, &args.output);
    let pool = rayon::ThreadPoolBuilder::new()
        .num_threads(args.jobs.map_or(0, usize::from))
        .build()
        .context("worker threads")?;

    let bar = progress::bar(jobs.len(), "adding noise", output);
    let results: Vec<Option<Done>> = pool.install(|| {
        let results = jobs.par_iter().map(|job| {
            let done = job.run(&plan, args);
            bar.inc(1);
            match done {
                Ok(done) => {
                    if output.json
                        && let Ok(line) = serde_json::to_string(&done)
                    {
                        say(line);
                    }
                    Some(done)
                }
                Err(error) => {
                    bar.suspend(|| complain(format_args!("failed: {error:#}")));
                    None
                }
            }
        });
        results.collect()
    });
    bar.finish_and_clear();

    let failed = results.iter().filter(|done| done.is_none()).count();
    let done: Vec<Done> = results.into_iter().flatten().collect();
    let summary = summarise(&plan, args, &done, failed, start.elapsed().as_secs_f64());
    if output.json {
        say(serde_json::to_string(&serde_json::json!({ "summary": summary })).context("JSON")?);
    } else if !output.quiet {
        say(describe(&summary, args));
    }
    Ok(if failed == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// A picture and where its result goes.
struct Job {
    found: Found,
    target: PathBuf,
    /// Another picture of this run whose result would have the same name.
    rival: Option<PathBuf>,
}

fn jobs(found: Vec<Found>, folder: &Path) -> Vec<Job> {
    let mut taken: BTreeMap<PathBuf, PathBuf> = BTreeMap::new();
    let job = |found: Found| {
        let target = folder.join(found.relative.with_extension("png"));
        let rival = taken.get(&target).cloned();
        taken.entry(target.clone()).or_insert_with(|| found.path.clone());
        Job { found, target, rival }
    };
    found.into_iter().map(job).collect()
}

impl Job {
    fn run(&self, plan: &Plan, args: &Protect) -> anyhow::Result<Done> {
        let path = &self.found.path;
        self.check_target(args.force).with_context(|| format!("{}", path.display()))?;
        let original = Photo::read(path)?;
        let square = original.centre(args.crop).with_context(|| format!("{}", path.display()))?;
        let luma = original.luma();
        let face = chip(&luma, square, plan.model().side());
        let (mut random, randomness) = self.randomness(args.seed)?;
        let release = plan.protect(&face, &mut random)?;

        let lifted = resized(&release.noise, square.side, square.side);
        let mut released = original.clone();
        released.add(&lifted, square);
        let quality = Quality::compare(&luma, &released.luma())
            .with_context(|| format!("{}", path.display()))?;
        files::write_whole(&self.target, &released.to_png()?, Readers::Usual)?;
        let stripped = original.metadata().to_vec();
        if args.receipt {
            let receipt =
                Receipt::new(plan, &release, randomness, Some(quality), stripped.clone())?;
            let text = serde_json::to_vec_pretty(&receipt)?;
            let name = self.found.relative.with_extension("png.json");
            files::write_whole(&receipts_beside(&args.output).join(name), &text, Readers::Owner)?;
        }
        Ok(Done {
            file: path.to_string_lossy().into_owned(),
            output: self.target.to_string_lossy().into_owned(),
            mse: lifted.energy() / luma.data().len() as f64,
            expected_mse: release.expected_variance / face.data().len() as f64,
            unchanged: original.same_pixels(&released),
            quality,
            stripped,
        })
    }

    /// Refuses to overwrite an original, another result of this run, or an older result.
    fn check_target(&self, force: bool) -> anyhow::Result<()> {
        let target = self.target.display();
        if files::same_file(&self.found.path, &self.target) {
            bail!("the result would overwrite its original: choose another folder with -o");
        }
        if let Some(rival) = &self.rival {
            bail!("the result {target} would overwrite that of {}: rename one", rival.display());
        }
        if self.target.exists() && !force {
            bail!("{target} exists already: choose another folder with -o, or pass --force");
        }
        Ok(())
    }

    fn randomness(&self, seed: Option<u64>) -> anyhow::Result<(ChaCha20Rng, Randomness)> {
        match seed {
            Some(seed) => {
                let label = self.found.relative.to_string_lossy();
                Ok((noise::experiment(seed, &label), Randomness::Experiment))
            }
            None => {
                let random = ChaCha20Rng::try_from_rng(&mut SysRng)
                    .map_err(|e| anyhow!("the system gives no entropy: {e}"))?;
                Ok((random, Randomness::System))
            }
        }
    }
}

/// Receipts stand beside the folder, not in it: their private part must not be published.
fn receipts_beside(folder: &Path) -> PathBuf {
    let mut name = folder.file_name().unwrap_or_default().to_os_string();
    name.push(".receipts");
    folder.with_file_name(name)
}

fn summarise(plan: &Plan, args: &Protect, done: &[Done], failed: usize, seconds: f64) -> Summary {
    let mean = |value: fn(&Done) -> f64| {
        (!done.is_empty()).then(|| done.iter().map(value).sum::<f64>() / done.len() as f64)
    };
    let mut decibels: Vec<f64> =
        done.iter().map(|done| done.quality.psnr.unwrap_or(f64::INFINITY)).collect();
    decibels.sort_unstable_by(f64::total_cmp);
    let (claim, randomness) = match args.seed {
        Some(_) => (Claim::None, Randomness::Experiment),
        None => (plan.claim(), Randomness::System),
    };
    Summary {
        files: done.len(),
        failed,
        method: plan.method().preset,
        epsilon: plan.method().epsilon.get(),
        psnr_mean_mse: mean(|done| done.mse).and_then(|mse| psnr(mse, 255.0)),
        psnr_expected: mean(|done| done.expected_mse).and_then(|mse| psnr(mse, 255.0)),
        psnr_median: decibels.get(done.len() / 2).copied().filter(|d| d.is_finite()),
        ssim_mean: mean(|done| done.quality.ssim),
        unchanged: mean(|done| f64::from(u8::from(done.unchanged))).unwrap_or(0.0),
        seconds,
        claim,
        randomness,
    }
}

fn describe(summary: &Summary, args: &Protect) -> String {
    let decibels = |value: Option<f64>, none: &str| {
        value.map_or(none.to_owned(), |value| format!("{value:.2} dB"))
    };
    let mut text = format!(
        "{} of {} pictures written to {} in {:.2} s ({}, epsilon {})\n",
        summary.files,
        summary.files + summary.failed,
        args.output.display(),
        summary.seconds,
        summary.method,
        summary.epsilon,
    );
    if summary.files > 0 {
        text += &format!(
            "psnr_mean_mse  {} (before rounding)\nmedian PSNR    {}\nmean SSIM      {:.5}\n\
             unchanged      {:.1} % are equal to their original after rounding\n",
            decibels(summary.psnr_mean_mse, "no noise drawn"),
            decibels(summary.psnr_median, "infinite: at least half are unchanged"),
            summary.ssim_mean.unwrap_or(f64::NAN),
            100.0 * summary.unchanged,
        );
    }
    if summary.randomness == Randomness::Experiment {
        text += "experiment     seeded noise: whoever knows the seed can take it off again\n";
    }
    text + "claim          " + summary.claim.in_words()
}
