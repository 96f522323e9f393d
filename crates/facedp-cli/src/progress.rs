//! A progress bar on standard error, shown only to somebody who looks at a terminal.

use std::borrow::Cow;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use crate::args::Output;

/// A bar over `count` steps.
pub fn bar(count: usize, what: impl Into<Cow<'static, str>>, output: &Output) -> ProgressBar {
    if output.quiet {
        return ProgressBar::hidden();
    }
    let bar = ProgressBar::with_draw_target(Some(count as u64), ProgressDrawTarget::stderr());
    let style = "{msg} {wide_bar} {pos}/{len} {per_sec} {eta} left";
    if let Ok(style) = ProgressStyle::with_template(style) {
        bar.set_style(style);
    }
    bar.set_message(what);
    bar
}
