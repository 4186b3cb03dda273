//! The log of Raspberry Pi Diagnostics' SD card test, and the output of its `sdtest.sh`.
//!
//! Up to three runs; each prints fio's figures of its jobs, cut to a few fields, and then judges
//! three of them. Its `KB/sec` is fio's KiB. Version 0.15 took the random figures from the lines of
//! other jobs, and forums show logs without fio's lines: where both are there, the job is right.

use cardmark_core::{KIB, Metric};

use crate::Imported;
use crate::number::digits;
use crate::reading::{Found, byte_rate, doubtful, operation_rate, printed};
use crate::records::{name_warnings, put};
use crate::text::{Damage, Line};

const TOOL: &str = "Raspberry Pi Diagnostics";
/// Its name in printed figures.
const SHORT: &str = "agnostics";

/// A figure that is judged, and the job it is of.
struct Test {
    begin: &'static str,
    job: &'static str,
    is_random: bool,
    /// Ids up to version 0.14, whose blocks and queue differ, and from 0.15 on.
    old_id: &'static str,
    id: &'static str,
}

static TESTS: [Test; 3] = [
    Test {
        begin: "Sequential write speed ",
        job: "seq-write",
        is_random: false,
        old_id: "fio_seq_write_512k_q4",
        id: "agnostics_seq_write",
    },
    Test {
        begin: "Random write speed ",
        job: "rand-4k-write",
        is_random: true,
        old_id: "fio_rand_write_4k_q4",
        id: "agnostics_rand_write",
    },
    Test {
        begin: "Random read speed ",
        job: "rand-4k-read",
        is_random: true,
        old_id: "fio_rand_read_4k_q4",
        id: "agnostics_rand_read",
    },
];

/// The jobs, and whether they read.
const JOBS: [(&str, bool); 5] = [
    ("prepare-file", false),
    ("seq-write", false),
    ("seq-read", true),
    ("rand-4k-write", false),
    ("rand-4k-read", true),
];

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

/// fio's figures of a job.
struct Job {
    name: &'static str,
    kib: u64,
    operations: u64,
}

/// A figure that was judged.
struct Figure {
    test: &'static Test,
    number: u64,
    printed: String,
}

#[derive(Default)]
struct Run {
    jobs: Vec<Job>,
    figures: Vec<Figure>,
}

impl Run {
    fn is_empty(&self) -> bool {
        self.jobs.is_empty() && self.figures.is_empty()
    }

    fn job(&self, name: &str) -> Option<&Job> {
        self.jobs.iter().find(|job| job.name == name)
    }
}

/// Reads the logs. A damaged line costs its whole log: the run that it belongs to is unknown.
pub(crate) fn read(lines: &[Line], found: &mut Found) {
    let mut log = Log::default();
    for line in lines {
        let text = line
            .text
            .trim_start_matches(['>', '|', '-', '*', ' ', '\t']);
        let text = text.trim_end();
        if log.is_over(text) {
            std::mem::take(&mut log).end(found);
        }
        match log.read(*line, text) {
            Ok(true) => log.lines.push((*line, log.runs.len())),
            Ok(false) => {}
            Err(damage) => found.damaged_report(damage, &mut log.is_damaged),
        }
    }
    log.end(found);
}

/// Known parts of a log.
#[derive(Default)]
struct Log<'a> {
    /// With the number of the run that each belongs to.
    lines: Vec<(Line<'a>, usize)>,
    is_damaged: bool,
    version: Option<(u32, u32)>,
    runs: Vec<Run>,
    /// True if the previous line was the first of the log: the date follows.
    is_begun: bool,
}

impl Log<'_> {
    /// Returns whether this line begins the next log.
    fn is_over(&self, text: &str) -> bool {
        let begins = text.starts_with(TOOL) || text == "Run 1";
        begins && !self.runs.is_empty()
    }

    /// Reads a line; returns whether it is one of the log.
    fn read(&mut self, line: Line, text: &str) -> Result<bool, Damage> {
        let was_begun = std::mem::take(&mut self.is_begun);
        if let Some(rest) = text.strip_prefix(TOOL) {
            self.version = rest.split_once("version ").and_then(|(_, it)| version(it));
            self.is_begun = true;
            return Ok(true);
        }
        let run_number = text.strip_prefix("Run ").and_then(digits);
        if run_number.is_some() {
            self.runs.push(Run::default());
        } else if let Some(job) = job(line, text)? {
            let run = self.run(|run| run.job(job.name).is_none());
            run.jobs.push(job);
        } else if let Some(figure) = figure(line, text)? {
            let is_new = |known: &Figure| known.test.begin != figure.test.begin;
            let run = self.run(|run| run.figures.iter().all(is_new));
            run.figures.push(figure);
        } else {
            // A date.
            return Ok(was_begun && text.matches(':').count() == 2);
        }
        Ok(true)
    }

    /// The current run, or a further one if that has something of the kind already.
    fn run(&mut self, fits: impl FnOnce(&Run) -> bool) -> &mut Run {
        if !self.runs.last().is_some_and(fits) {
            self.runs.push(Run::default());
        }
        let last = self.runs.len() - 1;
        &mut self.runs[last]
    }

    /// Adds the log, if it is whole.
    fn end(self, found: &mut Found) {
        if let Some(one) = self.report().filter(|_| !self.is_damaged) {
            let deciding = self.runs.iter().rposition(|run| !run.is_empty());
            for (line, run) in &self.lines {
                if deciding.is_some_and(|deciding| (1..=deciding).contains(run)) {
                    found.pass(*line, &FORMS);
                } else {
                    found.understand(*line, &FORMS);
                }
            }
            found.reports.push(one);
        }
    }

    /// The last run decides, as in the program itself.
    fn report(&self) -> Option<Imported> {
        let run = self.runs.iter().rev().find(|run| !run.is_empty())?;
        let version = self
            .version
            .map(|(major, minor)| format!(" {major}.{minor}"));
        let mut one = Imported {
            tools: vec![format!("{TOOL}{}", version.unwrap_or_default())],
            ..Imported::default()
        };
        let has = |name: &str| run.job(name).is_some();
        let is_new = self.version.is_some_and(|version| version >= (0, 15))
            || self.version.is_none() && has("seq-read");
        let is_old = !is_new && (self.version.is_some() || has("seq-write") && has("rand-4k-read"));
        for test in &TESTS {
            let id = if is_old { test.old_id } else { test.id };
            let job = run.job(test.job);
            let mut figures = run.figures.iter();
            let mut figure = figures.find(|figure| figure.test.begin == test.begin);
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
                put(&mut one, metric);
            }
        }
        if let Some(job) = run.job("seq-read") {
            put(&mut one, byte_metric("agnostics_seq_read", job.kib, None));
        }
        if is_new && one.metrics.len() == TESTS.len() + 1 {
            one.suite = Some("agnostics");
        }
        name_warnings(&mut one.metrics, &one.findings);
        Some(one)
    }
}

/// Parses `0.15` and `0.15.1`; none for `(unknown)`.
fn version(text: &str) -> Option<(u32, u32)> {
    let (major, rest) = text.split_once('.')?;
    let minor = rest.split('.').next()?;
    Some((major.parse().ok()?, minor.parse().ok()?))
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

/// Parses `seq-write;0;0;14160;27`: name, KiB and operations per second of reads, of writes.
fn job(line: Line, text: &str) -> Result<Option<Job>, Damage> {
    let Some((name, rest)) = text.split_once(';') else {
        return Ok(None);
    };
    let Some(&(name, is_read)) = JOBS.iter().find(|(job, _)| *job == name) else {
        return Ok(None);
    };
    let error = || line.damage(TOOL, "four whole numbers, two of them 0");
    let figures: Option<Vec<u64>> = rest.split(';').map(digits).collect();
    let (kib, operations) = match (is_read, figures.as_deref()) {
        (true, Some(&[kib, operations, 0, 0])) => (kib, operations),
        (false, Some(&[0, 0, kib, operations])) => (kib, operations),
        _ => return Err(error()),
    };
    if name.contains("4k") && kib / 4 != operations {
        return Err(line.damage(TOOL, "figures that agree with each other"));
    }
    Ok(Some(Job {
        name,
        kib,
        operations,
    }))
}

/// Parses `Random write speed 213 IOPS (target 500) - FAIL`; without a figure if fio failed.
fn figure(line: Line, text: &str) -> Result<Option<Figure>, Damage> {
    let mut tests = TESTS.iter();
    let found = tests.find_map(|test| Some((test, text.strip_prefix(test.begin)?)));
    let Some((test, (printed, rest))) =
        found.and_then(|(test, rest)| Some((test, rest.split_once(" (target ")?)))
    else {
        return Ok(None);
    };
    let printed = printed.trim();
    if printed.starts_with(char::is_alphabetic) {
        return Ok(None);
    }
    let error = || line.damage(TOOL, "a number, its unit, a target, and PASS or FAIL");
    let (target, verdict) = rest.split_once(") - ").ok_or_else(error)?;
    let target = digits(target).ok_or_else(error)?;
    let is_passed = match verdict {
        "PASS" => true,
        "FAIL" => false,
        _ => return Err(error()),
    };
    let (number, unit) = printed.split_once(' ').ok_or_else(error)?;
    let number = digits(number).ok_or_else(error)?;
    let is_known = match test.is_random {
        true => unit == "IOPS",
        false => unit == "KB/sec",
    };
    if !is_known {
        return Err(line.damage(TOOL, "KB/sec or IOPS"));
    }
    if is_passed != (number >= target) {
        return Err(line.damage(TOOL, "a verdict that agrees with its figure"));
    }
    Ok(Some(Figure {
        test,
        number,
        printed: printed.to_owned(),
    }))
}
