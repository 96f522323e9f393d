//! Quality against budget for every method with a plan, before any photo.

use facedp::metrics::psnr;
use facedp::{Epsilon, FeatureModel};
use facedp_engine::{AnyPlan, Error, MethodName, Request};
use serde::Serialize;
use std::sync::Arc;

use crate::error::Problem;

const EPSILONS: [f64; 7] = [0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0];

#[derive(Clone, Serialize)]
pub(crate) struct Curves {
    /// Number of features that budgets cover.
    features: usize,
    epsilons: [f64; EPSILONS.len()],
    methods: Vec<Curve>,
    /// dB that no additive noise exceeds under the paper's accounting.
    bound: Vec<f64>,
}

#[derive(Clone, Serialize)]
struct Curve {
    name: MethodName,
    /// PSNR of the expected squared error, dB.
    psnr: Vec<Option<f64>>,
}

impl Curves {
    /// Takes about a second.
    pub fn compute(model: &Arc<FeatureModel>) -> Result<Self, Problem> {
        let (mut methods, mut bound) = (Vec::new(), Vec::new());
        // Formulas as printed are tens of decibels below all others.
        let literal =
            |method: &MethodName| matches!(method, MethodName::Noise(p) if p.is_literal());
        let budgeted =
            |method: &MethodName| method.info().settings.contains(&"epsilon") && !literal(method);
        for name in MethodName::all().into_iter().filter(budgeted) {
            let mut values = Vec::new();
            for epsilon in EPSILONS {
                let epsilon = Epsilon::new(epsilon).map_err(Error::from)?;
                let request = Request { epsilon: Some(epsilon), ..Request::new(name) };
                match request.plan(Arc::clone(model)) {
                    Ok(AnyPlan::Noise(plan)) => {
                        values.push(plan.report().psnr_of_expected_mse);
                        // The same for all of them.
                        if bound.len() < EPSILONS.len() {
                            bound.push(plan.report().bound_psnr);
                        }
                    }
                    Ok(AnyPlan::Certified(plan)) => values.push(psnr(plan.expected_mse(), 255.0)),
                    // It depends on the photo.
                    Err(Error::NoPlan { .. }) => {}
                    Err(error) => return Err(Problem::defect(error.to_string())),
                }
            }
            if !values.is_empty() {
                methods.push(Curve { name, psnr: values });
            }
        }
        Ok(Self { features: model.features(), epsilons: EPSILONS, methods, bound })
    }
}
