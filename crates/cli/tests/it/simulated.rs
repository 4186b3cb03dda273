//! Simulated cards, whose output is the same everywhere.

use cardmark_core::FindingKind;

use crate::common::{assert_partial, program, scratch, whole_count};

fn shown(columns: u32) -> String {
    let scratch = scratch();
    let program = program(&scratch).columns(columns);
    let output = program.run(&["run", "sim:a1-32gb"]);
    assert_eq!((output.code, output.stderr.as_str()), (0, ""), "{output}");
    assert!(
        output
            .stdout
            .lines()
            .all(|line| line.chars().count() <= columns as usize)
    );
    output.stdout
}

#[test]
fn a_run_at_80_columns() {
    insta::assert_snapshot!(shown(80), @"");
}

#[test]
fn a_run_at_40_columns() {
    insta::assert_snapshot!(shown(40), @"");
}

#[test]
fn the_same_seed_gives_the_same_bytes() {
    let run = |seed: &str| {
        let scratch = scratch();
        program(&scratch).run(&["run", "sim:a2-64gb", seed, "--json=-"])
    };
    let first = run("--seed=7");
    assert_eq!(first.code, 0, "{first}");
    assert_eq!(run("--seed=7"), first);
    assert_ne!(run("--seed=8").stdout, first.stdout);
}

#[test]
fn a_run_can_be_repeated() {
    let scratch = scratch();
    let program = program(&scratch);
    for _ in 0..2 {
        let output = program.run(&["run", "sim:a1-32gb"]);
        assert_eq!(output.code, 0, "{output}");
    }
    assert_eq!(program.runs_count(), 1);
}

#[test]
fn cards_that_fail_leave_a_partial_record() {
    let cases = [
        ("sim:failing-32gb", FindingKind::IoError, "at byte "),
        ("sim:vanishing-32gb", FindingKind::Vanished, "at byte "),
        ("sim:silent-32gb", FindingKind::NoAnswer, "no answer for "),
    ];
    for (target, kind, said) in cases {
        let scratch = scratch();
        let program = program(&scratch);
        let output = program.run(&["run", target]);
        assert_eq!(output.code, 3, "{output}");
        assert!(output.stdout.contains(said), "{output}");
        let record = assert_partial(&program, kind);
        assert!(whole_count(&record) > 0, "{target}");
    }
}
