//! Progress in bytes or steps on stderr: a bar on a terminal, plain lines in a pipe.

use std::collections::VecDeque;
use std::time::{Duration, Instant};

use cardmark_report::text;
use indicatif::{ProgressBar, ProgressStyle};

use crate::print;
use cardmark_session::Progress;

/// Interval between redraws of the line on a terminal. Long, so that a small board is not kept busy.
const TICK: Duration = Duration::from_millis(250);
/// In a pipe a line is written at most so often.
const PAUSE: Duration = Duration::from_secs(10);
/// Over how long the rate is taken: a card slows down when its cache is full.
const WINDOW: Duration = Duration::from_secs(30);
/// Interval between noted positions.
const STEP: Duration = Duration::from_secs(1);

/// Unit of the progress.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Unit {
    /// Bytes, shown with their rate.
    Bytes,
    /// Steps, shown as a percentage only.
    Steps,
}

/// Shows how far a job is.
pub(crate) struct FillProgress {
    unit: Unit,
    all: u64,
    stage: &'static str,
    bar: Option<ProgressBar>,
    /// Positions in the window, the oldest first.
    passed: VecDeque<(Instant, u64)>,
    told: Instant,
}

impl FillProgress {
    /// Shows a bar on a terminal, lines elsewhere; `done` of `all` are finished.
    pub(crate) fn for_stderr(unit: Unit, done: u64, all: u64) -> Self {
        let now = Instant::now();
        Self {
            unit,
            all,
            stage: "",
            bar: print::can_redraw().then(|| bar(all)),
            passed: VecDeque::from([(now, done)]),
            told: now,
        }
    }

    /// `37 %: 23.7 GB of 64 GB, 20.3 MB/s, 33 min left` or `37 %, 33 s left: reads`.
    fn line(&mut self, now: Instant, done: u64) -> String {
        let rate = self.rate(now, done);
        let percent = u128::from(done) * 100 / u128::from(self.all.max(1));
        let left = (rate > 0.0).then(|| {
            let left = self.all.saturating_sub(done) as f64 / rate;
            let left = Duration::try_from_secs_f64(left).unwrap_or(Duration::MAX);
            let left = text::span(u64::try_from(left.as_nanos()).unwrap_or(u64::MAX));
            format!(", {left} left")
        });
        let left = left.unwrap_or_default();
        match self.unit {
            Unit::Steps => format!("{percent} %{left}: {}", self.stage),
            Unit::Bytes => {
                let (done, all) = (text::amount(done), text::amount(self.all));
                let rate = (rate > 0.0).then(|| format!(", {}", text::rate(rate)));
                format!(
                    "{percent} %: {done} of {all}{}{left}",
                    rate.unwrap_or_default()
                )
            }
        }
    }

    /// Units per second over the window; 0 while it is unknown.
    fn rate(&mut self, now: Instant, done: u64) -> f64 {
        let newest = self.passed.back().map(|(at, _)| *at);
        if newest.is_none_or(|at| now.duration_since(at) >= STEP) {
            self.passed.push_back((now, done));
        }
        while let [(_, _), (second, _), ..] = self.passed.make_contiguous()
            && now.duration_since(*second) >= WINDOW
        {
            self.passed.pop_front();
        }
        let Some((since, done_before)) = self.passed.front() else {
            return 0.0;
        };
        let seconds = now.duration_since(*since).as_secs_f64();
        if seconds < 0.1 {
            return 0.0;
        }
        done.saturating_sub(*done_before) as f64 / seconds
    }
}

impl Progress for FillProgress {
    fn show(&mut self, done: u64) {
        let now = Instant::now();
        let line = self.line(now, done);
        match &self.bar {
            Some(bar) => {
                bar.set_position(done);
                bar.set_message(print::plain(&line));
            }
            None if self.unit == Unit::Bytes && now.duration_since(self.told) >= PAUSE => {
                self.told = now;
                print::notice(&line);
            }
            None => {}
        }
    }

    fn expect(&mut self, all: u64) {
        self.all = all;
        if let Some(bar) = &self.bar {
            bar.set_length(all);
        }
    }

    fn stage(&mut self, name: &'static str) {
        self.stage = name;
        match &self.bar {
            Some(bar) if self.unit == Unit::Bytes => bar.suspend(|| print::notice(name)),
            Some(_) => {}
            None => print::notice(name),
        }
    }
}

impl Drop for FillProgress {
    fn drop(&mut self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}

fn bar(all: u64) -> ProgressBar {
    let style = ProgressStyle::with_template("{bar:8} {wide_msg}")
        .unwrap_or_else(|_| ProgressStyle::default_bar())
        .progress_chars(print::bar_letters());
    let bar = ProgressBar::new(all).with_style(style);
    bar.enable_steady_tick(TICK);
    bar
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_says_how_far_how_fast_and_how_long() {
        let mut progress = FillProgress::for_stderr(Unit::Bytes, 0, 64_000_000_000);
        let start = progress.told;
        progress.passed = VecDeque::from([(start, 23_000_000_000)]);
        let line = progress.line(start, 23_000_000_000);
        assert_eq!(line, "35 %: 23 GB of 64 GB");
        let line = progress.line(start + Duration::from_secs(10), 23_200_000_000);
        assert_eq!(line, "36 %: 23.2 GB of 64 GB, 20.0 MB/s, 34 min left");
    }

    #[test]
    fn the_rate_is_that_of_the_last_half_minute() {
        let mut progress = FillProgress::for_stderr(Unit::Bytes, 0, 64_000_000_000);
        let start = progress.told;
        let mut rate = 0.0;
        for second in 1..=120_u64 {
            // Ten times slower after the first minute.
            let written = second.min(60) * 50_000_000 + second.saturating_sub(60) * 5_000_000;
            rate = progress.rate(start + Duration::from_secs(second), written);
        }
        assert!((rate - 5e6).abs() < 1.0, "{rate}");
        assert!(progress.passed.len() <= 32);
    }
}
