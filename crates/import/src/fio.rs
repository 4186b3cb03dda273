//! Results of fio, from any form of its output.

use std::collections::BTreeMap;

use cardmark_core::{Finding, FindingKind, Metric, Quantity, SECOND_NS, Severity};

use crate::reading::{BYTE_RATE_BLOCK_BYTES, Found, Reading, printed, rate};
use crate::text::Line;
use crate::{fio_data, fio_text};

pub(crate) const TOOL: &str = "fio";
/// Longest name of a job in an id, in characters.
const MOST_NAME: usize = 40;
/// Percentiles that become metrics, and the endings of their ids.
pub(crate) const PERCENTILES: [(f64, &str); 2] = [(50.0, "p50"), (99.0, "p99")];

/// Direction of a job's results.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Direction {
    Read,
    Write,
}

/// Results of one job, or of several summed, in one direction.
#[derive(Clone, Debug)]
pub(crate) struct Job {
    /// Line of its rate, or the first of its JSON document.
    pub(crate) line: usize,
    /// First line of the JSON document; 0 for the lines of other forms, which are of one run.
    pub(crate) run: usize,
    pub(crate) name: Option<String>,
    pub(crate) direction: Direction,
    /// Bytes per second, and the least that they may be: version 2 does not print whether its
    /// prefixes are decimal.
    pub(crate) bytes_per_s: f64,
    pub(crate) least_bytes_per_s: f64,
    pub(crate) printed: String,
    pub(crate) operations_per_s: f64,
    /// The system's error number that ended the job, or 0.
    pub(crate) errno: i64,
    /// Completion latencies in nanoseconds, in the order of `PERCENTILES`.
    pub(crate) percentiles_ns: [Option<u64>; 2],
}

/// Reads the jobs, each direction by itself. Of jobs that the JSON of a run has, the human output
/// is left out: it holds the same figures, rounded.
pub(crate) fn read(text: &str, lines: &[Line], found: &mut Found) {
    let mut names = Names::default();
    let exact = fio_data::jobs(text, lines, found);
    for job in &exact {
        found.add(job.reading(&names.id(job)));
    }
    for job in fio_text::jobs(lines, found) {
        let is_same = |known: &Job| known.name == job.name && known.direction == job.direction;
        if !exact.iter().any(is_same) {
            found.add(job.reading(&names.id(&job)));
        }
    }
}

/// Ids in use, by run.
#[derive(Default)]
struct Names {
    counts: BTreeMap<(usize, String), u32>,
}

impl Names {
    /// Returns an id made of the job's name; a second job of that name in a run gets a number.
    fn id(&mut self, job: &Job) -> String {
        let direction = match job.direction {
            Direction::Read => "read",
            Direction::Write => "write",
        };
        let name = job.name.as_deref().and_then(plain_name);
        let base = name.map_or_else(|| TOOL.to_owned(), |name| format!("{TOOL}_{name}"));
        let key = (job.run, format!("{base}_{direction}"));
        let count = self.counts.entry(key).or_default();
        *count += 1;
        match *count {
            1 => format!("{base}_{direction}"),
            number => format!("{base}_{number}_{direction}"),
        }
    }
}

/// A job's name in lower-case letters, digits and `_`; none if it is a path.
fn plain_name(job: &str) -> Option<String> {
    let parts = job.split(|c: char| !c.is_ascii_alphanumeric());
    let parts: Vec<&str> = parts.filter(|part| !part.is_empty()).collect();
    let name: String = parts.join("_").to_ascii_lowercase();
    let name: String = name.chars().take(MOST_NAME).collect();
    (!job.contains(['/', '\\']) && !name.is_empty()).then_some(name)
}

impl Job {
    fn reading(&self, id: &str) -> Reading {
        let mut reading = Reading::new(TOOL, self.line, Vec::new());
        if self.errno != 0 {
            let detail = format!("fio ended this job with error {}", self.errno);
            let finding = Finding::new(FindingKind::IoError, Severity::Warning, detail);
            reading.findings.push(finding.on(id));
        }
        let (least, most) = (self.least_bytes_per_s, self.bytes_per_s);
        let is_small = most / self.operations_per_s < BYTE_RATE_BLOCK_BYTES;
        let printed = printed(TOOL, &self.printed, None);
        let metric = rate(id, self.operations_per_s, most, is_small, printed);
        reading.put_between(metric, least, most);
        for ((_, ending), ns) in PERCENTILES.iter().zip(self.percentiles_ns) {
            if let Some(ns) = ns.filter(|&ns| ns < 1_000_000 * SECOND_NS) {
                let metric = Metric::new(format!("{id}_{ending}"), Quantity::Span, ns as f64);
                reading.metrics.push(metric);
            }
        }
        reading
    }
}
