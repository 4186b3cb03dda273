//! Progress on stderr: one line with bar and time left on a terminal, plain lines in a pipe.

use std::collections::HashMap;
use std::io::IsTerminal;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use cardmark_core::Trial;
use cardmark_engine::{Event, Observer, Plan, Pulse};
use cardmark_report::{text, workload_name};
use indicatif::{ProgressBar, ProgressState, ProgressStyle};

use crate::terminal::fill_progress::WAIT_PAUSE;
use crate::terminal::print;
use cardmark_session::Waits;

/// Interval between redraws of the line on a terminal. Long, so that a small board is not kept busy.
const TICK: Duration = Duration::from_millis(250);
/// Least time between two lines on a console.
const PAUSE: Duration = Duration::from_secs(3);

/// Shows how far a run is.
pub(crate) struct TrialProgress {
    shape: Shape,
    /// Number of each workload in the run, from 1, by name.
    numbers: HashMap<String, usize>,
    /// What the trials of each workload did so far.
    done: HashMap<String, Done>,
    /// When the run was last expected to end, and whether that grew.
    expected_end: Option<Instant>,
    has_grown: bool,
    /// The round shown last in a pipe.
    told: Option<(bool, u32)>,
    /// True if every trial is shown in a pipe: those of a list may take minutes.
    tells_all: bool,
    /// Counts the operations.
    pulse: Arc<Pulse>,
    waits: Waited,
}

/// Time spent waiting for other jobs.
struct Waited {
    since: Instant,
    span: Duration,
    /// When a wait was last written in a pipe.
    told: Option<Instant>,
}

impl Waited {
    /// Time that this work takes, with waits as long as those so far.
    fn with_waits(&self, left: Duration, now: Instant) -> Duration {
        let worked = now.duration_since(self.since).saturating_sub(self.span);
        match worked >= LEAST_WORKED {
            true => left.mul_f64(1.0 + self.span.as_secs_f64() / worked.as_secs_f64()),
            false => left,
        }
    }
}

/// Time of work from which the share of waits is known.
const LEAST_WORKED: Duration = Duration::from_secs(5);

/// Keeps lines apart, so that a serial console is not flooded.
struct Pace {
    least: Duration,
    last: Option<Instant>,
}

impl Pace {
    /// A log gets all lines.
    fn for_stderr() -> Self {
        let is_console = std::io::stderr().is_terminal();
        Self {
            least: if is_console { PAUSE } else { Duration::ZERO },
            last: None,
        }
    }

    /// Returns whether a line may be written now.
    fn allows(&mut self, now: Instant) -> bool {
        let is_early = self
            .last
            .is_some_and(|last| now.duration_since(last) < self.least);
        if !is_early {
            self.last = Some(now);
        }
        !is_early
    }
}

enum Shape {
    /// Lines, for pipes, logs and terminals that cannot draw a line again.
    Lines(Pace),
    /// A bar.
    Bar {
        bar: ProgressBar,
        ends: Arc<Mutex<Ends>>,
        started: Instant,
    },
}

/// Work of the trials of one workload.
#[derive(Clone, Copy, Default)]
struct Done {
    operations_count: u64,
    bytes: u64,
    span_ns: u64,
}

impl Done {
    /// `912/s so far` for small blocks, `23.4 MB/s so far` for others.
    fn text(self) -> Option<String> {
        let per_s = |count: u64| count as f64 * 1e9 / self.span_ns as f64;
        let is_small = self.bytes <= SMALL_BLOCK_BYTES * self.operations_count;
        (self.span_ns > 0 && self.operations_count > 0).then(|| match is_small {
            true => format!("{}/s so far", text::figure(per_s(self.operations_count))),
            false => format!("{} so far", text::rate(per_s(self.bytes))),
        })
    }
}

/// Largest size of blocks whose rates are shown as operations, bytes.
const SMALL_BLOCK_BYTES: u64 = 4096;

/// A time left that runs down with the clock; a new estimate replaces it only if it differs much.
#[derive(Clone, Copy, Default)]
struct Countdown {
    end: Option<Instant>,
}

impl Countdown {
    /// The time left to show, if the run is estimated to take `estimate` more.
    fn left(&mut self, estimate: Duration, now: Instant) -> Duration {
        let shown = self.end.map(|end| end.saturating_duration_since(now));
        let tolerated = LEAST_JUMP + estimate / 8;
        match shown.filter(|shown| shown.abs_diff(estimate) <= tolerated) {
            Some(shown) => shown,
            None => {
                self.end = Some(now + estimate);
                estimate
            }
        }
    }
}

/// Least difference of estimates that changes the time left.
const LEAST_JUMP: Duration = Duration::from_secs(1);

/// When the trial and the run are expected to end.
#[derive(Clone, Copy)]
struct Ends {
    started: Instant,
    /// Expected duration of the trial.
    trial: Duration,
    /// Expected duration of the run after the trial.
    rest: Duration,
    /// True while another job has its turn.
    is_waiting: bool,
    /// The operations of the trial, where they are known, and the pulse's count before it.
    operations: Option<(u64, usize)>,
    /// Time after which the trial ends in any case.
    longest: Duration,
}

impl Ends {
    /// Expected remaining duration of the trial: from the operations done so far, if these
    /// are enough.
    fn trial_left(&self, pulse: &Pulse) -> Duration {
        let elapsed = self.started.elapsed();
        let done = |before: usize| pulse.reading().0.saturating_sub(before);
        let operations = self.operations.map(|(all, before)| (all, done(before)));
        self.left_after(elapsed, operations)
    }

    /// The same after this time and with this number of all operations done.
    fn left_after(&self, elapsed: Duration, operations: Option<(u64, usize)>) -> Duration {
        let by_time = self.trial.saturating_sub(elapsed);
        let share = operations.map(|(all, done)| (done as f64 / all as f64).min(1.0));
        let by_work = share.filter(|&share| share >= LEAST_SHARE);
        let left = by_work.map_or(by_time, |share| elapsed.mul_f64((1.0 - share) / share));
        left.min(self.longest.saturating_sub(elapsed))
    }
}

/// Growth of the time left from which it is explained.
const LEAST_GROWTH: Duration = Duration::from_secs(8);

/// Share of a trial that has to be done before the time left is taken from it.
const LEAST_SHARE: f64 = 0.02;

impl TrialProgress {
    /// Shows a bar on a terminal, lines elsewhere.
    pub(crate) fn for_stderr(pulse: &Arc<Pulse>) -> Self {
        Self {
            shape: match print::can_redraw() {
                true => bar(pulse),
                false => Shape::Lines(Pace::for_stderr()),
            },
            numbers: HashMap::new(),
            done: HashMap::new(),
            expected_end: None,
            has_grown: false,
            told: None,
            tells_all: false,
            pulse: Arc::clone(pulse),
            waits: Waited {
                since: Instant::now(),
                span: Duration::ZERO,
                told: None,
            },
        }
    }

    fn start(&mut self, plan: &Plan) {
        self.tells_all = plan.suite.passes.is_some();
        for (index, workload) in plan.workloads.iter().enumerate() {
            self.numbers.insert(workload.id.clone(), index + 1);
        }
    }

    fn name(&self, workload: &str, round_index: u32, layout: bool) -> String {
        if layout {
            return format!("laying out the file, part {}", round_index + 1);
        }
        let count = self.numbers.len();
        let number = self.numbers.get(workload).copied().unwrap_or(0);
        let done = self.done.get(workload).and_then(|done| done.text());
        let done = done.map_or_else(String::new, |done| format!(", {done}"));
        let name = workload_name(workload);
        let more = if self.has_grown {
            "; figures vary, more rounds"
        } else {
            ""
        };
        format!(
            "{number}/{count} {name}, round {}{done}{more}",
            round_index + 1
        )
    }

    /// Notes the work of a trial.
    fn add(&mut self, trial: &Trial) {
        if trial.is_whole() && !trial.layout {
            let done = self.done.entry(trial.workload.id.clone()).or_default();
            done.operations_count += trial.operations_count();
            done.bytes += trial.bytes();
            done.span_ns += trial.span_ns;
        }
    }

    /// Notes when the run is expected to end, so that more rounds than expected can be explained.
    fn expect(&mut self, left: Duration) {
        let end = Instant::now() + left;
        let grown = self
            .expected_end
            .map(|before| end.saturating_duration_since(before));
        self.has_grown |= grown.is_some_and(|grown| grown > LEAST_GROWTH);
        self.expected_end = Some(end);
    }

    fn show(&mut self, name: &str, new: Ends, round: (bool, u32)) {
        let left = new.trial + new.rest;
        match &mut self.shape {
            Shape::Lines(pace) => {
                let is_due = self.tells_all || self.told != Some(round);
                if is_due && pace.allows(new.started) {
                    self.told = Some(round);
                    print::notice(&format!("{name}; {} left", seconds(left)));
                }
            }
            Shape::Bar { bar, ends, started } => {
                *ends.lock().unwrap_or_else(PoisonError::into_inner) = new;
                let elapsed = new.started.duration_since(*started);
                bar.set_length(millis(elapsed + left));
                bar.set_position(millis(elapsed));
                bar.set_message(print::plain(name));
            }
        }
    }
}

impl Observer for TrialProgress {
    fn event(&mut self, event: &Event<'_>) {
        match event {
            Event::Started { plan } => self.start(plan),
            Event::TrialStarted {
                workload,
                round_index,
                expected_ns,
                remaining_ns,
                layout,
                operations_count,
                longest_ns,
            } => {
                if !*layout {
                    self.expect(Duration::from_nanos(*remaining_ns));
                }
                let name = self.name(workload, *round_index, *layout);
                let now = Instant::now();
                let rest = Duration::from_nanos(remaining_ns.saturating_sub(*expected_ns));
                let ends = Ends {
                    started: now,
                    trial: Duration::from_nanos(*expected_ns),
                    rest: self.waits.with_waits(rest, now),
                    is_waiting: false,
                    operations: operations_count.map(|all| (all, self.pulse.reading().0)),
                    longest: longest_ns.map_or(Duration::MAX, Duration::from_nanos),
                };
                self.show(&name, ends, (*layout, *round_index));
            }
            Event::ReadingBack {
                expected_ns,
                pieces_count,
            } => {
                let ends = Ends {
                    started: Instant::now(),
                    trial: Duration::from_nanos(*expected_ns),
                    rest: Duration::ZERO,
                    is_waiting: false,
                    operations: Some((*pieces_count, self.pulse.reading().0)),
                    longest: Duration::MAX,
                };
                self.show("reading back what was written", ends, (false, u32::MAX));
            }
            Event::TrialEnded { trial } => self.add(trial),
            Event::Found { .. } => {}
        }
    }
}

impl Waits for TrialProgress {
    fn wait(&mut self, text: &str) {
        let now = Instant::now();
        match &mut self.shape {
            Shape::Lines(_) => {
                let told = self.waits.told;
                if told.is_none_or(|told| now.duration_since(told) >= WAIT_PAUSE) {
                    self.waits.told = Some(now);
                    print::notice(text);
                }
            }
            Shape::Bar { bar, ends, .. } => {
                ends.lock()
                    .unwrap_or_else(PoisonError::into_inner)
                    .is_waiting = true;
                bar.set_message(print::plain(text));
            }
        }
    }

    fn waited(&mut self, span: Duration) {
        self.waits.span += span;
        // More waits are no more rounds.
        self.expected_end = self.expected_end.map(|end| end + span);
    }
}

impl Drop for TrialProgress {
    fn drop(&mut self) {
        if let Shape::Bar { bar, .. } = &self.shape {
            bar.finish_and_clear();
        }
    }
}

fn millis(span: Duration) -> u64 {
    u64::try_from(span.as_millis()).unwrap_or(u64::MAX)
}

fn seconds(span: Duration) -> String {
    text::span(u64::try_from(span.as_nanos()).unwrap_or(u64::MAX))
}

/// Whole seconds, and minutes from one on.
fn in_seconds(left: Duration) -> String {
    match left.as_secs() {
        few @ 0..60 => format!("{few} s"),
        many => seconds(Duration::from_secs(many)),
    }
}

fn bar(pulse: &Arc<Pulse>) -> Shape {
    let now = Instant::now();
    let ends = Arc::new(Mutex::new(Ends {
        started: now,
        trial: Duration::ZERO,
        rest: Duration::ZERO,
        is_waiting: false,
        operations: None,
        longest: Duration::MAX,
    }));
    let of = |with_rest: bool, show: fn(Duration) -> String| {
        let (ends, pulse) = (Arc::clone(&ends), Arc::clone(pulse));
        let countdown = Arc::new(Mutex::new(Countdown::default()));
        move |_: &ProgressState, out: &mut dyn std::fmt::Write| {
            let ends = *ends.lock().unwrap_or_else(PoisonError::into_inner);
            if ends.is_waiting {
                return;
            }
            let left = if with_rest {
                let mut countdown = countdown.lock().unwrap_or_else(PoisonError::into_inner);
                countdown.left(ends.trial_left(&pulse) + ends.rest, Instant::now())
            } else {
                ends.trial_left(&pulse)
            };
            // A line that cannot be written is left out; nothing depends on it.
            let _ = write!(out, "{}", show(left));
        }
    };
    let whole = |left: Duration| print::plain(&format!("{} left · ", in_seconds(left)));
    // A trial of half a second needs no count-down of its own.
    let trial = |left: Duration| {
        if left < Duration::from_secs(2) {
            String::new()
        } else {
            format!(" ({})", in_seconds(left))
        }
    };
    let template = print::plain("{bar:8} {run_left}{wide_msg}{trial_left}");
    let style = ProgressStyle::with_template(&template)
        .unwrap_or_else(|_| ProgressStyle::default_bar())
        .with_key("run_left", of(true, whole))
        .with_key("trial_left", of(false, trial))
        .progress_chars(print::bar_letters());
    let bar = ProgressBar::new(1).with_style(style);
    bar.enable_steady_tick(TICK);
    Shape::Bar {
        bar,
        ends,
        started: now,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn small_blocks_are_counted_and_large_ones_measured() {
        let small = Done {
            operations_count: 1_824,
            bytes: 1_824 * 4_096,
            span_ns: 2_000_000_000,
        };
        assert_eq!(small.text().as_deref(), Some("912/s so far"));
        let large = Done {
            operations_count: 50,
            bytes: 50 << 20,
            span_ns: 2_000_000_000,
        };
        assert_eq!(large.text().as_deref(), Some("26.2 MB/s so far"));
        assert_eq!(Done::default().text(), None);
    }

    #[test]
    fn the_time_left_runs_with_the_clock_through_small_changes_of_the_estimate() {
        let start = Instant::now();
        let mut countdown = Countdown::default();
        let mut left = |after_s: u64, estimate_s: u64| {
            let now = start + Duration::from_secs(after_s);
            countdown
                .left(Duration::from_secs(estimate_s), now)
                .as_secs()
        };
        let shown = [(0, 40), (1, 42), (2, 34), (3, 37)].map(|(after, s)| left(after, s));
        assert_eq!(shown, [40, 39, 38, 37]);
        // More rounds, and then the end.
        let shown = [(4, 60), (5, 58), (40, 25), (64, 1)].map(|(after, s)| left(after, s));
        assert_eq!(shown, [60, 59, 24, 0]);
    }

    #[test]
    fn the_time_left_follows_the_work_up_to_the_longest_time() {
        let seconds = Duration::from_secs;
        let ends = Ends {
            started: Instant::now(),
            trial: seconds(3200),
            rest: Duration::ZERO,
            is_waiting: false,
            operations: None,
            longest: seconds(3600),
        };
        let left = |after_s: u64, done: usize| {
            let left = ends.left_after(seconds(after_s), Some((60_000, done)));
            left.as_secs_f64().round()
        };
        assert_eq!(left(10, 0), 3190.0);
        // Twice as fast as expected, and three times as slow.
        assert_eq!(left(160, 6_000), 1440.0);
        assert_eq!(left(960, 6_000), 2640.0);
    }

    #[test]
    fn lines_keep_their_distance() {
        let mut pace = Pace {
            least: PAUSE,
            last: None,
        };
        let start = Instant::now();
        let at = |seconds: u64| start + Duration::from_secs(seconds);
        let allowed: Vec<u64> = (0..10).filter(|second| pace.allows(at(*second))).collect();
        assert_eq!(allowed, [0, 3, 6, 9]);
    }
}
