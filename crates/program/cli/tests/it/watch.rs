//! `watch` on this machine.

use std::time::Duration;

use cardmark_core::Rng;
use cardmark_testkit::{Mount, Program, needs};
use serde_json::Value;

use crate::common::{MIB, assert_error, folder, program, scratch, text};

/// Kills if `CARDMARK_KILLS` is not set.
const KILLS: u64 = 8;

fn look(program: &Program, arguments: &[&str]) -> Value {
    let output = program.run(&[&["watch", "--format", "json"], arguments].concat());
    assert_eq!(output.code, 0, "{output}");
    serde_json::from_str(&output.stdout).unwrap()
}

#[test]
fn a_look_is_short_and_keeps_its_state_elsewhere() {
    let scratch = scratch();
    let folder = folder(&scratch);
    let program = program(&scratch);
    let output = program.run(&["watch", text(&folder)]);
    assert_eq!(output.code, 0, "{output}");
    assert!(output.stdout.lines().count() <= 16, "{output}");
    assert!(output.stdout.contains("life"), "{output}");
    assert!(!program.data().exists(), "no store is made");
    assert!(std::fs::read_dir(&folder).unwrap().next().is_none());
    let first = look(&program, &[text(&folder)]);
    let second = look(&program, &[text(&folder)]);
    assert!(first["begun_s"].is_u64(), "{first}");
    assert_eq!(first["begun_s"], second["begun_s"]);
    assert_eq!(first["target"], text(&folder));
    let both = look(&program, &[text(&folder), text(scratch.path())]);
    assert_eq!(both.as_array().map(Vec::len), Some(2), "{both}");
}

#[test]
fn a_target_that_is_gone_does_not_hide_the_others() {
    let scratch = scratch();
    let folder = folder(&scratch);
    let program = program(&scratch);
    let output = program.run(&["watch", "/nothing/here", text(&folder), "--format", "json"]);
    assert_eq!(output.code, 3, "{output}");
    let looks: Value = serde_json::from_str(&output.stdout).unwrap();
    assert_eq!(looks[0]["target"], text(&folder), "{output}");
    assert!(output.stderr.contains("cannot find target"), "{output}");
}

#[test]
fn wrong_words_are_refused() {
    let scratch = scratch();
    let program = program(&scratch);
    let output = program.run(&["watch", "sim:a1-32gb"]);
    assert_error(&output, 2, &["simulated cards cannot be watched"]);
    let output = program.run(&["watch", "--acknowledge=everything"]);
    assert_error(&output, 2, &["expected one of all, read_only"]);
    assert!(!program.states().exists());
}

#[test]
fn a_program_that_writes_is_shown_with_its_file() {
    needs!(Root, LoopDevice, Ext4);
    const WRITES: &str = "while :; do echo line >>\"$1\"; done";
    let scratch = scratch();
    let card = Mount::ext4_in_memory(scratch.path(), 64 * MIB);
    let file = card.folder().join("written");
    let words = ["-c", WRITES, "sh", text(&file)];
    let mut writer = std::process::Command::new("sh")
        .args(words)
        .spawn()
        .unwrap();
    let output = program(&scratch).run(&["watch", text(card.folder()), "--writers", "2s"]);
    writer.kill().unwrap();
    writer.wait().unwrap();
    assert_eq!(output.code, 0, "{output}");
    let mut lines = output.stdout.lines();
    let is_named = |line: &str| line.starts_with("sh ") && line.contains("/written");
    assert!(lines.any(is_named), "{output}");
    assert!(output.stdout.lines().count() <= 12, "{output}");
    let output = program(&scratch).run(&["watch", "--writers", "2s", "--format", "json"]);
    assert_error(&output, 2, &["cannot be used with"]);
}

/// Each look that is begun keeps another state, and may be killed at any moment.
#[test]
fn a_killed_look_leaves_the_state_before_or_its_own() {
    let asked = std::env::var("CARDMARK_KILLS").ok();
    let kills = asked.map_or(KILLS, |count| count.parse().unwrap());
    let scratch = scratch();
    let folder = folder(&scratch);
    let program = program(&scratch);
    let mut rng = Rng::new(u64::from(std::process::id()));
    let first = look(&program, &[text(&folder), "--product", "0"]);
    let mut last = "0".to_owned();
    for kill in 1..=kills {
        let product = kill.to_string();
        let arguments = ["watch", text(&folder), "--product", &product];
        let mut child = program.command(&arguments).spawn().unwrap();
        std::thread::sleep(Duration::from_micros(rng.below(60_000)));
        // It may have ended.
        let _ = child.kill();
        child.wait().unwrap();
        let now = look(&program, &[text(&folder)]);
        assert_eq!(now["begun_s"], first["begun_s"]);
        let named = now["disks"][0]["product"].as_str().unwrap().to_owned();
        assert!(named == last || named == product, "{kill}: {named}");
        last = named;
    }
}
