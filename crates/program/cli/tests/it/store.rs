//! The store: broken, locked, and in use.

use std::collections::BTreeMap;
use std::fs::OpenOptions;

use cardmark_core::parse_statement;
use cardmark_store::{JobKind, Journal, JournalHead};
use cardmark_testkit::{Program, damage_database};
use rustix::fs::{FlockOperation, fcntl_lock};
use serde_json::Value;

use crate::common::{assert_error, program, scratch, text};

/// A run that is quickly made.
const DEMO: [&str; 2] = ["run", "sim:a1-32gb"];

fn with_demo(program: &Program) -> String {
    let output = program.run(&[&DEMO[..], &["--label=product=Demo", "--json=-"]].concat());
    assert_eq!(output.code, 0, "{output}");
    output.record().id.to_string()
}

#[test]
fn a_corrupt_database_is_told_and_left_as_it_is() {
    let scratch = scratch();
    let program = program(&scratch);
    std::fs::create_dir_all(program.data()).unwrap();
    let garbage: Vec<u8> = (0..2500_u64)
        .flat_map(|n| cardmark_core::mix(n).to_le_bytes())
        .collect();
    std::fs::write(program.database(), &garbage).unwrap();
    for arguments in [&DEMO[..], &["list"], &["show"], &["export"], &["recover"]] {
        let output = program.run(arguments);
        assert_error(
            &output,
            3,
            &["is damaged or not a database", "hint: nothing was changed"],
        );
        assert_eq!(output.stdout, "", "{output}");
        assert_eq!(std::fs::read(program.database()).unwrap(), garbage);
    }
    assert!(program.journals().is_empty());
}

/// Every command that reads runs answers in full, or ends with 3 and names the run.
#[test]
fn one_damaged_value_is_never_left_out() {
    const READ: [&[&str]; 8] = [
        &["list"],
        &["rank", "--metric", "seq_read_1m"],
        &["recommend", "--use", "boot"],
        &["history"],
        &["compare", "origin=simulated", "seed=2"],
        &["report", "origin=simulated"],
        &["export"],
        &["show"],
    ];
    let damages = [
        (
            "metrics",
            "value",
            "'X'",
            "id = 'seq_read_1m'",
            &["list", "rank"][..],
        ),
        (
            "metrics",
            "quantity",
            "'X'",
            "id = 'seq_read_1m'",
            &["list", "rank"],
        ),
        (
            "metrics",
            "value",
            "9e999",
            "id = 'seq_read_1m'",
            &["list", "rank"],
        ),
        ("metrics", "is_voided", "7", "id = 'seq_read_1m'", &["rank"]),
        (
            "metrics",
            "id",
            "x'00'",
            "id = 'seq_read_1m'",
            &["list", "rank"],
        ),
        ("heads", "context", "'{'", "1", &["rank"]),
        (
            "heads",
            "head",
            "'{'",
            "1",
            &["recommend", "history", "report"],
        ),
        (
            "heads",
            "record_id",
            "x'00'",
            "1",
            &["rank", "recommend", "history", "report"],
        ),
        ("heads", "origin_kind", "'X'", "1", &["rank"]),
        ("labels", "value", "x'00'", "1", &["list", "rank", "report"]),
        ("records", "origin_kind", "'X'", "1", &["list"]),
        ("records", "document", "'{'", "1", &["export", "show"]),
    ];
    let scratch = scratch();
    let program = program(&scratch);
    for seed in ["1", "2"] {
        let label = format!("seed={seed}");
        let output = program.run(&["run", "sim:a1-32gb", "--seed", seed, "--label", &label]);
        assert_eq!(output.code, 0, "{output}");
    }
    let whole: Vec<_> = READ.iter().map(|command| program.run(command)).collect();
    let id = program.last().id.to_string();
    let database = std::fs::read(program.database()).unwrap();
    for (table, column, value, of, hit) in damages {
        std::fs::write(program.database(), &database).unwrap();
        let key = if table == "records" {
            "id"
        } else {
            "record_id"
        };
        let sql = format!("UPDATE {table} SET {column} = {value} WHERE {key} = '{id}' AND {of}");
        assert_eq!(damage_database(&program.database(), &sql), 1, "{sql}");
        for (command, before) in READ.iter().zip(&whole) {
            let output = program.run(command);
            let case = format!("{sql}: {command:?}: {output}");
            if hit.contains(&command[0]) || output.code != before.code {
                assert_eq!(output.code, 3, "{case}");
                assert!(output.stderr.contains(&id), "{case}");
                assert!(
                    output.stderr.contains("hint: ") || command[0] != "rank",
                    "{case}"
                );
            } else {
                assert_eq!(output.stdout, before.stdout, "{case}");
            }
        }
    }
}

#[test]
fn a_database_damaged_in_the_middle_is_told() {
    let scratch = scratch();
    let program = program(&scratch);
    with_demo(&program);
    let mut bytes = std::fs::read(program.database()).unwrap();
    for byte in &mut bytes[4096..] {
        *byte = 0xa5;
    }
    std::fs::write(program.database(), &bytes).unwrap();
    let output = program.run(&["show"]);
    assert_error(
        &output,
        3,
        &["is damaged or not a database", "hint: nothing was changed"],
    );
    assert_eq!(std::fs::read(program.database()).unwrap(), bytes);
}

#[test]
fn a_locked_database_is_told() {
    let scratch = scratch();
    let program = program(&scratch);
    with_demo(&program);
    // SQLite's own locks are such locks on bytes of the file.
    let file = OpenOptions::new()
        .read(true)
        .write(true)
        .open(program.database())
        .unwrap();
    fcntl_lock(&file, FlockOperation::NonBlockingLockExclusive).unwrap();
    let output = program.run(&[&DEMO[..], &["--seed=2"]].concat());
    assert_error(
        &output,
        3,
        &[
            "is locked by another process",
            "hint: another program holds it",
        ],
    );
    assert!(program.journals().is_empty());
    drop(file);
    assert_eq!(program.run(&["list"]).code, 0);
    assert_eq!(program.runs_count(), 1);
}

#[test]
fn a_database_locked_only_at_the_end_loses_nothing() {
    let scratch = scratch();
    let program = program(&scratch);
    let folder = crate::common::folder(&scratch);
    let running = program.start(&["run", text(&folder), crate::common::QUICKEST]);
    running.hear("round 2");
    let file = OpenOptions::new()
        .read(true)
        .write(true)
        .open(program.database())
        .unwrap();
    fcntl_lock(&file, FlockOperation::NonBlockingLockExclusive).unwrap();
    running.signal(rustix::process::Signal::INT);
    let output = running.wait();
    assert_eq!(output.code, 130, "{output}");
    assert!(
        output.stderr.contains("is locked by another process"),
        "{output}"
    );
    assert!(
        output.stderr.contains("`cardmark recover` reads it later"),
        "{output}"
    );
    assert!(output.stdout.contains("random read 4 KiB"), "{output}");
    assert_eq!(program.journals().len(), 1);
    drop(file);
    let recovered = program.run(&["recover"]);
    assert_eq!(recovered.code, 0, "{recovered}");
    assert!(recovered.stdout.starts_with("recovered "), "{recovered}");
    assert_eq!(program.runs_count(), 1);
    assert!(program.journals().is_empty());
}

#[test]
fn results_that_cannot_be_kept_are_told_before_anything_is_measured() {
    let scratch = scratch();
    let program = program(&scratch);
    // A file where the folder should be.
    std::fs::create_dir_all(program.data().parent().unwrap()).unwrap();
    std::fs::write(program.data(), "").unwrap();
    let output = program.run(&DEMO);
    assert_error(&output, 3, &["cannot open store", "cause: "]);
    assert_eq!(output.stdout, "", "{output}");
}

#[test]
fn a_run_is_listed_and_shown_by_the_beginning_of_its_id() {
    let scratch = scratch();
    let program = program(&scratch);
    let id = with_demo(&program);
    let rows: Vec<Value> = serde_json::from_str(&program.run(&["list", "--json"]).stdout).unwrap();
    assert_eq!(rows.len(), 1);
    assert_eq!(rows[0]["id"], id);
    assert_eq!(rows[0]["suite"], "quick");
    assert_eq!(rows[0]["origin"], "simulated");
    assert_eq!(rows[0]["labels"]["product"], "Demo");
    let table = program.run(&["list"]).stdout;
    assert!(table.contains(&id[..8]), "{table}");
    let last = program.run(&["show", "last"]);
    assert_eq!(last.code, 0, "{last}");
    assert_eq!(program.run(&["show", &id[..8]]), last);
    assert_eq!(program.run(&["show", &id]), last);
    let output = program.run(&["show", "00000000"]);
    assert_error(
        &output,
        2,
        &["no record `00000000`", "hint: `cardmark list runs`"],
    );
}

#[test]
fn an_empty_store_is_no_error_to_list() {
    let scratch = scratch();
    let program = program(&scratch);
    let output = program.run(&["list"]);
    assert_eq!((output.code, output.stdout.as_str()), (0, ""), "{output}");
    assert!(output.stderr.contains("no runs yet"), "{output}");
    assert_eq!(program.run(&["list", "--json"]).stdout.trim(), "[]");
    let export = program.run(&["export"]);
    assert_eq!((export.code, export.stdout.as_str()), (0, ""), "{export}");
    assert!(
        export.stderr.contains("no runs yet: the export is empty"),
        "{export}"
    );
    let file = program.file("runs.jsonl");
    std::fs::write(&file, &export.stdout).unwrap();
    let import = program.run(&["import", file.to_str().unwrap()]);
    assert_eq!(
        (import.code, import.stderr.trim()),
        (0, "imported 0 runs"),
        "{import}"
    );
    assert_error(&program.run(&["show"]), 2, &["error: "]);
}

#[test]
fn remarks_come_and_go_and_the_record_stays() {
    let scratch = scratch();
    let program = program(&scratch);
    let id = with_demo(&program);
    let document = || {
        let shown = program.run(&["show", &id, "--json"]).stdout;
        let (record, statement) = shown.trim_end().split_once('\n').unwrap();
        (record.to_owned(), parse_statement(statement).unwrap())
    };
    let (before, first) = document();
    assert_eq!(first.revision, 1);
    assert!(!before.contains("Demo"), "{before}");
    let output = program.run(&["label", &id[..6], "reader=Anker 2.0", "note=x"]);
    assert_eq!(output.code, 0, "{output}");
    assert!(output.stdout.contains("reader = Anker 2.0\n"), "{output}");
    let shown = program.run(&["show", &id]).stdout;
    assert!(shown.contains("reader=Anker 2.0"), "{shown}");
    let output = program.run(&["label", "last", "reader="]);
    assert!(!output.stdout.contains("reader"), "{output}");
    assert!(output.stdout.contains("note = x\n"), "{output}");
    let (after, last) = document();
    assert_eq!(after, before);
    assert_eq!((last.revision, last.product), (3, first.product));
    assert_eq!(last.labels["note"], "x");
    assert_error(
        &program.run(&["label", "last", "no value"]),
        2,
        &["expected KEY=VALUE"],
    );
    assert_error(
        &program.run(&["label", "ffffffff", "a=b"]),
        2,
        &["no record"],
    );
}

#[test]
fn every_run_and_every_metric_is_exported() {
    let scratch = scratch();
    let program = program(&scratch);
    let mut metrics_count = 0;
    for seed in ["--seed=1", "--seed=2", "--seed=3"] {
        let output = program.run(&[&DEMO[..], &[seed, "--json=-"]].concat());
        assert_eq!(output.code, 0, "{output}");
        metrics_count += output.record().metrics.len();
    }
    let lines = program.run(&["export"]).stdout;
    assert_eq!(lines.lines().count(), 3);
    for line in lines.lines() {
        let record = cardmark_core::parse_record(line).unwrap();
        assert!(!record.trials.is_empty());
    }
    let csv = program.run(&["export", "--format=csv"]).stdout;
    let mut rows = csv.lines();
    let columns = rows.next().unwrap().split(',').count();
    assert!(
        rows.clone().all(|row| row.split(',').count() == columns),
        "{csv}"
    );
    assert_eq!(rows.count(), metrics_count);
}

#[test]
fn the_place_of_the_results_can_be_named() {
    let scratch = scratch();
    let program = program(&scratch);
    let place = scratch.path().join("elsewhere.db");
    let url = format!("sqlite://{}", text(&place));
    let mut command = program.command(&DEMO);
    let status = command.env("CARDMARK_DATABASE_URL", &url).status().unwrap();
    assert_eq!(status.code(), Some(0));
    assert!(place.exists() && !program.database().exists());
    let mut command = program.command(&DEMO);
    let status = command
        .env("CARDMARK_DATABASE_URL", "postgres://x")
        .status()
        .unwrap();
    assert_eq!(status.code(), Some(2));
}

/// Its program is another one.
#[test]
fn recover_names_the_program_of_an_interrupted_crosscheck() {
    let scratch = scratch();
    let program = program(&scratch);
    let journals = program.data().join("journals");
    std::fs::create_dir_all(&journals).unwrap();
    let head = JournalHead {
        job: JobKind::Crosscheck,
        target: "/mnt/card".to_owned(),
        labels: BTreeMap::new(),
    };
    drop(Journal::create(&journals, "card", &head, None).unwrap());
    let recovered = program.run(&["recover"]);
    assert_eq!(recovered.code, 0, "{recovered}");
    let named = "unfinished: `cardmark-crosscheck /mnt/card` of the same card continues";
    assert!(recovered.stderr.contains(named), "{recovered}");
}
