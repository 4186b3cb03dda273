//! Record files from strangers: no character of theirs steers a terminal, and one run counts once.

use std::path::PathBuf;

use cardmark_core::is_hidden;
use cardmark_samples::document;
use cardmark_testkit::Program;
use serde_json::{Value, json};

use crate::common::{assert_error, program, scratch, text};

/// Window title, clear screen, bell, backspace, C1, right to left, isolate, byte order mark.
const EVIL: &str =
    "\u{1b}]0;PWNED\u{7}\u{1b}[2J\u{8}\u{9b}31m\u{202e}\u{2066}\u{feff}\u{61c}\u{2028}";

fn record_of(program: &Program, seed: &str) -> Value {
    let output = program.run(&["run", "sim:a1-32gb", "--seed", seed, "--json=-"]);
    assert_eq!(output.code, 0, "{output}");
    serde_json::from_str(&output.stdout).unwrap()
}

fn write(program: &Program, name: &str, record: &Value) -> PathBuf {
    let path = program.file(name);
    std::fs::write(&path, record.to_string()).unwrap();
    path
}

/// Adds the characters to all texts that may be any.
fn poison(value: &mut Value, key: &str) {
    const FREE: [&str; 12] = [
        "model", "name", "detail", "advice", "only", "product", "source", "warnings", "vendor",
        "workload", "kernel", "version",
    ];
    match value {
        Value::String(text) if FREE.contains(&key) => text.push_str(EVIL),
        Value::Array(values) => values.iter_mut().for_each(|value| poison(value, key)),
        Value::Object(fields) => fields
            .iter_mut()
            .filter(|(key, _)| *key != "trials" && *key != "tool")
            .for_each(|(key, value)| poison(value, key)),
        _ => {}
    }
}

#[test]
fn no_character_of_a_file_steers_a_terminal() {
    let scratch = scratch();
    let program = program(&scratch);
    let mut record = record_of(&program, "1");
    record["labels"] = json!({ "product": "A" });
    record["board"]["model"] = json!("Board");
    poison(&mut record, "");
    record["metrics"][0]["id"] = json!(format!("seq{EVIL}"));
    // Other figures than those of the trials would be derived again.
    record.as_object_mut().unwrap().remove("trials");
    let evil = write(&program, "evil.json", &record);
    let other = write(&program, "other.json", &record_of(&program, "2"));
    let mut unknown = record_of(&program, "3");
    unknown["origin"]["kind"] = json!(EVIL);
    let unknown = write(&program, "unknown.json", &unknown);
    let (evil, other, unknown) = (text(&evil), text(&other), text(&unknown));
    let metric = format!("seq{EVIL}");
    let mut outputs = 0;
    for arguments in [
        &["show", evil][..],
        &["show", evil, "--json"],
        &["rank", evil],
        &["rank", evil, "--json"],
        &["rank", evil, "--metric", &metric],
        &["compare", evil, other, "--across", "suite,origin"],
        &["compare", evil, other],
        &["report", evil],
        &["report", evil, "--format", "csv"],
        &["report", evil, "--format", "html"],
        &["report", evil, "--format", "json"],
        &["report", evil, other, "--format", "svg"],
        &["show", unknown],
        &["report", unknown],
        &["compare", unknown, other],
        &["rank", unknown],
        &["show", EVIL],
    ] {
        let output = program.run(arguments);
        let mut both = output.stdout.clone() + &output.stderr;
        both = both.replace("\r\n", "\n");
        let is_bad = |letter: &char| is_hidden(*letter) && !matches!(letter, '\n' | '\t');
        let found = both.chars().find(is_bad);
        assert_eq!(found, None, "{arguments:?}: {output}");
        outputs += usize::from(output.code == 0);
    }
    assert!(outputs >= 9, "{outputs}");
}

/// On 27 November 2026 errors of arguments had U+202E, U+2066 and U+009B as they were given.
#[test]
fn no_character_of_an_argument_steers_a_terminal() {
    let scratch = scratch();
    let program = program(&scratch);
    let (label, json) = (format!("--label={EVIL}"), format!("--json=/sys/{EVIL}"));
    for arguments in [
        &[EVIL][..],
        &["list", EVIL],
        &["label", "last", EVIL],
        &["run", "--label", EVIL],
        &["run", &label],
        &["run", "--seed", EVIL],
        &["run", "--suite", EVIL],
        &["run", ".", EVIL],
        &["run", &json],
        &["report", "last", "-o", EVIL, "--format", EVIL],
        &["submit", "last", "--server", EVIL],
        &["probe", EVIL, "--cache", EVIL],
        &["verify", EVIL],
        &["explain", EVIL],
    ] {
        let output = program.run(arguments);
        let both = output.stdout.clone() + &output.stderr;
        let is_bad = |letter: &char| is_hidden(*letter) && !matches!(letter, '\n' | '\t');
        assert_eq!(both.chars().find(is_bad), None, "{arguments:?}: {output}");
        assert!(
            output.stderr.starts_with("error: "),
            "{arguments:?}: {output}"
        );
        assert_ne!(output.code, 0, "{arguments:?}: {output}");
    }
}

#[test]
fn one_run_counts_once_in_a_report() {
    let scratch = scratch();
    let program = program(&scratch);
    let mut record = record_of(&program, "1");
    let id = record["id"].as_str().unwrap().to_owned();
    let file = write(&program, "a.json", &record);
    let copy = write(&program, "b.json", &record);
    let (file, copy) = (text(&file), text(&copy));
    let once = program.run(&["report", file, "--title", "T"]).stdout;
    assert!(once.contains("One run"), "{once}");
    for named in [
        &[file, copy][..],
        &[file, &id],
        &["origin=simulated", "last", file],
    ] {
        let output = program.run(&[&["report", "--title", "T"], named].concat());
        assert_eq!(output.code, 0, "{named:?}: {output}");
        assert_eq!(output.stdout, once, "{named:?}");
        let said = format!("named more than once, counted once: {id}");
        assert!(output.stderr.contains(&said), "{named:?}: {output}");
    }
    record["written_bytes"] = json!(1);
    let edited = write(&program, "b.json", &record);
    let edited = text(&edited);
    for arguments in [
        &["report", &id, edited][..],
        &["compare", &format!("{file},{edited}"), file],
    ] {
        let output = program.run(arguments);
        assert_error(
            &output,
            2,
            &["differ under one id", &id, "so one was edited"],
        );
        assert_eq!(output.stdout, "", "{arguments:?}");
    }
    // A file without trials gets none of the stored record.
    record["written_bytes"] = json!(0);
    let whole = program.run(&["report", "--format", "json", file]).stdout;
    record.as_object_mut().unwrap().remove("trials");
    let cut = write(&program, "c.json", &record);
    let bare = program
        .run(&["report", "--format", "json", text(&cut)])
        .stdout;
    assert!(bare.len() * 2 < whole.len(), "{bare}");
}

#[test]
fn a_byte_order_mark_is_no_error_and_broken_text_is_one_of_the_file() {
    let scratch = scratch();
    let program = program(&scratch);
    let record = record_of(&program, "1");
    let with_mark = program.file("mark.json");
    std::fs::write(&with_mark, format!("\u{feff}{record}")).unwrap();
    let output = program.run(&["show", text(&with_mark)]);
    assert_eq!(output.code, 0, "{output}");
    for bytes in [&b"{\xff}"[..], b"no record"] {
        let path = program.file("broken.json");
        std::fs::write(&path, bytes).unwrap();
        assert_error(
            &program.run(&["show", text(&path)]),
            2,
            &["cannot read record"],
        );
    }
}

/// `know/judge/tests/it/forged.rs` has every kind of change.
#[test]
fn a_changed_record_is_shown_as_its_measurements_have_it_and_reported() {
    let scratch = scratch();
    let program = program(&scratch);
    for (name, part, edit) in EDITS {
        let mut record: Value = serde_json::from_str(&document(name)).unwrap();
        let honest = write(&program, "honest.json", &record);
        let honest = program.run(&["show", text(&honest)]);
        assert_eq!((honest.code, honest.stderr.as_str()), (0, ""), "{honest}");
        edit(&mut record);
        let edited = write(&program, "edited.json", &record);
        let shown = program.run(&["show", text(&edited)]);
        let warning = format!("does not match its measurements in {part}; shown as calculated");
        assert!(shown.stderr.contains(&warning), "{shown}");
        assert_eq!((shown.code, shown.stdout), (0, honest.stdout), "{name}");
        let json = program.run(&["show", "--json", text(&edited)]);
        let derived: Value = serde_json::from_str(&json.stdout).unwrap();
        let original: Value = serde_json::from_str(&document(name)).unwrap();
        for part in ["metrics", "integrity"] {
            assert_eq!(derived[part], original[part], "{name}");
        }
    }
}

/// Name of a record, what is reported, and the change.
type Edit = (&'static str, &'static str, fn(&mut Value));

const EDITS: [Edit; 2] = [
    ("run-sim-a1-32gb-quick", "seq_write_1m", |record| {
        let metrics = record["metrics"].as_array_mut().unwrap();
        let first = metrics.iter_mut().find(|one| one["id"] == "seq_write_1m");
        first.unwrap()["value"] = json!(1e12);
    }),
    ("verify-sim-wrap-16gb", "storage", |record| {
        record["integrity"]["kind"] = json!("confirmed");
    }),
];

#[test]
fn a_contradicting_record_is_imported_with_a_warning_and_not_ranked() {
    let scratch = scratch();
    let program = program(&scratch);
    let mut forged: Value = serde_json::from_str(&document("run-sim-a1-32gb-quick")).unwrap();
    forged["seed"] = json!("0000000000000006");
    let file = write(&program, "forged.json", &forged);
    let output = program.run(&["import", text(&file)]);
    assert_eq!(output.code, 0, "{output}");
    let warning = "contradicts itself: ";
    assert!(output.stderr.contains(warning), "{output}");
    let kept = program.run(&["show", "last", "--json"]);
    let kept: Value = serde_json::from_str(&kept.stdout).unwrap();
    assert_eq!(
        (&kept["trials"], &kept["seed"]),
        (&forged["trials"], &forged["seed"])
    );
    let shown = program.run(&["show", text(&file)]);
    assert!(
        shown.stdout.contains("the record contradicts itself"),
        "{shown}"
    );
    let ranked = program.run(&["rank"]);
    assert!(
        ranked.to_string().contains("contradicting_trials"),
        "{ranked}"
    );
}

/// A device without an end is no input.
#[test]
fn endless_input_is_refused() {
    let scratch = scratch();
    let program = program(&scratch);
    for arguments in [
        &["show", "/dev/zero"][..],
        &["compare", "/dev/zero", "/dev/zero"],
        &["import", "/dev/zero"],
        &["campaign", "/dev/zero"],
        &["report", "/dev/zero"],
    ] {
        let output = program.run(arguments);
        assert!([2, 3].contains(&output.code), "{arguments:?}: {output}");
        assert!(
            output.stderr.starts_with("error: "),
            "{arguments:?}: {output}"
        );
    }
}
