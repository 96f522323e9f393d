//! What was evaluated, and how.

use crate::report::paper::Dataset;
use crate::report::table::Table;
use crate::report::text::{count, escape, short};
use crate::results::About;

pub(super) fn body(about: &About) -> String {
    let list = |values: &[f64]| values.iter().map(|&v| short(v)).collect::<Vec<_>>().join(", ");
    let features: Vec<String> = about.features.iter().map(|f| f.to_string()).collect();
    let mut table = Table::new(2, [""; 0]);
    let beside = Dataset::of(&about.data).map_or("none for this data", Dataset::name);
    for (what, value) in [
        ("data", escape(&about.data)),
        ("people", count(about.identities)),
        ("pictures", count(about.images)),
        ("releases of each chip", count(about.repeats)),
        ("chips", format!("{0} × {0} grey levels, 8 bits", about.side)),
        ("budgets ε₀", list(&about.epsilons)),
        ("features M<sub>F</sub>", features.join(", ")),
        ("geometric p", short(about.geometric_p)),
        ("pictures shown to recognisers", count(about.recognition_images)),
        ("of these with another of the person", count(about.recognition_pairs)),
        ("PSNRs there (dB)", list(&about.decibels)),
        ("paper’s figures beside", beside.to_owned()),
        ("seed", about.seed.to_string()),
        ("feature model (SHA-256)", format!("<code>{}</code>", escape(&about.model_sha256))),
        ("program", escape(&about.tool)),
    ] {
        table.row([what, &value]);
    }
    format!(
        "<p>Faces are cut out as chips of {0} × {0} pixels; each method adds its noise to each chip, \
         and the result is compared with the original. The budget ε₀ is shared among the first \
         M<sub>F</sub> eigenface features. Pixel-DP, DCT-DP and RDP add noise of one scale to pixels, \
         cosine and wavelet coefficients; RDP-NA and RDP-LMGD are the paper’s two ways to choose \
         scales; RDP-optimal, not in the paper, solves the same problem to the end.</p>\n\
         <p>The paper states neither the number of features nor the size of its pictures, so \
         figures beside each other need not agree to the digit.</p>\n{1}",
        about.side,
        table.html("")
    )
}
