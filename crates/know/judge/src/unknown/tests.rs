use cardmark_core::{
    Finding, Integrity, IntegrityTest, Metric, Origin, OriginKind, Quantity, Severity, SuiteRef,
    Target, TargetKind, run_id_from_bytes,
};

use serde_json::json;

use super::*;
use crate::{
    Field, FieldFilter, Figure, NotComparable, System, answer, compare_sides, endured, faults,
    history, judge, ordered_metrics, ranked_metrics, standing_among,
};

/// A record of a fast card with figures of every suite with verdicts, and the same through each kind of layer that
/// hides the device.
fn records() -> Vec<Record> {
    let with = |kinds: &[LayerKind], filesystem: &str, is_found: bool| {
        let mut record = Record::new(
            run_id_from_bytes([u8::try_from(kinds.len()).unwrap() + 1; 16]),
            Origin::of(OriginKind::Measured),
        );
        let mut target = Target::of(TargetKind::Directory);
        target.filesystem = Some(filesystem.to_owned());
        let layer = |kind: &LayerKind| Layer {
            kind: *kind,
            device: None,
            start_bytes: None,
        };
        target.layers = kinds.iter().map(layer).collect();
        record.target = Some(target);
        if is_found {
            let kind = FindingKind::UnknownDevice;
            record.findings = vec![Finding::new(kind, Severity::Warning, "hidden")];
        }
        record
            .labels
            .insert("product".to_owned(), "Fast 32 GB".to_owned());
        record
            .labels
            .insert("claim".to_owned(), "A1 A2 C10 U3 V30 130MB/s".to_owned());
        record
    };
    use LayerKind::{Btrfs, Dm, Loop, Memory, Mount, Network, Overlay, Zram};
    vec![
        with(&[Mount, Overlay], "overlay", true),
        with(&[Mount], "fuse.bindfs", true),
        with(&[Mount, Network], "fuse.sshfs", true),
        with(&[Mount, Network], "nfs4", false),
        with(&[Mount, Btrfs], "btrfs", true),
        with(&[Mount, Loop, Mount], "ext4", true),
        with(&[Mount, Dm], "ext4", true),
        with(&[Mount, Memory], "tmpfs", false),
        with(&[Mount, Zram], "ext4", false),
        with(&[], "ext4", true),
    ]
}

fn suites() -> Vec<cardmark_core::Suite> {
    let names = [
        "agnostics",
        "app-class",
        "speed-class",
        "pibenchmarks",
        "quick",
    ];
    let suites = names
        .iter()
        .map(|name| cardmark_catalog::suite(name, None).unwrap());
    suites.collect()
}

/// Every figure of the suite, far above all that is asked for.
fn fill(record: &mut Record, suite: &cardmark_core::Suite) {
    let workloads = suite.workloads.iter().map(|workload| workload.id.clone());
    let figures = suite.figures.iter().map(|figure| figure.id.clone());
    let mut ids: Vec<String> = workloads.chain(figures).collect();
    ids.sort();
    ids.dedup();
    record.metrics = Vec::new();
    for id in ids {
        let is_rate = id.contains("seq") || id.starts_with("class");
        let mut metric = match is_rate {
            true => Metric::new(&id, Quantity::ByteRate, 1e9),
            false => Metric::new(&id, Quantity::OperationRate, 1e6),
        };
        (metric.rate_bytes_per_s, metric.operations_per_s) = (Some(1e9), Some(1e6));
        metric.printed = serde_json::from_value(json!({
            "text": "1000000", "value": 1e6, "tool": "fio", "meaning": "a rate",
        }))
        .ok();
        assert!(metric.printed.is_some());
        record.metrics.push(metric);
    }
    record.suite = Some(SuiteRef {
        name: suite.name.clone(),
        version: suite.version,
        digest: None,
        only: Vec::new(),
        tier: None,
    });
}

/// The same record on a device that is known.
fn known(record: &Record) -> Record {
    let mut known = record.clone();
    known.findings.clear();
    known.target = None;
    known
}

#[test]
fn every_function_that_judges_asks_whether_the_device_is_known() {
    let published: Vec<Record> = cardmark_catalog::publications()
        .iter()
        .flat_map(|publication| publication.records())
        .collect();
    let mut with_verdicts = 0;
    for (record, suite) in records()
        .iter()
        .flat_map(|one| suites().into_iter().map(move |s| (one, s)))
    {
        let mut record = record.clone();
        fill(&mut record, &suite);
        let derived = judge(&record, Some(&suite));
        let verdicts = derived.iter().flat_map(|derived| &derived.verdicts);
        for verdict in verdicts {
            assert_eq!(verdict.outcome, VerdictOutcome::NotTestable, "{verdict:?}");
            assert_eq!(verdict.score, None);
        }
        // Of an earlier version, which judged.
        record.derived = judge(&known(&record), Some(&suite));
        with_verdicts += usize::from(record.derived.is_some());
        let held = upheld(&record);
        for verdict in held.iter().flat_map(|derived| &derived.verdicts) {
            assert_eq!(verdict.outcome, VerdictOutcome::NotTestable, "{verdict:?}");
        }
        let told = answer(&record).unwrap();
        assert!(matches!(told.system, Some(System::Unknown(_))), "{told:?}");
        assert!(told.camera.is_none() && told.fine.is_empty() && told.usable.is_empty());
        assert_eq!(standing_among(&record, &published), None);
        assert!(ranked_metrics(&record).is_empty() && ordered_metrics(&record).is_empty());
        assert_eq!(faults(&record), []);
        let all = [record.clone()];
        assert!(history(&all, &[]).is_empty());
        assert!(Figure::of(&record).is_empty());
        let filter = FieldFilter::default();
        for metric in &record.metrics {
            let mut field = Field::new(&metric.id, Some(&record), &filter);
            field.add_record(&record);
            assert_eq!(field.ranking(), None);
        }
        let mut other = known(&records()[1]);
        other.id = run_id_from_bytes([9; 16]);
        let sides = [vec![&other], vec![&record]];
        let refused = compare_sides(&sides, &[], &[]).err();
        assert!(
            matches!(refused, Some(NotComparable::UnknownStorage { .. })),
            "{refused:?}"
        );
    }
    assert!(
        with_verdicts > 30,
        "{with_verdicts}: the test would prove nothing"
    );
}

#[test]
fn a_known_device_keeps_its_verdicts() {
    for suite in suites() {
        let mut record = known(&records()[0]);
        fill(&mut record, &suite);
        assert_eq!(unknown_storage(&record), None);
        record.derived = judge(&record, Some(&suite));
        assert_eq!(upheld(&record).as_deref(), record.derived.as_ref());
        let derived = record.derived.as_ref();
        let mut outcomes = derived.iter().flat_map(|derived| &derived.verdicts);
        assert!(
            suite.name == "quick"
                || outcomes.any(|verdict| verdict.outcome != VerdictOutcome::NotTestable),
            "{}",
            suite.name
        );
    }
}

#[test]
fn a_test_of_storage_that_is_not_known_confirms_nothing_but_its_losses_count() {
    let tests = [
        IntegrityTest::Verify,
        IntegrityTest::Probe,
        IntegrityTest::Endure,
        IntegrityTest::Read,
    ];
    let kinds = [
        (StorageKind::Confirmed, StorageKind::UnknownDevice),
        (StorageKind::Readable, StorageKind::UnknownDevice),
        (StorageKind::Durable, StorageKind::UnknownDevice),
        (StorageKind::Limbo, StorageKind::Limbo),
        (StorageKind::Damaged, StorageKind::Damaged),
    ];
    for record in records() {
        for (test, (kind, expected)) in tests
            .iter()
            .flat_map(|test| kinds.map(|kinds| (*test, kinds)))
        {
            let mut record = record.clone();
            record.integrity = Some(Integrity::new(test, kind, 64 << 20, 64 << 20));
            assert_eq!(storage_kind(&record), Some(expected));
            assert_eq!(storage_kind(&known(&record)), Some(kind));
            assert_eq!(endured(std::slice::from_ref(&record)), []);
            let is_fault = kind == expected;
            assert_eq!(!faults(&record).is_empty(), is_fault, "{kind:?}");
        }
    }
}

#[test]
fn the_reason_names_what_hides_the_device_and_what_to_name_instead() {
    let reasons: Vec<String> = records()
        .iter()
        .map(|record| unknown_storage(record).unwrap().reason())
        .collect();
    let through = |what: &str| format!("measured through {what}; the device below is not known");
    assert_eq!(reasons[0], through("an overlay"));
    assert_eq!(reasons[1], through("FUSE"));
    assert_eq!(reasons[2], through("a network"));
    assert_eq!(reasons[4], through("btrfs"));
    assert_eq!(reasons[5], through("a loop device"));
    assert_eq!(reasons[7], "measured in memory, not on storage");
    let advice = |index: usize| unknown_storage(&records()[index]).unwrap().advice();
    assert!(advice(0).contains("/boot/firmware") && advice(0).contains("raspi-config"));
    assert!(advice(1).contains("or the device") && !advice(1).contains("raspi-config"));
}
