//! Stored data is returned unchanged.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use cardmark_core::{
    Finding, FindingKind, Origin, OriginKind, Quantity, Record, Severity, Statement, TargetKind,
    Tool, evidence_digest, parse_record, parse_statement, record_to_json,
};
use cardmark_store::{
    Condition, DocumentError, HOST_LABEL, Incoming, Inserted, Store, StoreError, sqlite_path,
};
use uuid::Uuid;

use crate::builder::{record, trial};

fn with_store(test: impl FnOnce(&mut Store)) {
    let dir = tempfile::tempdir().unwrap();
    test(&mut Store::open(&dir.path().join("records.sqlite")).unwrap());
}

/// A record as its document has it.
fn unlabelled(mut record: Record) -> Record {
    record.labels.clear();
    record
}

fn id_of(digits: &str) -> Uuid {
    record(digits).id
}

#[test]
fn a_record_comes_back_as_it_was_also_after_reopening() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("records.sqlite");
    let mut stored = record("67e5");
    stored.trials = vec![trial(0)];
    stored.share_workloads();
    let mut store = Store::open(&path).unwrap();
    assert_eq!(store.insert(&stored).unwrap(), Inserted::New);
    drop(store);
    let found = Store::open(&path).unwrap().find("67e50000").unwrap();
    assert_eq!(found.labels, stored.labels);
    assert_eq!(found.record, unlabelled(stored));
}

#[test]
fn documents_from_elsewhere_keep_their_bytes() {
    with_store(|store| {
        let record = record("67e5");
        let known = record_to_json(&record).unwrap();
        let document = known.replacen('{', r#"{ "unheard_of": {"start_bytes": 0}, "#, 1);
        let take_in = |store: &mut Store, document: &str| {
            let parsed = parse_record(document).unwrap();
            let mut each = store
                .take_in(&[Incoming::Record(Box::new(parsed), document.to_owned())])
                .unwrap();
            each.remove(0)
        };
        assert_eq!(take_in(store, &document).unwrap(), Inserted::New);
        assert_eq!(store.find("67e5").unwrap().document, document);
        assert_eq!(take_in(store, &document).unwrap(), Inserted::Known);
        let spaced = document.replace(',', " ,\n");
        assert_eq!(take_in(store, &spaced).unwrap(), Inserted::Known);
        // A field that this version does not know makes another document, too.
        for other in [known.clone(), document.replace("unheard_of", "heard_of")] {
            let error = take_in(store, &other).unwrap_err();
            assert!(matches!(error, StoreError::Conflict { id } if id == record.id));
        }
        assert_eq!(store.find("67e5").unwrap().document, document);
    });
}

#[test]
fn the_store_and_its_directory_are_private() {
    let root = tempfile::tempdir().unwrap();
    let path = root.path().join("data/records.sqlite");
    Store::open(&path).unwrap().insert(&record("67e5")).unwrap();
    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!((mode(path.parent().unwrap()), mode(&path)), (0o700, 0o600));
}

#[test]
fn storing_twice_changes_nothing_and_another_document_is_refused() {
    with_store(|store| {
        let first = record("67e5");
        assert_eq!(store.insert(&first).unwrap(), Inserted::New);
        assert_eq!(store.insert(&first).unwrap(), Inserted::Known);
        let mut other = first.clone();
        other.written_bytes = 1;
        let error = store.insert(&other).unwrap_err();
        assert!(matches!(error, StoreError::Conflict { id } if id == first.id));
        assert_eq!(
            store.find("last").unwrap().record,
            unlabelled(first.clone())
        );
        assert!(store.contains(first.id).unwrap());
        assert!(!store.contains(id_of("0000")).unwrap());
    });
}

#[test]
fn a_figure_that_is_no_number_is_refused_by_name() {
    with_store(|store| {
        let mut broken = record("67e5");
        broken.metrics[1].high = Some(f64::NAN);
        let error = store.insert(&broken).unwrap_err();
        let StoreError::Document {
            source: DocumentError::NotFinite(metric),
            ..
        } = error
        else {
            panic!("{error:?}")
        };
        assert_eq!(metric, "rand_read_4k");
    });
}

#[test]
fn a_run_is_found_by_any_unique_beginning_of_its_id_or_as_the_last() {
    with_store(|store| {
        for digits in ["67e55044", "67e55044ff", "abcd"] {
            store.insert(&record(digits)).unwrap();
        }
        let mut id = |prefix: &str| store.find(prefix).map(|found| found.record.id);
        assert_eq!(id("ABCD").unwrap(), id_of("abcd"));
        assert_eq!(id("last").unwrap(), id_of("abcd"));
        assert_eq!(id("67e55044ff").unwrap(), id_of("67e55044ff"));
        assert_eq!(id("67e55044-ff00").unwrap(), id_of("67e55044ff"));
        let whole = id_of("67e55044");
        assert_eq!(id(&whole.to_string()).unwrap(), whole);
        assert_eq!(id(&whole.simple().to_string()).unwrap(), whole);
        let error = id("67e5").unwrap_err();
        let StoreError::Ambiguous { ids, .. } = &error else {
            panic!("{error:?}")
        };
        assert_eq!(ids, &[whole.to_string(), id_of("67e55044ff").to_string()]);
        assert!(matches!(id("67e6"), Err(StoreError::NotFound { .. })));
        for text in ["67e", "", "zzzz", "latest", "67%5", "éééé"] {
            assert!(
                matches!(id(text), Err(StoreError::NotAnId { .. })),
                "{text}"
            );
        }
    });
}

#[test]
fn an_empty_store_has_no_last_run() {
    with_store(|store| {
        let error = store.find("last").unwrap_err();
        assert_eq!(error.to_string(), "no record `last` in the store");
        assert!(store.list(10).unwrap().is_empty());
    });
}

#[test]
fn listings_are_newest_first_with_rates_and_labels() {
    with_store(|store| {
        for digits in ["aaaa", "bbbb", "cccc"] {
            store.insert(&record(digits)).unwrap();
        }
        let listed = store.list(2).unwrap();
        let ids: Vec<&str> = listed.iter().map(|summary| &summary.id[..4]).collect();
        assert_eq!(ids, ["cccc", "bbbb"]);
        let first = &listed[0];
        assert_eq!(first.suite.as_deref(), Some("quick"));
        assert_eq!(first.suite_version, Some(1));
        assert_eq!(first.started_at.as_deref(), Some("2025-03-04T12:00:00Z"));
        assert_eq!(first.target_kind, Some(TargetKind::Directory));
        assert_eq!(first.origin, OriginKind::Measured);
        assert_eq!(first.labels["product"], "Example 64");
        let expected = [
            (
                "seq_write_1m".to_owned(),
                23_456_789.125,
                Quantity::ByteRate,
            ),
            ("rand_read_4k".to_owned(), 2310.5, Quantity::OperationRate),
        ];
        assert_eq!(first.headline, expected);
    });
}

#[test]
fn labels_are_set_replaced_and_taken_away_while_the_record_stays() {
    with_store(|store| {
        let stored = record("67e5");
        store.insert(&stored).unwrap();
        store.label(stored.id, [("note", Some("old"))]).unwrap();
        store
            .label(stored.id, [("note", Some("bought in May"))])
            .unwrap();
        store.label(stored.id, [("product", None)]).unwrap();
        store.label(stored.id, [("missing", None)]).unwrap();
        let labels = store.labels(stored.id).unwrap();
        assert_eq!(
            labels.into_iter().collect::<Vec<_>>(),
            [("note".to_owned(), "bought in May".to_owned())]
        );
        let stored = unlabelled(stored);
        assert_eq!(store.insert(&stored).unwrap(), Inserted::Known);
        assert_eq!(store.find("last").unwrap().record, stored);
        assert_eq!(store.labels(stored.id).unwrap().len(), 1);
        let changes = [("note", None), ("size", Some("64")), ("size", Some("32"))];
        store.label(stored.id, changes).unwrap();
        let labels = store.labels(stored.id).unwrap();
        assert_eq!(labels, [("size".to_owned(), "32".to_owned())].into());
        let error = store
            .label(id_of("0000"), [("note", Some("x"))])
            .unwrap_err();
        assert!(matches!(error, StoreError::NotFound { .. }));
    });
}

fn json(statement: &Statement) -> String {
    serde_json::to_string(statement).unwrap()
}

fn stated(store: &mut Store, id: Uuid) -> Option<Statement> {
    let document = store.statement(id).unwrap()?;
    Some(parse_statement(&document).unwrap())
}

#[test]
fn a_statement_counts_the_changes_and_the_later_one_counts() {
    with_store(|store| {
        let stored = unlabelled(record("67e5"));
        store.insert(&stored).unwrap();
        assert_eq!(store.statement(stored.id).unwrap(), None);
        store.label(stored.id, [(HOST_LABEL, Some("pi"))]).unwrap();
        assert_eq!(store.statement(stored.id).unwrap(), None);
        for _ in 0..2 {
            store.label(stored.id, [("product", Some("A"))]).unwrap();
        }
        let first = stated(store, stored.id).unwrap();
        let labels = [("product".to_owned(), "A".to_owned())].into();
        assert_eq!(first, Statement::of(stored.id, 1, &labels));
        store.label(stored.id, [("product", Some("B"))]).unwrap();
        let second = stated(store, stored.id).unwrap();
        assert_eq!((second.revision, second.product.as_deref()), (2, Some("B")));
        let take_in = |store: &mut Store, given: &Statement| {
            let mut each = store
                .take_in(&[Incoming::Statement(Box::new(given.clone()), json(given))])
                .unwrap();
            each.remove(0)
        };
        // An older one, and the present one.
        for given in [&first, &second] {
            assert_eq!(take_in(store, given).unwrap(), Inserted::Known);
            assert_eq!(stated(store, stored.id).as_ref(), Some(&second));
        }
        let rival = Statement {
            product: Some("C".to_owned()),
            ..second
        };
        let error = take_in(store, &rival).unwrap_err();
        assert!(matches!(error, StoreError::Stated { id } if id == stored.id));
        let later = Statement {
            revision: 7,
            bought: Some("market".to_owned()),
            product: None,
            ..rival
        };
        assert_eq!(take_in(store, &later).unwrap(), Inserted::Replaced);
        assert_eq!(stated(store, stored.id), Some(later.clone()));
        // What stays in the store is not taken away by what comes from elsewhere.
        assert_eq!(store.labels(stored.id).unwrap()[HOST_LABEL], "pi");
        let lost = Statement {
            record_id: id_of("0000"),
            ..later
        };
        let error = take_in(store, &lost).unwrap_err();
        assert!(matches!(error, StoreError::NotFound { .. }));
        assert_eq!(store.find("last").unwrap().record, stored);
    });
}

#[test]
fn copies_are_known_by_what_was_measured() {
    with_store(|store| {
        // The copy has the lower id, and comes later.
        let [mut one, mut copy, mut other, plain] = ["bbbb", "aaaa", "cccc", "dddd"].map(record);
        one.trials = vec![trial(0)];
        copy.trials.clone_from(&one.trials);
        copy.labels.insert("product".to_owned(), "Other".to_owned());
        copy.started_at = None;
        copy.metrics.clear();
        other.trials = vec![trial(0)];
        other.trials[0].span_ns += 1;
        for each in [&one, &copy, &other, &plain] {
            store.insert(each).unwrap();
        }
        assert_eq!(store.copies(one.id).unwrap(), [copy.id.to_string()]);
        assert_eq!(store.copies(copy.id).unwrap(), [one.id.to_string()]);
        assert_eq!(
            store.copied_from(copy.id).unwrap(),
            Some(one.id.to_string())
        );
        for alone in [one.id, other.id, plain.id] {
            assert_eq!(store.copied_from(alone).unwrap(), None);
        }
        for alone in [other.id, plain.id] {
            assert_eq!(store.copies(alone).unwrap(), [""; 0]);
        }
        let digests = [&one, &copy, &other].map(|run| {
            let digest = evidence_digest(run).unwrap();
            (run.id.to_string(), digest)
        });
        assert_eq!(digests[0].1, digests[1].1);
        assert_eq!(store.digests().unwrap(), digests, "in the order of storing");
        let distinct = store.select_distinct(&[]).unwrap();
        let ids: Vec<Uuid> = distinct.iter().map(|run| run.id).collect();
        assert_eq!(ids, [one.id, other.id, plain.id]);
        // A copy whose original does not meet the conditions is no further run of anything.
        let of_other = Condition {
            name: "product".to_owned(),
            value: "Other".to_owned(),
        };
        let selected = store.select_distinct(&[of_other]).unwrap();
        assert_eq!(selected.len(), 1);
        assert_eq!(selected[0].id, copy.id);
    });
}

#[test]
fn a_statement_keeps_what_this_version_does_not_know() {
    with_store(|store| {
        let stored = unlabelled(record("67e5"));
        store.insert(&stored).unwrap();
        let known = json(&Statement::of(
            stored.id,
            4,
            &[("a".to_owned(), "b".to_owned())].into(),
        ));
        let document = known.replacen('{', r#"{ "seen": {"deep": [1]}, "#, 1);
        let take_in = |store: &mut Store, document: &str| {
            let given = Box::new(parse_statement(document).unwrap());
            let incoming = Incoming::Statement(given, document.to_owned());
            store.take_in(&[incoming]).unwrap().remove(0)
        };
        assert_eq!(take_in(store, &document).unwrap(), Inserted::New);
        assert_eq!(store.statement(stored.id).unwrap().unwrap(), document);
        assert_eq!(take_in(store, &document).unwrap(), Inserted::Known);
        // Other content under the same number, although the labels are equal.
        let error = take_in(store, &known).unwrap_err();
        assert!(matches!(error, StoreError::Stated { id } if id == stored.id));
        // A label that stays in the store is no change.
        store.label(stored.id, [(HOST_LABEL, Some("pi"))]).unwrap();
        assert_eq!(store.statement(stored.id).unwrap().unwrap(), document);
        let changes = [("a", None), ("claims", Some("A1")), ("c", Some("d"))];
        store.label(stored.id, changes).unwrap();
        let text = store.statement(stored.id).unwrap().unwrap();
        assert!(
            text.contains(r#""seen":{"deep":[1]}"#) && !text.contains("pi"),
            "{text}"
        );
        let labels =
            [("claims", "A1"), ("c", "d")].map(|(key, value)| (key.to_owned(), value.to_owned()));
        let expected = Statement::of(stored.id, 5, &labels.into());
        assert_eq!(parse_statement(&text).unwrap(), expected);
    });
}

#[test]
fn export_gives_records_in_the_order_of_storing_and_ends_at_an_error() {
    with_store(|store| {
        for digits in ["cccc", "aaaa", "bbbb"] {
            store.insert(&record(digits)).unwrap();
        }
        let mut seen = Vec::new();
        let gather = |record: &Record, _: &str, _: Option<&str>| -> Result<(), StoreError> {
            seen.push(record.id);
            Ok(())
        };
        store.export(gather).unwrap();
        assert_eq!(seen, ["cccc", "aaaa", "bbbb"].map(id_of));
        let mut count = 0;
        let stop = |record: &Record, _: &str, _: Option<&str>| {
            count += 1;
            Err(StoreError::Conflict { id: record.id })
        };
        assert!(store.export(stop).is_err());
        assert_eq!(count, 1);
        let mut times = Vec::new();
        let is_wanted = |stored_s: i64| stored_s > i64::MAX - 1;
        let fail = |_: &str, _: Option<&str>| {
            Err(StoreError::NotFound {
                prefix: String::new(),
            })
        };
        store.documents_stored(is_wanted, fail).unwrap();
        let note = |stored_s: i64| stored_s > 1_767_225_600;
        store
            .documents_stored(note, |document, _| {
                times.push(document.to_owned());
                Ok::<(), StoreError>(())
            })
            .unwrap();
        assert_eq!(times.len(), 3);
    });
}

#[test]
fn the_last_look_of_a_board_stays() {
    with_store(|store| {
        let mut put =
            |host: &str, at_s, document: &str| store.put_look(host, "/", at_s, document).unwrap();
        use Inserted::{Known, New, Replaced};
        for (host, at_s, document, expected) in [
            ("pi-2", Some(50), "{\"a\":1}", New),
            ("pi-2", Some(50), "{ \"a\": 1 }", Known),
            ("pi-2", Some(40), "{\"a\":2}", Known),
            ("pi-2", Some(60), "{\"a\":3}", Replaced),
            // A clock that was wrong hides no later look, and one that is not set hides none.
            ("pi-2", Some(u64::MAX), "{\"a\":4}", Replaced),
            ("pi-2", Some(70), "{\"a\":5}", Replaced),
            ("pi-2", None, "{\"a\":6}", Replaced),
            ("pi-1", Some(1), "{}", New),
        ] {
            assert_eq!(put(host, at_s, document), expected, "{host} {document}");
        }
        let looks = store.looks().unwrap();
        let looks: Vec<(&str, &str)> = looks
            .iter()
            .map(|look| (look.host.as_str(), look.document.as_str()))
            .collect();
        assert_eq!(looks, [("pi-1", "{}"), ("pi-2", "{\"a\":6}")]);
    });
}

#[test]
fn addresses_are_of_sqlite_and_name_a_file() {
    for (address, path) in [
        ("sqlite:///data/a b.sqlite", "/data/a b.sqlite"),
        ("sqlite://cards.sqlite", "cards.sqlite"),
        ("sqlite:/data/cards.sqlite", "/data/cards.sqlite"),
    ] {
        assert_eq!(sqlite_path(address).unwrap(), Path::new(path), "{address}");
    }
    for (address, said) in [
        (
            "postgres://user:secret@host/cards",
            "a store of kind `postgres` is not supported",
        ),
        (
            "/data/cards.sqlite",
            "the address of the store cannot be used: it is not of the form \
             sqlite:///path/to/file",
        ),
        (
            "sqlite://",
            "the address of the store cannot be used: it names no file",
        ),
        (
            "sqlite:///data/cards.sqlite?mode=ro",
            "the address of the store cannot be used: parameters, from `?` on, are not supported",
        ),
    ] {
        assert_eq!(sqlite_path(address).unwrap_err().to_string(), said);
    }
}

/// A record of a simulated run that ended with these errors.
fn simulated(kinds: &[FindingKind]) -> Record {
    let mut record = unlabelled(record("51a0"));
    record.origin = Origin::of(OriginKind::Simulated);
    let error = |kind: &FindingKind| Finding::new(*kind, Severity::Error, "ended");
    record.findings = kinds.iter().map(error).collect();
    record.written_bytes = 1 + kinds.len() as u64;
    record
}

#[test]
fn a_simulated_run_that_is_repeated_to_its_end_replaces_the_partial_record() {
    use FindingKind::{Interrupted, IoError, NoAnswer, NoSpace, Vanished};
    let partial: [&[FindingKind]; 6] = [
        &[Interrupted],
        &[Vanished],
        &[NoAnswer],
        &[IoError],
        &[NoSpace],
        &[IoError, Interrupted],
    ];
    for kinds in partial {
        with_store(|store| {
            let (partial, mut whole) = (simulated(kinds), simulated(&[]));
            whole.metrics.truncate(1);
            store.insert(&partial).unwrap();
            store.label(partial.id, [("note", Some("mine"))]).unwrap();
            store.label(partial.id, [("product", None)]).unwrap();
            store.insert(&record("aaaa")).unwrap();
            assert_eq!(
                store.insert(&whole).unwrap(),
                Inserted::Replaced,
                "{kinds:?}"
            );
            assert_eq!(store.insert(&whole).unwrap(), Inserted::Known);
            let found = store.find("last").unwrap();
            assert_eq!(found.record, whole);
            let labels: Vec<_> = found.labels.into_iter().collect();
            assert_eq!(labels, [("note".to_owned(), "mine".to_owned())]);
            assert_eq!(store.list(9).unwrap()[0].headline.len(), 1);
            // The other way round it is a different record of the same id.
            let error = store.insert(&partial).unwrap_err();
            assert!(matches!(error, StoreError::Conflict { .. }), "{error:?}");
            store.insert(&record("bbbb")).unwrap();
            let ids: Vec<String> = store.list(9).unwrap().into_iter().map(|s| s.id).collect();
            assert_eq!(
                ids,
                ["bbbb", "51a0", "aaaa"].map(|id| id_of(id).to_string())
            );
        });
    }
}

#[test]
fn a_simulated_card_that_fails_replaces_its_interrupted_run_too() {
    with_store(|store| {
        store
            .insert(&simulated(&[FindingKind::Interrupted]))
            .unwrap();
        let failed = simulated(&[FindingKind::IoError, FindingKind::IoError]);
        assert_eq!(store.insert(&failed).unwrap(), Inserted::Replaced);
        let mut other = failed.clone();
        other.written_bytes = 99;
        let error = store.insert(&other).unwrap_err();
        assert!(matches!(error, StoreError::Conflict { .. }), "{error:?}");
    });
}

#[test]
fn a_measured_record_is_never_replaced() {
    with_store(|store| {
        let whole = simulated(&[]);
        for (number, (stored, new)) in (1..).zip([
            (OriginKind::Measured, OriginKind::Measured),
            (OriginKind::Measured, OriginKind::Simulated),
            (OriginKind::Simulated, OriginKind::Measured),
            (OriginKind::Imported, OriginKind::Imported),
        ]) {
            let mut partial = simulated(&[FindingKind::Interrupted]);
            partial.id = Uuid::from_u128(number);
            partial.origin.kind = stored;
            let mut whole = whole.clone();
            (whole.id, whole.origin.kind) = (partial.id, new);
            store.insert(&partial).unwrap();
            let error = store.insert(&whole).unwrap_err();
            assert!(matches!(error, StoreError::Conflict { .. }), "{error:?}");
            assert_eq!(store.find("last").unwrap().record, unlabelled(partial));
        }
    });
}

#[test]
fn warnings_do_not_make_a_record_partial() {
    with_store(|store| {
        let mut warned = simulated(&[]);
        warned.findings = vec![Finding::new(
            FindingKind::Interrupted,
            Severity::Warning,
            "x",
        )];
        store.insert(&warned).unwrap();
        assert!(store.insert(&simulated(&[])).is_err());
    });
}

#[test]
fn another_version_of_the_program_repeats_a_simulated_run() {
    let dir = tempfile::tempdir().unwrap();
    let mut store = Store::open(&dir.path().join("records.sqlite")).unwrap();
    let by = |version: &str| {
        let mut record = record("aaaa");
        record.origin = Origin::of(OriginKind::Simulated);
        record.tool = Some(Tool {
            name: "cardmark".to_owned(),
            version: version.to_owned(),
            commit: None,
            modified: None,
            target: None,
            profile: None,
        });
        record
    };
    assert_eq!(store.insert(&by("1.0.0")).unwrap(), Inserted::New);
    assert_eq!(store.insert(&by("1.1.0")).unwrap(), Inserted::Replaced);
    assert_eq!(store.insert(&by("1.1.0")).unwrap(), Inserted::Known);
    assert_eq!(store.find("last").unwrap().record, unlabelled(by("1.1.0")));
    // A measured record is never changed.
    for version in ["1.0.0", "1.1.0"] {
        let mut measured = by(version);
        measured.origin = Origin::of(OriginKind::Measured);
        assert!(store.insert(&measured).is_err());
    }
}
