//! Damaged rows: an answer is whole, or there is an error that names the run.

use std::path::Path;

use cardmark_core::run_id_from_bytes;
use cardmark_store::{Condition, Store, StoreError};
use cardmark_testkit::damage_database;

use crate::builder::record;

/// Number of runs that each reading finds, or its error.
fn readings(path: &Path) -> Vec<(&'static str, Result<usize, StoreError>)> {
    let mut store = Store::open(path).unwrap();
    let metric = record("aaaa").metrics[0].id.clone();
    let mut exported = 0;
    let export = store.export(|_, _, _| {
        exported += 1;
        Ok::<(), StoreError>(())
    });
    let export = export.map(|()| exported);
    let mut copied = 0;
    let copy = store.documents(|_, _| {
        copied += 1;
        Ok::<(), StoreError>(())
    });
    let copy = copy.map(|()| copied);
    let suite = record("aaaa").suite.unwrap().name;
    let condition = Condition {
        name: "suite".to_owned(),
        value: suite,
    };
    let headlines = |store: &mut Store| {
        let summaries = store.list(9)?;
        Ok(summaries
            .iter()
            .filter(|one| !one.headline.is_empty())
            .count())
    };
    vec![
        ("list", store.list(9).map(|found| found.len())),
        ("headlines", headlines(&mut store)),
        ("subjects", store.subjects().map(|found| found.len())),
        ("figures", store.figures(&metric).map(|found| found.len())),
        ("briefs", store.briefs().map(|found| found.len())),
        ("select", store.select(&[]).map(|found| found.len())),
        ("suite", store.select(&[condition]).map(|found| found.len())),
        ("digests", digests(&mut store)),
        ("export", export),
        ("copy", copy),
    ]
}

/// Number of runs, if the digests can be read; the runs have none.
fn digests(store: &mut Store) -> Result<usize, StoreError> {
    store.digests().map(|digests| RUNS + digests.len())
}

const RUNS: usize = 3;

fn store_with_runs(path: &Path) -> String {
    let mut store = Store::open(path).unwrap();
    for number in 1..=3_u8 {
        let mut one = record("aaaa");
        one.id = run_id_from_bytes([number; 16]);
        one.labels.insert("product".to_owned(), "A".to_owned());
        store.insert(&one).unwrap();
    }
    run_id_from_bytes([2; 16]).to_string()
}

/// Columns of the rows of a run; those of text are damaged in two ways.
const COLUMNS: [(&str, &str, &str); 28] = [
    ("records", "id", "id"),
    ("records", "id", "started_at"),
    ("records", "id", "suite"),
    ("records", "id", "suite_version"),
    ("records", "id", "target_kind"),
    ("records", "id", "origin_kind"),
    ("records", "id", "document"),
    ("heads", "record_id", "record_id"),
    ("heads", "record_id", "suite"),
    ("heads", "record_id", "origin_kind"),
    ("heads", "record_id", "board"),
    ("heads", "record_id", "model"),
    ("heads", "record_id", "card"),
    ("heads", "record_id", "context"),
    ("heads", "record_id", "brief"),
    ("heads", "record_id", "head"),
    ("heads", "record_id", "evidence"),
    ("metrics", "record_id", "record_id"),
    ("metrics", "record_id", "id"),
    ("metrics", "record_id", "quantity"),
    ("metrics", "record_id", "value"),
    ("metrics", "record_id", "half_width"),
    ("metrics", "record_id", "is_voided"),
    ("labels", "record_id", "record_id"),
    ("labels", "record_id", "key"),
    ("labels", "record_id", "value"),
    ("statements", "record_id", "revision"),
    ("statements", "record_id", "document"),
];

/// Damage that leaves a plausible text cannot be distinguished from another value.
fn is_plausible(column: &str, damage: &str) -> bool {
    let free = [
        "started_at",
        "suite",
        "board",
        "model",
        "card",
        "key",
        "value",
        "id",
        "target_kind",
        "origin_kind",
        "quantity",
        "evidence",
    ];
    damage == "'damaged'" && free.contains(&column)
}

#[test]
fn no_damaged_row_makes_an_answer_shorter() {
    for (table, key, column) in COLUMNS {
        for damage in ["x'00ff'", "'damaged'"] {
            let dir = tempfile::tempdir().unwrap();
            let path = dir.path().join("records.sqlite");
            let id = store_with_runs(&path);
            let row = if table == "metrics" {
                " AND position = 0"
            } else {
                ""
            };
            damage_database(
                &path,
                &format!("UPDATE {table} SET {column} = {damage} WHERE {key} = '{id}'{row}"),
            );
            let case = format!("{table}.{column} = {damage}");
            let mut errors = 0;
            for (reading, found) in readings(&path) {
                match found {
                    Ok(count) => {
                        let may_differ = is_plausible(column, damage) && table != "records";
                        assert!(count == RUNS || may_differ, "{case}: {reading}: {count}");
                    }
                    Err(error) => {
                        errors += 1;
                        let text = format!("{error}");
                        let is_named = text.contains(&id) || column.ends_with("id");
                        assert!(is_named, "{case}: {reading}: {error:?}");
                    }
                }
            }
            assert!(errors > 0 || is_plausible(column, damage), "{case}");
        }
    }
}

#[track_caller]
fn assert_names<T: std::fmt::Debug>(found: &Result<T, StoreError>, id: &str) {
    assert!(
        matches!(found, Err(StoreError::Damaged { run, .. }) if run == id),
        "{found:?}"
    );
}

#[test]
fn a_run_without_head_is_named() {
    for damage in ["DELETE FROM heads", "UPDATE heads SET record_id = x'00'"] {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("records.sqlite");
        let id = store_with_runs(&path);
        damage_database(&path, &format!("{damage} WHERE record_id = '{id}'"));
        let mut store = Store::open(&path).unwrap();
        let condition = Condition {
            name: "capacity".to_owned(),
            value: "32000000000".to_owned(),
        };
        assert_names(&store.subjects(), &id);
        assert_names(&store.select(&[]), &id);
        assert_names(&store.briefs(), &id);
        assert_names(&store.select(&[condition]), &id);
        // A listing needs no head.
        assert_eq!(store.list(9).unwrap().len(), RUNS);
    }
}

#[test]
fn missing_and_infinite_figures_of_listed_runs_are_refused() {
    let is_any = "position >= 0";
    let is_last = "position = (SELECT max(position) FROM metrics)";
    for (damage, place) in [
        ("DELETE FROM metrics", "position = 0"),
        ("DELETE FROM metrics", is_last),
        ("DELETE FROM metrics", is_any),
        ("UPDATE metrics SET value = 9e999", is_last),
        ("UPDATE metrics SET value = -9e999", "position = 0"),
    ] {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("records.sqlite");
        let id = store_with_runs(&path);
        damage_database(
            &path,
            &format!("{damage} WHERE record_id = '{id}' AND {place}"),
        );
        let mut store = Store::open(&path).unwrap();
        assert_names(&store.list(9), &id);
        // The damaged run is the second of three.
        assert_eq!(store.list(1).unwrap().len(), 1, "{damage} {place}");
    }
}
