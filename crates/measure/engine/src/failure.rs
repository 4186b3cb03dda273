//! Reasons why a trial ended early, and their findings.

use cardmark_core::{Errno, Finding, FindingKind, OperationError, Severity, Workload};

/// Reason why a trial ended early.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Failure {
    /// The back end could not be prepared: the system's error number.
    NotReady(Errno),
    /// The disk below the target has no node to open.
    NoDisk,
    /// An operation failed or moved fewer bytes than requested.
    Operation(OperationError),
    /// The flush after the trial failed: the system's error number.
    Flush(Errno),
    /// An operation took longer than the limit.
    NoAnswer {
        /// Offset in bytes from the start of the object.
        offset: u64,
        /// Latency in nanoseconds.
        latency_ns: u64,
    },
    /// This process was paused during an operation, so that its latency is unknown.
    Paused,
    /// The run was asked to stop.
    Stopped,
}

/// Returns the finding for a failure, and true if other workloads can still be measured.
pub(crate) fn failure_finding(workload: &Workload, failure: Failure) -> (Finding, bool) {
    let (kind, detail) = match failure {
        Failure::NotReady(errno) if errno.is_not_permitted() => {
            let detail = "no permission to read the disk below the target";
            (FindingKind::NotPermitted, detail.to_owned())
        }
        Failure::NoDisk => {
            let detail = "the disk below the target has no node in /dev here";
            (FindingKind::NotApplicable, detail.to_owned())
        }
        Failure::NotReady(errno) => (
            FindingKind::of_failure(errno),
            format!("could not be started: {errno}"),
        ),
        Failure::Flush(errno) => (
            FindingKind::of_failure(errno),
            format!("data could not be made durable: {errno}"),
        ),
        Failure::Operation(error) if error.errno == Errno::NONE => {
            let detail = format!(
                "fewer bytes moved than asked for at byte {}",
                error.offset_bytes
            );
            (FindingKind::IoError, detail)
        }
        Failure::Operation(error) => {
            let detail = format!("{} at byte {}", error.errno, error.offset_bytes);
            (FindingKind::of_failure(error.errno), detail)
        }
        Failure::NoAnswer { offset, latency_ns } => {
            let seconds = latency_ns as f64 / 1e9;
            let detail = format!("no answer for {seconds:.1} s at byte {offset}");
            (FindingKind::NoAnswer, detail)
        }
        Failure::Paused => {
            let detail = "this process was paused for longer than the time limit of an operation";
            (FindingKind::Interrupted, detail.to_owned())
        }
        Failure::Stopped => (FindingKind::Interrupted, "the run was stopped".to_owned()),
    };
    let goes_on = matches!(
        kind,
        FindingKind::IoError
            | FindingKind::RemountedReadOnly
            | FindingKind::NotPermitted
            | FindingKind::NotApplicable
    );
    let severity = match kind {
        FindingKind::NotApplicable => Severity::Note,
        FindingKind::NotPermitted if workload.rounds.optional => Severity::Note,
        _ => Severity::Error,
    };
    let finding = Finding::new(kind, severity, detail);
    let all = matches!(kind, FindingKind::Interrupted);
    let finding = if all {
        finding
    } else {
        finding.on(&workload.id)
    };
    (finding, goes_on)
}
