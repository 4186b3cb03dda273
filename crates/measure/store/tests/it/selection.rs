//! Many records at once.

use cardmark_core::{Board, Context, DeviceInfo, Finding, FindingKind, Record, Sample, Severity};
use cardmark_store::{Condition, Store};

use crate::builder::{record, trial};

fn condition(name: &str, value: &str) -> Condition {
    Condition {
        name: name.to_owned(),
        value: value.to_owned(),
    }
}

fn measured(digits: &str, board: &str, product: &str) -> Record {
    let mut record = record(digits);
    record.board = Some(Board {
        model: Some(board.to_owned()),
        ..Board::default()
    });
    record.devices = vec![DeviceInfo {
        model: Some("SN64G".to_owned()),
        sample: Some(Sample::of_card("ba7816")),
        // As a card of 64 GB has it, and one of 32.
        size_bytes: Some(match digits {
            "cccc" => 31_914_983_424,
            _ => 63_864_569_856,
        }),
        ..DeviceInfo::default()
    }];
    record.labels.clear();
    record
        .labels
        .insert("product".to_owned(), product.to_owned());
    record.trials = vec![trial(0)];
    record.context = Some(Context::of(&record));
    record
}

fn ids(records: &[Record]) -> Vec<String> {
    records
        .iter()
        .map(|record| record.id.to_string()[..4].to_owned())
        .collect()
}

#[test]
fn records_are_selected_by_what_they_tell_and_by_labels() {
    let dir = tempfile::tempdir().unwrap();
    let mut store = Store::open(&dir.path().join("records.sqlite")).unwrap();
    for (digits, board, product) in [
        ("aaaa", "Pi 4", "A"),
        ("bbbb", "Pi 5", "A"),
        ("cccc", "Pi 4", "B"),
    ] {
        store.insert(&measured(digits, board, product)).unwrap();
    }
    let mut select = |conditions: &[Condition]| ids(&store.select(conditions).unwrap());
    assert_eq!(select(&[]), ["aaaa", "bbbb", "cccc"]);
    assert_eq!(select(&[condition("board", "Pi 4")]), ["aaaa", "cccc"]);
    assert_eq!(select(&[condition("product", "A")]), ["aaaa", "bbbb"]);
    let both = [condition("product", "A"), condition("board", "Pi 5")];
    assert_eq!(select(&both), ["bbbb"]);
    assert_eq!(select(&[condition("card", "ba7816")]).len(), 3);
    assert_eq!(select(&[condition("product", "' OR 1=1 --")]).len(), 0);
    let sold_as = |gigabytes: u64| condition("capacity", &(gigabytes * 1_000_000_000).to_string());
    assert_eq!(select(&[sold_as(64)]), ["aaaa", "bbbb"]);
    assert_eq!(select(&[sold_as(32)]), ["cccc"]);
    assert_eq!(select(&[sold_as(128)]).len(), 0);
    let mut by_part = |product: &'static str| {
        let is_board = |model: &str, part: &str| model.ends_with(part);
        let found = store.select_by(&[condition("board", "4")], is_board, |labels| {
            labels
                .get("product")
                .is_some_and(|it| it.starts_with(product))
        });
        ids(&found.unwrap())
    };
    assert_eq!(by_part(""), ["aaaa", "cccc"]);
    assert_eq!(by_part("A"), ["aaaa"]);
}

#[test]
fn what_is_selected_has_its_labels_of_now_and_no_trials() {
    let dir = tempfile::tempdir().unwrap();
    let mut store = Store::open(&dir.path().join("records.sqlite")).unwrap();
    let stored = measured("aaaa", "Pi 4", "A");
    store.insert(&stored).unwrap();
    store.label(stored.id, [("product", Some("B"))]).unwrap();
    let found = store.select(&[condition("product", "B")]).unwrap();
    let expected = Record {
        trials: Vec::new(),
        sensors: Vec::new(),
        labels: [("product".to_owned(), "B".to_owned())].into(),
        ..stored
    };
    assert_eq!(found, [expected]);
}

#[test]
fn figures_that_a_cache_answered_for_are_not_handed_out() {
    let dir = tempfile::tempdir().unwrap();
    let mut store = Store::open(&dir.path().join("records.sqlite")).unwrap();
    let mut stored = measured("aaaa", "Pi 4", "A");
    let id = stored.metrics[0].id.clone();
    for (warning, count) in [("throttled", 1), ("buffered", 1), ("not_reached", 1)] {
        stored.id = cardmark_core::simulated_run_id(&[warning]);
        stored.metrics[0].warnings = vec![warning.to_owned()];
        store.insert(&stored).unwrap();
        assert_eq!(store.figures(&id).unwrap().len(), count, "{warning}");
    }
    assert_eq!(store.list(9).unwrap().len(), 3);
}

/// Records of earlier versions have no warning at such figures.
#[test]
fn figures_of_a_device_that_is_not_known_are_not_handed_out() {
    let dir = tempfile::tempdir().unwrap();
    let mut store = Store::open(&dir.path().join("records.sqlite")).unwrap();
    let mut stored = measured("aaaa", "Pi 4", "A");
    stored.metrics[0].warnings.clear();
    let kind = FindingKind::UnknownDevice;
    stored.findings = vec![Finding::new(kind, Severity::Warning, "hidden")];
    store.insert(&stored).unwrap();
    assert_eq!(store.figures(&stored.metrics[0].id).unwrap(), []);
}

#[test]
fn figures_come_with_what_places_them() {
    let dir = tempfile::tempdir().unwrap();
    let mut store = Store::open(&dir.path().join("records.sqlite")).unwrap();
    let stored = measured("aaaa", "Pi 4", "A");
    store.insert(&stored).unwrap();
    let metric = &stored.metrics[0];
    let found = store.figures(&metric.id).unwrap();
    assert_eq!(found.len(), 1);
    assert_eq!(found[0].run, stored.id.to_string());
    assert_eq!(found[0].quantity, metric.quantity);
    assert_eq!(found[0].value.to_bits(), metric.value.to_bits());
    assert_eq!(store.figures("no_such_metric").unwrap(), []);
    store
        .label(stored.id, [("sample", Some("second"))])
        .unwrap();
    let subjects = store.subjects().unwrap();
    assert_eq!(subjects.len(), 1);
    let subject = &subjects[&stored.id.to_string()];
    assert_eq!(subject.origin, stored.origin.kind);
    assert_eq!(subject.board.as_deref(), Some("Pi 4"));
    assert_eq!(subject.model.as_deref(), Some("SN64G"));
    assert_eq!(subject.product.as_deref(), Some("A"));
    assert_eq!(subject.card.as_deref(), Some("second"));
    assert_eq!(*subject.context, Context::of(&stored).must);
}
