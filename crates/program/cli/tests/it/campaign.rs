//! `campaign` on simulated cards and boards, whose truth is known.

use std::path::{Path, PathBuf};

use cardmark_core::{Record, parse_run_file};
use cardmark_sim::Model;
use cardmark_testkit::{Program, needs};
use rustix::process::Signal;
use tempfile::TempDir;

use crate::common::{assert_error, program, scratch, text};

const CAMPAIGN: &str = r#"
title = "Three cards on two boards"
repeats = 2
[[cards]]
name = "red"
product = "Red 32 GB"
claims = ["A1"]
labels = { price = "8.99 EUR" }
simulated = "a1-32gb"
[[cards]]
name = "blue"
simulated = "a2-64gb"
[[cards]]
name = "old"
simulated = "c10-16gb"
[[boards]]
name = "pi3"
simulated = "pi3"
[[boards]]
name = "pi4"
simulated = "pi4"
"#;

/// A program, and a campaign's file beside which its folder will be.
fn rig(text: &str) -> (TempDir, Program, PathBuf) {
    let scratch = scratch();
    let program = program(&scratch);
    let file = scratch.path().join("cards.toml");
    std::fs::write(&file, text).unwrap();
    (scratch, program, file)
}

fn record(file: &Path, name: &str) -> Record {
    let path = file.with_extension("").join("runs").join(name);
    parse_run_file(&std::fs::read_to_string(path).unwrap()).unwrap()
}

fn runs_count(file: &Path) -> usize {
    let runs = file.with_extension("").join("runs");
    std::fs::read_dir(runs).unwrap().count()
}

#[test]
fn three_cards_on_two_boards_end_in_a_report() {
    let (_scratch, program, file) = rig(CAMPAIGN);
    let output = program.run(&["campaign", text(&file)]);
    assert_eq!(output.code, 0, "{output}");
    assert_eq!((program.runs_count(), runs_count(&file)), (12, 12));
    assert!(output.stderr.contains("report: "), "{output}");
    let folder = file.with_extension("");
    for name in [
        "report.html",
        "report.md",
        "figures.csv",
        "charts/random-write-4k.svg",
        "charts/random-write-4k.png",
        "charts/random-write-4k-vs-random-read-4k.png",
    ] {
        assert!(folder.join(name).metadata().unwrap().len() > 500, "{name}");
    }
    let page = std::fs::read_to_string(folder.join("report.html")).unwrap();
    for said in [
        "Three cards on two boards",
        "Red 32 GB",
        "simulated Raspberry Pi 3",
    ] {
        assert!(page.contains(said), "{said}");
    }
}

#[test]
fn each_run_is_of_its_card_on_its_board() {
    let (_scratch, program, file) = rig(CAMPAIGN);
    assert_eq!(program.run(&["campaign", text(&file)]).code, 0);
    let models = [("red", "a1-32gb"), ("blue", "a2-64gb"), ("old", "c10-16gb")];
    for (card, model) in models {
        for board in ["pi3", "pi4"] {
            let record = record(&file, &format!("{card}@{board}+quick+02.json"));
            let model = Model::named(model).unwrap().on_board(board).unwrap();
            assert_eq!(record.origin.source, Some(model.name_on_board()));
            let reads = record
                .trials
                .iter()
                .find(|t| t.workload.id == "rand_read_4k");
            let truth = model.truth(&reads.unwrap().workload).unwrap();
            // A run differs from its model by some percent.
            let found = record.metric("rand_read_4k").unwrap().value;
            let ratio = found / truth.operations_per_s;
            assert!((0.8..1.25).contains(&ratio), "{card} {board} {ratio}");
        }
    }
    let red = record(&file, "red@pi4+quick+01.json");
    for (key, value) in [
        ("price", "8.99 EUR"),
        ("setting", "pi4"),
        ("repeat", "1"),
        ("claims", "A1"),
    ] {
        assert_eq!(red.labels.get(key).map(String::as_str), Some(value));
    }
}

#[test]
fn it_goes_on_where_it_ended() {
    let (_scratch, program, file) = rig(CAMPAIGN);
    assert_eq!(
        program
            .run(&["campaign", text(&file), "--board", "pi4"])
            .code,
        0
    );
    assert_eq!(program.runs_count(), 6);
    let gone = file.with_extension("").join("runs/old@pi4+quick+02.json");
    std::fs::remove_file(&gone).unwrap();
    let plan = program.run(&["campaign", text(&file), "--plan"]);
    for said in [
        "pi3: 0 of 6 done",
        "pi4: 5 of 6 done",
        "  old: 1 of 2",
        "  next: old",
    ] {
        assert!(plan.stdout.contains(said), "{said}: {plan}");
    }
    let output = program.run(&["campaign", text(&file), "--board", "pi4"]);
    assert!(
        output.stderr.contains("old on pi4, quick, 2 of 2: "),
        "{output}"
    );
    assert!(!output.stderr.contains("red on"), "{output}");
    assert!(gone.exists());
    assert_eq!(runs_count(&file), 6);
}

#[test]
fn the_same_campaign_yields_the_same_bytes() {
    let once = CAMPAIGN.replace("repeats = 2", "repeats = 1");
    let (_first, program, file) = rig(&once);
    let (_second, other, other_file) = rig(&once);
    assert_eq!(program.run(&["campaign", text(&file)]).code, 0);
    assert_eq!(other.run(&["campaign", text(&other_file)]).code, 0);
    let read = |file: &Path| std::fs::read(file.with_extension("").join("report.html")).unwrap();
    assert!(read(&file) == read(&other_file));
}

#[test]
fn a_card_that_fails_is_kept_and_the_others_go_on() {
    let failing = CAMPAIGN.replace("a2-64gb", "failing-32gb");
    let (_scratch, program, file) = rig(&failing);
    let output = program.run(&["campaign", text(&file), "--board", "pi4"]);
    assert_eq!(output.code, 3, "{output}");
    assert_eq!(runs_count(&file), 6);
    assert!(output.stderr.contains("io_error"), "{output}");
    let plan = program.run(&["campaign", text(&file), "--plan"]);
    assert!(plan.stdout.contains("pi4: 4 of 6 done"), "{plan}");
    let again = program.run(&["campaign", text(&file), "--board", "pi4"]);
    assert_eq!(again.code, 3, "only what failed is tried again: {again}");
    assert!(!again.stderr.contains("red on"), "{again}");
    assert_eq!(runs_count(&file), 6);
}

#[test]
fn a_card_that_loses_data_ends_the_campaign_with_a_bad_verdict() {
    let losing = CAMPAIGN.replace("a2-64gb", "dead-1gb");
    let (_scratch, program, file) = rig(&losing);
    let output = program.run(&["campaign", text(&file), "--board", "pi4"]);
    assert_eq!(output.code, 1, "{output}");
    assert_eq!(runs_count(&file), 6, "the others go on: {output}");
}

#[test]
fn names_that_look_alike_do_not_share_a_file() {
    let alike = CAMPAIGN
        .replace("repeats = 2", "repeats = 1")
        .replace("\"red\"", "\"a\"")
        .replace("\"blue\"", "\"a-b\"")
        .replace("\"pi3\"\nsim", "\"b-c\"\nsim")
        .replace("\"pi4\"\nsim", "\"c\"\nsim");
    let (_scratch, program, file) = rig(&alike);
    assert_eq!(program.run(&["campaign", text(&file)]).code, 0);
    assert_eq!(runs_count(&file), 6);
}

#[test]
fn a_folder_of_another_campaign_is_left_alone() {
    let (_scratch, program, file) = rig(CAMPAIGN);
    assert_eq!(
        program
            .run(&["campaign", text(&file), "--board", "pi3"])
            .code,
        0
    );
    std::fs::write(&file, CAMPAIGN.replace("Three", "3")).unwrap();
    let output = program.run(&["campaign", text(&file)]);
    assert_error(
        &output,
        2,
        &["runs of another campaign", "\"Three cards on two boards\""],
    );
    assert_eq!(runs_count(&file), 6);
}

#[test]
fn a_signal_ends_the_campaign_and_not_only_a_run() {
    let (_scratch, program, file) = rig(&CAMPAIGN.replace("repeats = 2", "repeats = 50"));
    let running = program.start(&["campaign", text(&file)]);
    running.hear("on pi3, quick, 1 of 50");
    running.signal(Signal::INT);
    let output = running.wait();
    assert!([130, -1].contains(&output.code), "{output}");
    let kept = runs_count(&file);
    assert!((1..20).contains(&kept), "{kept}");
    let plan = program.run(&["campaign", text(&file), "--plan"]);
    assert!(
        plan.stdout.contains(&format!("pi3: {kept} of 150 done")),
        "{plan}"
    );
}

#[test]
fn where_no_card_is_mounted_nothing_is_measured() {
    needs!(Script);
    let (scratch, program, file) = rig("");
    let point = scratch.path().join("card");
    std::fs::create_dir(&point).unwrap();
    let campaign = format!(
        "title = \"Led\"\nrepeats = 1\ncards = [{{ name = \"red\" }}]\nboards = [{{ name = \"here\", target = \"{}\" }}]",
        point.display()
    );
    std::fs::write(&file, campaign).unwrap();
    let mut running = program.start_on_terminal(&["campaign", text(&file)]);
    running.hear("Enter when it is in");
    running.write("\n");
    running.hear("lies on the disk that the system runs from");
    running.write("q\n");
    assert_eq!(running.wait().code, 0);
    assert_eq!(program.runs_count(), 0);
}

#[test]
fn a_run_that_cannot_be_read_is_not_measured_again() {
    let (_scratch, program, file) = rig(CAMPAIGN);
    assert_eq!(
        program
            .run(&["campaign", text(&file), "--board", "pi3"])
            .code,
        0
    );
    let path = file.with_extension("").join("runs/red@pi3+quick+01.json");
    std::fs::write(&path, "{").unwrap();
    let output = program.run(&["campaign", text(&file)]);
    assert_error(&output, 3, &["red@pi3+quick+01.json", "hint: move it away"]);
    assert_eq!(std::fs::read_to_string(&path).unwrap(), "{");
}

#[test]
fn mistakes_of_the_file_are_told() {
    let (_scratch, program, file) = rig("title = 1");
    let output = program.run(&["campaign", text(&file)]);
    assert_error(&output, 2, &["cannot read campaign", "--example"]);
    let example = program.run(&["campaign", "--example"]);
    std::fs::write(&file, &example.stdout).unwrap();
    let output = program.run(&["campaign", text(&file), "--board", "pi4"]);
    assert_error(
        &output,
        2,
        &["there is no terminal to lead through the cards"],
    );
    let output = program.run(&["campaign", text(&file), "--board", "pi9"]);
    assert_error(&output, 2, &["no board is called `pi9`", "pi4, pi5-reader"]);
}

#[test]
fn who_is_there_is_led() {
    needs!(Script);
    let (scratch, program, file) = rig("");
    let missing = scratch.path().join("missing");
    let content = format!(
        "title = \"Led\"\nrepeats = 1\ncards = [{{ name = \"red\" }}, {{ name = \"blue\" }}]\n\
         boards = [{{ name = \"here\", target = \"{}\" }}]",
        missing.display()
    );
    std::fs::write(&file, content).unwrap();
    let mut running = program.start_on_terminal(&["campaign", text(&file)]);
    running.hear("1 of 2 on here");
    running.hear("Enter when it is in");
    running.write("\n");
    running.hear(&format!("cannot find target `{}`", missing.display()));
    running.write("l\n");
    running.hear("Put in card");
    running.write("q\n");
    let output = running.wait();
    assert_eq!(output.code, 0, "{output}");
    assert!(
        output.stderr.contains("nothing was measured yet"),
        "{output}"
    );
}
