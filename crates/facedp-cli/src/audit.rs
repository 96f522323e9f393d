//! `facedp audit`: trying to refute what is claimed of a method.

use std::process::ExitCode;
use std::sync::Arc;

use anyhow::{Context, anyhow};
use facedp::FeatureModel;
use facedp_engine::{AnyPlan, Request};
use facedp_eval::audit::{
    Audit, Options, PairResult, Subject, real_faces, real_pairs, run as audit,
};
use facedp_eval::progress::Progress;

use crate::args::{Audit as Args, Output};
use crate::failure::{Failure, complain, say};
use crate::progress::Bar;
use crate::{model, signals};

/// Pairs of people of a data folder.
const PAIRS: usize = 4;

pub fn run(args: &Args, output: &Output) -> Result<ExitCode, Failure> {
    let model = model::load(args.parameters.model.as_deref())?;
    let stop = signals::stop_on_signal("stopping; press Ctrl-C again to stop at once")?;
    let bar = Bar::new(output);
    let progress = Progress::new(&bar, &stop);
    let done = look(args, &model, &progress);
    bar.clear();
    let found = match done {
        Err(Failed::Audit(facedp_eval::Error::Stopped)) => {
            complain("interrupted");
            return Ok(ExitCode::from(130));
        }
        Err(Failed::Audit(
            error @ (facedp_eval::Error::Runs { .. } | facedp_eval::Error::Confidence { .. }),
        )) => {
            return Err(Failure::usage(error));
        }
        Err(Failed::Audit(error)) => return Err(error.into()),
        Err(Failed::Other(failure)) => return Err(failure),
        Ok(found) => found,
    };
    if output.json {
        let mut line = serde_json::to_value(&found).context("JSON")?;
        line["verdict"] = found.verdict().into();
        say(line)?;
    } else if !output.quiet {
        say(describe(&found))?;
    }
    Ok(ExitCode::SUCCESS)
}

/// What ended an audit.
enum Failed {
    Audit(facedp_eval::Error),
    Other(Failure),
}

impl From<facedp_eval::Error> for Failed {
    fn from(error: facedp_eval::Error) -> Self {
        Failed::Audit(error)
    }
}

impl From<Failure> for Failed {
    fn from(failure: Failure) -> Self {
        Failed::Other(failure)
    }
}

fn look(args: &Args, model: &Arc<FeatureModel>, progress: &Progress<'_>) -> Result<Audit, Failed> {
    let (runs, confidence, seed) = (args.runs, args.confidence, args.seed);
    let options = |real| Options { runs, confidence, seed, real };
    let request = args.parameters.fill(Request::new(args.method));
    let plan = request.plan(Arc::clone(model)).map_err(|error| match error {
        facedp_engine::Error::NoPlan { method } => Failure::usage(anyhow!(
            "{method} claims no epsilon, so there is nothing to refute: `facedp evaluate steered` says \
             what recognisers make of its results"
        )),
        error => Failure::of_request(error),
    });
    match plan? {
        AnyPlan::Noise(plan) => {
            let real = match &args.data {
                Some(data) => {
                    real_pairs(data, model, plan.method().features, PAIRS, seed, progress)?
                }
                None => Vec::new(),
            };
            Ok(audit(&Subject::Paper(&plan), &options(real), progress)?)
        }
        AnyPlan::Certified(plan) => {
            let real = match &args.data {
                Some(data) => real_faces(data, model, &plan, PAIRS, seed, progress)?,
                None => Vec::new(),
            };
            Ok(audit(&Subject::Certified(&plan), &options(real), progress)?)
        }
    }
}

fn describe(audit: &Audit) -> String {
    let Audit { method, epsilon, features, runs, confidence, structural, .. } = audit;
    let mut lines = vec![
        format!("method                {method}, {features} features, epsilon {epsilon}"),
        format!("runs                  {runs} per neighbour and pair, confidence {confidence}"),
        format!(
            "epsilon_lower_bound   {:.4} (a Laplace mechanism: {:.4} expected)",
            audit.epsilon_lower_bound, audit.expected_bound
        ),
    ];
    lines.extend(structural.map(|s| format!("delta_floor           {:.4}", s.delta_floor)));
    lines.push(
        "pair                                         claimed   at least   expected  hits"
            .to_owned(),
    );
    for pair in &audit.pairs {
        let PairResult {
            name,
            claimed,
            epsilon_lower_bound,
            expected_bound,
            hits,
            counted,
            statistic,
            ..
        } = pair;
        let mark = if pair.refuted { "  refuted" } else { "" };
        let needed = pair.runs_needed.map_or(String::new(), |n| format!(", {n} runs are enough"));
        lines.push(format!(
            "{name:<44} {claimed:>7.4} {epsilon_lower_bound:>10.4} {expected_bound:>10.4}  {} and {} of \
             {counted} by {statistic}{mark}{needed}",
            hits[0], hits[1]
        ));
    }
    lines.push(audit.verdict());
    lines.join("\n")
}
