//! `facedp audit`: trying to refute what is claimed of a method.

use std::process::ExitCode;

use anyhow::{Context, anyhow};
use facedp_engine::Request;
use facedp_eval::Error;
use facedp_eval::audit::{Audit, Options, PairResult, request as audit};
use facedp_eval::progress::Progress;

use crate::args::{Audit as Args, Output};
use crate::failure::{Failure, complain, say};
use crate::progress::Bar;
use crate::{model, signals};

pub fn run(args: &Args, output: &Output) -> Result<ExitCode, Failure> {
    let model = model::load(args.parameters.model.as_deref())?;
    let stop = signals::stop_on_signal("stopping; press Ctrl-C again to stop at once")?;
    let bar = Bar::new(output);
    let progress = Progress::new(&bar, &stop);
    let request = Request { method: args.method, ..args.parameters.fill(Request::default()) };
    let options =
        Options { runs: args.runs, confidence: args.confidence, seed: args.seed, real: Vec::new() };
    let done = audit(&request, &model, args.data.as_deref(), options, &progress);
    bar.clear();
    let found = match done {
        Err(Error::Stopped) => {
            complain("interrupted");
            return Ok(ExitCode::from(130));
        }
        Err(error @ (Error::Runs { .. } | Error::Confidence { .. })) => {
            return Err(Failure::usage(error));
        }
        Err(Error::Engine(facedp_engine::Error::NoPlan { method })) => {
            return Err(Failure::usage(anyhow!(
                "{method} claims no epsilon, so there is nothing to refute: `facedp evaluate steered` says \
                 what recognisers make of its results"
            )));
        }
        Err(Error::Engine(error)) => return Err(Failure::of_request(error)),
        Err(error) => return Err(error.into()),
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
