//! The data and settings of the run.

use crate::report::paper::Dataset;
use crate::report::table::Table;
use crate::report::text::{count, escape, short};
use crate::results::About;

pub(super) fn body(about: &About) -> String {
    let list = |values: &[f64]| values.iter().map(|&v| short(v)).collect::<Vec<_>>().join(", ");
    let features: Vec<String> = about.features.iter().map(|f| f.to_string()).collect();
    let left_out = match about.left_out().as_slice() {
        [] => "nobody".to_owned(),
        reasons => reasons.join("; "),
    };
    let mut table = Table::new(2, [""; 0]);
    let beside = Dataset::of(&about.data).map_or("none for this data set", Dataset::name);
    for (what, value) in [
        ("data", escape(&about.data)),
        ("people", count(about.identities)),
        ("left out", left_out),
        ("pictures", count(about.images)),
        ("releases of each chip", count(about.repeats)),
        ("chips", format!("{0} × {0} pixels, 8-bit grey", about.side)),
        ("budgets ε₀", list(&about.epsilons)),
        ("features M<sub>F</sub>", features.join(", ")),
        ("geometric p", short(about.geometric_p)),
        ("pictures for recognisers", count(about.recognition_images)),
        ("of these, with another picture of the person", count(about.recognition_pairs)),
        ("PSNRs for recognisers (dB)", list(&about.decibels)),
        ("figures of the paper", beside.to_owned()),
        ("seed", about.seed.to_string()),
        ("feature model (SHA-256)", format!("<code>{}</code>", escape(&about.model_sha256))),
        ("program", escape(&about.tool)),
    ] {
        table.row([what, &value]);
    }
    format!(
        "<p>Faces are cut out as chips of {0} × {0} pixels. Each method adds noise to each chip, and \
         the release is compared with the original. The first M<sub>F</sub> eigenface features share \
         the budget ε₀. Pixel-DP, DCT-DP and RDP add noise of one scale to pixels, cosine coefficients \
         and wavelet coefficients. RDP-NA and RDP-LMGD are the paper’s two ways to choose the scales, \
         in our versions: RDP-NA counts significant weights only, RDP-LMGD takes signed steps. “As \
         printed” are the paper’s formulas taken literally, and the paper’s findings are judged by these. \
         RDP-optimal, which is not in the paper, solves the same problem to optimality.</p>\n\
         <p>The paper states neither the number of features nor the size of its pictures, so its \
         figures need not agree exactly with those of this run.</p>\n{1}",
        about.side,
        table.html("")
    )
}
