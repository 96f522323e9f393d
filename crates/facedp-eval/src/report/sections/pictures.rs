//! Example pictures, and pictures that were skipped.

use crate::report::Panel;
use crate::report::base64;
use crate::report::table::Table;
use crate::report::text::{counted, escape};
use crate::results::Skipped;

/// The largest number of skipped pictures in the table.
const SHOWN: usize = 20;

pub(super) fn body(panels: &[Panel]) -> Option<String> {
    let figures: String = panels
        .iter()
        .map(|panel| {
            format!(
                "<figure><img alt=\"{0}\" src=\"data:image/png;base64,{1}\">\
                 <figcaption>{0}</figcaption></figure>\n",
                escape(&panel.caption),
                base64::encode(&panel.png)
            )
        })
        .collect();
    (!panels.is_empty()).then_some(figures)
}

pub(super) fn skipped(skipped: &[Skipped]) -> String {
    if skipped.is_empty() {
        return "<p>None: every picture that was read could be used.</p>\n".to_owned();
    }
    let mut table = Table::new(2, ["picture", "reason"]);
    for picture in skipped.iter().take(SHOWN) {
        table.row([escape(&picture.file), escape(&picture.reason)]);
    }
    let caption = if skipped.len() > SHOWN { "The first 20." } else { "All of them." };
    format!(
        "<p>{} skipped.</p>\n{}",
        counted(skipped.len(), "picture was", "pictures were"),
        table.html(caption)
    )
}
