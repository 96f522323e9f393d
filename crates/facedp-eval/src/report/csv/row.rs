//! One row of the table: the case, the name of the figure and its value.

use facedp::{Preset, Ranking};

use crate::results::{Estimate, Rule};

/// The case that a figure belongs to; columns that do not apply are empty.
#[derive(Default, Clone)]
pub(super) struct Case {
    pub section: &'static str,
    pub method: String,
    pub ranking: String,
    pub features: String,
    pub epsilon: String,
    pub psnr: String,
    pub recogniser: String,
    pub rule: String,
    pub threshold: String,
    pub attack: String,
    pub releases: String,
    pub keyed: String,
}

impl Case {
    pub fn new(section: &'static str) -> Self {
        Self { section, ..Self::default() }
    }

    pub fn method(section: &'static str, method: Preset, ranking: Ranking) -> Self {
        Self { method: method.to_string(), ranking: ranking.to_string(), ..Self::new(section) }
    }

    pub fn budget(self, features: usize, epsilon: f64) -> Self {
        Self { features: features.to_string(), epsilon: plain(epsilon), ..self }
    }

    pub fn recogniser(section: &'static str, recogniser: &str, rule: &Rule) -> Self {
        Self {
            recogniser: recogniser.to_owned(),
            rule: rule.name.clone(),
            threshold: plain_f32(rule.threshold),
            ..Self::new(section)
        }
    }

    /// Without a method: untouched photos.
    pub fn noise(self, method: Option<Preset>, psnr: Option<f64>) -> Self {
        let method = method.map_or("untouched".to_owned(), |method| method.to_string());
        Self { method, psnr: psnr.map_or(String::new(), plain), ..self }
    }
}

/// The text of the table.
pub(super) struct Rows(pub String);

impl Rows {
    pub fn estimate(&mut self, case: &Case, figure: &str, estimate: &Estimate) {
        let Estimate { value, low, high, n } = *estimate;
        self.row(case, figure, &plain(value), &plain(low), &plain(high), &n.to_string());
    }

    pub fn number(&mut self, case: &Case, figure: &str, value: Option<f64>) {
        self.row(case, figure, &value.map_or(String::new(), plain), "", "", "");
    }

    pub fn count(&mut self, case: &Case, figure: &str, value: u64) {
        self.row(case, figure, &value.to_string(), "", "", "");
    }

    pub fn row(&mut self, case: &Case, figure: &str, value: &str, low: &str, high: &str, n: &str) {
        let cells = [
            case.section,
            &case.method,
            &case.ranking,
            &case.features,
            &case.epsilon,
            &case.psnr,
            &case.recogniser,
            &case.rule,
            &case.threshold,
            &case.attack,
            &case.releases,
            &case.keyed,
            figure,
            value,
            low,
            high,
            n,
        ];
        self.0 += &cells.map(quoted).join(",");
        self.0.push('\n');
    }
}

/// A number with enough digits to read it back exactly; empty if it is not finite.
pub(super) fn plain(value: f64) -> String {
    if value.is_finite() { value.to_string() } else { String::new() }
}

pub(super) fn plain_f32(value: f32) -> String {
    if value.is_finite() { value.to_string() } else { String::new() }
}

/// A cell by RFC 4180. Spreadsheets take text that starts with one of `=+@` for a formula, so such text
/// gets an apostrophe in front.
fn quoted(cell: &str) -> String {
    let cell = if cell.starts_with(['=', '+', '@', '\t', '\r']) {
        format!("'{cell}")
    } else {
        cell.to_owned()
    };
    if cell.contains([',', '"', '\n', '\r']) {
        format!("\"{}\"", cell.replace('"', "\"\""))
    } else {
        cell
    }
}
