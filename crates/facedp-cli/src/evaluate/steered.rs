//! `facedp evaluate steered`: whether recognisers still match steered photos.

use std::process::ExitCode;

use anyhow::{Context, anyhow};
use facedp_engine::{Experiment, MethodName, Request, Tuning};

use super::protection;
use crate::args::{Output, Steered};
use crate::failure::Failure;
use crate::model;

pub fn run(args: &Steered, output: &Output) -> Result<ExitCode, Failure> {
    let requests = args.requests()?;
    for request in &requests {
        request.steering().map_err(Failure::of_request)?;
    }
    protection::run(&args.report, &args.photos, model::load(None)?, requests, output)
}

impl Steered {
    /// Every goal at every smallest quality.
    fn requests(&self) -> Result<Vec<Request>, Failure> {
        let experiment = self.experiment()?;
        let qualities: Vec<_> = match &self.min_quality[..] {
            [] => vec![None],
            given => given.iter().copied().map(Some).collect(),
        };
        let each = self.goals.iter().flat_map(|&goal| {
            qualities.iter().map(move |&min_quality| Request {
                strength: self.strength,
                goal: Some(goal),
                min_quality,
                shape: self.shape,
                steer_by: self.steer_by.clone(),
                experiment,
                ..Request::new(MethodName::Steered)
            })
        });
        Ok(each.collect())
    }

    fn experiment(&self) -> Result<Option<Experiment>, Failure> {
        let margin = self.margin.map(|margin| if margin == 0.0 { f32::MAX } else { margin });
        let tuning = if self.tune.is_empty() { None } else { Some(self.tuning()?) };
        let experiment = Experiment { tuning, margin, ..Experiment::default() };
        Ok((experiment != Experiment::default()).then_some(experiment))
    }

    /// The numbers of the strength, but for those that were given.
    fn tuning(&self) -> Result<Tuning, Failure> {
        let request = Request { strength: self.strength, ..Request::new(MethodName::Steered) };
        let steering = request.steering().map_err(Failure::of_request)?;
        let mut numbers = serde_json::to_value(steering.tuning).context("JSON")?;
        // Left out of what is stored while it is 0.
        numbers["chroma"] = 0.0.into();
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
        serde_json::from_value(numbers).map_err(|e| Failure::usage(anyhow!("--tune: {e}")))
    }
}
