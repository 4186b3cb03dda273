//! Lines of a log.

use crate::number::digits;
use crate::text::{Damage, Line};

pub(super) const TOOL: &str = "Raspberry Pi Diagnostics";

/// A figure that is judged, and the job it is of.
pub(super) struct Test {
    pub(super) begin: &'static str,
    pub(super) job: &'static str,
    pub(super) is_random: bool,
    /// Ids up to version 0.14, whose blocks and queue differ, from 0.15 on, and of a version that is not known.
    pub(super) old_id: &'static str,
    pub(super) id: &'static str,
    pub(super) plain_id: &'static str,
}

pub(super) static TESTS: [Test; 3] = [
    Test {
        begin: "Sequential write speed ",
        job: "seq-write",
        is_random: false,
        old_id: "fio_seq_write_512k_q4",
        id: "agnostics_seq_write",
        plain_id: "agnostics_seq_write_unsized",
    },
    Test {
        begin: "Random write speed ",
        job: "rand-4k-write",
        is_random: true,
        old_id: "fio_rand_write_4k_q4",
        id: "agnostics_rand_write",
        plain_id: "agnostics_rand_write_4k",
    },
    Test {
        begin: "Random read speed ",
        job: "rand-4k-read",
        is_random: true,
        old_id: "fio_rand_read_4k_q4",
        id: "agnostics_rand_read",
        plain_id: "agnostics_rand_read_4k",
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

/// Content of a line.
pub(super) enum Part {
    /// The first line, with the version.
    Head(Option<(u32, u32)>),
    /// The beginning of a run.
    Begin(u64),
    Job(Job),
    Figure(Figure),
    /// The verdict on the whole test.
    End(Outcome),
}

/// A verdict of the program itself.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Outcome {
    Pass,
    Fail,
    Aborted,
}

/// fio's figures of a job.
pub(super) struct Job {
    pub(super) name: &'static str,
    pub(super) kib: u64,
    pub(super) operations: u64,
}

/// A figure that was judged.
pub(super) struct Figure {
    pub(super) test: &'static Test,
    pub(super) number: u64,
    pub(super) printed: String,
    pub(super) is_passed: bool,
}

/// Parses a line; none if it is of something else.
pub(super) fn part(line: Line, text: &str) -> Result<Option<Part>, Damage> {
    if let Some(rest) = text.strip_prefix(TOOL) {
        let version = rest.split_once("version ").and_then(|(_, it)| version(it));
        return Ok(Some(Part::Head(version)));
    }
    if let Some(number) = text.strip_prefix("Run ").and_then(digits) {
        return Ok(Some(Part::Begin(number)));
    }
    let outcome = match text {
        "Test PASS" => Some(Outcome::Pass),
        "Test FAIL" => Some(Outcome::Fail),
        "Test aborted" => Some(Outcome::Aborted),
        _ => None,
    };
    if let Some(outcome) = outcome {
        return Ok(Some(Part::End(outcome)));
    }
    if let Some(job) = job(line, text)? {
        return Ok(Some(Part::Job(job)));
    }
    Ok(figure(line, text)?.map(Part::Figure))
}

/// Parses `0.15` and `0.15.1`; none for `(unknown)`.
fn version(text: &str) -> Option<(u32, u32)> {
    let (major, rest) = text.split_once('.')?;
    let minor = rest.split('.').next()?;
    Some((major.parse().ok()?, minor.parse().ok()?))
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
        is_passed,
    }))
}
