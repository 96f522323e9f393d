//! `facedp evaluate certified`: the price of a guarantee.

use std::process::ExitCode;

use facedp_engine::{MethodName, Request};

use super::{protection, require_features};
use crate::args::{Certified, Output};
use crate::failure::Failure;
use crate::model;

pub fn run(args: &Certified, output: &Output) -> Result<ExitCode, Failure> {
    let model = model::load(args.model.model.as_deref())?;
    require_features(&args.features, &model)?;
    let requests = args.features.iter().flat_map(|&features| {
        args.epsilons.iter().map(move |&epsilon| Request {
            epsilon: Some(epsilon),
            features: Some(features),
            ..Request::new(MethodName::Certified)
        })
    });
    protection::run(&args.report, &args.photos, model, requests.collect(), output)
}
