//! Whether what is claimed of methods can be refuted.

use facedp::Preset;

use crate::audit::Audit;
use crate::report::dots::{Case, Dot, Dots};
use crate::report::figure;
use crate::report::look::{Look, name};
use crate::report::table::Table;
use crate::report::text::{count, counted, escape, number, short};
use crate::results::Results;
use crate::statistics::median;

pub(super) fn body(results: &Results) -> Option<String> {
    let audits = &results.audits;
    let first = audits.first()?;
    let refuted = audits.iter().filter(|audit| audit.refuted).count();
    let case = |audit: &Audit| Case {
        name: called(audit),
        dots: vec![
            dot("claimed", Look::CLAIM, audit.epsilon),
            dot("at least", Look::BOUND, audit.epsilon_lower_bound),
        ],
    };
    let chart = Dots {
        title: "Epsilon: claimed, and what it is at least".to_owned(),
        words: "epsilon",
        cases: audits.iter().map(case).collect(),
    };
    let head = [
        "method",
        "features",
        "ε₀",
        "at least",
        "attainable",
        "runs",
        "δ at least",
        "Theorem 1",
        "claim",
    ];
    let mut table = Table::new(1, head);
    audits.iter().for_each(|audit| table.row(line(audit)));
    Some(format!(
        "<p>A mechanism that is ε₀-differentially private makes no event more than e^ε₀ times as likely for \
         one face as for its neighbour. Each method ran {} times on either face of several pairs; half \
         of the runs chose an event, the other half counted it. <b>{} of {} are refuted</b> at {} % \
         confidence. What is not refuted is not thereby proven. δ at least: the probability that some \
         direction of feature space gets no noise, in which case faces are told apart with certainty; \
         Theorem 1: features whose noise has the Laplace law that the paper gives it.</p>\n{}{}",
        count(first.runs),
        refuted,
        counted(audits.len(), "claim", "claims"),
        short(100.0 * first.confidence),
        figure::dots(&[chart], "What was claimed, and the bound that was found."),
        table.html(
            "“Attainable” is what a correct mechanism of that ε₀ could show with so many runs."
        ),
    ))
}

fn called(audit: &Audit) -> String {
    let preset = audit.method.parse::<Preset>();
    preset.map_or_else(|_| escape(&audit.method), |preset| name(preset).to_owned())
}

fn dot(name: &str, look: Look, value: f64) -> Dot {
    Dot { name: name.to_owned(), look, value, interval: None }
}

fn line(audit: &Audit) -> [String; 9] {
    let theorem = audit.theorem_1.as_ref().map_or("not used".to_owned(), |fits| {
        let holds = fits.iter().filter(|fit| fit.distance <= fit.critical).count();
        let distance = median(fits.iter().map(|fit| fit.distance).collect()).unwrap_or(0.0);
        format!("{holds} of {}, distance {}", fits.len(), number(distance, 3))
    });
    [
        called(audit),
        audit.features.to_string(),
        short(audit.epsilon),
        number(audit.epsilon_lower_bound, 3),
        number(audit.attainable, 3),
        count(audit.runs),
        number(audit.structural.delta_floor, 3),
        theorem,
        if audit.refuted { "<b class=\"no\">refuted</b>" } else { "not refuted" }.to_owned(),
    ]
}
