//! The page around the sections.

use super::text::escape;
use crate::results::About;

/// One section of the page.
pub(super) struct Section {
    /// Its address on the page.
    pub id: &'static str,
    /// Its heading.
    pub title: &'static str,
    /// Its markup.
    pub body: String,
}

impl Section {
    /// A section; one without rows says that it was not asked for.
    pub fn new(id: &'static str, title: &'static str, body: Option<String>) -> Self {
        let body =
            body.unwrap_or_else(|| "<p class=\"none\">Not part of this run.</p>\n".to_owned());
        Self { id, title, body }
    }
}

/// The whole page.
pub(super) fn html(about: &About, sections: &[Section]) -> String {
    let contents: String = sections
        .iter()
        .map(|section| format!("<li><a href=\"#{}\">{}</a></li>\n", section.id, section.title))
        .collect();
    let body: String = sections
        .iter()
        .enumerate()
        .map(|(at, section)| {
            format!(
                "<section id=\"{}\">\n<h2><span class=\"no\">{}</span> {}</h2>\n{}</section>\n\n",
                section.id,
                at + 1,
                section.title,
                section.body
            )
        })
        .collect();
    format!(
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta name=\"color-scheme\" content=\"light dark\">\n\
         <title>Noise on face photos: {data}</title>\n<style>\n{style}</style>\n</head>\n<body>\n\
         <header>\n<h1>Noise on face photos</h1>\n\
         <p class=\"lead\">Ranked Differential Privacy on <b>{data}</b>: what it does to pictures, \
         and whether it keeps faces from being recognised.</p>\n\
         <nav aria-label=\"Contents\"><ol>\n{contents}</ol></nav>\n</header>\n<main>\n{body}</main>\n\
         <footer>{tool}, seed {seed}. Intervals are at 95 %.</footer>\n</body>\n</html>\n",
        data = escape(&about.data),
        tool = escape(&about.tool),
        seed = about.seed,
        style = include_str!("style.css"),
    )
}
