//! Progress in steps of one kind on stderr: a bar with the time left on a terminal, the stages in a pipe.

use std::io::IsTerminal;
use std::time::Duration;

use indicatif::{ProgressBar, ProgressStyle};

use crate::print;

/// Interval between redraws of the line on a terminal. Long, so that a small board is not kept busy.
const TICK: Duration = Duration::from_millis(250);

/// Shows how far something is.
pub(crate) struct Steps {
    bar: Option<ProgressBar>,
}

impl Steps {
    /// Shows a bar on a terminal, nothing but stages elsewhere.
    pub(crate) fn for_stderr() -> Self {
        Self {
            bar: std::io::stderr().is_terminal().then(bar),
        }
    }

    /// A stage begins.
    pub(crate) fn begin(&self, what: &'static str) {
        match &self.bar {
            Some(bar) => {
                bar.reset();
                bar.set_message(what);
            }
            None => print::notice(what),
        }
    }

    /// Shows the numbers of finished and wanted steps.
    pub(crate) fn show(&self, done_count: u64, wanted_count: u64) {
        if let Some(bar) = &self.bar {
            bar.set_length(wanted_count);
            bar.set_position(done_count);
        }
    }

    /// Takes the bar away.
    pub(crate) fn end(&self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}

fn bar() -> ProgressBar {
    let style = ProgressStyle::with_template("{bar:8} {percent} %, {eta} left: {wide_msg}")
        .unwrap_or_else(|_| ProgressStyle::default_bar())
        .progress_chars("━╸ ");
    let bar = ProgressBar::new(1).with_style(style);
    bar.enable_steady_tick(TICK);
    bar
}
