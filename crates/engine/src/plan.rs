//! The planner: from what was asked to what will be done.

use cardmark_core::{Order, Suite, SuiteRef, TargetKind, Workload};
use thiserror::Error;

/// What was asked for.
#[derive(Clone, Debug, Default)]
pub struct Request {
    /// The workloads asked for; empty: all of the suite.
    pub only: Vec<String>,
    /// Whether nothing may be written.
    pub read_only: bool,
    /// Seed of offsets and payload.
    pub seed: u64,
    /// Latency after which the device counts as not answering, nanoseconds.
    pub limit_ns: u64,
}

/// What will be done.
#[derive(Clone, Debug)]
pub struct Plan {
    /// The suite the plan was made from.
    pub suite: Suite,
    /// The suite's name, and the workloads asked for where not all were.
    pub suite_ref: SuiteRef,
    /// The workload that lays out the file; absent where nothing is written.
    pub layout: Option<Workload>,
    /// The workloads to measure in rounds, in order.
    pub workloads: Vec<Workload>,
    /// Seed of offsets and payload.
    pub seed: u64,
    /// Latency after which the device counts as not answering, nanoseconds.
    pub limit_ns: u64,
}

/// Why there is nothing to plan.
#[derive(Debug, Error, PartialEq, Eq)]
pub enum PlanError {
    /// A workload asked for is not in the suite.
    #[error("no workload `{id}` in suite `{suite}`; it has {known}")]
    UnknownWorkload {
        /// What was asked for.
        id: String,
        /// The suite.
        suite: String,
        /// What there is.
        known: String,
    },
    /// All that was asked for writes, and nothing may be written.
    #[error("nothing is left to measure without writing")]
    NothingToRead,
    /// A directory holds nothing of ours that could be read.
    #[error("a directory cannot be measured without writing a file to read")]
    ReadOnlyDirectory,
    /// The target is smaller than the suite's file.
    #[error("the target has {has_bytes} bytes, suite `{suite}` needs {needs_bytes}")]
    TooSmall {
        /// The suite.
        suite: String,
        /// Bytes that are there.
        has_bytes: u64,
        /// Bytes that are needed.
        needs_bytes: u64,
    },
}

/// Makes the plan for a target of this kind with this many usable bytes.
///
/// # Errors
/// When the request cannot be fulfilled on such a target.
pub fn make_plan(
    suite: &Suite,
    request: &Request,
    kind: TargetKind,
    usable_bytes: u64,
) -> Result<Plan, PlanError> {
    if kind == TargetKind::Directory && request.read_only {
        return Err(PlanError::ReadOnlyDirectory);
    }
    if usable_bytes < suite.file_bytes {
        return Err(PlanError::TooSmall {
            suite: suite.name.clone(),
            has_bytes: usable_bytes,
            needs_bytes: suite.file_bytes,
        });
    }
    for id in &request.only {
        if suite.workload(id).is_none() {
            return Err(unknown(suite, id));
        }
    }
    let asked = |w: &&Workload| request.only.is_empty() || request.only.contains(&w.id);
    let workloads: Vec<Workload> = suite
        .workloads
        .iter()
        .filter(asked)
        .filter(|w| !(request.read_only && w.writes()))
        .cloned()
        .collect();
    if workloads.is_empty() {
        return Err(PlanError::NothingToRead);
    }
    let layout = (!request.read_only)
        .then(|| suite.workload(&suite.layout).cloned())
        .flatten();
    Ok(Plan {
        suite_ref: SuiteRef {
            name: suite.name.clone(),
            version: suite.version,
            only: if workloads.len() == suite.workloads.len() {
                Vec::new()
            } else {
                workloads.iter().map(|w| w.id.clone()).collect()
            },
        },
        suite: suite.clone(),
        layout,
        workloads,
        seed: request.seed,
        limit_ns: request.limit_ns,
    })
}

fn unknown(suite: &Suite, id: &str) -> PlanError {
    let known: Vec<&str> = suite.workloads.iter().map(|w| w.id.as_str()).collect();
    PlanError::UnknownWorkload {
        id: id.to_owned(),
        suite: suite.name.clone(),
        known: known.join(", "),
    }
}

impl Plan {
    /// The layout's trials: the layout workload cut to an equal share of the file, without ramp.
    #[must_use]
    pub fn layout_trial(&self) -> Option<Workload> {
        let share = self.suite.file_bytes / u64::from(self.suite.layout_trials_count.max(1));
        self.layout.clone().map(|mut workload| {
            debug_assert_eq!(workload.order, Order::Sequential);
            workload.ramp_ns = 0;
            workload.stop.most_bytes = Some(share);
            workload
        })
    }
}
