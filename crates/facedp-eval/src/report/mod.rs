//! Results for readers: a table for spreadsheets, and a page that needs nothing but itself.
//!
//! The page opens offline: charts are inline SVG, pictures are data addresses, there is no script.
//! Whatever it says in words is computed from the results, so that words and figures cannot part.

mod axis;
mod base64;
mod chart;
mod csv;
mod dots;
mod figure;
mod findings;
mod look;
mod order;
mod page;
mod paper;
mod pick;
#[cfg(test)]
mod sample;
mod sections;
mod summary;
mod table;
#[cfg(test)]
mod tests;
mod text;

use crate::results::Results;

/// A picture for the page: originals beside what the methods make of them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Panel {
    /// What it shows, in a sentence.
    pub caption: String,
    /// The picture as a PNG file.
    pub png: Vec<u8>,
}

/// The page `report.html`.
pub fn html(results: &Results, panels: &[Panel]) -> String {
    page::html(&results.about, &sections::all(results, panels))
}

/// The table `results.csv`: a row per figure.
pub fn csv(results: &Results) -> String {
    csv::table(results)
}
