//! The paper's normalised difference of real and theoretical variance.

use super::{against_budget, by_budget, point};
use crate::report::chart::{Label, Level};
use crate::report::text::{mean, number, short};
use crate::report::{figure, findings, paper};
use crate::results::Results;

pub(super) fn body(results: &Results) -> Option<String> {
    if results.quality.is_empty() {
        return None;
    }
    let y = Label::linear("|real − theory| / theory");
    let mut charts =
        against_budget(results, &y, |row| Some(point(row.epsilon, &row.difference, 1.0)));
    for chart in &mut charts {
        chart.levels = vec![
            Level { y: paper::DIFFERENCE_PROPOSED, text: "paper: RDP-NA, RDP-LMGD below".into() },
            Level { y: paper::DIFFERENCE_COMPARED, text: "paper: all others below".into() },
        ];
    }
    let table = by_budget(results, |row| {
        let means = number(row.difference_of_means, 3);
        format!("{}<span class=\"ci\">of means {means}</span>", mean(&row.difference, 3))
    });
    Some(format!(
        "<p>Each release has a theoretical variance σ<sub>t</sub>², which is known once the number K of \
         noisy coefficients is drawn, and a real variance σ<sub>r</sub>², the energy of the drawn noise. \
         The charts show the mean of <span class=\"whole\">|σ<sub>r</sub>² − σ<sub>t</sub>²| / σ<sub>t</sub>²</span>.</p>\n\
         {}{}{}{}",
        figure::lines(&charts, &[0.0], "Mean over releases, with 95 % intervals."),
        why(results.about.geometric_p),
        findings::of_section(results, "difference"),
        table.folded("All figures, with the difference of the means"),
    ))
}

/// Why the mean difference cannot be small. A squared Laplace variable divided by its mean has variance
/// 5, so the mean of K of them has a relative standard deviation of sqrt(5 / K). Its mean absolute
/// deviation is about sqrt(2 / pi) times that.
fn why(p: f64) -> String {
    let typical = |k: f64| (10.0 / (std::f64::consts::PI * k)).sqrt();
    let enough = 10.0 / (std::f64::consts::PI * paper::DIFFERENCE_PROPOSED.powi(2));
    format!(
        "<p>This mean does not approach 0, however many releases are drawn: the energy of K Laplace \
         draws fluctuates around its expectation, by about √(10 / πK) of it when all scales are equal. \
         At K = {1}, the mean of K at p = {2}, that is {0}. Unequal scales fluctuate more, because a \
         few coefficients carry most of the energy. A difference of {3} would take about {4} \
         coefficients. The difference of the means over releases, also in the table, does approach 0; \
         values as small as the paper’s fit that reading.</p>\n",
        number(typical(1.0 / p), 2),
        number(1.0 / p, 0),
        short(p),
        short(paper::DIFFERENCE_PROPOSED),
        number(enough, 0),
    )
}
