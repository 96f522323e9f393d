//! Quality against budget for every method, before any photo.

use facedp::metrics::psnr;
use facedp::{CertifiedMethod, CertifiedPlan, Epsilon, Plan, Preset};
use serde::Serialize;

use crate::app::App;
use crate::error::Problem;

/// Budgets at which plans are made.
const EPSILONS: [f64; 7] = [0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0];

/// What the methods make of budgets.
#[derive(Clone, Serialize)]
pub(crate) struct Curves {
    /// How many features budgets cover.
    features: usize,
    epsilons: [f64; EPSILONS.len()],
    methods: Vec<Curve>,
    /// dB that no additive noise exceeds under the paper's accounting.
    bound: Vec<f64>,
}

#[derive(Clone, Serialize)]
struct Curve {
    name: String,
    /// PSNR of the expected squared error, dB.
    psnr: Vec<Option<f64>>,
}

impl Curves {
    /// Takes about a second.
    pub fn compute(app: &App) -> Result<Self, Problem> {
        let refused = |e: facedp::Error| Problem::defect(e.to_string());
        let model = &app.config.model;
        let features = model.features();
        let mut bound = Vec::new();
        let mut methods = Vec::new();
        for preset in Preset::ALL {
            let mut psnr = Vec::new();
            for epsilon in EPSILONS {
                let method = preset.method(Epsilon::new(epsilon).map_err(refused)?, features);
                let plan = Plan::new(model.clone(), method).map_err(refused)?;
                psnr.push(plan.report().psnr_of_expected_mse);
                if methods.is_empty() {
                    bound.push(plan.report().bound_psnr);
                }
            }
            methods.push(Curve { name: preset.to_string(), psnr });
        }
        let mut certified = Vec::new();
        for epsilon in EPSILONS {
            let epsilon = Epsilon::new(epsilon).map_err(refused)?;
            let method = CertifiedMethod::new(epsilon, features);
            let plan = CertifiedPlan::new(model.clone(), method).map_err(refused)?;
            certified.push(psnr(plan.expected_mse(), 255.0));
        }
        methods.push(Curve { name: "certified".to_owned(), psnr: certified });
        Ok(Self { features, epsilons: EPSILONS, methods, bound })
    }
}
