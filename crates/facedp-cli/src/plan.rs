//! `facedp plan`: what a method will do, before any photo.

use std::process::ExitCode;
use std::sync::Arc;
use std::time::Instant;

use anyhow::Context;
use facedp::basis::BasisKind;
use facedp::certified::{Block, CertifiedMethod, CertifiedPlan};
use facedp::metrics::psnr;
use facedp::{Claim, FeatureModel, Plan, PlanReport, Preset, Ranking, Sensitivity};
use facedp_engine::{AnyPlan, Error, MethodName, Request};
use serde::Serialize;
use serde_json::Value;

use crate::args::{Output, Plan as PlanArgs};
use crate::failure::{Failure, say};
use crate::{model, words};

/// One row of the table, one object of the JSON.
#[derive(Serialize)]
struct Row {
    method: Preset,
    basis: BasisKind,
    ranking: Ranking,
    features: usize,
    epsilon: f64,
    epsilon_unit: &'static str,
    geometric_p: f64,
    sensitivity: Sensitivity,
    seconds: f64,
    #[serde(flatten)]
    report: PlanReport,
    claim: Claim,
    model_sha256: String,
}

pub fn run(args: &PlanArgs, output: &Output) -> Result<ExitCode, Failure> {
    let model = model::load(args.parameters.model.as_deref())?;
    let methods = match args.all {
        true => Preset::ALL.map(MethodName::Noise).to_vec(),
        false => vec![args.method],
    };
    let mut rows = Vec::new();
    for method in methods {
        let start = Instant::now();
        let request = args.parameters.fill(Request::new(method));
        let plan = request.plan(Arc::clone(&model)).map_err(Failure::of_request)?;
        let seconds = start.elapsed().as_secs_f64();
        match plan {
            AnyPlan::Noise(plan) => rows.push(Row::new(&plan, seconds)),
            AnyPlan::Certified(plan) => return certified(&plan, seconds, output),
        }
    }
    if output.json {
        let text = match rows.as_slice() {
            [only] if !args.all => serde_json::to_string_pretty(only),
            rows => serde_json::to_string_pretty(rows),
        };
        say(text.context("JSON")?)?;
    } else if !output.quiet {
        say(if args.all { table(&rows) } else { rows.iter().map(list).collect() })?;
    }
    Ok(ExitCode::SUCCESS)
}

impl Row {
    fn new(plan: &Plan, seconds: f64) -> Self {
        let method = plan.method();
        Self {
            method: method.preset,
            basis: method.basis.kind(),
            ranking: method.ranking,
            features: method.features,
            epsilon: method.epsilon.get(),
            epsilon_unit: method.sensitivity.epsilon_unit(),
            geometric_p: method.geometric_p,
            sensitivity: method.sensitivity,
            seconds,
            report: plan.report().clone(),
            claim: plan.claim(),
            model_sha256: plan.model().hash().to_owned(),
        }
    }
}

/// What `certified` will do.
#[derive(Serialize)]
struct Certified {
    method: &'static str,
    #[serde(flatten)]
    parameters: CertifiedMethod,
    budget_spent: f64,
    blocks: Vec<Shared>,
    /// Features that get noise and are released.
    released: usize,
    /// Features without budget: whatever the face, they are as its surroundings predict.
    public_constants: usize,
    psnr_of_expected_mse: Option<f64>,
    /// PSNR if all features were public constants.
    psnr_without_features: Option<f64>,
    seconds: f64,
    claim: Claim,
    model_sha256: String,
}

/// Features that share noise.
#[derive(Serialize)]
struct Shared {
    features: usize,
    epsilon: f64,
    noise: &'static str,
}

impl Certified {
    fn new(plan: &CertifiedPlan, seconds: f64) -> Self {
        let (model, method) = (plan.model(), *plan.method());
        let shared = |block: &Block| Shared {
            features: block.features().len(),
            epsilon: block.epsilon(),
            noise: if block.first_step().is_some() { "staircase" } else { "K-norm" },
        };
        let mse = |energy: f64| psnr(energy / model.values() as f64, 255.0);
        Self {
            method: "certified",
            parameters: method,
            budget_spent: plan.spent(),
            blocks: plan.blocks().iter().map(shared).collect(),
            released: plan.noise().iter().filter(|noise| noise.is_finite()).count(),
            public_constants: plan.noise().iter().filter(|noise| noise.is_infinite()).count(),
            psnr_of_expected_mse: mse(plan.errors().iter().sum()),
            psnr_without_features: mse(plan.spreads().iter().sum()),
            seconds,
            claim: Claim::EpsDpFace,
            model_sha256: model.hash().to_owned(),
        }
    }
}

/// What a request's method will do, as `facedp plan --json` prints it.
pub fn plan_json(request: &Request, model: Arc<FeatureModel>) -> Result<Value, Error> {
    let start = Instant::now();
    let plan = request.plan(model)?;
    let seconds = start.elapsed().as_secs_f64();
    let failed = |error: serde_json::Error| Error::Request { problem: error.to_string() };
    match plan {
        AnyPlan::Noise(plan) => serde_json::to_value(Row::new(&plan, seconds)).map_err(failed),
        AnyPlan::Certified(plan) => {
            serde_json::to_value(Certified::new(&plan, seconds)).map_err(failed)
        }
    }
}

fn certified(plan: &CertifiedPlan, seconds: f64, output: &Output) -> Result<ExitCode, Failure> {
    let (row, method) = (Certified::new(plan, seconds), *plan.method());
    if output.json {
        say(serde_json::to_string_pretty(&row).context("JSON")?)?;
    } else if !output.quiet {
        let decibels = |value: Option<f64>| words::decibels(value, "infinite");
        let blocks =
            row.blocks.iter().map(|b| format!("{} at {:.4} ({})", b.features, b.epsilon, b.noise));
        let lines = [
            ("method", format!("certified, {} noise", method.mechanism.in_words())),
            ("features", method.features.to_string()),
            ("released", format!("{} with noise", row.released)),
            ("public_constants", format!("{} as surroundings predict", row.public_constants)),
            ("epsilon", format!("{} (differential privacy of the face)", method.epsilon.get())),
            ("budget_spent", format!("{:.10}", row.budget_spent)),
            ("blocks", blocks.collect::<Vec<_>>().join(", ")),
            ("psnr_of_expected_mse", decibels(row.psnr_of_expected_mse)),
            ("psnr_without_features", decibels(row.psnr_without_features)),
            ("seconds", format!("{:.3}", row.seconds)),
            ("claim", row.claim.in_words().to_owned()),
        ];
        let lines: Vec<String> =
            lines.iter().map(|(name, value)| format!("{name:<22} {value}")).collect();
        say(lines.join("\n"))?;
    }
    Ok(ExitCode::SUCCESS)
}

/// What stands where a value depends on the photo.
const UNKNOWN: &str = "depends on the photo";

fn list(row: &Row) -> String {
    let report = &row.report;
    let shown = |value: Option<f64>, digits: usize| {
        value.map_or(UNKNOWN.to_owned(), |v| format!("{v:.digits$}"))
    };
    let figures = |value: Option<f64>| value.map_or(UNKNOWN.to_owned(), significant);
    let count = |value: Option<usize>| value.map_or(UNKNOWN.to_owned(), |v| v.to_string());
    let mut lines = vec![
        ("method", row.method.to_string()),
        ("basis", row.basis.to_string()),
        ("ranking", row.ranking.to_string()),
        ("features", row.features.to_string()),
        ("epsilon", format!("{} ({})", row.epsilon, row.epsilon_unit)),
        ("budget_spent", format!("{:.10}", report.budget_spent)),
        ("budget_measured", figures(report.budget_measured)),
        ("cost", figures(report.cost)),
        ("psnr_of_expected_mse", shown(report.psnr_of_expected_mse, 2)),
        ("bound_psnr", format!("{:.2}", report.bound_psnr)),
        ("gap", shown(report.gap, 5)),
        ("iterations", count(report.iterations)),
        ("seconds", format!("{:.3}", row.seconds)),
        ("support", count(report.support)),
        ("prob_full_support", report.prob_full_support.map_or(UNKNOWN.to_owned(), chance)),
        ("energy_below_g01", shown(report.energy_below_g01, 4)),
    ];
    if let (Some(f1), Some(f2)) = (report.f1, report.f2) {
        lines.extend([("f1", format!("{f1:.2e}")), ("f2", format!("{f2:.2e}"))]);
    }
    lines.push(("claim", row.claim.in_words().to_owned()));
    let lines: Vec<String> =
        lines.iter().map(|(name, value)| format!("{name:<22} {value}")).collect();
    lines.join("\n")
}

fn table(rows: &[Row]) -> String {
    let Some(first) = rows.first() else { return String::new() };
    let mut text = format!(
        "epsilon {} ({}), p {}, {} features; best possible under this accounting {:.2} dB\n\n\
         {:<12} {:<6} {:<10} {:>8} {:>9} {:>11} {:>6} {:>8} {:>8} {:>9} {:>9}\n",
        first.epsilon,
        first.epsilon_unit,
        first.geometric_p,
        first.features,
        first.report.bound_psnr,
        "method",
        "basis",
        "ranking",
        "PSNR dB",
        "gap",
        "budget",
        "steps",
        "seconds",
        "support",
        "P(full)",
        "rare",
    );
    for row in rows {
        let report = &row.report;
        let number = |value: Option<f64>| value.unwrap_or(f64::NAN);
        text += &format!(
            "{:<12} {:<6} {:<10} {:>8.2} {:>9} {:>11.9} {:>6} {:>8.3} {:>8} {:>9} {:>8.1}%\n",
            row.method,
            row.basis,
            row.ranking,
            number(report.psnr_of_expected_mse),
            small(number(report.gap)),
            report.budget_spent,
            report.iterations.unwrap_or(0),
            row.seconds,
            report.support.unwrap_or(0),
            chance(number(report.prob_full_support)),
            100.0 * number(report.energy_below_g01),
        );
    }
    text += "\nPSNR is that of the expected squared error; P(full) the chance that a draw reaches \
             every coefficient\nof the support; rare the share of the energy at ranks that under \
             1 % of draws reach.\n";
    text + "Claim of each: " + first.claim.in_words() + "."
}

/// A gap, short at both ends.
fn small(gap: f64) -> String {
    if gap < 100.0 { format!("{gap:.4}") } else { format!("{gap:.1e}") }
}

/// Six significant figures, however large or small the number is.
fn significant(value: f64) -> String {
    if (1e-3..1e9).contains(&value.abs()) {
        let digits = (5 - value.abs().log10().floor() as i32).max(0) as usize;
        format!("{value:.digits$}")
    } else {
        format!("{value:.5e}")
    }
}

fn chance(p: f64) -> String {
    if p < 1e-3 { format!("{p:.1e}") } else { format!("{p:.4}") }
}
