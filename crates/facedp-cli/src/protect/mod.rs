//! `facedp protect`: noise for face crops.

mod job;
mod summary;

use std::process::ExitCode;
use std::time::Instant;

use anyhow::{Context, anyhow};
use facedp::Plan;
use rayon::prelude::*;
use serde_json::json;

use crate::args::{Output, Protect};
use crate::failure::{Failure, complain, say};
use crate::{files, model, progress};
use job::{Done, Job};
use summary::Summary;

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
    let (found, failures) = files::collect(&args.paths, &args.output);
    let receipts = args.receipt.then(|| files::beside(&args.output, ".receipts")).transpose()?;
    let jobs = Job::list(found, args, receipts.as_deref());
    let pool = rayon::ThreadPoolBuilder::new()
        .num_threads(args.jobs.map_or(0, usize::from))
        .build()
        .context("worker threads")?;

    let bar = progress::bar(jobs.len(), "adding noise", output);
    let tell = |result: &anyhow::Result<Done>, file: Option<&Job>| -> anyhow::Result<()> {
        let line = match result {
            Ok(done) => json!(done),
            Err(error) => {
                bar.suspend(|| complain(format_args!("failed: {error:#}")));
                json!({ "file": file.map(Job::name), "error": format!("{error:#}") })
            }
        };
        if output.json { say(line) } else { Ok(()) }
    };
    let mut failed = failures.len();
    for failure in failures {
        tell(&Err(failure), None)?;
    }
    let results: Vec<(anyhow::Result<Done>, anyhow::Result<()>)> = pool.install(|| {
        let results = jobs.par_iter().map(|job| {
            let result = job.run(&plan, args);
            let told = tell(&result, Some(job));
            bar.inc(1);
            (result, told)
        });
        results.collect()
    });
    bar.finish_and_clear();

    let mut done = Vec::new();
    for (result, told) in results {
        told?;
        match result {
            Ok(result) => done.push(result),
            Err(_) => failed += 1,
        }
    }
    let summary = Summary::new(&plan, args.seed, &done, failed, start.elapsed());
    if output.json {
        say(json!({ "summary": summary }))?;
    } else if !output.quiet {
        say(summary.in_words(&args.output))?;
    }
    Ok(if failed == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}
