//! What the user states of a run stays beside its record.

use cardmark_core::{documents_of, parse_statement};
use cardmark_testkit::Program;

use crate::common::{BINARY, assert_error, program, scratch, text};

const CLASS: [&str; 4] = ["run", "sim:a1-32gb", "--suite=app-class", "--seed=7"];

/// The bytes of a record are the same whatever is stated, although its verdicts are shown by what is claimed.
#[test]
fn what_is_stated_changes_no_byte_of_the_record() {
    let scratch = scratch();
    let program = program(&scratch);
    let run = |more: &[&str]| {
        let output = program.run(&[&CLASS[..], &["--json=-"], more].concat());
        assert_eq!(output.code, 0, "{output}");
        output.stdout
    };
    let plain = run(&[]);
    let (record, none) = documents_of(&plain);
    assert!(none.is_none(), "{plain}");
    let claimed = run(&["--claim=A1", "--label=bought=market"]);
    let (same, stated) = documents_of(&claimed);
    assert!(same == record, "the record has other bytes");
    let stated = parse_statement(stated.unwrap()).unwrap();
    assert_eq!((stated.revision, stated.claims), (1, vec!["A1".to_owned()]));
    assert_eq!(stated.bought.as_deref(), Some("market"));
    for (claim, is_a1) in [("claims=A1", true), ("claims=A2", false)] {
        let output = program.run(&["label", "last", claim]);
        assert_eq!(output.code, 0, "{output}");
        let shown = program.run(&["show", "last"]).stdout;
        let found = (shown.contains("\nA1: "), shown.contains("\nA2: "));
        assert_eq!(found, (is_a1, !is_a1), "{shown}");
    }
    let shown = program.run(&["show", "last", "--json"]).stdout;
    assert!(
        documents_of(&shown).0 == record,
        "the record has other bytes"
    );
}

#[test]
fn a_claim_that_a_run_contradicts_is_said_first_and_stays_in_the_list() {
    let scratch = scratch();
    let program = program(&scratch);
    let run = ["run", "sim:a1-32gb", "--only=rand_read_4k", "--claim=64GB"];
    let output = program.run(&run);
    assert_eq!(output.code, 1, "{output}");
    let first = output.stdout.split("\n\n").nth(1).unwrap_or_default();
    assert!(first.starts_with("Smaller than its label: "), "{output}");
    assert!(
        output.stderr.contains("not what its label claims: 64GB"),
        "{output}"
    );
    let bad = |program: &Program| program.run(&["list", "--bad"]).stdout;
    assert!(
        bad(&program).contains("replace: smaller than its label"),
        "{}",
        bad(&program)
    );
    assert!(program.run(&["list"]).stdout.contains("capacity: fail"));
    let unknown = program.run(&["label", "last", "use=camra", "status=retired"]);
    assert_eq!(unknown.code, 2, "{unknown}");
    assert!(unknown.stderr.contains("camera"), "{unknown}");
    assert!(!program.run(&["label", "last"]).stdout.contains("status"));
    assert_eq!(program.run(&["label", "last", "status=retired"]).code, 0);
    assert!(
        bad(&program).contains("Left out: 1 card"),
        "{}",
        bad(&program)
    );
}

/// The store's tests have the rules.
#[test]
fn statements_travel_and_a_rival_one_is_refused() {
    let scratch = scratch();
    let (one, other) = (program(&scratch), scratch.path().join("other"));
    std::fs::create_dir(&other).unwrap();
    let other = Program::new(&BINARY, &other);
    let run = [
        "run",
        "sim:a1-32gb",
        "--only=rand_read_4k",
        "--label=sample=a",
    ];
    assert_eq!(one.run(&run).code, 0);
    let host = one.run(&["label", "last", "host=pi"]);
    assert_eq!(host.code, 0, "{host}");
    let file = scratch.path().join("runs.jsonl");
    let exported = one.run(&["export"]).stdout;
    assert!(!exported.contains("pi\""), "{exported}");
    std::fs::write(&file, exported.lines().last().unwrap()).unwrap();
    let lost = other.run(&["import", text(&file)]);
    let said = [
        "there is no record of that run",
        "hint: import its record first",
    ];
    assert_error(&lost, 2, &said);
    std::fs::write(&file, &exported).unwrap();
    let imported = other.run(&["import", text(&file)]);
    assert_eq!(imported.code, 0, "{imported}");
    assert_eq!(other.run(&["export"]).stdout, exported);
    assert_eq!(one.run(&["label", "last", "sample=c"]).code, 0);
    assert_eq!(other.run(&["label", "last", "sample=d"]).code, 0);
    std::fs::write(&file, one.run(&["export"]).stdout).unwrap();
    let refused = other.run(&["import", text(&file)]);
    assert_error(
        &refused,
        1,
        &["another statement on run", "hint: `cardmark label"],
    );
}

#[test]
fn the_public_form_withholds_what_was_not_asked_for() {
    let scratch = scratch();
    let program = program(&scratch);
    let run = [
        "run",
        "sim:a1-32gb",
        "--only=rand_read_4k",
        "--label=product=Demo",
        "--label=note=Ada",
    ];
    assert_eq!(program.run(&run).code, 0);
    let form = program.run(&["export", "--public"]);
    assert_eq!(form.code, 0, "{form}");
    assert!(form.stdout.contains("Demo") && !form.stdout.contains("Ada"));
    assert!(form.stderr.contains("withheld: "), "{form}");
    assert!(form.stderr.contains("labels.note"), "{form}");
    let kept = program.run(&["export", "--public", "--keep=labels.note"]);
    assert!(kept.stdout.contains("\"note\":\"Ada\""), "{kept}");
    assert!(!kept.stderr.contains("labels.note"), "{kept}");
    assert_error(
        &program.run(&["export", "--keep=labels.note"]),
        2,
        &["--public"],
    );
}

/// A copy under another id is named, and is no second run.
#[test]
fn a_copy_is_named_and_counts_once() {
    let scratch = scratch();
    let program = program(&scratch);
    for seed in ["--seed=7", "--seed=8"] {
        let run = [
            "run",
            "sim:a1-32gb",
            "--only=rand_read_4k",
            seed,
            "--label=product=Demo",
        ];
        assert_eq!(program.run(&run).code, 0);
    }
    let id = program
        .run(&["show", "last", "--json"])
        .record()
        .id
        .to_string();
    let shown = program.run(&["show", "last", "--json"]).stdout;
    let other = "00000000-0000-4000-8000-000000000001";
    let file = program.file("copy.jsonl");
    std::fs::write(&file, shown.replace(&id, other)).unwrap();
    // The copy has the lowest id, and was stored last.
    let ranked = || {
        let asked = ["rank", &id, "--metric=rand_read_4k", "--json"];
        let all = ["rank", "--metric=rand_read_4k", "--json"];
        [&asked[..], &all].map(|command| {
            let rank = program.run(command);
            assert_eq!(rank.code, 0, "{rank}");
            rank.stdout
        })
    };
    let before = ranked();
    let named = program.run(&["show", &id]).stdout;
    assert!(!named.contains("same measurements"), "{named}");
    let imported = program.run(&["import", text(&file), "--json"]);
    assert_eq!(imported.code, 0, "{imported}");
    let expected = format!("00000000: copy of run {}", &id[..8]);
    assert!(imported.stderr.contains(&expected), "{imported}");
    let rows: serde_json::Value = serde_json::from_str(&imported.stdout).unwrap();
    assert_eq!(rows[0]["copy_of"], id);
    let again = program.run(&["import", text(&file)]);
    assert!(!again.stderr.contains("copy of"), "{again}");
    let named = program.run(&["show", &id]).stdout;
    assert!(
        named.contains("same measurements as run 00000000\n"),
        "{named}"
    );
    assert_eq!(ranked(), before);
    let report = program.run(&["report", "product=Demo", "--format=json"]);
    let runs: serde_json::Value = serde_json::from_str(&report.stdout).unwrap();
    assert_eq!(runs.as_array().unwrap().len(), 2, "{report}");
    let said = "a copy of another run is not counted";
    assert!(report.stderr.contains(said), "{report}");
}
