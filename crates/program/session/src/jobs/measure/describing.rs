//! Description of a run in its record.

use std::time::{Duration, SystemTime};

use cardmark_core::{
    Errno, Finding, FindingKind, OriginKind, Record, Severity, Target, TargetKind, Workload,
};
use cardmark_device::RealBackend;
use cardmark_engine::Plan;

use super::request::Measurement;

/// Difference between wall clock and monotonic clock over a run that counts as a step.
pub(crate) const STEP: Duration = Duration::from_secs(2);

/// The head of a record with the parts that only runs have.
pub(super) fn of_run(job: &Measurement<'_>, plan: &Plan, mut head: Record) -> Record {
    let mut suite = plan.suite_ref.clone();
    if head.origin.kind == OriginKind::Simulated {
        suite.digest = None;
    }
    head.suite = Some(suite);
    head.labels = job.labels.iter().cloned().collect();
    head
}

pub(super) fn target(kind: TargetKind, plan: &Plan) -> Target {
    let end_bytes = |workload: &Workload| workload.manner.start_bytes + workload.span_bytes;
    // A tier names the least that it needs; its extent depends on the device.
    let reached = plan.workloads.iter().map(end_bytes).max();
    let span_bytes = match plan.suite.tiers.is_empty() {
        true => plan.suite.file_bytes,
        false => reached.unwrap_or(0),
    };
    Target {
        span_bytes,
        ..Target::of(kind)
    }
}

/// Findings about every figure from the way in which the target was opened.
pub(super) fn about_target(direct: bool, kind: TargetKind, is_laid_out: bool) -> Vec<Finding> {
    let mut findings = Vec::new();
    if !direct {
        findings.push(Finding::new(
            FindingKind::Buffered,
            Severity::Warning,
            "the filesystem refuses direct I/O: the page cache stands between, and figures for \
             writing are partly those of memory",
        ));
    }
    if kind == TargetKind::Device && !is_laid_out {
        findings.push(Finding::new(
            FindingKind::UnwrittenSpan,
            Severity::Note,
            "the span was not written by this run: blocks never written may be answered faster \
             than stored ones",
        ));
    }
    findings
}

pub(super) fn threads(backend: &RealBackend) -> Option<Finding> {
    backend.used_threads().then(|| {
        let detail = match backend.uring_refusal() {
            Some(Errno(number)) => {
                format!("io_uring was refused with error {number}; threads stood in")
            }
            None => "io_uring is not offered here; threads stood in".to_owned(),
        };
        Finding::new(FindingKind::Threads, Severity::Note, detail)
    })
}

pub(super) fn not_erased(backend: &RealBackend) -> Option<Finding> {
    backend.kept_content().then(|| {
        let detail = "the device, or what it is connected by, cannot be told to erase: what was on \
                      it before may have been in the way";
        Finding::new(FindingKind::NotErased, Severity::Note, detail)
    })
}

/// Finding if the wall clock stepped while `elapsed` passed on the monotonic one.
pub(super) fn clock_step(
    before: SystemTime,
    after: SystemTime,
    elapsed: Duration,
) -> Option<Finding> {
    let expected = before.checked_add(elapsed)?;
    let (step, sign) = match after.duration_since(expected) {
        Ok(ahead) => (ahead, "forward"),
        Err(behind) => (behind.duration(), "back"),
    };
    (step > STEP).then(|| {
        let seconds = step.as_secs();
        let detail = format!(
            "the wall clock stepped {sign} by {seconds} s during the run; spans are measured on \
             the monotonic clock, only the start time may be off"
        );
        Finding::new(FindingKind::ClockStepped, Severity::Note, detail)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stepping_wall_clock_is_told_either_way_and_drift_is_not() {
        let start = SystemTime::UNIX_EPOCH + Duration::from_secs(1_000_000);
        let minute = Duration::from_secs(60);
        let step = |after: SystemTime| clock_step(start, after, minute).map(|f| f.detail);
        assert_eq!(step(start + minute), None);
        assert_eq!(step(start + minute + Duration::from_secs(1)), None);
        let ahead = step(start + Duration::from_secs(3660)).unwrap();
        assert!(ahead.contains("stepped forward by 3600 s"), "{ahead}");
        let back = step(start - Duration::from_secs(3540)).unwrap();
        assert!(back.contains("stepped back by 3600 s"), "{back}");
    }
}
