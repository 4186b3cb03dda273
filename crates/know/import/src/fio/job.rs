//! Results of one job.

use cardmark_core::{Finding, FindingKind, Metric, Quantity, SECOND_NS, Severity};

use crate::reading::{BYTE_RATE_BLOCK_BYTES, Reading, printed, rate};

pub(super) const TOOL: &str = "fio";
/// Percentiles that become metrics, and the endings of their ids.
pub(super) const PERCENTILES: [(f64, &str); 2] = [(50.0, "p50"), (99.0, "p99")];

/// Direction of a job's results.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Direction {
    Read,
    Write,
    /// Both summed: `unified_rw_reporting`.
    Mixed,
}

/// Results of one job, or of several summed, in one direction.
#[derive(Clone, Debug)]
pub(super) struct Job {
    /// Line of its rate, or the first of its JSON document.
    pub(super) line: usize,
    /// First line of the JSON document; 0 for the lines of other forms, which are of one run.
    pub(super) run: usize,
    pub(super) name: Option<String>,
    pub(super) direction: Direction,
    /// Bytes per second, and the least that they may be: version 2 does not print whether its
    /// prefixes are decimal.
    pub(super) bytes_per_s: f64,
    pub(super) least_bytes_per_s: f64,
    pub(super) printed: String,
    pub(super) operations_per_s: f64,
    /// The system's error number that ended the job, or 0.
    pub(super) errno: i64,
    /// Completion latencies in nanoseconds, in the order of `PERCENTILES`.
    pub(super) percentiles_ns: [Option<u64>; 2],
}

impl Job {
    pub(super) fn reading(&self, id: &str) -> Reading {
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
