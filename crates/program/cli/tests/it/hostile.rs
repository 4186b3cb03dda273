//! Record files from strangers: no character of theirs steers a terminal, and one run counts once.

use std::path::PathBuf;

use cardmark_core::is_hidden;
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
    let record = record_of(&program, "1");
    let id = record["id"].as_str().unwrap();
    let file = write(&program, "a.json", &record);
    let copy = write(&program, "b.json", &record);
    let (file, copy) = (text(&file), text(&copy));
    let once = program.run(&["report", file, "--title", "T"]).stdout;
    assert!(once.contains("1 run"), "{once}");
    for named in [
        &[file, file, file][..],
        &[file, copy],
        &[file, id],
        &[id, id, "last"],
        &["origin=simulated", "last", file],
    ] {
        let output = program.run(&[&["report", "--title", "T"], named].concat());
        assert_eq!(output.code, 0, "{named:?}: {output}");
        assert_eq!(output.stdout, once, "{named:?}");
        let said = format!("named more than once, counted once: {id}");
        assert!(output.stderr.contains(&said), "{named:?}: {output}");
    }
}

#[test]
fn one_id_with_two_contents_is_an_error() {
    let scratch = scratch();
    let program = program(&scratch);
    let mut record = record_of(&program, "1");
    let id = record["id"].as_str().unwrap().to_owned();
    let file = write(&program, "a.json", &record);
    record["written_bytes"] = json!(1);
    let edited = write(&program, "b.json", &record);
    record.as_object_mut().unwrap().remove("trials");
    let cut = write(&program, "c.json", &record);
    let (file, edited, cut) = (text(&file), text(&edited), text(&cut));
    let both = format!("{file},{edited}");
    for arguments in [
        &["report", file, edited][..],
        &["report", &both],
        &["report", edited, &id],
        &["report", &id, cut],
        &["report", "origin=simulated", edited],
        &["compare", &both, file],
    ] {
        let output = program.run(arguments);
        assert_error(&output, 2, &["differ under one id", &id, "b.json"][..2]);
        assert_eq!(output.stdout, "", "{arguments:?}");
    }
    // Another version of the program may simulate the same run differently.
    let mut later = record_of(&program, "1");
    let version = later["tool"]["version"].as_str().unwrap().to_owned();
    later["tool"]["version"] = json!("99.0.0");
    let later = write(&program, "d.json", &later);
    let output = program.run(&["report", file, text(&later)]);
    let programs = format!("run {id}, simulated by cardmark {version} and 99.0.0");
    assert_error(&output, 2, &["differ under one id", &programs]);
    assert!(!output.stderr.contains("edited"), "{output}");
    let output = program.run(&["report", file, edited]);
    assert_error(&output, 2, &["so one was edited"]);
    // A file without trials gets none of the stored record.
    let whole = program.run(&["report", "--format", "json", file]).stdout;
    let bare = program.run(&["report", "--format", "json", cut]).stdout;
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

const DIFFERS: &str = "does not match its measurements in";

#[test]
fn edited_figures_of_a_file_are_derived_again() {
    let scratch = scratch();
    let program = program(&scratch);
    for suite in [
        "quick",
        "dramble",
        "agnostics",
        "pibenchmarks",
        "raw-survey",
        "sustained",
        "position",
        "app-class",
        "speed-class",
        "parallel4",
    ] {
        let output = program.run(&["run", "sim:v30-64gb", "--suite", suite, "--json=-"]);
        let mut record: Value = serde_json::from_str(&output.stdout).unwrap();
        let honest = write(&program, "honest.json", &record);
        let honest = program.run(&["show", text(&honest)]);
        assert!(!honest.stderr.contains(DIFFERS), "{suite}: {honest}");
        record["metrics"][0]["value"] = json!(1e12);
        let name = format!(" {}", record["metrics"][0]["id"].as_str().unwrap());
        record["derived"] = Value::Null;
        let findings = record.get_mut("findings");
        if let Some(findings) = findings.and_then(Value::as_array_mut) {
            findings.retain(|finding| finding.get("noticed_by").is_some());
        }
        let edited = write(&program, "edited.json", &record);
        let shown = program.run(&["show", text(&edited)]);
        assert!(
            shown.stderr.contains(DIFFERS) && shown.stderr.contains(&name),
            "{suite}: {shown}"
        );
        assert_eq!(shown.stdout, honest.stdout, "{suite}");
    }
}

/// The kind of storage follows from the map of its blocks.
#[test]
fn an_edited_kind_of_storage_is_derived_again() {
    let scratch = scratch();
    let program = program(&scratch);
    for arguments in [
        &["verify", "sim:wrap-16gb"][..],
        &["verify", "sim:limbo-32gb"],
        &["verify", "sim:a1-32gb"],
        &["endure", "sim:chain-16gb", "--cycles", "1"],
    ] {
        let output = program.run(&[arguments, &["--json"]].concat());
        let mut record: Value = serde_json::from_str(&output.stdout).unwrap();
        let honest = write(&program, "honest.json", &record);
        let honest = program.run(&["show", text(&honest)]);
        assert!(!honest.stderr.contains(DIFFERS), "{arguments:?}: {honest}");
        let integrity = &mut record["integrity"];
        let is_good = integrity["kind"] == json!("confirmed");
        integrity["kind"] = json!(if is_good { "limbo" } else { "confirmed" });
        integrity["real_bytes"] = json!(integrity["size_bytes"].as_u64().unwrap() / 2);
        let edited = write(&program, "edited.json", &record);
        let shown = program.run(&["show", text(&edited)]);
        assert!(
            shown.stderr.contains(&format!("{DIFFERS} storage")),
            "{shown}"
        );
        assert_eq!(shown.stdout, honest.stdout, "{arguments:?}");
        let json = program.run(&["show", "--json", text(&edited)]);
        let derived: Value = serde_json::from_str(&json.stdout).unwrap();
        assert_ne!(derived["integrity"], record["integrity"]);
    }
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
