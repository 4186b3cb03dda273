//! The log of Raspberry Pi Diagnostics' SD card test, and what its `sdtest.sh` prints by itself.
//!
//! Up to three runs; each prints what fio said of its jobs, cut to a few fields, and then judges
//! three figures. Its `KB/sec` is fio's KiB. Version 0.15 took the random figures from the lines of
//! other jobs, and forums show logs without fio's lines: every figure tells whether the line of its
//! job says the same.

use cardmark_core::KIB;

use super::number::digits;
use super::{FioDirection, Line, Rate, ReadError, lines};

const TOOL: &str = "Raspberry Pi Diagnostics";

/// What is judged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AgnosticsTest {
    /// Writes in order, in KiB a second.
    SequentialWrite,
    /// 4 KiB random writes, in operations a second.
    RandomWrite,
    /// 4 KiB random reads, in operations a second.
    RandomRead,
}

use AgnosticsTest as Test;

/// What the lines of the figures begin with, and the job that each is of.
const TESTS: [(&str, Test, &str); 3] = [
    (
        "Sequential write speed ",
        Test::SequentialWrite,
        "seq-write",
    ),
    ("Random write speed ", Test::RandomWrite, "rand-4k-write"),
    ("Random read speed ", Test::RandomRead, "rand-4k-read"),
];

/// The jobs.
const JOBS: [(&str, FioDirection); 5] = [
    ("prepare-file", FioDirection::Write),
    ("seq-write", FioDirection::Write),
    ("seq-read", FioDirection::Read),
    ("rand-4k-write", FioDirection::Write),
    ("rand-4k-read", FioDirection::Read),
];

/// What fio said of a job.
#[derive(Clone, Debug, PartialEq)]
pub struct AgnosticsJob {
    /// Number of its line, from 1.
    pub line: usize,
    /// Its name.
    pub job: String,
    /// Whether it read or wrote.
    pub direction: FioDirection,
    /// Its rate, cut to KiB a second.
    pub rate: Rate,
    /// Operations a second, cut to whole ones.
    pub operations_per_s: f64,
}

/// A figure and the judgement on it.
#[derive(Clone, Debug, PartialEq)]
pub struct AgnosticsFigure {
    /// Number of its line, from 1.
    pub line: usize,
    /// What is judged.
    pub test: AgnosticsTest,
    /// Number and unit as in the text.
    pub printed: String,
    /// Bytes a second; none for random tests.
    pub bytes_per_s: Option<f64>,
    /// Operations a second; none for the sequential test.
    pub operations_per_s: Option<f64>,
    /// The least number that passes, in the unit of the figure.
    pub target: u64,
    /// Whether it passed.
    pub is_passed: bool,
    /// Whether fio's line of its job says the same; none where there is no such line.
    pub agrees_with_job: Option<bool>,
}

/// One run.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct AgnosticsRun {
    /// Its number, from 1, where that is told.
    pub number: Option<u32>,
    /// What fio said, in order.
    pub jobs: Vec<AgnosticsJob>,
    /// What was judged, in order; without a figure where fio failed.
    pub figures: Vec<AgnosticsFigure>,
}

/// One log.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct AgnosticsReading {
    /// Version of the program, where it knew it.
    pub version: Option<String>,
    /// Local date and time as in the text.
    pub date: Option<String>,
    /// The runs, in order. The last decides: the first that passes is the last.
    pub runs: Vec<AgnosticsRun>,
    /// What the program says of the whole; the script alone does not.
    pub is_passed: Option<bool>,
}

/// Reads the logs in a text, in order.
///
/// # Errors
/// When there is none, or a line is not whole.
pub fn read_agnostics(text: &str) -> Result<Vec<AgnosticsReading>, ReadError> {
    let mut logs = Vec::new();
    let mut log = Log::default();
    for line in lines(text) {
        if log.is_over(words(line)) {
            logs.extend(std::mem::take(&mut log).end());
        }
        log.read(line)?;
    }
    logs.extend(log.end());
    if logs.is_empty() {
        return Err(ReadError::Missing {
            tool: TOOL,
            expected: "a line `Random write speed … IOPS (target 500) - …`",
        });
    }
    Ok(logs)
}

/// A line without what forums put before it.
fn words(line: Line<'_>) -> &str {
    line.text
        .trim_start_matches(['>', '|', '-', '*', ' ', '\t'])
        .trim_end()
}

/// Number of a line `Run 2`.
fn run_number(words: &str) -> Option<u32> {
    words.strip_prefix("Run ")?.parse().ok()
}

/// What is known of a log so far.
#[derive(Default)]
struct Log {
    reading: AgnosticsReading,
    /// Whether the line before was the first of the log: the date follows.
    is_begun: bool,
}

impl Log {
    /// Whether these words begin the next log.
    fn is_over(&self, words: &str) -> bool {
        let begins = words.starts_with(TOOL) || run_number(words) == Some(1);
        begins && !self.reading.runs.is_empty()
    }

    fn read(&mut self, line: Line) -> Result<(), ReadError> {
        let words = words(line);
        if let Some(rest) = words.strip_prefix(TOOL) {
            let version = rest.split_once("version ").map(|(_, version)| version);
            let version = version.filter(|version| *version != "(unknown)");
            self.reading.version = version.map(str::to_owned);
            self.is_begun = true;
            return Ok(());
        }
        if std::mem::take(&mut self.is_begun) && is_date(words) {
            self.reading.date = Some(words.to_owned());
        } else if let Some(number) = run_number(words) {
            self.reading.runs.push(AgnosticsRun {
                number: Some(number),
                ..AgnosticsRun::default()
            });
        } else if let Some(job) = job(line, words)? {
            self.run(|run| run.jobs.iter().all(|known| known.job != job.job))
                .jobs
                .push(job);
        } else if let Some(figure) = figure(line, words)? {
            self.run(|run| run.figures.iter().all(|known| known.test != figure.test))
                .figures
                .push(figure);
        } else if matches!(words, "Test PASS" | "Test FAIL") && self.awaits_verdict() {
            self.reading.is_passed = Some(words == "Test PASS");
        }
        Ok(())
    }

    /// Whether a verdict on the whole is of this test: it stands behind the runs.
    fn awaits_verdict(&self) -> bool {
        !self.reading.runs.is_empty() && self.reading.is_passed.is_none()
    }

    /// The run that is under way; a further one where that has something already.
    fn run(&mut self, fits: impl FnOnce(&AgnosticsRun) -> bool) -> &mut AgnosticsRun {
        let runs = &mut self.reading.runs;
        let is_under_way = runs.last().is_some_and(fits);
        if !is_under_way {
            runs.push(AgnosticsRun::default());
        }
        let last = runs.len() - 1;
        &mut runs[last]
    }

    fn end(mut self) -> Option<AgnosticsReading> {
        for run in &mut self.reading.runs {
            for figure in &mut run.figures {
                figure.agrees_with_job = agrees_with_job(figure, &run.jobs);
            }
        }
        let runs = &self.reading.runs;
        let is_empty = runs
            .iter()
            .all(|run| run.jobs.is_empty() && run.figures.is_empty());
        (!is_empty).then_some(self.reading)
    }
}

/// `Sun Aug  2 12:45:56 2020`.
fn is_date(words: &str) -> bool {
    let parts: Vec<&str> = words.split_whitespace().collect();
    matches!(parts.as_slice(), [_, _, _, time, _] if time.matches(':').count() == 2)
}

/// `seq-write;0;0;14160;27`: name, KiB and operations a second of reads, of writes.
fn job(line: Line, words: &str) -> Result<Option<AgnosticsJob>, ReadError> {
    let fields: Vec<&str> = words.split(';').collect();
    let [name, figures @ ..] = fields.as_slice() else {
        return Ok(None);
    };
    let Some((_, direction)) = JOBS.iter().find(|(job, _)| job == name) else {
        return Ok(None);
    };
    if figures.is_empty() {
        return Ok(None);
    }
    let error = || line.error(TOOL, "four whole numbers, two of them 0");
    let figures: Option<Vec<u64>> = figures.iter().map(|figure| digits(figure)).collect();
    let (kib, iops) = match (direction, figures.as_deref()) {
        (FioDirection::Read, Some(&[kib, iops, 0, 0])) => (kib, iops),
        (FioDirection::Write, Some(&[0, 0, kib, iops])) => (kib, iops),
        _ => return Err(error()),
    };
    if name.contains("4k") && kib / 4 != iops {
        return Err(line.error(TOOL, "figures that agree with each other"));
    }
    Ok(Some(AgnosticsJob {
        line: line.number,
        job: (*name).to_owned(),
        direction: *direction,
        rate: Rate {
            bytes_per_s: kib as f64 * KIB as f64,
            printed: format!("{kib} KiB/s"),
        },
        operations_per_s: iops as f64,
    }))
}

/// `Random write speed 213 IOPS (target 500) - FAIL`; without a figure where fio failed.
fn figure(line: Line, words: &str) -> Result<Option<AgnosticsFigure>, ReadError> {
    let Some((test, rest)) = TESTS
        .iter()
        .find_map(|(begin, test, _)| Some((*test, words.strip_prefix(*begin)?)))
    else {
        return Ok(None);
    };
    let Some((printed, rest)) = rest.split_once(" (target ") else {
        return Ok(None);
    };
    let printed = printed.trim();
    if printed.starts_with(char::is_alphabetic) {
        return Ok(None);
    }
    let error = || line.error(TOOL, "a number, its unit, a target, and PASS or FAIL");
    let (target, verdict) = rest.split_once(") - ").ok_or_else(error)?;
    let target = digits(target).ok_or_else(error)?;
    let is_passed = match verdict {
        "PASS" => true,
        "FAIL" => false,
        _ => return Err(error()),
    };
    let (number, unit) = printed.split_once(' ').ok_or_else(error)?;
    let number = digits(number).ok_or_else(error)?;
    let (bytes_per_s, operations_per_s) = match (test, unit) {
        (Test::SequentialWrite, "KB/sec") => (Some(number as f64 * KIB as f64), None),
        (Test::RandomWrite | Test::RandomRead, "IOPS") => (None, Some(number as f64)),
        _ => return Err(line.error(TOOL, "KB/sec or IOPS")),
    };
    if is_passed != (number >= target) {
        return Err(line.error(TOOL, "a verdict that agrees with its figure"));
    }
    Ok(Some(AgnosticsFigure {
        line: line.number,
        test,
        printed: printed.to_owned(),
        bytes_per_s,
        operations_per_s,
        target,
        is_passed,
        agrees_with_job: None,
    }))
}

fn agrees_with_job(figure: &AgnosticsFigure, jobs: &[AgnosticsJob]) -> Option<bool> {
    let (_, _, name) = TESTS.iter().find(|(_, test, _)| *test == figure.test)?;
    let job = jobs.iter().find(|job| job.job == *name)?;
    let is_same = |figure: Option<f64>, of_job| figure.is_none_or(|figure| figure == of_job);
    Some(
        is_same(figure.bytes_per_s, job.rate.bytes_per_s)
            && is_same(figure.operations_per_s, job.operations_per_s),
    )
}
