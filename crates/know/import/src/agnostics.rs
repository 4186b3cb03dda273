//! The log of Raspberry Pi Diagnostics' SD card test, and the output of its `sdtest.sh`.
//!
//! The test runs up to three times, and passes with the first run that does: each run is a record. A run prints
//! fio's figures of its jobs, cut to a few fields, and then judges three of them. Its `KB/sec` is fio's KiB. Version
//! 0.15 took the random figures from the lines of other jobs, and forums show logs without fio's lines: if both are
//! there, the job is right.

mod lines;

use cardmark_core::{Board, KIB, Metric};

use crate::Imported;
use crate::reading::{Found, byte_rate, doubtful, operation_rate, printed};
use crate::records::{name_warnings, put};
use crate::section::board_at;
use crate::text::Line;
use lines::{Figure, Job, Outcome, Part, TESTS, TOOL, Test, part};

/// Its name in printed figures.
const SHORT: &str = "agnostics";
/// Runs after which the test fails.
const MOST_RUNS: u64 = 3;
/// Labels of a record: the place of its run with its own verdict, and the verdict on the test.
const RUN_LABEL: &str = "run";
const TEST_LABEL: &str = "diagnostics";

/// Forms of its lines.
const FORMS: [&str; 11] = [
    "{-}Raspberry Pi Diagnostics{*}",
    "{-}Run {n}",
    "{-}prepare-file;{n};{n};{n};{n}",
    "{-}seq-write;{n};{n};{};{n}",
    "{-}seq-read;{};{n};{n};{n}",
    "{-}rand-4k-write;{n};{n};{n};{}",
    "{-}rand-4k-read;{n};{};{n};{n}",
    "{-}Sequential write speed {} KB/sec (target {n})",
    "{-}Random write speed {} IOPS (target {n})",
    "{-}Random read speed {} IOPS (target {n})",
    // The date.
    "{*}",
];

/// Reads the logs. A damaged line costs the run that it stands in.
pub(crate) fn read(lines: &[Line], found: &mut Found) {
    let mut log = Log::default();
    for line in lines {
        let text = line
            .text
            .trim_start_matches(['>', '|', '-', '*', ' ', '\t']);
        match part(*line, text.trim_end()) {
            Ok(Some(part)) => {
                if let Some(next) = log.next(&part) {
                    std::mem::replace(&mut log, next).end(found);
                }
                log.put(*line, part);
            }
            Ok(None) => log.look_at(*line, text),
            Err(damage) => {
                if log.outcome.is_some() {
                    std::mem::take(&mut log).end(found);
                }
                found.damaged_report(damage, &mut log.run().is_damaged);
            }
        }
    }
    log.end(found);
}

/// A log: runs with ascending numbers, or one whose beginning is missing.
#[derive(Default)]
struct Log<'a> {
    /// The lines above its runs.
    head: Vec<Line<'a>>,
    version: Option<(u32, u32)>,
    runs: Vec<Run<'a>>,
    /// Verdict on the test.
    outcome: Option<Outcome>,
    /// True if the previous line was the first of the log: the date follows.
    is_begun: bool,
}

#[derive(Default)]
struct Run<'a> {
    /// Its number in the test; none if the line that begins it is missing.
    number: Option<u64>,
    lines: Vec<Line<'a>>,
    jobs: Vec<Job>,
    figures: Vec<Figure>,
    is_damaged: bool,
}

impl<'a> Log<'a> {
    /// Returns the next log if it begins with this part: a further test, a run that is no later one of this test, or
    /// something that the present run has already.
    fn next(&self, part: &Part) -> Option<Self> {
        let last = self.runs.last()?;
        let is_over = self.outcome.is_some();
        let is_next = match part {
            Part::Head(_) => true,
            Part::Begin(number) => {
                is_over || *number > MOST_RUNS || last.number.is_none_or(|last| last >= *number)
            }
            Part::Job(job) => is_over || last.job(job.name).is_some(),
            Part::Figure(figure) => is_over || last.figure(figure.test).is_some(),
            Part::End(_) => false,
        };
        let is_of_version = !is_over && !matches!(part, Part::Head(_) | Part::Begin(1));
        is_next.then(|| Self {
            version: self.version.filter(|_| is_of_version),
            ..Self::default()
        })
    }

    fn put(&mut self, line: Line<'a>, part: Part) {
        self.is_begun = matches!(part, Part::Head(_));
        match part {
            Part::Head(version) => {
                self.version = version;
                self.head.push(line);
                return;
            }
            Part::Begin(number) => self.runs.push(Run {
                number: Some(number),
                ..Run::default()
            }),
            Part::Job(job) => self.run().jobs.push(job),
            Part::Figure(figure) => self.run().figures.push(figure),
            // Of another test.
            Part::End(_) if self.runs.is_empty() => return,
            Part::End(outcome) => self.outcome = self.outcome.or(Some(outcome)),
        }
        self.run().lines.push(line);
    }

    /// Looks at another line: the date follows the first one.
    fn look_at(&mut self, line: Line<'a>, text: &str) {
        if std::mem::take(&mut self.is_begun) && text.matches(':').count() == 2 {
            self.head.push(line);
        }
    }

    /// The present run.
    fn run(&mut self) -> &mut Run<'a> {
        if self.runs.is_empty() {
            self.runs.push(Run::default());
        }
        let last = self.runs.len() - 1;
        &mut self.runs[last]
    }

    /// Adds the runs that are whole.
    fn end(self, found: &mut Found) {
        let is_whole = |run: &&Run| !run.is_damaged && !run.is_empty();
        if !self.runs.iter().any(|run| is_whole(&run)) {
            return;
        }
        for line in &self.head {
            found.understand(*line, &FORMS);
        }
        let undamaged = self.runs.iter().filter(|run| !run.is_damaged);
        for line in undamaged.flat_map(|run| &run.lines) {
            found.understand(*line, &FORMS);
        }
        for run in self.runs.iter().filter(is_whole) {
            let line = run.lines.first().map_or(0, |line| line.number);
            let board = board_at(&found.sections, line);
            found.report(line, self.report(run, board));
        }
    }

    fn report(&self, run: &Run, board: Option<Board>) -> Imported {
        let version = self
            .version
            .map(|(major, minor)| format!(" {major}.{minor}"));
        let mut one = Imported {
            tools: vec![format!("{TOOL}{}", version.unwrap_or_default())],
            board,
            ..Imported::default()
        };
        let has = |name: &str| run.job(name).is_some();
        let is_new = self.version.is_some_and(|version| version >= (0, 15))
            || self.version.is_none() && has("seq-read");
        let is_old = !is_new && (self.version.is_some() || has("seq-write") && has("rand-4k-read"));
        for test in &TESTS {
            let id = match (is_new, is_old) {
                (true, _) => test.id,
                (false, true) => test.old_id,
                (false, false) => test.plain_id,
            };
            put_test(&mut one, run, test, id);
        }
        if let Some(job) = run.job("seq-read") {
            put(&mut one, byte_metric("agnostics_seq_read", job.kib, None));
        }
        if is_new && one.metrics.len() == TESTS.len() + 1 {
            one.suite = Some("agnostics");
        }
        self.put_verdicts(&mut one, run);
        name_warnings(&mut one.metrics, &one.findings);
        one
    }

    /// Adds the verdicts of the program on run and test.
    fn put_verdicts(&self, one: &mut Imported, run: &Run) {
        let last = self.runs.iter().filter_map(|run| run.number).max();
        if let (Some(number), Some(last)) = (run.number, last) {
            let own = match run.is_passed() {
                Some(true) => ": pass",
                Some(false) => ": fail",
                None => "",
            };
            let label = format!("{number} of {last}{own}");
            one.labels.insert(RUN_LABEL.to_owned(), label);
        }
        let passed = self.runs.iter().find(|run| run.is_passed() == Some(true));
        let last_failed = self
            .runs
            .last()
            .is_some_and(|run| run.is_passed() == Some(false));
        let implied = match passed {
            Some(_) => Some(Outcome::Pass),
            None if last_failed && last == Some(MOST_RUNS) => Some(Outcome::Fail),
            None => None,
        };
        let number = passed.and_then(|run| run.number);
        let label = match (self.outcome.or(implied), number) {
            (Some(Outcome::Pass), Some(number)) => format!("pass in run {number}"),
            (Some(Outcome::Pass), None) => "pass".to_owned(),
            (Some(Outcome::Fail), _) => "fail".to_owned(),
            (Some(Outcome::Aborted), _) => "aborted".to_owned(),
            (None, _) if last.is_some() => "no verdict in the text".to_owned(),
            (None, _) => return,
        };
        one.labels.insert(TEST_LABEL.to_owned(), label);
        let is_contradicted = match self.outcome {
            Some(Outcome::Pass) => last_failed,
            Some(Outcome::Fail | Outcome::Aborted) => passed.is_some(),
            None => false,
        };
        if is_contradicted {
            let detail = "the verdict on the test is not that of its runs: it passes with the first run that does";
            one.findings.push(doubtful(detail));
        }
    }
}

impl Run<'_> {
    fn is_empty(&self) -> bool {
        self.jobs.is_empty() && self.figures.is_empty()
    }

    fn job(&self, name: &str) -> Option<&Job> {
        self.jobs.iter().find(|job| job.name == name)
    }

    fn figure(&self, test: &Test) -> Option<&Figure> {
        let mut figures = self.figures.iter();
        figures.find(|figure| figure.test.begin == test.begin)
    }

    /// The program's verdict on the run; none if a figure that could fail is missing.
    fn is_passed(&self) -> Option<bool> {
        let are_passed = self.figures.iter().all(|figure| figure.is_passed);
        let is_whole = self.figures.len() == TESTS.len() && !self.is_damaged;
        (is_whole || !are_passed).then_some(are_passed)
    }
}

/// Adds the figure of a test.
fn put_test(one: &mut Imported, run: &Run, test: &Test, id: &str) {
    let job = run.job(test.job);
    let mut figure = run.figure(test);
    let of_job = job.map(|job| match test.is_random {
        true => job.operations,
        false => job.kib,
    });
    if let (Some(of_job), Some(judged)) = (of_job, figure)
        && judged.number != of_job
    {
        let detail = format!(
            "`{}` was judged, but fio's line of that job differs: its figure is taken",
            judged.printed
        );
        one.findings.push(doubtful(detail).on(id));
        figure = None;
    }
    if let Some(metric) = metric(test, id, job, figure) {
        put(one, metric);
    }
}

fn metric(test: &Test, id: &str, job: Option<&Job>, figure: Option<&Figure>) -> Option<Metric> {
    let number = figure.map(|figure| figure.number);
    let text = figure.map(|figure| figure.printed.as_str());
    if !test.is_random {
        let kib = job.map(|job| job.kib).or(number)?;
        return Some(byte_metric(id, kib, text));
    }
    let iops = job.map(|job| job.operations).or(number)?;
    let own = format!("{iops} IOPS");
    let printed = printed(SHORT, text.unwrap_or(&own), None);
    let bytes_per_s = job.map(|job| job.kib as f64 * KIB as f64);
    Some(operation_rate(id, iops as f64, bytes_per_s, printed))
}

/// A rate in KiB per second; `printed` is how the log shows it, with another unit.
fn byte_metric(id: &str, kib: u64, text: Option<&str>) -> Metric {
    let shown = match text {
        Some(text) => printed(SHORT, text, Some("KiB/s")),
        None => printed(SHORT, &format!("{kib} KiB/s"), None),
    };
    byte_rate(id, kib as f64 * KIB as f64, shown)
}
