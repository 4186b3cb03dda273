//! Progress in bytes or steps on stderr: a bar on a terminal, plain lines in a pipe.

use std::collections::VecDeque;
use std::time::{Duration, Instant};

use cardmark_report::text;
use indicatif::{ProgressBar, ProgressStyle};

use crate::terminal::print;
use cardmark_session::{Progress, Waits};

/// Interval between redraws of the line on a terminal. Long, so that a small board is not kept busy.
const TICK: Duration = Duration::from_millis(250);
/// In a pipe a line is written at most so often.
const PAUSE: Duration = Duration::from_secs(10);
/// Over how long the rate is taken: a card slows down when its cache is full.
const WINDOW: Duration = Duration::from_secs(30);
/// In a pipe, a line about a wait is written at most this often.
pub(crate) const WAIT_PAUSE: Duration = Duration::from_secs(60);
/// Shortest time of work from which rates are computed.
const LEAST_SPAN: Duration = Duration::from_millis(100);
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
    passed: VecDeque<Passed>,
    told: Instant,
    done: u64,
    /// Time spent waiting for other jobs.
    waited: Duration,
    /// When a wait was last written in a pipe.
    told_wait: Option<Instant>,
}

/// A position, and the time spent waiting until then.
#[derive(Clone, Copy, Debug)]
struct Passed {
    at: Instant,
    done: u64,
    waited: Duration,
}

/// Units per second.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Rates {
    /// Of the time in which the job worked.
    own: f64,
    /// Of all time, with that spent waiting for other jobs.
    with_waits: f64,
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
            passed: VecDeque::from([Passed {
                at: now,
                done,
                waited: Duration::ZERO,
            }]),
            told: now,
            done,
            waited: Duration::ZERO,
            told_wait: None,
        }
    }

    /// `37 %: 23.7 GB of 64 GB, 20.3 MB/s, 33 min left` or `37 %, 33 s left: reads`.
    fn line(&mut self, now: Instant, done: u64) -> String {
        let rates = self.rates(now, done);
        let percent = self.percent(done);
        let left = (rates.with_waits > 0.0).then(|| {
            let left = self.all.saturating_sub(done) as f64 / rates.with_waits;
            let left = Duration::try_from_secs_f64(left).unwrap_or(Duration::MAX);
            let left = text::span(u64::try_from(left.as_nanos()).unwrap_or(u64::MAX));
            format!(", {left} left")
        });
        let left = left.unwrap_or_default();
        match self.unit {
            Unit::Steps => format!("{percent} %{left}: {}", self.stage),
            Unit::Bytes => {
                let (done, all) = (text::amount(done), text::amount(self.all));
                let rate = (rates.own > 0.0).then(|| format!(", {}", text::rate(rates.own)));
                format!(
                    "{percent} %: {done} of {all}{}{left}",
                    rate.unwrap_or_default()
                )
            }
        }
    }

    fn percent(&self, done: u64) -> u128 {
        u128::from(done) * 100 / u128::from(self.all.max(1))
    }

    /// Rates over the window; 0 while they are unknown.
    fn rates(&mut self, now: Instant, done: u64) -> Rates {
        let waited = self.waited;
        let newest = self.passed.back().map(|passed| passed.at);
        if newest.is_none_or(|at| now.duration_since(at) >= STEP) {
            self.passed.push_back(Passed {
                at: now,
                done,
                waited,
            });
        }
        while let [_, second, ..] = self.passed.make_contiguous()
            && now.duration_since(second.at) >= WINDOW
        {
            self.passed.pop_front();
        }
        let Some(first) = self.passed.front() else {
            return Rates::default();
        };
        let span = now.duration_since(first.at);
        let own = span.saturating_sub(waited.saturating_sub(first.waited));
        if own < LEAST_SPAN {
            return Rates::default();
        }
        let done = done.saturating_sub(first.done) as f64;
        Rates {
            own: done / own.as_secs_f64(),
            with_waits: done / span.as_secs_f64(),
        }
    }
}

impl Waits for FillProgress {
    fn wait(&mut self, text: &str) {
        let line = match self.all {
            0 => text.to_owned(),
            _ => format!("{} %: {text}", self.percent(self.done)),
        };
        let now = Instant::now();
        match &self.bar {
            Some(bar) => bar.set_message(print::plain(&line)),
            None if self
                .told_wait
                .is_none_or(|told| now.duration_since(told) >= WAIT_PAUSE) =>
            {
                self.told_wait = Some(now);
                print::notice(&line);
            }
            None => {}
        }
    }

    fn waited(&mut self, span: Duration) {
        self.waited += span;
    }
}

impl Progress for FillProgress {
    fn show(&mut self, done: u64) {
        self.done = done;
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
        progress.passed = VecDeque::from([Passed {
            at: start,
            done: 23_000_000_000,
            waited: Duration::ZERO,
        }]);
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
            rate = progress
                .rates(start + Duration::from_secs(second), written)
                .own;
        }
        assert!((rate - 5e6).abs() < 1.0, "{rate}");
        assert!(progress.passed.len() <= 32);
    }

    /// A job that waits for another is not slow: its rate is that of its own work, and the time left counts waits.
    #[test]
    fn waits_lengthen_the_time_left_and_leave_the_rate() {
        let mut progress = FillProgress::for_stderr(Unit::Bytes, 0, 1_000_000_000);
        let start = progress.told;
        progress.waited(Duration::from_secs(9));
        let line = progress.line(start + Duration::from_secs(9), 0);
        assert_eq!(line, "0 %: 0 B of 1 GB");
        let line = progress.line(start + Duration::from_secs(10), 20_000_000);
        assert_eq!(line, "2 %: 20 MB of 1 GB, 20.0 MB/s, 8 min 10 s left");
    }
}
