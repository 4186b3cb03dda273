//! A suite: an ordered list of workloads with their preparation; a named, versioned method.

use serde::{Deserialize, Serialize};
use thiserror::Error;

use crate::{Order, Workload};

/// A named, versioned method.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Suite {
    /// Name, such as `quick`.
    pub name: String,
    /// Version; numbers of different versions are not compared silently.
    pub version: u32,
    /// One sentence for `cardmark list suites`.
    pub summary: String,
    /// Size of the file that the suite lays out, bytes.
    pub file_bytes: u64,
    /// The workload whose trials write the file for the first time.
    pub layout: String,
    /// Number of trials in which the file is laid out; they divide `file_bytes` evenly.
    pub layout_trials_count: u32,
    /// Numbers of rounds after which a metric is looked at, rising; the first is the least number
    /// of rounds.
    pub looks: Vec<u32>,
    /// Goal for the half-width of the interval, relative to the point, percent.
    pub goal_percent: f64,
    /// No further rounds are begun once a run has lasted this long, nanoseconds.
    pub budget_ns: u64,
    /// The workloads, in order.
    pub workloads: Vec<Workload>,
}

/// Largest block size, bytes.
const LARGEST_BLOCK_BYTES: u64 = 1 << 30;

/// Why a suite is not usable.
#[derive(Debug, Error, PartialEq, Eq)]
pub enum SuiteError {
    /// The layout names no workload, or one that does not write the whole file in sequence.
    #[error("layout `{0}` is not a sequential write of the whole file")]
    Layout(String),
    /// The file cannot be divided among the layout's trials.
    #[error("file of {0} bytes cannot be laid out in {1} trials")]
    LayoutTrials(u64, u32),
    /// Looks must rise, and start at three or more rounds and after the layout's.
    #[error("looks must rise, and start at three or more rounds and after the layout's")]
    Looks,
    /// A workload's numbers are out of range.
    #[error("workload `{0}`: {1}")]
    Workload(String, &'static str),
    /// Two workloads have one name.
    #[error("workload `{0}` is listed twice")]
    Twice(String),
}

impl Suite {
    /// Checks every rule the engine relies on.
    ///
    /// # Errors
    /// The first rule that does not hold.
    pub fn check(&self) -> Result<(), SuiteError> {
        let layout = self.workload(&self.layout);
        let lays_out = |w: &Workload| {
            let covers = w.span_bytes == self.file_bytes;
            w.order == Order::Sequential && w.read_share_percent == 0 && covers
        };
        if !layout.is_some_and(lays_out) {
            return Err(SuiteError::Layout(self.layout.clone()));
        }
        let pieces = u64::from(self.layout_trials_count);
        let block = layout.map_or(1, |w| w.block_bytes);
        let share = pieces.saturating_mul(block);
        if share == 0 || self.file_bytes == 0 || !self.file_bytes.is_multiple_of(share) {
            return Err(SuiteError::LayoutTrials(
                self.file_bytes,
                self.layout_trials_count,
            ));
        }
        let rising = self.looks.windows(2).all(|pair| pair[0] < pair[1]);
        let least = self.layout_trials_count.max(2);
        if !rising || self.looks.first().is_none_or(|&first| first <= least) {
            return Err(SuiteError::Looks);
        }
        for (index, workload) in self.workloads.iter().enumerate() {
            if self.workloads[..index].iter().any(|w| w.id == workload.id) {
                return Err(SuiteError::Twice(workload.id.clone()));
            }
            check_workload(workload, self.file_bytes)
                .map_err(|why| SuiteError::Workload(workload.id.clone(), why))?;
        }
        Ok(())
    }

    /// The workload of that name.
    #[must_use]
    pub fn workload(&self, id: &str) -> Option<&Workload> {
        self.workloads.iter().find(|w| w.id == id)
    }
}

fn check_workload(workload: &Workload, file_bytes: u64) -> Result<(), &'static str> {
    let checks = [
        (
            workload.read_share_percent <= 100,
            "read share above 100 percent",
        ),
        (
            workload.block_bytes.is_power_of_two()
                && (512..=LARGEST_BLOCK_BYTES).contains(&workload.block_bytes),
            "block size must be a power of two from 512 bytes to 1 GiB",
        ),
        (
            (1..=256).contains(&workload.queue_depth),
            "queue depth must be 1–256",
        ),
        (
            workload.blocks_count() >= u64::from(workload.queue_depth),
            "span smaller than its queue",
        ),
        (
            workload.span_bytes <= file_bytes,
            "span larger than the file",
        ),
        (
            workload.span_bytes.is_multiple_of(workload.block_bytes),
            "span is not a multiple of the block size",
        ),
    ];
    checks
        .into_iter()
        .find(|(holds, _)| !holds)
        .map_or(Ok(()), |(_, why)| Err(why))
}
