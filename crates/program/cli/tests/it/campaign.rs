//! `campaign` on simulated cards and boards, whose truth is known.

use std::path::{Path, PathBuf};

use cardmark_core::parse_run_file;
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

fn runs_count(file: &Path) -> usize {
    let runs = file.with_extension("").join("runs");
    std::fs::read_dir(runs).unwrap().count()
}

#[test]
fn a_card_that_fails_ends_a_campaign_as_it_ends_a_run() {
    for (model, code) in [("failing-32gb", 3), ("dead-1gb", 1)] {
        let text = format!(
            "title = \"One card\"\nrepeats = 1\n[[cards]]\nname = \"card\"\nsimulated = \"{model}\"\n\
             [[boards]]\nname = \"pi4\"\nsimulated = \"pi4\"\n"
        );
        let (_scratch, program, file) = rig(&text);
        let alone = program.run(&["run", &format!("sim:{model}")]);
        assert_eq!(alone.code, code, "{alone}");
        let output = program.run(&["campaign", crate::common::text(&file)]);
        assert_eq!(output.code, code, "{output}");
    }
}

#[test]
fn three_cards_on_two_boards_end_in_a_report() {
    let once = CAMPAIGN.replace("repeats = 2", "repeats = 1");
    let (_scratch, program, file) = rig(&once);
    let output = program.run(&["campaign", text(&file)]);
    assert_eq!(output.code, 0, "{output}");
    assert_eq!((program.runs_count(), runs_count(&file)), (6, 6));
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
    let path = folder.join("runs/red@pi4+quick+01.json");
    let red = parse_run_file(&std::fs::read_to_string(path).unwrap()).unwrap();
    assert_eq!(red.labels["claims"], "A1");
    assert_eq!(red.labels["price"], "8.99 EUR");
    // The same campaign yields the same bytes.
    let (_second, program, file) = rig(&once);
    assert_eq!(program.run(&["campaign", text(&file)]).code, 0);
    let other = file.with_extension("").join("report.html");
    assert!(std::fs::read_to_string(other).unwrap() == page);
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

/// A target that does not exist, and one where no card is mounted.
#[test]
fn who_is_there_is_led() {
    needs!(Script);
    let (scratch, program, file) = rig("");
    let point = scratch.path().join("card");
    let campaign = format!(
        "title = \"Led\"\nrepeats = 1\ncards = [{{ name = \"red\" }}, {{ name = \"blue\" }}]\n\
         boards = [{{ name = \"here\", target = \"{}\" }}]",
        point.display()
    );
    std::fs::write(&file, campaign).unwrap();
    let mut running = program.start_on_terminal(&["campaign", text(&file)]);
    running.hear("1 of 2 on here");
    running.hear("Enter when it is in");
    running.write("\n");
    running.hear(&format!("cannot find target `{}`", point.display()));
    std::fs::create_dir(&point).unwrap();
    running.write("l\n");
    running.hear("Put in card");
    running.write("\n");
    running.hear("lies on the disk that the system runs from");
    running.write("q\n");
    let output = running.wait();
    assert_eq!((output.code, program.runs_count()), (0, 0), "{output}");
    assert!(
        output.stderr.contains("nothing was measured yet"),
        "{output}"
    );
}
