//! The frame of the page: head, table of contents, numbered sections, footer.

use super::text::escape;
use crate::results::About;

pub(super) struct Section {
    /// The anchor on the page.
    pub id: &'static str,
    pub title: &'static str,
    /// HTML.
    pub body: String,
}

impl Section {
    /// A section without a body says that it was not part of the run.
    pub fn new(id: &'static str, title: &'static str, body: Option<String>) -> Self {
        let body =
            body.unwrap_or_else(|| "<p class=\"none\">Not part of this run.</p>\n".to_owned());
        Self { id, title, body }
    }
}

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
         <p class=\"lead\">Ranked Differential Privacy on <b>{data}</b>: how much of the picture it \
         preserves, and whether it prevents recognition.</p>\n\
         <nav aria-label=\"Contents\"><ol>\n{contents}</ol></nav>\n</header>\n<main>\n{body}</main>\n\
         <footer>{tool}, seed {seed}. All intervals are 95 % intervals.</footer>\n</body>\n</html>\n",
        data = escape(&about.data),
        tool = escape(&about.tool),
        seed = about.seed,
        style = include_str!("style.css"),
    )
}
