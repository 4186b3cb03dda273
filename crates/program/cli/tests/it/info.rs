//! `info`, `list devices` and `explain` on this machine.

use std::fs::File;

use cardmark_testkit::{Mount, Program, needs};
use serde_json::Value;

use crate::common::{BINARY, MIB, NOBODY, QUICKEST, assert_error, folder, program, scratch, text};

#[test]
fn info_tells_without_writing_anything() {
    let scratch = scratch();
    let folder = folder(&scratch);
    let program = program(&scratch);
    let output = program.run(&["info", text(&folder)]);
    assert_eq!(output.code, 0, "{output}");
    assert!(output.stdout.contains("system"), "{output}");
    assert_eq!(output.stderr, "", "{output}");
    assert!(!program.data().exists(), "not even a store");
    let json = program.run(&["info", text(&folder), "--json", "--claim", "a1"]);
    let value: Value = serde_json::from_str(&json.stdout).unwrap();
    assert_eq!(value["labels"]["claims"], "A1");
    assert_eq!(value["target"]["kind"], "directory");
    assert!(value["host"]["kernel"].is_string(), "{json}");
}

#[test]
fn who_is_not_root_is_told_what_root_would_see() {
    needs!(Root);
    // In a place that everybody may enter.
    let scratch = tempfile::tempdir_in("/var/tmp").unwrap();
    let everybody = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    std::fs::set_permissions(scratch.path(), everybody).unwrap();
    let root = Program::new(&BINARY, scratch.path());
    let output = root.run(&["info", text(scratch.path())]);
    assert!(!output.stdout.contains("root would also see"), "{output}");
    let output = root.as_user(NOBODY).run(&["info", text(scratch.path())]);
    assert!(output.stdout.contains("root would also see: "), "{output}");
    assert!(output.stdout.contains("messages of the kernel"), "{output}");
}

#[test]
fn info_of_a_device_and_of_a_simulated_card() {
    needs!(Root, LoopDevice, Ext4);
    let scratch = scratch();
    let card = Mount::ext4_in_memory(scratch.path(), 64 * MIB);
    let program = program(&scratch);
    let output = program.run(&["info", text(card.device().path()), "--json"]);
    let value: Value = serde_json::from_str(&output.stdout).unwrap();
    assert_eq!(value["target"]["layers"][0]["kind"], "loop", "{output}");
    let simulated = program.run(&["info", "sim:a1-32gb"]);
    assert_eq!(simulated.code, 0);
    assert!(simulated.stdout.contains("32 GB (29.8 GiB)"), "{simulated}");
}

#[test]
fn wrong_words_are_told() {
    let scratch = scratch();
    let program = program(&scratch);
    let missing = scratch.path().join("missing");
    let output = program.run(&["info", text(&missing)]);
    let said = format!("cannot find target `{}`", missing.display());
    assert_error(&output, 3, &[&said, "hint: "]);
    let output = program.run(&["info", "--claim", "A9"]);
    assert_error(&output, 2, &["classes are C2 to C10"]);
    let output = program.run(&["explain", "sdr1O4"]);
    assert_error(
        &output,
        2,
        &["no explanation of `sdr1O4`", "hint: perhaps: "],
    );
}

#[test]
fn devices_are_listed_with_what_is_on_them() {
    let scratch = scratch();
    let program = program(&scratch);
    let output = program.run(&["list", "devices", "--json"]);
    let rows: Vec<Value> = serde_json::from_str(&output.stdout).unwrap();
    for row in &rows {
        assert!(
            row["name"].is_string() && row["directories"].is_array(),
            "{row}"
        );
        assert!(row["size_bytes"].as_u64() > Some(0), "{row}");
    }
    let table = program.run(&["list", "devices"]);
    assert_eq!(table.stdout.is_empty(), rows.is_empty(), "{table}");
}

#[test]
fn words_are_explained_however_they_are_written() {
    let scratch = scratch();
    let program = program(&scratch);
    let expected = program.run(&["explain", "no_command_queue"]);
    assert_eq!(expected.code, 0, "{expected}");
    assert!(expected.stdout.contains("source: "), "{expected}");
    for words in [&["No", "command", "queue"][..], &["no-command-queue"]] {
        let output = program.run(&[&["explain"], words].concat());
        assert_eq!(output.stdout, expected.stdout);
    }
    let json = program.run(&["explain", "A2", "--json"]);
    let value: Value = serde_json::from_str(&json.stdout).unwrap();
    assert_eq!(value["id"], "A2", "{json}");
    let field = program.run(&["explain", "erase_timeout"]);
    assert!(field.stdout.contains("SSR, bits 407 to 402"), "{field}");
    let all = program.run(&["explain"]);
    for word in [
        "Labels on a card",
        "A2",
        "limbo",
        "`cardmark explain fakes`",
    ] {
        assert!(all.stdout.contains(word), "{word}: {all}");
    }
    let group = program.run(&["explain", "fakes"]);
    assert!(group.stdout.contains("wraparound"), "{group}");
    let question = program.run(&["explain", "power", "loss"]);
    assert_eq!(question.code, 0, "{question}");
    assert!(question.stdout.contains("power loss"), "{question}");
}

#[test]
fn products_and_boards_are_explained_by_part_of_their_names() {
    let scratch = scratch();
    let program = program(&scratch);
    let board = program.run(&["explain", "Zero", "2", "W"]);
    assert_eq!(board.code, 0, "{board}");
    for words in [
        "Raspberry Pi Zero 2 W\n",
        "sold since 2021",
        "2030-01",
        "902120",
        "At most 25 MB/s pass",
        "Sources",
    ] {
        assert!(board.stdout.contains(words), "{words}: {board}");
    }
    assert_eq!(program.run(&["explain", "zero2w"]).stdout, board.stdout);
    let several = program.run(&["explain", "evo+"]);
    assert!(
        several.stdout.starts_with("`evo+` can mean 5 things:\n"),
        "{several}"
    );
    let json = |words: &[&str]| -> Value {
        let output = program.run(&[&["explain", "--json"], words].concat());
        serde_json::from_str(&output.stdout).unwrap()
    };
    let board = json(&["Zero 2 W"]);
    assert_eq!(board["id"], "raspberry_pi_zero_2_w");
    assert_eq!(board["most_slot_bytes_per_s"], 25_000_000);
    let several = json(&["Evo Plus"]);
    assert_eq!(several.as_array().map(Vec::len), Some(5));
    assert_eq!(several[2]["claims"][0]["read_bytes_per_s"], 130_000_000);
    assert_eq!(json(&["MB-MC64KA/EU"])["id"], "samsung_evo_plus_2021");
    let unknown = program.run(&["explain", "zeppelin"]);
    assert_error(&unknown, 2, &["no explanation of `zeppelin`", "hint: "]);
}

#[test]
fn a_run_waits_for_its_turn() {
    let scratch = scratch();
    let folder = folder(&scratch);
    let program = program(&scratch);
    let lock = File::create(program.lock_file()).unwrap();
    lock.lock().unwrap();
    let running = program.start(&["run", text(&folder), QUICKEST, "--claim", "U3"]);
    let holder = format!("waits for process {} of user ", std::process::id());
    running.hear(&holder);
    lock.unlock().unwrap();
    let output = running.wait();
    assert_eq!(output.code, 0, "{output}");
    let record = program.last();
    assert_eq!(record.labels.get("claims").map(String::as_str), Some("U3"));
    let context = record.context.unwrap();
    assert_eq!(context.must["suite"], "quick 2");
    assert_eq!(context.must["target"], "directory");
}
