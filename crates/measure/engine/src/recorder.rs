//! The recorder: from the results of a run to its record.

use cardmark_core::{Context, Finding, Record, Suite};
use cardmark_stats::refresh;

use crate::RunResult;

/// Creates the record of a run from the information before it (`header`) and its results.
pub fn record(mut header: Record, outcome: RunResult, suite: &Suite) -> Record {
    header.written_bytes = outcome.trials.iter().map(|trial| trial.written_bytes).sum();
    header.trials = outcome.trials;
    header.share_workloads();
    header.sensors = outcome.sensors;
    header.read_back = outcome.read_back;
    let findings = outcome.findings.into_iter().map(Finding::by_run);
    header.findings.extend(findings);
    header.context = Some(Context::of(&header));
    refresh(&mut header, suite);
    header
}
