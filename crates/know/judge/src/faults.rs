//! Faults of storage that a record shows.

use cardmark_catalog::class;
use cardmark_core::{FindingKind, Record, StorageKind, VerdictOutcome};
use serde::Serialize;

use crate::again::with_claims;
use crate::classes::claims;
use crate::unknown::storage_kind;

/// A reason to look at a card again, or not to use it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case", tag = "fault", content = "what")]
pub enum Fault {
    /// An integrity test did not confirm the storage.
    Storage(StorageKind),
    /// A finding of data lost, of false capacity, or of a device that failed during the run.
    Finding(FindingKind),
    /// A claimed class, another promise, or the test of another tool that was failed.
    Failed(String),
}

/// Returns the faults in a record, the worst first. An empty list does not mean that the storage is sound: only
/// what was tested is known.
pub fn faults(record: &Record) -> Vec<Fault> {
    let storage = storage_kind(record).filter(|kind| {
        !matches!(
            kind,
            StorageKind::Confirmed
                | StorageKind::Readable
                | StorageKind::Durable
                | StorageKind::UnknownDevice
                | StorageKind::Unfinished
                | StorageKind::Other(_)
        )
    });
    let mut faults: Vec<Fault> = storage.map(Fault::Storage).into_iter().collect();
    if faults.is_empty() {
        for finding in &record.findings {
            let fault = Fault::Finding(finding.kind);
            if is_of_the_device(finding.kind) && !faults.contains(&fault) {
                faults.push(fault);
            }
        }
    }
    let verdicts = counted_verdicts(record).into_iter();
    let failed = verdicts.filter(|(_, outcome)| *outcome == VerdictOutcome::Fail);
    faults.extend(failed.map(|(rule, _)| Fault::Failed(rule)));
    faults
}

/// Returns rules and outcomes of the verdicts that count: those on classes that are not claimed do not.
pub(crate) fn counted_verdicts(record: &Record) -> Vec<(String, VerdictOutcome)> {
    let derived = with_claims(record);
    let verdicts = derived.iter().flat_map(|derived| &derived.verdicts);
    let claims = claims(record);
    let counts = |rule: &str| class(rule).is_none() || claims.contains_key(rule);
    let counted = verdicts.filter(|verdict| counts(&verdict.rule));
    counted
        .map(|verdict| (verdict.rule.clone(), verdict.outcome))
        .collect()
}

fn is_of_the_device(kind: FindingKind) -> bool {
    matches!(
        kind,
        FindingKind::DataLost
            | FindingKind::FalseCapacity
            | FindingKind::IoError
            | FindingKind::Vanished
            | FindingKind::NoAnswer
    )
}

#[cfg(test)]
mod tests {
    use cardmark_core::{
        CLAIMS_LABEL, Derived, Finding, Origin, OriginKind, Severity, Verdict, simulated_run_id,
    };
    use serde_json::json;

    use super::*;

    fn record() -> Record {
        Record::new(
            simulated_run_id(&["faults"]),
            Origin::of(OriginKind::Simulated),
        )
    }

    fn finding(kind: FindingKind) -> Finding {
        Finding::new(kind, Severity::Error, "as measured")
    }

    #[test]
    fn a_test_that_confirms_the_storage_is_no_fault() {
        let of = |kind| {
            let mut record = record();
            let found =
                json!({ "test": "probe", "kind": kind, "size_bytes": 64, "real_bytes": 32 });
            record.integrity = Some(serde_json::from_value(found).unwrap());
            record.findings = vec![finding(FindingKind::FalseCapacity)];
            faults(&record)
        };
        let fault = Fault::Finding(FindingKind::FalseCapacity);
        assert_eq!(of(StorageKind::Confirmed), [fault]);
        assert_eq!(of(StorageKind::Limbo), [Fault::Storage(StorageKind::Limbo)]);
    }

    #[test]
    fn findings_of_the_device_and_failed_verdicts_count_once() {
        let mut record = record();
        for kind in [
            FindingKind::Throttled,
            FindingKind::DataLost,
            FindingKind::DataLost,
        ] {
            record.findings.push(finding(kind));
        }
        let verdict = |rule: &str, outcome| Verdict {
            rule: rule.to_owned(),
            outcome,
            score: None,
            reasons: Vec::new(),
            metrics: Vec::new(),
        };
        record.derived = Some(Derived {
            judge_version: 1,
            verdicts: vec![
                verdict("A1", VerdictOutcome::Fail),
                verdict("A2", VerdictOutcome::Fail),
                verdict("C10", VerdictOutcome::Borderline),
            ],
            deviations: Vec::new(),
        });
        record
            .labels
            .insert(CLAIMS_LABEL.to_owned(), "C10 A1".to_owned());
        let expected = [
            Fault::Finding(FindingKind::DataLost),
            Fault::Failed("A1".to_owned()),
        ];
        assert_eq!(faults(&record), expected);
    }
}
