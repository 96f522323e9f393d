//! A progress bar on standard error, shown only to somebody who looks at a terminal.

use std::borrow::Cow;
use std::sync::{Mutex, PoisonError};

use facedp_eval::progress::Watch;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use crate::args::Output;
use crate::plain;

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

/// A bar for each part of an evaluation.
pub struct Bar<'a> {
    output: &'a Output,
    bar: Mutex<ProgressBar>,
}

impl<'a> Bar<'a> {
    pub fn new(output: &'a Output) -> Self {
        Self { output, bar: Mutex::new(ProgressBar::hidden()) }
    }

    pub fn clear(&self) {
        self.bar.lock().unwrap_or_else(PoisonError::into_inner).finish_and_clear();
    }
}

impl Watch for Bar<'_> {
    fn begin(&self, what: &str, steps: usize) {
        self.clear();
        let bar = bar(steps, plain::line(what), self.output);
        *self.bar.lock().unwrap_or_else(PoisonError::into_inner) = bar;
    }

    fn step(&self) {
        self.bar.lock().unwrap_or_else(PoisonError::into_inner).inc(1);
    }
}
