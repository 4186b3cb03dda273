//! The store: broken, locked, and in use.

use std::collections::BTreeMap;
use std::fs::{File, OpenOptions};
use std::path::Path;

use cardmark_core::parse_statement;
use cardmark_samples::{full_record, later_records, later_statements};
use cardmark_store::{JobKind, Journal, JournalHead};
use cardmark_testkit::{Program, damage_database};
use rustix::fs::{FlockOperation, fcntl_lock};
use serde_json::{Value, json};
use uuid::Uuid;

use crate::common::{assert_error, program, scratch, text};

/// A run that is quickly made.
const DEMO: [&str; 2] = ["run", "sim:a1-32gb"];

fn with_demo(program: &Program) -> String {
    let output = program.run(&[&DEMO[..], &["--label=product=Demo", "--json=-"]].concat());
    assert_eq!(output.code, 0, "{output}");
    output.record().id.to_string()
}

/// Holds the store as SQLite does: with a lock on bytes of the file.
fn lock(program: &Program) -> File {
    let file = OpenOptions::new()
        .read(true)
        .write(true)
        .open(program.database())
        .unwrap();
    fcntl_lock(&file, FlockOperation::NonBlockingLockExclusive).unwrap();
    file
}

/// The store's tests have every kind of damage.
#[test]
fn a_store_that_is_no_database_is_reported_and_left_as_it_is() {
    let scratch = scratch();
    let program = program(&scratch);
    std::fs::create_dir_all(program.data()).unwrap();
    let garbage = b"no database\n".repeat(2000);
    std::fs::write(program.database(), &garbage).unwrap();
    for arguments in [&DEMO[..], &["list"], &["export"], &["recover"]] {
        let output = program.run(arguments);
        let said = ["is damaged or not a database", "hint: nothing was changed"];
        assert_error(&output, 3, &said);
        assert_eq!(output.stdout, "", "{output}");
        assert_eq!(std::fs::read(program.database()).unwrap(), garbage);
    }
    assert!(program.journals().is_empty());
}

/// Questions that published results can answer alone.
const PUBLISHED: [&[&str]; 7] = [
    &["recommend"],
    &["recommend", "--use", "endurance"],
    &["recommend", "--avoid"],
    &["rank", "--board", "Pi 4"],
    &["rank", "--list"],
    &["compare", "Samsung Evo Plus 64 GB", "SanDisk Extreme 16 GB"],
    &["report", "publication=geerling-a2", "--format", "csv"],
];

#[test]
fn published_results_answer_without_a_store_and_make_none() {
    let scratch = scratch();
    let program = program(&scratch);
    for arguments in PUBLISHED {
        let output = program.run(arguments);
        assert_eq!(output.code, 0, "{arguments:?}: {output}");
        assert!(!output.stderr.contains("your runs"), "{output}");
        let mut homeless = program.command(arguments);
        homeless.env_remove("HOME").env_remove("XDG_DATA_HOME");
        assert_eq!(homeless.status().unwrap().code(), Some(0), "{arguments:?}");
        assert!(!program.data().exists(), "{arguments:?}");
    }
}

/// A line names the store and the reason. Questions about own runs end with 3.
#[test]
fn published_results_answer_beside_a_store_that_cannot_be_opened() {
    const USER_VERSION: usize = 63;
    const APPLICATION_ID: usize = 68;
    let scratch = scratch();
    let program = program(&scratch);
    assert_eq!(program.run(&["list"]).code, 0);
    let store = std::fs::read(program.database()).unwrap();
    let changed = |index: usize, to: u8| {
        let mut store = store.clone();
        store[index] = to;
        store
    };
    for (content, reason) in [
        (b"no database".to_vec(), "is damaged or not a database"),
        (changed(USER_VERSION, 99), "was made by a newer cardmark"),
        (
            changed(USER_VERSION, 1),
            "was made by a development version",
        ),
        (changed(APPLICATION_ID, 0), "but not one of cardmark's"),
    ] {
        std::fs::write(program.database(), &content).unwrap();
        for arguments in PUBLISHED {
            let output = program.run(arguments);
            assert_eq!(output.code, 0, "{arguments:?}: {output}");
            assert_ne!(output.stdout, "", "{arguments:?}: {output}");
            let lines = output.stderr.lines();
            let of_store: Vec<&str> = lines.filter(|line| line.contains("your runs")).collect();
            let [line] = of_store.as_slice() else {
                panic!("{arguments:?}: {output}");
            };
            assert!(line.starts_with("your runs are left out: "), "{output}");
            assert!(line.contains("records.sqlite"), "{output}");
            assert!(line.contains(reason), "{output}");
        }
        for arguments in [&["rank"][..], &["rank", "last"], &["compare", "last"]] {
            assert_error(&program.run(arguments), 3, &[reason]);
        }
        assert_eq!(program.run(&["explain", "A1"]).stderr, "");
        assert_eq!(std::fs::read(program.database()).unwrap(), content);
    }
}

/// Every command that reads runs ends with 3 and names the run.
#[test]
fn one_damaged_value_is_never_left_out() {
    const OF_HEADS: [&[&str]; 5] = [
        &["rank", "--metric", "seq_read_1m"],
        &["recommend", "--use", "boot"],
        &["history"],
        &["compare", "origin=simulated", "seed=2"],
        &["report", "origin=simulated"],
    ];
    let damages: [(&str, &[&[&str]]); 3] = [
        (
            "UPDATE heads SET record_id = x'00' WHERE record_id",
            &OF_HEADS,
        ),
        (
            "UPDATE metrics SET value = 9e999 WHERE id = 'seq_read_1m' AND record_id",
            &[&["list"], OF_HEADS[0]],
        ),
        (
            "UPDATE records SET document = '{' WHERE id",
            &[&["export"], &["show"]],
        ),
    ];
    let scratch = scratch();
    let program = program(&scratch);
    for seed in ["1", "2"] {
        let label = format!("seed={seed}");
        let output = program.run(&["run", "sim:a1-32gb", "--seed", seed, "--label", &label]);
        assert_eq!(output.code, 0, "{output}");
    }
    let id = program.last().id.to_string();
    let database = std::fs::read(program.database()).unwrap();
    for (change, commands) in damages {
        std::fs::write(program.database(), &database).unwrap();
        let sql = format!("{change} = '{id}'");
        assert_eq!(damage_database(&program.database(), &sql), 1, "{sql}");
        for command in commands {
            let output = program.run(command);
            assert_eq!(output.code, 3, "{sql}: {command:?}: {output}");
            assert!(output.stderr.contains(&id), "{sql}: {command:?}: {output}");
        }
    }
}

#[test]
fn a_database_locked_only_at_the_end_loses_nothing() {
    let scratch = scratch();
    let program = program(&scratch);
    let folder = crate::common::folder(&scratch);
    let running = program.start(&["run", text(&folder), crate::common::QUICKEST]);
    running.hear("round 2");
    let file = lock(&program);
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
fn nothing_is_measured_while_another_process_holds_the_store() {
    let scratch = scratch();
    let program = program(&scratch);
    with_demo(&program);
    let file = lock(&program);
    let output = program.run(&[&DEMO[..], &["--seed=2"]].concat());
    let said = [
        "is locked by another process",
        "hint: another program holds it",
    ];
    assert_error(&output, 3, &said);
    assert!(program.journals().is_empty());
    drop(file);
    assert_eq!(program.run(&["list"]).code, 0);
    assert_eq!(program.runs_count(), 1);
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
fn labels_are_added_removed_and_shown() {
    let scratch = scratch();
    let program = program(&scratch);
    let id = with_demo(&program);
    let output = program.run(&["label", &id[..6], "reader=Anker 2.0", "note=x"]);
    assert_eq!(output.code, 0, "{output}");
    assert!(output.stdout.contains("reader = Anker 2.0\n"), "{output}");
    let shown = program.run(&["show", &id]).stdout;
    assert!(shown.contains("reader=Anker 2.0"), "{shown}");
    let output = program.run(&["label", "last", "reader="]);
    assert_eq!(output.stdout, "note = x\nproduct = Demo\n", "{output}");
    let shown = program.run(&["show", &id, "--json"]).stdout;
    let (record, statement) = shown.trim_end().split_once('\n').unwrap();
    assert!(!record.contains("Demo"), "{record}");
    let stated = parse_statement(statement).unwrap();
    assert_eq!((stated.revision, stated.labels["note"].as_str()), (3, "x"));
    for (arguments, said) in [
        (["label", "last", "no value"], "expected KEY=VALUE"),
        (["label", "ffffffff", "a=b"], "no record"),
    ] {
        assert_error(&program.run(&arguments), 2, &[said]);
    }
}

#[test]
fn every_run_and_every_metric_is_exported() {
    let scratch = scratch();
    let program = program(&scratch);
    let mut metrics_count = 0;
    for seed in ["--seed=1", "--seed=2"] {
        let output = program.run(&[&DEMO[..], &[seed, "--json=-"]].concat());
        assert_eq!(output.code, 0, "{output}");
        metrics_count += output.record().metrics.len();
    }
    let lines = program.run(&["export"]).stdout;
    assert_eq!(lines.lines().count(), 2);
    for line in lines.lines() {
        let record = cardmark_core::parse_record(line).unwrap();
        assert!(!record.trials.is_empty());
    }
    let csv = program.run(&["export", "--format=csv"]).stdout;
    assert_eq!(csv.lines().count(), metrics_count + 1);
}

#[test]
fn documents_of_later_versions_are_returned_as_they_came() {
    let scratch = scratch();
    let program = program(&scratch);
    let mut lines = vec![full_record()];
    lines.extend(later_records().into_iter().map(|later| later.document));
    let mut statement = later_statements(Uuid::from_u128(1)).remove(0).1;
    statement["revision"] = json!(4);
    lines.insert(1, statement.to_string());
    let text = lines.join("\n") + "\n";
    let file = program.file("later.jsonl");
    std::fs::write(&file, &text).unwrap();
    let imported = program.run(&["import", file.to_str().unwrap()]);
    assert_eq!(imported.code, 0, "{imported}");
    let said = format!("imported {} runs", lines.len() - 1);
    assert!(imported.stderr.contains(&said), "{imported}");
    assert!(
        program.run(&["export"]).stdout == text,
        "export changed a document"
    );
    let shown = program.run(&["show", &Uuid::from_u128(1).to_string(), "--json"]);
    assert_eq!(shown.stdout, lines[..2].join("\n") + "\n");
}

/// The store's tests have a store of each version.
#[test]
fn a_store_of_an_earlier_version_is_read() {
    let scratch = scratch();
    let program = program(&scratch);
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../measure/store/fixtures/stores");
    let mut packed = File::open(folder.join("version-11.sqlite.zst")).unwrap();
    let mut decoder = ruzstd::decoding::StreamingDecoder::new(&mut packed).unwrap();
    std::fs::create_dir_all(program.data()).unwrap();
    std::io::copy(&mut decoder, &mut File::create(program.database()).unwrap()).unwrap();
    let shown = program.run(&["show", "last"]);
    assert_eq!(shown.code, 0, "{shown}");
    assert!(shown.stdout.contains("note=after the move"), "{shown}");
    let new = program.run(&["run", "sim:a1-32gb", "--only=rand_read_4k", "--seed=77"]);
    assert_eq!(new.code, 0, "{new}");
    let sides = [
        "compare",
        "product=Red 32 GB",
        "last",
        "--metric=rand_read_4k",
    ];
    let compared = program.run(&[&sides[..], &["--across=method,suite"]].concat());
    assert_eq!(compared.code, 0, "{compared}");
    assert!(compared.stdout.contains("random reads"), "{compared}");
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
