//! The results as a CSV table and as a self-contained HTML page.
//!
//! The page opens offline: charts are inline SVG, pictures are data URLs, and there is no script. Every
//! sentence with a figure or a verdict is computed from the results, so text and figures always agree.

mod axis;
mod base64;
mod chart;
mod csv;
mod dots;
mod figure;
mod findings;
mod order;
mod page;
mod paper;
mod pick;
#[cfg(test)]
mod sample;
mod sections;
mod style;
mod summary;
mod table;
#[cfg(test)]
mod tests;
mod text;

use crate::results::Results;

/// An example picture for the page: an original or a release.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Panel {
    pub caption: String,
    /// The bytes of a PNG file.
    pub png: Vec<u8>,
}

/// The page `report.html`.
pub fn html(results: &Results, panels: &[Panel]) -> String {
    page::html(&results.about, &sections::all(results, panels))
}

/// The results in a few sentences, the same as on top of the page, without markup.
pub fn in_words(results: &Results) -> Vec<String> {
    summary::sentences(results).iter().map(|sentence| text::unmarked(sentence)).collect()
}

/// The table `results.csv`, one row per figure.
pub fn csv(results: &Results) -> String {
    csv::table(results)
}

/// A budget without the last digits of a product of doubles.
pub(crate) fn short(value: f64) -> String {
    text::short(value)
}
