//! Progress on stderr: one line with bar and time left on a terminal, plain lines in a pipe.

use std::collections::HashMap;
use std::io::IsTerminal;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use cardmark_engine::{Event, Plan};
use cardmark_report::text;
use indicatif::{ProgressBar, ProgressState, ProgressStyle};

use crate::print;

/// How often the line on a terminal is drawn anew. Rarely, so that a small board is not kept busy.
const TICK: Duration = Duration::from_millis(250);

/// Shows how far a run is.
pub(crate) struct Progress {
    shape: Shape,
    /// Number of each workload in the run, from 1, by name.
    numbers: HashMap<String, usize>,
    /// The round told last in a pipe.
    told: Option<(bool, u32)>,
}

enum Shape {
    /// Nothing is shown: a simulated card is done in no time.
    Silent,
    /// Lines, for pipes and logs.
    Lines,
    /// A bar.
    Bar {
        bar: ProgressBar,
        ends: Arc<Mutex<Ends>>,
        started: Instant,
    },
}

/// When the trial and the run are expected to end.
#[derive(Clone, Copy)]
struct Ends {
    trial: Instant,
    run: Instant,
}

impl Progress {
    /// Shows nothing.
    pub(crate) fn silent() -> Self {
        Self {
            shape: Shape::Silent,
            numbers: HashMap::new(),
            told: None,
        }
    }

    /// Shows a bar on a terminal, lines elsewhere.
    pub(crate) fn for_stderr() -> Self {
        let is_terminal = std::io::stderr().is_terminal();
        let shape = if is_terminal { bar() } else { Shape::Lines };
        Self {
            shape,
            numbers: HashMap::new(),
            told: None,
        }
    }

    /// Something happened in the run.
    pub(crate) fn event(&mut self, event: &Event<'_>) {
        match event {
            Event::Started { plan } => self.start(plan),
            Event::TrialStarted {
                workload,
                round_index,
                expected_ns,
                remaining_ns,
                layout,
            } => {
                let name = self.name(workload, *round_index, *layout);
                let left = (
                    Duration::from_nanos(*expected_ns),
                    Duration::from_nanos(*remaining_ns),
                );
                self.show(&name, left, (*layout, *round_index));
            }
            Event::TrialEnded { .. } | Event::Found { .. } => {}
        }
    }

    fn start(&mut self, plan: &Plan) {
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
        format!("{number}/{count} {workload}, round {}", round_index + 1)
    }

    fn show(&mut self, name: &str, left: (Duration, Duration), round: (bool, u32)) {
        match &self.shape {
            Shape::Silent => {}
            Shape::Lines => {
                if self.told != Some(round) {
                    self.told = Some(round);
                    print::notice(&format!("{name}; {} left", seconds(left.1)));
                }
            }
            Shape::Bar { bar, ends, started } => {
                let now = Instant::now();
                let run = now + left.1;
                *ends.lock().unwrap_or_else(PoisonError::into_inner) = Ends {
                    trial: now + left.0,
                    run,
                };
                bar.set_length(millis(run.duration_since(*started)));
                bar.set_position(millis(now.duration_since(*started)));
                bar.set_message(name.to_owned());
            }
        }
    }

    /// Takes the line away.
    pub(crate) fn end(&self) {
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

fn bar() -> Shape {
    let now = Instant::now();
    let ends = Arc::new(Mutex::new(Ends {
        trial: now,
        run: now,
    }));
    let of = |pick: fn(&Ends) -> Instant, show: fn(u64) -> String| {
        let ends = Arc::clone(&ends);
        move |_: &ProgressState, out: &mut dyn std::fmt::Write| {
            let end = pick(&ends.lock().unwrap_or_else(PoisonError::into_inner));
            let left = end.saturating_duration_since(Instant::now()).as_secs();
            // A line that cannot be written is left out; nothing depends on it.
            let _ = write!(out, "{}", show(left));
        }
    };
    let whole = |left: u64| format!("{left} s");
    // A trial of half a second needs no count-down of its own.
    let trial = |left: u64| {
        if left < 2 {
            String::new()
        } else {
            format!(" ({left} s)")
        }
    };
    let template = "{bar:8} {run_left} left · {wide_msg}{trial_left}";
    let style = ProgressStyle::with_template(template)
        .unwrap_or_else(|_| ProgressStyle::default_bar())
        .with_key("run_left", of(|ends| ends.run, whole))
        .with_key("trial_left", of(|ends| ends.trial, trial))
        .progress_chars("━╸ ");
    let bar = ProgressBar::new(1).with_style(style);
    bar.enable_steady_tick(TICK);
    Shape::Bar {
        bar,
        ends,
        started: now,
    }
}
