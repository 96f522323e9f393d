//! Attempts to refute the privacy claims of the methods.

use facedp::Preset;

use crate::audit::Audit;
use crate::report::dots::{Case, Dot, Dots};
use crate::report::figure;
use crate::report::style::{Style, name};
use crate::report::table::Table;
use crate::report::text::{count, counted, escape, maybe, number, short};
use crate::results::Results;
use crate::statistics::median;

pub(super) fn body(results: &Results) -> Option<String> {
    let audits = &results.audits;
    let first = audits.first()?;
    let refuted = audits.iter().filter(|audit| audit.refuted).count();
    let case = |audit: &Audit| Case {
        name: display_name(audit),
        dots: vec![
            dot("claimed", Style::CLAIM, audit.epsilon),
            dot("lower bound", Style::BOUND, audit.epsilon_lower_bound),
        ],
    };
    let chart = Dots {
        title: "Claimed epsilon and its lower bound".to_owned(),
        label: "epsilon",
        cases: audits.iter().map(case).collect(),
    };
    let head = [
        "method",
        "features",
        "ε₀",
        "lower bound",
        "expected",
        "runs",
        "lower bound of δ",
        "Theorem 1",
        "claim",
    ];
    let mut table = Table::new(1, head);
    audits.iter().for_each(|audit| table.row(line(audit)));
    Some(format!(
        "<p>Under ε₀-differential privacy, no event is more than e^ε₀ times as likely for one face as for \
         its neighbour. Each method ran {} times on each face of several pairs; half of the runs chose an \
         event, the other half counted it. <b>{} of {} are refuted</b> at {} % confidence. A claim that is \
         not refuted is not thereby proven. Lower bound of δ: the probability that some direction of \
         feature space gets no noise; faces are then told apart with certainty. Theorem 1: features whose \
         noise has the Laplace distribution that the paper states.</p>\n{}{}",
        count(first.runs),
        refuted,
        counted(audits.len(), "claim", "claims"),
        short(100.0 * first.confidence),
        figure::dots(&[chart], "Claimed epsilon and the lower bound that was found."),
        table.html(
            "“Expected” is the bound that the Laplace mechanism with this ε₀ would show with as many runs if \
             each event occurred as often as expected; by chance, a correct mechanism can show more."
        ),
    ))
}

fn display_name(audit: &Audit) -> String {
    let preset = audit.method.parse::<Preset>();
    preset.map_or_else(|_| escape(&audit.method), |preset| name(preset).to_owned())
}

fn dot(name: &str, style: Style, value: f64) -> Dot {
    Dot { name: name.to_owned(), style, value, interval: None }
}

fn line(audit: &Audit) -> [String; 9] {
    let theorem = audit.theorem_1.as_ref().map_or("not used".to_owned(), |fits| {
        let holds = fits.iter().filter(|fit| fit.distance <= fit.critical).count();
        let distance = median(fits.iter().map(|fit| fit.distance).collect()).unwrap_or(0.0);
        format!("{holds} of {}, distance {}", fits.len(), number(distance, 3))
    });
    [
        display_name(audit),
        audit.features.to_string(),
        short(audit.epsilon),
        number(audit.epsilon_lower_bound, 3),
        number(audit.expected_bound, 3),
        count(audit.runs),
        maybe(audit.structural.map(|found| found.delta_floor), 3),
        theorem,
        match (audit.refuted, audit.too_few_runs()) {
            (true, _) => "<b class=\"no\">refuted</b>",
            (false, true) => "too few runs to tell",
            (false, false) => "not refuted",
        }
        .to_owned(),
    ]
}
